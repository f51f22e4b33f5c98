"""Inputs for a kernel: sizes that bring out edges, arrays exactly as large as the nest touches, values by role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from perfcc.core.facts import Facts, Holds, NoOverlap
from perfcc.core.ir import VarRef
from perfcc.core.kernel import Kernel
from perfcc.core.types import Storage, TypeKind, Variable
from perfcc.verify import values
from perfcc.verify.evaluate import Environment, Number, binary, evaluate
from perfcc.verify.extents import Plan, plan
from perfcc.verify.job import Block, Input
from perfcc.verify.roles import Roles, infer

MOST_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Shape:
    """What one input is to be: ``size`` for bounds, ``skew`` sets different bounds apart, ``kind`` names the values (see values.fill).

    With ``long``, the id of a bound, only that one is of ``size``; the others are ``short``.
    """

    label: str
    size: int
    skew: int = 0
    kind: str = "random"
    alias: tuple[str, str] | None = None
    shift: int = 0
    slack: int = 0
    long: str | None = None
    short: int = 0


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes the inputs of one kernel. ``variables`` in the codelet's order; ``compared``: those whose end value matters."""

    kernel: Kernel
    facts: Facts
    roles: Roles
    variables: tuple[Variable, ...]
    compared: frozenset[str]

    def make(self, id: int, shape: Shape, cap: int = 8 << 20) -> Input | None:
        """The input of that shape; None when it can't be made or takes more than ``cap`` bytes."""
        random = numpy.random.default_rng(1000 + 7919 * id)
        made = self._plan(shape, cap, random)
        return None if made is None else self._fill(id, shape, made, random)

    def outline(self, shape: Shape, cap: int) -> Plan | None:
        """The sizes that ``make`` would choose, without the memory."""
        return self._plan(shape, cap, numpy.random.default_rng(1000))

    def _plan(self, shape: Shape, cap: int, random: numpy.random.Generator) -> Plan | None:
        made = plan(self.roles, self.facts, self.variables, self._scalars(shape, random), max(shape.size, 0))
        return None if made is None or made.bytes(self.variables) > min(cap, MOST_BYTES) else made

    def _scalars(self, shape: Shape, random: numpy.random.Generator) -> dict[str, Number]:
        chosen: dict[str, Number] = {}
        bounds = list(self.roles.bounds)
        for v in self.variables:
            if v.storage is not Storage.SCALAR or v.element is None:
                continue
            if v.id in self.roles.lowers and v.element.is_integer:
                chosen[v.id] = min(shape.size, abs(shape.skew))
            elif v.id in self.roles.windows and v.element.is_integer and shape.size > 40:
                chosen[v.id] = 5
            elif v.id in bounds and v.element.is_integer:
                size = shape.size if shape.long in (None, v.id) else shape.short
                chosen[v.id] = _fit(size + shape.skew * bounds.index(v.id), v)
            else:
                chosen[v.id] = values.scalar(v, shape.kind, self.roles.constants, random)
        self._repair(chosen)
        return chosen

    def _repair(self, scalars: dict[str, Number]) -> None:
        """Raises or lowers scalars until the conditions that rewrites are guarded with hold, where that is simple."""
        for _ in range(4):
            changed = False
            for obligation in self.roles.obligations:
                if isinstance(obligation, Holds):
                    changed = self._repair_one(obligation, scalars) or changed
            if not changed:
                return

    def _repair_one(self, obligation: Holds, scalars: dict[str, Number]) -> bool:
        env = Environment(scalars)
        left, right = evaluate(obligation.left, env), evaluate(obligation.right, env)
        if left is None or right is None or binary(obligation.relation, left, right):
            return False
        step = {"<": -1, ">": 1}.get(obligation.relation, 0)
        if obligation.relation == "!=":
            return False
        if isinstance(obligation.left, VarRef) and obligation.left.var.id in scalars:
            scalars[obligation.left.var.id] = right + step
            return True
        if isinstance(obligation.right, VarRef) and obligation.right.var.id in scalars:
            scalars[obligation.right.var.id] = left - step
            return True
        return False

    def _fill(self, id: int, shape: Shape, made: Plan, random: numpy.random.Generator) -> Input | None:
        blocks: list[Block] = []
        places: dict[str, tuple[int, int]] = {}
        for v in self.variables:
            if v.id in places:
                continue
            assert v.element is not None
            size = v.element.bits // 8
            if v.storage is Storage.SCALAR:
                blocks.append(Block(values.pack(v.element, [made.scalars[v.id]]), size, v.id in self.compared))
                places[v.id] = (len(blocks) - 1, 0)
                continue
            count, before = made.counts[v.id], made.before.get(v.id, 0)
            partner = _partner(v.id, shape)
            shared = self._by_id(partner) if partner else None
            if shared is not None and shared.id not in places and _may_share(v, shared):
                sized = {v.id, shared.id} & set(self.roles.sized)
                if v.storage is Storage.VECTOR and sized and made.counts[shared.id] != count:
                    return None
                own, other = _shifts(v, shape)
                total = max(count + own, made.counts[shared.id] + other)
                blocks.append(Block(values.fill(v, total, made.ranges.get(v.id), shape.kind, self.roles, random), size))
                places[v.id] = (len(blocks) - 1, (before + own) * size)
                places[shared.id] = (len(blocks) - 1, (before + other) * size)
                continue
            extra = shape.slack if v.storage is not Storage.ARRAY else 0
            blocks.append(Block(values.fill(v, count + extra, made.ranges.get(v.id), shape.kind, self.roles, random), size))
            places[v.id] = (len(blocks) - 1, before * size)
        if shape.alias is not None and places[shape.alias[0]][0] != places[shape.alias[1]][0]:
            return None
        return Input(id, shape.label, tuple(blocks), tuple(places[v.id] for v in self.variables), made.scalars, made.sizes)

    def _by_id(self, id: str) -> Variable:
        return next(v for v in self.variables if v.id == id)


def maker(kernel: Kernel, facts: Facts, variables: tuple[Variable, ...], compared: frozenset[str]) -> Maker:
    """A maker for ``kernel``, its roles inferred."""
    return Maker(kernel, facts, infer(kernel, facts), variables, compared)


def shapes(made: Maker, threads: Sequence[int], widths: Sequence[int] = (4, 8, 16), tiles: Sequence[int] = (32,)) -> tuple[Shape, ...]:
    """The standard set, the most telling first: general sizes, edges, special values, aliases, one large."""
    deep = made.roles.depth >= 3
    prime = 23 if deep else 101
    edges = sorted({0, 1, 2, *(n + d for n in threads for d in (-1, 0, 1)), *(w + d for w in widths for d in (-1, 1))})
    tile = [t + d for t in tiles for d in (-1, 0, 1)]
    large = 61 if deep else 251 if made.roles.depth == 2 else 20011
    found = [
        Shape("prime sizes", prime, 0, "random"),
        Shape("unequal sizes", prime - 6, 5, "random"),
        Shape("unequal sizes, falling", prime, -3, "integers"),
        Shape("wide values", prime, 2, "wide"),
        Shape("special values", prime - 4, 1, "special"),
        Shape("equal values", 17, 1, "equal"),
        Shape("zeros", 17, 0, "zero"),
        Shape("values on thresholds", prime, 1, "thresholds"),
        Shape("room to spare", 19, 2, "random", slack=3),
        *(Shape(f"size {n}", n, 0, "random") for n in edges if n >= 0),
        *(Shape(f"size {n}, unequal", n, 1, "integers") for n in edges if 0 < n <= 9),
        *(Shape(f"tile edge {n}", n, 1 if n % 2 else 0, "random") for n in tile),
        Shape("large", large, 3, "random"),
    ]
    for obligation in made.roles.obligations:
        if isinstance(obligation, NoOverlap) and _may_share(obligation.left, obligation.right):
            pair = (obligation.left.id, obligation.right.id)
            names = f"{obligation.left.name} and {obligation.right.name}"
            found.append(Shape(f"{names} the same", 19, 0, "random", pair))
            found += [
                Shape(f"{names} overlap by all but {shift}", 19, 1, "random", turned, shift)
                for shift in (1, 7)
                for turned in (pair, pair[::-1])
                if obligation.left.storage is Storage.POINTER
            ]
    return tuple(dict.fromkeys(found))


def _partner(id: str, shape: Shape) -> str | None:
    if shape.alias is None or id not in shape.alias:
        return None
    return shape.alias[1] if id == shape.alias[0] else shape.alias[0]


def _shifts(v: Variable, shape: Shape) -> tuple[int, int]:
    """How many elements into the shared memory ``v`` and its partner begin: the second of the pair is the one that is shifted."""
    if v.storage is not Storage.POINTER or shape.alias is None:
        return 0, 0
    return (0, shape.shift) if v.id == shape.alias[0] else (shape.shift, 0)


def _may_share(a: Variable, b: Variable) -> bool:
    same = a.storage is b.storage and a.storage in (Storage.POINTER, Storage.VECTOR) and a.element == b.element
    if a.storage is Storage.VECTOR and not (_by_reference(a) and _by_reference(b)):
        return False
    return same and not a.is_restrict and not b.is_restrict


def _by_reference(v: Variable) -> bool:
    return v.is_reference


def _fit(value: int, v: Variable) -> int:
    assert v.element is not None
    low = -(1 << (v.element.bits - 1)) if v.element.kind is TypeKind.SIGNED else 0
    high = (1 << (v.element.bits - (1 if v.element.kind is TypeKind.SIGNED else 0))) - 1
    return max(max(low, 0), min(high, value))

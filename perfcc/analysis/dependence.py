"""Dependences between the references of a nest, level by level, exactly where subscripts are affine."""

from __future__ import annotations

from dataclasses import dataclass

from perfcc.analysis.delinearise import Shapes, flattened
from perfcc.analysis.model import Model, Ref
from perfcc.analysis.poly import Poly
from perfcc.analysis.presburger import BudgetError, Solver, System
from perfcc.core.facts import Dependence, DependenceKind
from perfcc.core.types import Scope, Storage, Variable

_MAX_REFS = 160
_MAX_INNER = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A dependence with its ends; ``level`` is the loop that carries it, None for one inside a single iteration of all common loops."""

    dependence: Dependence
    source: Ref
    sink: Ref
    level: str | None


def find(model: Model, shapes: Shapes) -> list[Found]:
    """All dependences between references to the same base. Raises BudgetError."""
    by_base: dict[str, list[Ref]] = {}
    for ref in model.refs:
        if ref.base.storage in (Storage.POINTER, Storage.ARRAY, Storage.VECTOR):
            by_base.setdefault(ref.base.id, []).append(ref)
    results: list[Found] = []
    for refs in by_base.values():
        if not any(ref.write for ref in refs):
            continue
        different = _different(refs)
        if len(different) > _MAX_REFS:
            raise BudgetError(f"{len(different)} references to '{refs[0].base.name}'")
        for source in different:
            for sink in different:
                if source.write or sink.write:
                    results += _pair(model, shapes, source, sink)
    return results


def _different(refs: list[Ref]) -> list[Ref]:
    """One reference of each set that touch the same elements in the same iterations in the same way: the others depend alike."""
    kept: dict[object, Ref] = {}
    for ref in refs:
        key = (ref.subscripts, ref.write, ref.loops, ref.region.conditions, ref.region.exact, ref.needs is None)
        kept.setdefault(key, ref)
    return list(kept.values())


def _pair(model: Model, shapes: Shapes, source: Ref, sink: Ref) -> list[Found]:
    common = _common(source.loops, sink.loops)
    private = model.scan.declared.get(source.base.id, ()) if is_private(source.base) else ()
    system = System(model.atoms)
    source.region.constrain(system, "s")
    sink.region.constrain(system, "d")
    exact = _equal(system, shapes, source, sink)
    atoms = [model.headers[loop].atom for loop in common]
    values = [(system.name(atom, "s"), system.name(atom, "d")) for atom in atoms]
    signs = [1 if model.headers[loop].loop.step > 0 else -1 for loop in common]
    pair = _Pair(model, system, source, sink, common, values, signs, exact)
    results: list[Found] = []
    for level, loop in enumerate(common):
        if loop in private:
            continue
        results += pair.carried(level)
    if source.order < sink.order and common:
        results += pair.together()
    return results


def is_private(base: Variable) -> bool:
    """True for an array that each iteration of the loops around its declaration has anew."""
    return base.storage is Storage.ARRAY and base.scope is Scope.LOCAL and not base.is_reference


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    count = 0
    while count < min(len(left), len(right)) and left[count] == right[count]:
        count += 1
    return left[:count]


def _equal(system: System, shapes: Shapes, source: Ref, sink: Ref) -> bool:
    """Adds "both touch the same element" to the system; false when nothing could be said."""
    first, second = shapes.places.get(source), shapes.places.get(sink)
    if first is not None and second is not None and len(first.dims) == len(second.dims):
        pairs = list(zip(first.dims, second.dims, strict=True))
    else:
        flat = (_flat(source), _flat(sink))
        if flat[0] is None or flat[1] is None:
            return False
        pairs = [(flat[0], flat[1])]
    for left, right in pairs:
        system.parts.append(f"{system.linear(left, 's')} = {system.linear(right, 'd')}")
    return True


def _flat(ref: Ref) -> Poly | None:
    polys = tuple(term.poly for term in ref.subscripts if term is not None)
    return flattened(ref.base, polys) if polys and len(polys) == len(ref.subscripts) else None


@dataclass(slots=True)
class _Pair:
    model: Model
    system: System
    source: Ref
    sink: Ref
    common: tuple[str, ...]
    values: list[tuple[str, str]]
    signs: list[int]
    known: bool

    @property
    def solver(self) -> Solver:
        return self.model.prover.solver

    def carried(self, level: int) -> list[Found]:
        """The dependences carried by the loop at that level, one for each combination of directions further in."""
        fixed = [self.relation(k, "=") for k in range(level)] + [self.relation(level, "<")]
        fixed += self.system.share(frozenset(self.common[:level]))
        if self.solver.empty(self.system.text(fixed)):
            return []
        inner = len(self.common) - level - 1
        prefix = ("=",) * level + ("<",)
        if not self.known or inner > _MAX_INNER or self.opaque():
            return [self.found(prefix + ("*",) * inner, fixed, self.common[level])]
        return [self.found(directions, extra, self.common[level]) for directions, extra in self.split(prefix, fixed)]

    def split(self, prefix: tuple[str, ...], fixed: list[str]) -> list[tuple[tuple[str, ...], list[str]]]:
        level = len(prefix)
        if level == len(self.common):
            return [(prefix, fixed)]
        results = []
        for direction in "<=>":
            extra = [*fixed, self.relation(level, direction)]
            if not self.solver.empty(self.system.text(extra)):
                results += self.split((*prefix, direction), extra)
        return results

    def together(self) -> list[Found]:
        """The dependence inside one iteration of all common loops, if there is one."""
        fixed = [self.relation(k, "=") for k in range(len(self.common))]
        if self.solver.empty(self.system.text(fixed)):
            return []
        return [self.found(("=",) * len(self.common), fixed, None)]

    def relation(self, level: int, direction: str) -> str:
        before, after = self.values[level]
        if self.signs[level] < 0:
            before, after = after, before
        return f"{before} {direction} {after}"

    def found(self, directions: tuple[str, ...], fixed: list[str], level: str | None) -> Found:
        kind = DependenceKind.ANTI
        if self.source.write:
            kind = DependenceKind.OUTPUT if self.sink.write else DependenceKind.FLOW
        exact = self.known and self.source.region.exact and self.sink.region.exact and not self.opaque()
        dependence = Dependence(
            kind,
            self.source.base.name,
            self.source.span,
            self.sink.span,
            self.common,
            directions,
            self.distances(directions, fixed) if self.known and not self.opaque() else tuple(0 if d == "=" else None for d in directions),
            exact,
        )
        return Found(dependence, self.source, self.sink, level)

    def opaque(self) -> bool:
        """True when some unknown takes part that is neither a loop variable nor a parameter: the dependence may not be one."""
        atoms = self.model.atoms.by_key
        return any(key not in atoms or (atoms[key].loop is None and bool(atoms[key].loops)) for key, _ in self.system.names)

    def distances(self, directions: tuple[str, ...], fixed: list[str]) -> tuple[int | None, ...]:
        """The distance in iterations along each loop, where it is the same for every pair of iterations."""
        if all(direction == "=" for direction in directions):
            return (0,) * len(directions)
        text = self.system.text(fixed)
        point = self.solver.point(text)
        place = {name: k for k, name in enumerate(self.system.names.values())}
        result: list[int | None] = []
        for level, (before, after) in enumerate(self.values):
            if directions[level] == "=":
                result.append(0)
                continue
            step = self.model.headers[self.common[level]].loop.step
            shift = point[place[after]] - point[place[before]]
            constant = shift % step == 0 and self.solver.empty(
                self.system.text([*fixed, f"({after} - {before} < {shift} or {after} - {before} > {shift})"])
            )
            result.append(shift // step if constant else None)
        return tuple(result)


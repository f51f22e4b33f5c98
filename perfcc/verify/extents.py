"""How many elements each array needs for given scalars: the analysis's extents where there are any, else intervals over the nest."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.types import Storage, Variable
from perfcc.verify.evaluate import Environment, Interval, Number, Ranges, evaluate, interval
from perfcc.verify.roles import Place, Roles

MOST_ELEMENTS = 1 << 28


@dataclass(frozen=True, slots=True)
class Plan:
    """By Variable.id: element ``counts``, how many of them lie ``before`` the pointer, ``ranges`` of values in index and row arrays."""

    scalars: dict[str, Number]
    sizes: dict[str, int]
    counts: dict[str, int]
    before: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)

    def bytes(self, variables: tuple[Variable, ...]) -> int:
        return sum(self.counts.get(v.id, 1) * (v.element.bits // 8 if v.element else 1) for v in variables)


@dataclass(slots=True)
class _Planner:
    roles: Roles
    facts: Facts
    variables: tuple[Variable, ...]
    scalars: dict[str, Number]
    size: int
    sizes: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    before: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)

    def run(self) -> Plan | None:
        arrays = [v for v in self.variables if v.storage is not Storage.SCALAR]
        for v in arrays:
            if v.storage is Storage.ARRAY and v.dims and None not in v.dims:
                self.counts[v.id] = prod(d for d in v.dims if d is not None)
                found = self._extent(v)
                if found is not None and found[0] > self.counts[v.id]:
                    return None
        # Vectors whose size the nest asks for come first: what they leave open is free.
        waiting = [v for v in arrays if v.id not in self.counts]
        while True:
            self._known(waiting)
            stuck = [v for v in waiting if v.id not in self.counts and v.storage is Storage.VECTOR and v.id in self.roles.sized]
            if not stuck:
                break
            self._set(stuck[0], self.size, 0)
        self._index_ranges()
        for v in waiting:
            if v.id not in self.counts and not self._by_interval(v):
                return None
        for v in arrays:
            if v.storage is Storage.VECTOR:
                self.sizes[v.id] = self.counts[v.id]
        if any(count > MOST_ELEMENTS for count in self.counts.values()):
            return None
        return Plan(self.scalars, self.sizes, self.counts, self.before, self.ranges)

    def _set(self, v: Variable, count: int, lowest: int) -> None:
        self.before[v.id] = max(-lowest, 0) if v.storage is Storage.POINTER else 0
        self.counts[v.id] = max(count, 0) + self.before[v.id]
        if v.storage is Storage.VECTOR:
            self.sizes[v.id] = self.counts[v.id]

    def _known(self, waiting: list[Variable]) -> None:
        """Settles every array whose extent can be evaluated now, until no more can."""
        changed = True
        while changed:
            changed = False
            for v in waiting:
                if v.id in self.counts:
                    continue
                found = self._extent(v)
                if found is not None:
                    self._set(v, *found)
                    changed = True

    def _extent(self, v: Variable) -> tuple[int, int] | None:
        for extent in self.facts.extents:
            if extent.variable != v.id or extent.count is None:
                continue
            env = Environment(self.scalars, self.sizes)
            count = evaluate(extent.count, env)
            lowest = 0 if extent.lowest is None else evaluate(extent.lowest, env)
            if count is None or lowest is None:
                return None
            return int(count), int(lowest) if count > lowest else 0
        return None

    def _index_ranges(self) -> None:
        """Values of index arrays lie in what they point into; those of row arrays in ``[0, three a row)``."""
        total = 3 * self.size + 1
        for id in self.roles.rows:
            self.ranges[id] = (0, total)
        for id, targets in self.roles.indexes.items():
            limits = [self.counts[t] for t in targets if t in self.counts]
            self.ranges[id] = (0, max(min(limits, default=max(self.size, 1)) - 1, 0))

    def _by_interval(self, v: Variable) -> bool:
        low, high, touched = 0, -1, False
        for place in self.roles.places:
            if place.access.base.id != v.id:
                continue
            touched = True
            ranges = self._ranges_at(place)
            if ranges is None:
                continue
            found = self._flat(v, place, ranges)
            if found is None:
                return self._free(v)
            low, high = min(low, int(found[0])), max(high, int(found[1]))
        if not touched:
            high = self.size - 1
        if high - low > MOST_ELEMENTS:
            return False
        self._set(v, high + 1, low)
        return True

    def _free(self, v: Variable) -> bool:
        """No bound is known: as large as a generous guess; an input that runs off its end is void."""
        self._set(v, max(self.size, 1) ** min(max(self.roles.depth, 1), 2) + 16, 0)
        return self.counts[v.id] <= MOST_ELEMENTS

    def _flat(self, v: Variable, place: Place, ranges: Ranges) -> Interval | None:
        subscripts = [interval(s, ranges) for s in place.access.subscripts]
        if any(s is None for s in subscripts):
            return None
        known = [s for s in subscripts if s is not None]
        low: Number = 0
        high: Number = 0
        strides = [prod(d for d in v.dims[i + 1 :] if d is not None) for i in range(len(known))] if len(known) > 1 else [1]
        for (a, b), stride in zip(known, strides, strict=True):
            low, high = low + a * stride, high + b * stride
        return low, high

    def _ranges_at(self, place: Place) -> Ranges | None:
        """What holds at that place; None when its loops never run."""
        ranges = Ranges({id: (value, value) for id, value in self.scalars.items()}, dict(self.ranges), dict(self.sizes))
        for id in self.roles.locals:
            ranges.variables.pop(id, None)
        for loop in place.loops:
            self._locals(ranges)
            found = _loop_interval(loop, ranges)
            if found is None:
                ranges.variables.pop(loop.var.id, None)
            elif found[0] > found[1]:
                return None
            else:
                ranges.variables[loop.var.id] = found
        self._locals(ranges)
        return ranges

    def _locals(self, ranges: Ranges) -> None:
        for _ in range(2):
            for id, exprs in self.roles.locals.items():
                parts = [interval(expr, ranges) for expr in exprs]
                known = [part for part in parts if part is not None]
                if known and len(known) == len(parts):
                    ranges.variables[id] = (min(p[0] for p in known), max(p[1] for p in known))


def _loop_interval(loop: Loop, ranges: Ranges) -> Interval | None:
    first, bound = interval(loop.lower, ranges), interval(loop.bound, ranges)
    if first is None or bound is None:
        return None
    up = loop.step > 0
    strict = 0 if loop.relation in ("<=", ">=") else 1
    return (first[0], bound[1] - strict) if up else (bound[0] + strict, first[1])


def plan(roles: Roles, facts: Facts, variables: tuple[Variable, ...], scalars: dict[str, Number], size: int) -> Plan | None:
    """The memory that the nest needs with those scalars; ``size`` for what they leave open. None when it is too much."""
    return _Planner(roles, facts, variables, scalars, size).run()

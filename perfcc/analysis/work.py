"""Trip counts and work, as expressions over values known at the kernel's entry."""

from __future__ import annotations

from perfcc.analysis.express import expression
from perfcc.analysis.model import Model
from perfcc.analysis.poly import Poly
from perfcc.analysis.region import Header, Region
from perfcc.core.ir import Binary, Expr, IntConst, Loop, loops
from perfcc.core.types import TypeKind


def certain_trip(loop: Loop) -> bool:
    """True when the loop's header alone shows that it runs at least once."""
    if not isinstance(loop.lower, IntConst) or not isinstance(loop.bound, IntConst):
        return False
    lower, bound = loop.lower.value, loop.bound.value
    if loop.bound.type is not None and loop.bound.type.kind is TypeKind.UNSIGNED and lower < 0:
        return False
    return {"<": lower < bound, "<=": lower <= bound, ">": lower > bound, ">=": lower >= bound, "!=": lower != bound}[loop.relation]


def trip_count(model: Model, loop: Loop) -> Expr | None:
    """The number of iterations; an upper bound where it varies with outer loops; None where it depends on data."""
    head = model.headers[loop.id]
    length = _length(model, head)
    if length is None:
        return None
    step = abs(loop.step)
    count = length.plus(step - 1) if step > 1 else length
    if count.value is not None:
        return IntConst(max(count.value, 0) // step)
    low, _ = model.atoms.range(count)
    value: Expr = expression(count, model.atoms)
    if low is None or low < 0:
        value = Binary("max", IntConst(0), value)
    return value if step == 1 else Binary("/", value, IntConst(step))


def work(model: Model, loop: Loop) -> Expr | None:
    """Innermost iterations of one run of the loop: trip counts multiplied along the nest and added over siblings.

    Triangular nests give an upper bound (the whole rectangle); an inner loop whose count depends on data counts as one iteration.
    """
    trip = trip_count(model, loop)
    return None if trip is None else _work(model, loop, trip)


def _work(model: Model, loop: Loop, trip: Expr) -> Expr:
    parts: list[Expr] = []
    for inner in _children(loop):
        count = trip_count(model, inner)
        parts.append(IntConst(1) if count is None else _work(model, inner, count))
    if not parts:
        return trip
    total = parts[0]
    for part in parts[1:]:
        total = Binary("+", total, part)
    return _times(trip, total)


def _times(left: Expr, right: Expr) -> Expr:
    if isinstance(right, IntConst) and right.value == 1:
        return left
    if isinstance(left, IntConst) and isinstance(right, IntConst):
        return IntConst(left.value * right.value)
    return Binary("*", left, right)


def _children(loop: Loop) -> list[Loop]:
    inside = list(loops(loop.body))
    deeper = {found.id for inner in inside for found in loops(inner.body)}
    return [inner for inner in inside if inner.id not in deeper]


def _length(model: Model, head: Header) -> Poly | None:
    """The least upper bound found for ``last - first + 1`` over entry values."""
    if head.wild is not None or not head.lows or not head.highs:
        return None
    around = Region(model.regions[head.loop.id].headers[:-1])
    best: list[Poly] = []
    for high in head.highs:
        for low in head.lows:
            reached = model.prover.extremes((high - low).plus(1), around, True)
            best += [poly for poly, given in reached if not given]
    if not best:
        return None
    return min(best, key=lambda p: (p.value is None, p.degree, len(p.terms), p.terms))


def uneven(model: Model, loop: Loop) -> bool:
    """True when the loop's iterations may differ in cost: an inner loop's length, or whether it runs, changes with this loop."""
    atom = model.headers[loop.id].atom
    for inner in loops(loop.body):
        head = model.headers[inner.id]
        if head.wild is not None or not head.lows or not head.highs:
            return True
        here, there = model.regions[loop.id], model.regions[inner.id]
        if here.conditions != there.conditions or here.exact != there.exact:
            return True
        lengths = [high - low for high in head.highs for low in head.lows]
        if any(length.value is not None for length in lengths):  # a tile: whole but for the last
            continue
        if any(_follows(model, key, loop.id, atom) for length in lengths for key in length.atoms()):
            return True
    return False


def _follows(model: Model, key: str, loop: str, atom: str) -> bool:
    found = model.atoms[key]
    return key == atom or (found.loop is None and loop in found.loops)

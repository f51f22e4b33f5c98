"""What the rules that reorder iterations share: the band they work on, and whether its dependences survive another order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perfcc.core.facts import AccessFact, Dependence, Facts, Obligation
from perfcc.core.ir import Loop, loops
from perfcc.core.reason import Reason
from perfcc.rules.bounds import fresh, rectangular, runs
from perfcc.rules.tree import band, only_loop

LINE = 64
"""Bytes of a cache line."""


def heads(nest: Loop) -> Iterator[Loop]:
    """The loops at which a perfectly nested band begins and that hold another loop, outermost first."""
    inside = {inner.id for loop in loops(nest) if (inner := only_loop(loop.body)) is not None}
    for loop in loops(nest):
        if loop.id not in inside and sum(1 for _ in loops(loop)) > 1:
            yield loop


def reorderable(members: Sequence[Loop], nest: Loop, facts: Facts) -> tuple[tuple[Loop, ...], tuple[Obligation, ...]] | Reason:
    """The band's loops with headers made anew, and what the guard must test before its iterations may be reordered at all."""
    at = members[0].span
    if len(members) < 2:
        return Reason("nest-not-perfect", at)
    if facts.reorder_blockers:
        return facts.reorder_blockers[0]
    if any(len(f.errno_values) > 1 for f in facts.loops):
        return Reason("errno-order", at)
    if len({m.var.name for m in members}) < len(members) or not rectangular(tuple(members), nest):
        return Reason("bounds-not-rectangular", at)
    made: list[Loop] = []
    obligations: list[Obligation] = list(facts.order_obligations)
    for member in members:
        header = fresh(member, nest)
        if isinstance(header, Reason):
            return header
        made.append(header[0])
        obligations += [*header[1], runs(member)]
    return tuple(made), tuple(dict.fromkeys(obligations))


def reversed_by(dependences: Sequence[Dependence], before: Sequence[str], after: Sequence[str]) -> Dependence | None:
    """The first dependence that would run backwards if the band ``before`` were nested in the order ``after``.

    Every dependence runs forwards as it stands; a direction ``*`` that comes first after the exchange may stand for ``>``.
    """
    for dependence in dependences:
        directions = dict(zip(dependence.loops, dependence.directions, strict=True))
        if any(id not in directions for id in before):
            return dependence
        order = list(dependence.loops)
        places = [order.index(id) for id in before]
        for place, id in zip(sorted(places), after, strict=True):
            order[place] = id
        if not _forwards(directions[id] for id in order):
            return dependence
    return None


def tied_by(dependences: Sequence[Dependence], members: Sequence[str]) -> Dependence | None:
    """The first dependence that forbids blocks: not carried outside the band, and with a direction in it other than ``=`` or ``<``."""
    for dependence in dependences:
        directions = dict(zip(dependence.loops, dependence.directions, strict=True))
        if any(id not in directions for id in members):
            return dependence
        outside = dependence.loops[: dependence.loops.index(members[0])]
        if _carried(directions[id] for id in outside):
            continue
        if any(directions[id] not in ("=", "<") for id in members):
            return dependence
    return None


def backwards(dependence: Dependence) -> Reason:
    """The reason that names the dependence which stands in the way."""
    vector = ", ".join(dependence.directions)
    return Reason(
        "interchange-reverses-dependence",
        dependence.sink or dependence.source,
        f"{dependence.kind.value} dependence on {dependence.variable}, directions ({vector})",
    )


def line_cost(access: AccessFact, loop: str, element_bytes: int = 8) -> float:
    """Cache lines an iteration of ``loop`` takes for this access: 0 for the same element, 1 for a far or unknown one; twice for a write."""
    stride = dict(access.strides).get(loop, 0)
    lines = 1.0 if stride is None else min(1.0, abs(stride) * element_bytes / LINE)
    return lines * (2 if access.write else 1)


def cost(facts: Facts, order: Sequence[str]) -> tuple[float, ...]:
    """How a nesting order moves through memory, innermost loop first: smaller is better."""
    return tuple(round(sum(line_cost(a, id) for a in facts.accesses), 3) for id in reversed(order))


def _forwards(directions: Iterator[str]) -> bool:
    for direction in directions:
        if direction == "<":
            return True
        if direction != "=":
            return False
    return True


def _carried(directions: Iterator[str]) -> bool:
    """True when one of the loops certainly carries the dependence: the first that is not ``=`` is ``<``."""
    return next((d for d in directions if d != "="), "=") == "<"


__all__ = ["LINE", "backwards", "band", "cost", "heads", "line_cost", "reorderable", "reversed_by", "tied_by"]

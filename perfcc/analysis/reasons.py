"""Dependences in words: the reason a loop that carries them is left alone."""

from __future__ import annotations

from perfcc.analysis.dependence import Found
from perfcc.analysis.model import Model, Ref
from perfcc.core.facts import DependenceKind
from perfcc.core.reason import Reason

_ORDER = {DependenceKind.FLOW: 0, DependenceKind.ANTI: 1, DependenceKind.OUTPUT: 2}


def nonaffine(ref: Ref, model: Model) -> bool:
    """True when where the reference goes depends on data."""
    for term in ref.subscripts:
        if term is None:
            return True
        if any(model.atoms[key].loop is None and model.atoms[key].loops and not model.atoms[key].quotient for key in term.poly.atoms()):
            return True
    return False


def carried(found: list[Found], model: Model, loop: str) -> list[Reason]:
    """One reason a variable, the plainest dependence first."""
    chosen: dict[str, tuple[tuple[int, int], Reason]] = {}
    for one in found:
        rank, reason = _reason(one, model, loop)
        old = chosen.get(one.dependence.variable)
        if old is None or rank < old[0]:
            chosen[one.dependence.variable] = (rank, reason)
    return sorted((reason for _, reason in chosen.values()), key=lambda r: (r.at.begin if r.at else 0))


def _reason(found: Found, model: Model, loop: str) -> tuple[tuple[int, int], Reason]:
    dependence = found.dependence
    name = f"'{dependence.variable}'"
    for ref in (found.source, found.sink):
        if ref.needs is None:
            return (0, 0), Reason("subscript-wrap", ref.span, name)
    writes = [ref for ref in (found.source, found.sink) if ref.write and nonaffine(ref, model)]
    if writes:
        return (1, 0), Reason("nonaffine-write", writes[0].span, name)
    at = dependence.loops.index(loop)
    distance = dependence.distance[at]
    far = f", distance {distance}" if distance is not None else ""
    possible = "" if dependence.exact else "possible "
    detail = f"{possible}{dependence.kind.value} dependence on {name}{far}"
    where = dependence.sink or dependence.source
    near = distance if distance is not None else 1 << 30
    return (2 + _ORDER[dependence.kind] + (0 if dependence.exact else 3), near), Reason("carried-dependence", where, detail)

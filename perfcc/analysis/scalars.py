"""What becomes of each scalar a loop writes: private, last-private, reduction, or carried."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfcc.analysis.express import expression
from perfcc.analysis.liveness import Exposed, Liveness, iteration
from perfcc.analysis.model import Model
from perfcc.analysis.reductions import Update, reduction, updates
from perfcc.analysis.region import Region
from perfcc.core.facts import Holds, Obligation
from perfcc.core.ir import Assign, Declare, IntConst, Loop, Reduction, VarRef, statements
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.core.types import Scope, Storage, TypeKind, Variable


@dataclass(slots=True)
class Scalars:
    """The classes of the scalars written in one loop and declared outside it."""

    private: list[Variable] = field(default_factory=list)
    lastprivate: list[Variable] = field(default_factory=list)
    reductions: list[Reduction] = field(default_factory=list)
    blockers: list[Reason] = field(default_factory=list)
    obligations: list[Obligation] = field(default_factory=list)


def classify(model: Model, loop: Loop, live: Liveness) -> Scalars:
    """Classifies every scalar that the loop writes. Scalars declared in its body belong to the iteration and are in no class."""
    result = Scalars()
    exposed = iteration(loop)
    after = live.after.get(loop.id, frozenset())
    own = {stmt.var.id for stmt in statements(loop.body) if isinstance(stmt, Declare)}
    own |= {stmt.var.id for stmt in statements(loop.body) if isinstance(stmt, Loop) and stmt.declares_var}
    _own_variable(model, loop, after, result)
    for variable, span in _written(loop).values():
        if variable.id == loop.var.id:
            continue
        if variable.id in own and variable.scope is not Scope.STATIC_LOCAL:
            continue
        if variable.storage is not Storage.SCALAR:
            result.blockers.append(Reason("unmodelled-type", span, f"'{variable.name}' is assigned in the loop"))
            continue
        _one(model, loop, variable, span, exposed, variable.id in after, result)
    return result


def _written(loop: Loop) -> dict[str, tuple[Variable, Span | None]]:
    found: dict[str, tuple[Variable, Span | None]] = {}
    for stmt in statements(loop.body):
        match stmt:
            case Assign(target=VarRef(var=var)):
                found.setdefault(var.id, (var, stmt.span))
            case Declare(var=var) if var.storage not in (Storage.ARRAY,):
                found.setdefault(var.id, (var, stmt.span))
            case Loop():
                found.setdefault(stmt.var.id, (stmt.var, stmt.span))
            case _:
                pass
    return found


def _own_variable(model: Model, loop: Loop, after: frozenset[str], result: Scalars) -> None:
    """A loop variable declared before the loop keeps its final value, which a loop without iterations would not give it by lastprivate."""
    if loop.declares_var:
        return
    if loop.var.id not in after:
        result.private.append(loop.var)
        return
    result.lastprivate.append(loop.var)
    needed = _runs(model, loop)
    if needed is None:
        result.blockers.append(Reason("scalar-carried", loop.span, f"'{loop.var.name}' is needed after the loop"))
    else:
        result.obligations += needed


def _runs(model: Model, loop: Loop) -> list[Obligation] | None:
    """What must hold at entry for every run of the loop to have an iteration; None when no test can tell."""
    head = model.headers[loop.id]
    if head.wild is not None or not head.lows or not head.highs:
        return None
    place = model.regions[loop.id]
    around = Region(place.headers[:-1], place.conditions, place.exact)
    obligations: list[Obligation] = []
    for low in head.lows:
        for high in head.highs:
            length = high - low
            if model.prover.nonnegative(length, around):
                continue
            if not model.atoms.at_entry(length):
                return None
            obligations.append(Holds(expression(length, model.atoms), ">=", IntConst(0)))
    return obligations


def _one(model: Model, loop: Loop, variable: Variable, span: Span | None, exposed: Exposed, live: bool, result: Scalars) -> None:
    name = f"'{variable.name}'"
    if variable.scope is Scope.MEMBER:
        result.blockers.append(Reason("scalar-carried", span, f"member {name} is assigned in the loop"))
        return
    read = exposed.reads.get(variable.id)
    if read is None and not exposed.opaque:
        if not live:
            result.private.append(variable)
            return
        needed = _runs(model, loop) if variable.id in exposed.assigned else None
        if needed is not None:  # a loop without iterations leaves nobody's copy to be the last
            result.lastprivate.append(variable)
            result.obligations += needed
        else:
            why = "not every iteration assigns it" if variable.id not in exposed.assigned else "it may have no iteration"
            result.blockers.append(Reason("scalar-carried", span, f"{name} is needed after the loop, and {why}"))
        return
    found = updates(loop, variable)
    reduced = None if found is None else _reduced(model, variable, found, result)
    if reduced is not None:
        result.reductions.append(reduced)
    elif found is None or not any(reason.id == "float-reduction-order" for reason in result.blockers if reason.detail == name):
        at = read.span if read is not None and read.span is not None else span
        result.blockers.append(Reason("scalar-carried", at, f"{name} is read before the iteration assigns it"))


def _reduced(model: Model, variable: Variable, found: list[Update], result: Scalars) -> Reduction | None:
    type = variable.element
    floating = type is not None and type.kind is TypeKind.FLOAT
    if floating and (not model.semantics.reassociate or found[0].op in ("min", "max")):
        result.blockers.append(Reason("float-reduction-order", found[0].span, f"'{variable.name}'"))
        return None
    if model.semantics.trapping and found[0].op in ("+", "*") and not floating:
        return None
    return reduction(found, variable)


"""Splits a sum, product, bitwise combination, minimum or maximum of integers over a team of threads.

Before::

    for (int i = 0; i < n; i++)
        s += a[i];

After::

    unsigned int perfcc_part0_0 = 0;
    #pragma omp parallel for schedule(static) reduction(+ : perfcc_part0_0)
    for (int i = 0; i < n; ++i) {
        perfcc_part0_0 += (unsigned int)a[i];
    }
    s = (int)((unsigned int)s + perfcc_part0_0);

Integer arithmetic modulo a power of two is associative and commutative, so any grouping gives the same bits. A partial sum may exceed
``int`` where the whole sum does not, and signed overflow is undefined: partial results are therefore formed in an unsigned type at least as
wide. Minimum, maximum and bitwise operations can't overflow and keep the user's variable.
"""

from __future__ import annotations

from collections.abc import Iterable

from perfcc.core.candidate import Parameters
from perfcc.core.facts import Facts
from perfcc.core.ir import Assign, Loop, Reduction, VarRef, statements
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Legal, Refusal
from perfcc.core.protocols import Match
from perfcc.core.reason import Reason
from perfcc.core.types import Scope, Storage, TypeKind
from perfcc.rules import threads
from perfcc.rules.region import accumulated, needs_accumulator
from perfcc.rules.tree import find
from perfcc.rules.types import type_of

PHASE = 90
ID = "integer-reduction"
_OPERATORS = ("+", "*", "&", "|", "^", "min", "max")


def match(kernel: Kernel, nest: Loop, facts: Facts) -> Iterable[Match]:
    """Single loops, outermost first."""
    return (m for m in threads.places(ID, nest, facts) if len(m.band) == 1)


def parameters(match: Match, facts: Facts) -> Iterable[Parameters]:
    return threads.schedules(match, facts)


def legal(match: Match, facts: Facts) -> Legal | Refusal:
    own = facts.loop(match.loop)
    loop = find(match.nest, match.loop)
    if not own.reductions:
        return Refusal(ID, own.blockers[0] if own.blockers else Reason("no-reduction", loop.span))
    for reduction in own.reductions:
        reason = _unsplittable(reduction, loop)
        if reason is not None:
            return Refusal(ID, reason)
    names = ", ".join(r.var.name for r in own.reductions)
    return threads.prove(match, facts, f"iterations meet only in {names}, and integer arithmetic gives the same bits in any grouping")


def rewrite(kernel: Kernel, match: Match, proof: Legal, parameters: Parameters) -> Loop:
    return threads.annotate(kernel, match, proof, parameters)


def _unsplittable(reduction: Reduction, loop: Loop) -> Reason | None:
    """Why the reduction can't be printed, if so: an operator or type without an exact split, or a statement not of the form ``s += e``."""
    var, type = reduction.var, reduction.var.element
    if var.storage is not Storage.SCALAR or type is None or reduction.op not in _OPERATORS:
        return Reason("scalar-carried", loop.span, var.name)
    if type.kind is TypeKind.FLOAT:
        return Reason("float-reduction-order", loop.span, var.name)
    if type.kind is TypeKind.BOOL and reduction.op not in ("&", "|"):
        return Reason("scalar-carried", loop.span, f"{var.name} is a bool")
    if not needs_accumulator(reduction):
        return Reason("scalar-carried", loop.span, f"member {var.name}") if var.scope is Scope.MEMBER else None
    for stmt in statements(loop):
        if isinstance(stmt, Assign) and isinstance(stmt.target, VarRef) and stmt.target.var.id == var.id:
            terms = accumulated(var, stmt.op, stmt.value)
            types = [type_of(term) for _, term in terms or ()]
            if terms is None or any(t is None or t.kind is TypeKind.FLOAT for t in types):
                return Reason("scalar-carried", stmt.span or loop.span, f"not of the form {var.name} {reduction.op}= e")
            if any(sign not in (reduction.op, "-" if reduction.op == "+" else "") for sign, _ in terms):
                return Reason("scalar-carried", stmt.span or loop.span, f"{var.name} is gathered with different operators")
    return None

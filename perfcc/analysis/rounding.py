"""Roundings that the compiler, not the source, decides: a rewrite could change where they happen.

A fused multiply-add rounds once where a product and a sum round twice. GCC fuses across statements wherever both stand in one basic block
(-ffp-contract=fast, its default), so that moving a loop, or outlining it for threads, can fuse or part them. Excess precision (x87) rounds
where a value leaves a register.
"""

from __future__ import annotations

from perfcc.core.ir import Assign, Binary, Expr, Loop, expressions, own_expressions, statements
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.types import ScalarType, TypeKind
from perfcc.core.unit import Semantics

_SUMS = frozenset("+-")


def unstable(kernel: Kernel, nest: Loop, semantics: Semantics) -> Reason | None:
    """Why the results of this nest depend on how the compiler lays it out, if they do. Flags that allow reassociation ask for no more."""
    if semantics.reassociate or not (semantics.contracts or semantics.excess_precision):
        return None
    products = sums = False
    for stmt in statements(nest):
        operators = {operator for expr in own_expressions(stmt) for operator in _operators(expr)}
        if isinstance(stmt, Assign) and len(stmt.op) > 1 and _is_float(stmt.target.type):
            operators.add(stmt.op[0])
        products |= "*" in operators
        sums |= not operators.isdisjoint(_SUMS)
        if semantics.excess_precision and operators:
            return Reason("fp-contraction", stmt.span, "-mfpmath=387 keeps excess precision")
        if products and sums:
            return Reason("fp-contraction", stmt.span)
    if any(call.definition for call in kernel.calls) and _mentions_float(kernel):
        return Reason("fp-contraction", nest.span, "in a function that the loop calls")
    return None


def _operators(expr: Expr) -> set[str]:
    """The floating-point arithmetic of an expression."""
    return {part.op for part in expressions(expr) if isinstance(part, Binary) and part.op in "+-*/" and _is_float(part.type)}


def _is_float(type: ScalarType | None) -> bool:
    """Unknown types count as floating."""
    return type is None or type.kind is TypeKind.FLOAT


def _mentions_float(kernel: Kernel) -> bool:
    return any(_is_float(variable.element) for variable in kernel.variables)

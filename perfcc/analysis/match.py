"""Structural comparison of expressions, places in the source apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from perfcc.core.ir import (
    Access,
    Binary,
    Call,
    Cast,
    Conditional,
    ContainerSize,
    Expr,
    FloatConst,
    IntConst,
    Unary,
    VarRef,
    expressions,
)
from perfcc.core.types import ScalarType, TypeKind


def same(left: Expr, right: Expr) -> bool:
    """True when both expressions have the same structure and types, so the same value wherever evaluated side by side."""
    match left, right:
        case IntConst(value=a), IntConst(value=b):
            return a == b
        case FloatConst(text=a), FloatConst(text=b):
            return a == b
        case VarRef(var=a), VarRef(var=b):
            return a.id == b.id
        case ContainerSize(base=a), ContainerSize(base=b):
            return a.id == b.id
        case Access(base=a, subscripts=s), Access(base=b, subscripts=t):
            return a.id == b.id and _all(s, t)
        case Unary(op=o, operand=a), Unary(op=p, operand=b):
            return o == p and same(a, b)
        case Cast(operand=a, type=s), Cast(operand=b, type=t):
            return s == t and same(a, b)
        case Binary(op=o, left=a, right=b), Binary(op=p, left=c, right=d):
            return o == p and same(a, c) and same(b, d)
        case Conditional(), Conditional():
            return _all((left.condition, left.then, left.other), (right.condition, right.then, right.other))
        case Call(callee=f, arguments=s), Call(callee=g, arguments=t):
            return f == g and _all(s, t)
    return False


def _all(left: tuple[Expr, ...], right: tuple[Expr, ...]) -> bool:
    return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))


def widened(expr: Expr) -> Expr:
    """The expression below casts that keep every value."""
    while isinstance(expr, Cast) and keeps_values(expr.operand.type, expr.type):
        expr = expr.operand
    return expr


def keeps_values(source: ScalarType | None, target: ScalarType | None) -> bool:
    """True when every value of the integer type ``source`` is one of ``target``."""
    if source is None or target is None or source.kind is TypeKind.FLOAT or target.kind is TypeKind.FLOAT:
        return source == target and source is not None
    if target.kind is TypeKind.BOOL:
        return source.kind is TypeKind.BOOL
    if source.kind is TypeKind.SIGNED:
        return target.kind is TypeKind.SIGNED and target.bits >= source.bits
    bits = 1 if source.kind is TypeKind.BOOL else source.bits
    return target.bits > bits or (target.kind is TypeKind.UNSIGNED and target.bits >= bits)


def reads(expr: Expr, variable: str) -> bool:
    """True when the expression mentions the scalar with that id."""
    return any(isinstance(part, VarRef) and part.var.id == variable for part in expressions(expr))


def scalars(expr: Expr) -> Iterator[VarRef]:
    """The scalar variables an expression reads."""
    return (part for part in expressions(expr) if isinstance(part, VarRef))


_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def conjuncts(condition: Expr, holds: bool) -> Iterator[Binary]:
    """Comparisons that are all true when the condition is (or, not ``holds``, when it isn't); others may be true as well."""
    match condition:
        case Binary(op=op) if op in _NEGATED:
            yield condition if holds else replace(condition, op=_NEGATED[op])
        case Binary(op="&&", left=left, right=right) if holds:
            yield from conjuncts(left, holds)
            yield from conjuncts(right, holds)
        case Binary(op="||", left=left, right=right) if not holds:
            yield from conjuncts(left, holds)
            yield from conjuncts(right, holds)
        case Unary(op="!", operand=operand):
            yield from conjuncts(operand, not holds)
        case Cast(operand=operand, type=type) if type is not None and type.kind is TypeKind.BOOL:
            yield from conjuncts(operand, holds)
        case _:
            return


def whole(condition: Expr, holds: bool) -> bool:
    """True when ``conjuncts`` leaves nothing out."""
    match condition:
        case Binary(op=op) if op in _NEGATED:
            return True
        case Binary(op="&&", left=left, right=right):
            return holds and whole(left, holds) and whole(right, holds)
        case Binary(op="||", left=left, right=right):
            return not holds and whole(left, holds) and whole(right, holds)
        case Unary(op="!", operand=operand):
            return whole(operand, not holds)
        case Cast(operand=operand, type=type) if type is not None and type.kind is TypeKind.BOOL:
            return whole(operand, holds)
    return False

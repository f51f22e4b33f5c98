"""The types of expressions, as C's conversions give them."""

from __future__ import annotations

from perfcc.core.ir import Access, Binary, Call, Cast, Conditional, ContainerSize, Expr, FloatConst, IntConst, Opaque, Unary, VarRef
from perfcc.core.types import ScalarType, TypeKind

INT = ScalarType("int", TypeKind.SIGNED, 32)
LONG = ScalarType("long", TypeKind.SIGNED, 64)
UNSIGNED_LONG = ScalarType("unsigned long", TypeKind.UNSIGNED, 64)
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")


def same(left: ScalarType, right: ScalarType) -> bool:
    """True when both hold the same values."""
    return left.kind is right.kind and left.bits == right.bits


def promoted(type: ScalarType) -> ScalarType:
    """The integer promotions (C11 6.3.1.1)."""
    if type.kind is TypeKind.FLOAT or (type.bits >= INT.bits and type.is_integer):
        return type
    return INT


def common(left: ScalarType, right: ScalarType) -> ScalarType:
    """The usual arithmetic conversions (C11 6.3.1.8)."""
    left, right = promoted(left), promoted(right)
    if TypeKind.FLOAT in (left.kind, right.kind):
        floats = [t for t in (left, right) if t.kind is TypeKind.FLOAT]
        return max(floats, key=lambda t: t.bits)
    if left.kind is right.kind:
        return left if left.bits >= right.bits else right
    unsigned, signed = (left, right) if left.kind is TypeKind.UNSIGNED else (right, left)
    return unsigned if unsigned.bits >= signed.bits else signed


def type_of(expr: Expr) -> ScalarType | None:
    """The expression's type; nodes made by rules and analyses may leave it out. None: unknown."""
    if expr.type is not None:
        return expr.type
    match expr:
        case IntConst(value=value):
            return INT if -(2**31) <= value < 2**31 else LONG
        case VarRef(var=var) | Access(base=var):
            return var.element
        case ContainerSize():
            return UNSIGNED_LONG
        case Unary(op="!"):
            return INT
        case Unary(operand=operand):
            inner = type_of(operand)
            return None if inner is None else promoted(inner)
        case Binary(op=op, left=left, right=right):
            if op in _COMPARISONS:
                return INT
            return _common(left, right) if op not in ("<<", ">>") else type_of(left)
        case Conditional(then=left, other=right):
            return _common(left, right)
        case Cast() | Call() | FloatConst() | Opaque():
            return None


def _common(left: Expr, right: Expr) -> ScalarType | None:
    a, b = type_of(left), type_of(right)
    return None if a is None or b is None else common(a, b)


def unsigned_like(type: ScalarType) -> ScalarType:
    """The unsigned type in which sums of values of ``type`` are formed without overflow: at least as wide as unsigned int."""
    return UNSIGNED_LONG if type.bits > 32 else ScalarType("unsigned int", TypeKind.UNSIGNED, 32)

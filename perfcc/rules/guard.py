"""Obligations as C expressions that can neither trap, overflow nor read anything the original would not read.

Values are formed with the functions of ``perfcc_guard.h``: a result that leaves 64 bits, or an intermediate value that leaves the type the
user computes it in, is "unknown", and every test of an unknown value fails.
"""

from __future__ import annotations

from collections.abc import Iterable

from perfcc.core.facts import Holds, NoOverlap, NoWrap, Obligation, Untouched
from perfcc.core.ir import Binary, Cast, ContainerSize, Expr, IntConst, Unary, VarRef
from perfcc.core.types import ScalarType, Storage, TypeKind, Variable
from perfcc.rules.types import type_of

_FUNCTIONS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "min": "min", "max": "max"}
_RELATIONS = {"<": "less", "<=": "at_most", "==": "equal", "!=": "differ"}
_LIMIT = 2**63 - 1


def guard(obligations: Iterable[Obligation]) -> str | None:
    """One C expression that is true only if all obligations hold; "1" when there is nothing to test, None when one can't be tested."""
    terms: list[str] = []
    pairs: set[frozenset[str | None]] = set()
    for obligation in obligations:
        if isinstance(obligation, NoOverlap):
            pair = frozenset(_sides(obligation))
            if pair in pairs:
                continue
            pairs.add(pair)
        term = test(obligation)
        if term is None or term == "0":
            return None
        if term != "1" and term not in terms:
            terms.append(term)
    return " && ".join(terms) if terms else "1"


def at_least(work: Expr, threshold: int) -> str | None:
    """True when the work is at least the threshold; None when the work can't be expressed."""
    value = wide(work)
    return None if value is None else _relation("<=", str(threshold) + "L", value)


def test(obligation: Obligation) -> str | None:
    """The C test of one obligation; "1" or "0" where it is decided already, None when it can't be expressed."""
    match obligation:
        case NoWrap(expr=expr, bits=bits, signed=signed):
            value = wide(expr)
            return None if value is None else _known(_fit(value, bits, signed))
        case Holds(left=left, relation=relation, right=right):
            if relation in (">", ">="):
                left, right, relation = right, left, {">": "<", ">=": "<="}[relation]
            a, b = wide(left), wide(right)
            return None if a is None or b is None or relation not in _RELATIONS else _relation(relation, a, b)
        case NoOverlap():
            one, other = _sides(obligation)
            return None if one is None or other is None else f"perfcc_rt_disjoint({one}, {other})"
        case Untouched(base=base, object=object):
            touched = _range(base, obligation.extent, obligation.lowest)
            name = object.name
            return None if touched is None else f"perfcc_rt_disjoint({touched}, perfcc_rt_at(&{name}), 0, 1, sizeof({name}))"


def _sides(obligation: NoOverlap) -> tuple[str | None, str | None]:
    left = _range(obligation.left, obligation.left_extent, obligation.left_lowest)
    return left, _range(obligation.right, obligation.right_extent, obligation.right_lowest)


def wide(expr: Expr) -> str | None:
    """The expression's value as a ``perfcc_rt_wide``; None for what can't be evaluated without effects or traps."""
    constant = _constant(expr)
    if constant is not None:
        return _literal(constant)
    match expr:
        case VarRef(var=var):
            if var.storage is not Storage.SCALAR or var.element is None or var.element.kind is TypeKind.FLOAT:
                return None
            return _leaf(var.name, var.element)
        case ContainerSize(base=base):
            return f"perfcc_rt_from_unsigned({base.name}.size())"
        case Unary(op="-", operand=operand):
            inner = wide(operand)
            return None if inner is None else _typed(f"perfcc_rt_sub(0, {inner})", expr)
        case Unary(op="+", operand=operand):
            return wide(operand)
        case Binary(op=op, left=left, right=right) if op in _FUNCTIONS:
            a, b = wide(left), wide(right)
            return None if a is None or b is None else _typed(f"perfcc_rt_{_FUNCTIONS[op]}({a}, {b})", expr)
        case Cast(operand=operand):
            inner = wide(operand)
            own = type_of(operand)
            if inner is None or own is None or own.kind is TypeKind.FLOAT:
                return inner if own is None else None
            return _typed(inner, expr) if expr.type is not None and not _holds(expr.type, own) else inner
        case _:
            return None


def _constant(expr: Expr) -> int | None:
    """The value of a constant expression that stays within its types."""
    match expr:
        case IntConst(value=value):
            result = value
        case Unary(op="-" | "+" as op, operand=operand):
            inner = _constant(operand)
            if inner is None:
                return None
            result = -inner if op == "-" else inner
        case Cast(operand=operand):
            inner = _constant(operand)
            if inner is None:
                return None
            result = inner
        case Binary(op=op, left=left, right=right) if op in ("+", "-", "*", "min", "max"):
            a, b = _constant(left), _constant(right)
            if a is None or b is None:
                return None
            result = {"+": a + b, "-": a - b, "*": a * b, "min": min(a, b), "max": max(a, b)}[op]
        case _:
            return None
    type = expr.type
    if type is not None and not _within(result, type.bits, type.kind is TypeKind.SIGNED):
        return None
    return result if -_LIMIT <= result <= _LIMIT else None


def _within(value: int, bits: int, signed: bool) -> bool:
    return -(1 << (bits - 1)) <= value < 1 << (bits - 1) if signed else 0 <= value < 1 << bits


def _holds(outer: ScalarType, inner: ScalarType) -> bool:
    """True when every value of ``inner`` is one of ``outer``."""
    if inner.kind is TypeKind.BOOL:
        return outer.is_integer
    if outer.kind is inner.kind:
        return outer.bits >= inner.bits
    return outer.kind is TypeKind.SIGNED and inner.kind is TypeKind.UNSIGNED and outer.bits > inner.bits


def _leaf(name: str, type: ScalarType) -> str:
    if type.kind is TypeKind.UNSIGNED and type.bits >= 64:
        return f"perfcc_rt_from_unsigned({name})"
    return f"(perfcc_rt_wide)({name})"


def _literal(value: int) -> str:
    text = str(value) if abs(value) < 2**31 else f"{value}L"
    return text if value >= 0 else f"({text})"


def _typed(value: str, expr: Expr) -> str:
    """The value, unknown where the user's own type could not hold it."""
    type = expr.type
    return value if type is None or not type.is_integer else _fit(value, type.bits, type.kind is TypeKind.SIGNED)


def _fit(value: str, bits: int, signed: bool) -> str:
    number = _as_number(value)
    if number is not None:
        return value if _within(number, bits, signed) else "PERFCC_RT_UNKNOWN"
    return value if bits >= 64 and signed else f"perfcc_rt_fit({value}, {bits}, {int(signed)})"


def _as_number(value: str) -> int | None:
    digits = value.strip("()").removesuffix("L")
    return int(digits) if digits.removeprefix("-").isdigit() else None


def _known(value: str) -> str:
    if value == "PERFCC_RT_UNKNOWN":
        return "0"
    return "1" if _as_number(value) is not None else f"perfcc_rt_known({value})"


def _relation(relation: str, left: str, right: str) -> str:
    a, b = _as_number(left), _as_number(right)
    if a is not None and b is not None:
        return str(int({"<": a < b, "<=": a <= b, "==": a == b, "!=": a != b}[relation]))
    return f"perfcc_rt_{_RELATIONS[relation]}({left}, {right})"


def _range(var: Variable, extent: Expr | None, lowest: Expr | None) -> str | None:
    """The four arguments that describe a range to ``perfcc_rt_disjoint``."""
    if var.element is None or (var.element.kind is TypeKind.BOOL and var.storage is Storage.VECTOR):
        return None
    size = str(var.element.bits // 8)
    low = "0" if lowest is None else wide(lowest)
    count = None if extent is None else wide(extent)
    if low is None or (extent is not None and count is None):
        return None
    match var.storage:
        case Storage.POINTER:
            return None if count is None else f"perfcc_rt_at({var.name}), {low}, {count}, {size}"
        case Storage.ARRAY:
            if count is None:
                return f"perfcc_rt_at({var.name}), 0, 1, sizeof({var.name})" if var.dims and None not in var.dims else None
            return f"perfcc_rt_at({var.name}), {low}, {count}, {size}"
        case Storage.VECTOR:
            base = f"({var.name}.size() ? perfcc_rt_at(&{var.name}[0]) : 0)"
            return f"{base}, {low}, {count or f'perfcc_rt_from_unsigned({var.name}.size())'}, {size}"
        case Storage.SCALAR:
            return f"perfcc_rt_at(&{var.name}), 0, 1, {size}"
        case Storage.OTHER:
            return None

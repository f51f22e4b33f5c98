"""The value of an expression over a kernel's live-ins, and the interval it may lie in while the kernel runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
)
from perfcc.core.types import ScalarType, TypeKind

Number = int | float
Interval = tuple[Number, Number]


@dataclass(frozen=True, slots=True)
class Environment:
    """Values by Variable.id: ``scalars``, and the element counts of vectors in ``sizes``."""

    scalars: Mapping[str, Number] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)


def convert(value: Number, type: ScalarType | None) -> Number:
    """``value`` converted to ``type`` as C does; unchanged for no type."""
    if type is None:
        return value
    match type.kind:
        case TypeKind.FLOAT:
            return float(value)
        case TypeKind.BOOL:
            return int(value != 0)
        case _:
            if isinstance(value, float) and not math.isfinite(value):
                return 0
            whole = int(value) & ((1 << type.bits) - 1)
            signed = type.kind is TypeKind.SIGNED and whole >= 1 << (type.bits - 1)
            return whole - (1 << type.bits) if signed else whole


def evaluate(expr: Expr, env: Environment) -> Number | None:
    """The value of ``expr``, or None when it needs memory, a call or an unknown variable, or is undefined."""
    match expr:
        case IntConst(value=value):
            return value
        case FloatConst(text=text):
            return _float(text)
        case VarRef(var=var):
            return env.scalars.get(var.id)
        case ContainerSize(base=base):
            return env.sizes.get(base.id)
        case Cast(operand=operand, type=type):
            inner = evaluate(operand, env)
            return None if inner is None else convert(inner, type)
        case Unary(op=op, operand=operand):
            inner = evaluate(operand, env)
            return None if inner is None else _unary(op, inner)
        case Binary(op=op, left=left, right=right):
            a, b = evaluate(left, env), evaluate(right, env)
            return None if a is None or b is None else binary(op, a, b)
        case Conditional(condition=condition, then=then, other=other):
            chosen = evaluate(condition, env)
            return None if chosen is None else evaluate(then if chosen else other, env)
        case _:
            return None


def _float(text: str) -> float | None:
    try:
        return float.fromhex(text) if text.lower().startswith("0x") else float(text.rstrip("fFlL"))
    except ValueError:
        return None


def _unary(op: str, value: Number) -> Number | None:
    match op:
        case "-":
            return -value
        case "+":
            return value
        case "!":
            return int(not value)
        case "~" if isinstance(value, int):
            return ~value
        case _:
            return None


def binary(op: str, a: Number, b: Number) -> Number | None:
    """``a op b`` without bound on integers, C's division; None where it is undefined."""
    compare = _COMPARE.get(op)
    if compare is not None:
        return int(compare(a, b))
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%" if b == 0:
            return None
        case "/" if isinstance(a, float) or isinstance(b, float):
            return a / b
        case "/" if isinstance(a, int) and isinstance(b, int):
            return _divide(a, b)
        case "%" if isinstance(a, int) and isinstance(b, int):
            return a - b * _divide(a, b)
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
        case _ if isinstance(a, int) and isinstance(b, int):
            return _bits(op, a, b)
        case _:
            return None


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _bits(op: str, a: int, b: int) -> int | None:
    match op:
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "<<" if 0 <= b < 64:
            return a << b
        case ">>" if 0 <= b < 64:
            return a >> b
        case _:
            return None


_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}


@dataclass(slots=True)
class Ranges:
    """What is known of values while a kernel runs, by id: ``variables`` (loop variables and locals too), ``elements``, ``sizes``."""

    variables: dict[str, Interval] = field(default_factory=dict)
    elements: dict[str, Interval] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


def interval(expr: Expr, ranges: Ranges) -> Interval | None:
    """An interval that holds every value ``expr`` takes; None when unknown."""
    match expr:
        case IntConst(value=value):
            return (value, value)
        case FloatConst(text=text):
            number = _float(text)
            return None if number is None else (number, number)
        case VarRef(var=var):
            return ranges.variables.get(var.id)
        case ContainerSize(base=base):
            size = ranges.sizes.get(base.id)
            return None if size is None else (size, size)
        case Access(base=base):
            return ranges.elements.get(base.id)
        case Cast(operand=operand, type=type):
            return _cast(interval(operand, ranges), type)
        case Unary(op="-", operand=operand):
            inner = interval(operand, ranges)
            return None if inner is None else (-inner[1], -inner[0])
        case Unary(op="!"):
            return (0, 1)
        case Conditional(then=then, other=other):
            return union(interval(then, ranges), interval(other, ranges))
        case Binary(op=op, left=left, right=right):
            return _binary_interval(op, interval(left, ranges), interval(right, ranges))
        case Call(callee="abs" | "std::abs", arguments=(argument,)):
            inner = interval(argument, ranges)
            return None if inner is None else (0, max(abs(inner[0]), abs(inner[1])))
        case _:
            return None


def union(a: Interval | None, b: Interval | None) -> Interval | None:
    """The least interval around both; None when either is unknown."""
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def _cast(inner: Interval | None, type: ScalarType | None) -> Interval | None:
    if type is None:
        return inner
    if inner is None:
        return (0, (1 << type.bits) - 1) if type.kind is TypeKind.UNSIGNED and type.bits <= 16 else None
    if not type.is_integer:
        return inner
    low, high = int(inner[0]), int(inner[1])
    return (low, high) if convert(low, type) == low and convert(high, type) == high else None


def _binary_interval(op: str, a: Interval | None, b: Interval | None) -> Interval | None:
    if op in _COMPARE:
        return (0, 1)
    if op == "&":
        masks = [x[1] for x in (a, b) if x is not None and x[0] >= 0]
        return (0, min(masks)) if masks else None
    if op == "%" and b is not None and b[0] > 0:
        low = 0 if a is not None and a[0] >= 0 else 1 - b[1]
        return (low, b[1] - 1)
    if a is None or b is None:
        return None
    if op in ("/", "%", "<<", ">>") and b[0] <= 0 <= b[1] and op in ("/", "%"):
        return None
    if op in ("|", "^"):
        return (0, (1 << max(int(a[1]), int(b[1]), 1).bit_length()) - 1) if a[0] >= 0 and b[0] >= 0 else None
    corners = [binary(op, x, y) for x in a for y in b]
    known = [corner for corner in corners if corner is not None]
    return (min(known), max(known)) if len(known) == len(corners) else None

"""Values for scalars and arrays, by role and kind of input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from perfcc.core.types import ScalarType, TypeKind, Variable
from perfcc.verify.evaluate import Number
from perfcc.verify.roles import Roles

Array = numpy.ndarray[Any, Any]
_PATTERN = 262139


def dtype(type: ScalarType) -> numpy.dtype[Any]:
    """The numpy type of that size and kind."""
    letter = {TypeKind.SIGNED: "i", TypeKind.UNSIGNED: "u", TypeKind.FLOAT: "f", TypeKind.BOOL: "u"}[type.kind]
    return numpy.dtype(f"{letter}{type.bits // 8}")


def pack(type: ScalarType, values: Sequence[Number]) -> bytes:
    """The values as the machine stores them, wrapped to the type."""
    kind = dtype(type)
    if type.kind is TypeKind.FLOAT:
        return numpy.array(values, dtype=kind).tobytes()
    return numpy.array([int(v) & ((1 << type.bits) - 1) for v in values], dtype=f"u{kind.itemsize}").tobytes()


def scalar(v: Variable, kind: str, constants: Sequence[float], random: numpy.random.Generator) -> Number:
    """A value for a scalar that bounds nothing."""
    assert v.element is not None
    if v.element.kind is TypeKind.FLOAT:
        choices = {"zero": [0.0], "equal": [1.0], "special": [numpy.inf, -0.0, 1e-310, 2.0], "integers": [-2.0, 3.0, 1.0]}
        near = [c + d for c in constants for d in (-1.0, 0.0, 1.0)] or [0.5]
        pool = near if kind == "thresholds" else choices.get(kind) or [float(random.uniform(-2, 2)), float(random.uniform(0, 4))]
        return float(pool[int(random.integers(len(pool)))])
    if v.element.kind is TypeKind.BOOL:
        return int(random.integers(2))
    low = 0 if v.element.kind is TypeKind.UNSIGNED else -9
    if kind == "zero":
        return 0
    if kind == "equal":
        return 1
    if kind == "thresholds" and constants:
        return max(low, int(constants[int(random.integers(len(constants)))]) + int(random.integers(-1, 2)))
    return int(random.integers(low, 10))


def fill(v: Variable, count: int, limits: tuple[int, int] | None, kind: str, roles: Roles, random: numpy.random.Generator) -> bytes:
    """``count`` elements for an array. ``limits`` bound the values of an index or row array."""
    type = v.element
    assert type is not None
    if limits is not None and type.is_integer:
        made = _rows(count, limits, kind, random) if v.id in roles.rows else _indexes(count, limits, kind, random)
        return made.astype(dtype(type)).tobytes()
    if count > _PATTERN and limits is None:
        return _repeated(fill(v, _PATTERN, None, kind, roles, random), count)
    if type.kind is TypeKind.FLOAT:
        with numpy.errstate(over="ignore"):
            return _floats(count, kind, roles.constants, random).astype(dtype(type)).tobytes()
    if type.kind is TypeKind.BOOL:
        return random.integers(0, 2, count).astype(dtype(type)).tobytes()
    return _integers(count, type, kind, roles.constants, random).astype(dtype(type)).tobytes()


def _repeated(pattern: bytes, count: int) -> bytes:
    """``count`` elements from those of a pattern that is too long for a branch predictor to learn."""
    size = len(pattern) // _PATTERN
    return (pattern * (count // _PATTERN + 1))[: count * size]


def _rows(count: int, limits: tuple[int, int], kind: str, random: numpy.random.Generator) -> Array:
    """Never falling, from the least to the greatest, with empty rows, equal neighbours and one row that holds much."""
    low, high = limits
    if count == 0:
        return numpy.zeros(0, dtype=numpy.int64)
    made = numpy.sort(random.integers(low, high + 1, count))
    if count > 4 and kind != "random":
        made[count // 3 : count // 2] = made[count // 3]
    made[0], made[-1] = low, high if count > 1 else low
    return made


def _indexes(count: int, limits: tuple[int, int], kind: str, random: numpy.random.Generator) -> Array:
    """In range, both ends included, always with duplicates."""
    low, high = limits
    made = random.integers(low, high + 1, count)
    if kind == "equal":
        made[:] = high
    if kind == "zero":
        made[:] = low
    if count > 2:
        made[1], made[2] = high, high
    return made


def _integers(count: int, type: ScalarType, kind: str, constants: Sequence[float], random: numpy.random.Generator) -> Array:
    signed = type.kind is TypeKind.SIGNED
    low, high = (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if signed else (0, (1 << min(type.bits, 63)) - 1)
    match kind:
        case "zero":
            return numpy.zeros(count, dtype=numpy.int64)
        case "equal":
            return numpy.ones(count, dtype=numpy.int64)
        case "wide":
            return random.integers(max(low, -(1 << 40)) // 2, min(high, 1 << 40) // 2, count, endpoint=True)
        case "special":
            pool = numpy.array([low, high, 0, 1, high - 1, low + 1], dtype=numpy.int64)
            return pool[random.integers(0, len(pool), count)]
        case "thresholds" if constants:
            near = [int(c) + d for c in constants for d in (-1, 0, 1) if low <= int(c) + d <= high] or [0]
            return numpy.array(near, dtype=numpy.int64)[random.integers(0, len(near), count)]
        case _:
            return random.integers(max(low, -9), min(high, 9), count, endpoint=True)


def _floats(count: int, kind: str, constants: Sequence[float], random: numpy.random.Generator) -> Array:
    match kind:
        case "zero":
            return numpy.zeros(count)
        case "equal":
            return numpy.ones(count)
        case "integers":
            return random.integers(-8, 9, count).astype(float)
        case "wide":
            return random.standard_normal(count) * 10.0 ** random.integers(-12, 13, count)
        case "thresholds" if constants:
            near = numpy.array([c + d for c in constants for d in (-1.0, -1e-9, 0.0, 1e-9, 1.0)])
            return near[random.integers(0, len(near), count)]
        case "special":
            return _special(count, random)
        case _:
            return random.uniform(-1.0, 1.0, count)


def _special(count: int, random: numpy.random.Generator) -> Array:
    """Infinities, signed zeros, denormals and the machine's own NaN, the one it makes of an invalid operation.

    No operation makes another NaN of that, so that the operands' order, which compilers are free to choose, doesn't show.
    """
    with numpy.errstate(invalid="ignore"):
        own = numpy.subtract(numpy.array([numpy.inf]), numpy.array([numpy.inf]))[0]
    pool = numpy.array([own, numpy.inf, -numpy.inf, 0.0, -0.0, 5e-324, -2.5e-310, 1.0, -1.5, 1.7e308])
    odds = numpy.array([0.04, 0.04, 0.04, 0.1, 0.1, 0.1, 0.1, 0.24, 0.2, 0.04])
    return pool[random.choice(len(pool), count, p=odds / odds.sum())]

"""Arrays of variable length (C99), and pointers to them: memory addressed by elements, with extents that the type computed once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from perfcc.core.ir import Binary, Cast, Expr, IntConst, VarRef, expressions
from perfcc.core.types import ScalarType, Storage, TypeKind
from perfcc.frontend import kinds as k
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.scalars import Shape
from perfcc.frontend.tree import Node
from perfcc.frontend.unit import Unit

_ARRAYS = (k.T_CONSTANT_ARRAY, k.T_INCOMPLETE_ARRAY, k.T_VARIABLE_ARRAY)
_SUFFIX = {"unsigned int": "u", "long": "l", "unsigned long": "ul", "long long": "ll", "unsigned long long": "ull"}


@dataclass(frozen=True, slots=True)
class Lengths:
    """``shape`` as that of a pointer to scalars; ``inner`` are the extents of all dimensions but the first, outermost first."""

    shape: Shape
    inner: tuple[Node, ...]


def lengths(unit: Unit, declaration: Cursor) -> Lengths | None:
    """What a variable of such a type points to; None for any other type, and where the declaration doesn't show the extents."""
    ast, lib = unit.ast, unit.ast.lib
    type = ast.canonical_type(ast.type(declaration))
    restrict = bool(lib.clang_isRestrictQualifiedType(type))
    dimensions: list[int] = []
    if type.kind == k.T_POINTER:
        type = ast.canonical_type(lib.clang_getPointeeType(type))
        dimensions.append(k.T_POINTER)
    volatile = False
    while type.kind in _ARRAYS:
        dimensions.append(type.kind)
        volatile = volatile or bool(lib.clang_isVolatileQualifiedType(type))
        type = ast.canonical_type(lib.clang_getArrayElementType(type))
    if k.T_VARIABLE_ARRAY not in dimensions:
        return None
    shape = unit.types.shape(type)
    if shape.storage is not Storage.SCALAR:
        return None
    shape = replace(shape, storage=Storage.POINTER, is_restrict=restrict, is_volatile=volatile or shape.is_volatile)
    first = ast.initialiser(declaration)
    written = [Node(ast, child, None) for child in ast.children(declaration) if k.UNEXPOSED_EXPR <= child.kind <= k.LAST_EXPR]
    written = [node for node in written if first is None or ast.extent(first) != (node.begin, node.end)]
    written.reverse()  # libclang visits the innermost extent first
    if len(written) != sum(kind in (k.T_CONSTANT_ARRAY, k.T_VARIABLE_ARRAY) for kind in dimensions):
        return None  # a typedef, or [*]
    inner = written if dimensions[0] in (k.T_POINTER, k.T_INCOMPLETE_ARRAY) else written[1:]
    return Lengths(shape, tuple(inner))


def text(extent: Expr) -> str | None:
    """An extent as C text; None for anything but variables, constants, and sums and products of them."""
    match extent:
        case IntConst(value=value, type=type) if value >= 0 and type is not None:
            return f"{value}{_SUFFIX.get(type.spelling, '')}"
        case VarRef(var=var) if var.element is not None and var.element.is_integer:
            return var.name
        case Cast(operand=operand, type=type) if type is not None and type.is_integer:
            inner = text(operand)
            return None if inner is None else f"({type.spelling}){inner}"
        case Binary(op="+" | "-" | "*" as op, left=left, right=right):
            a, b = text(left), text(right)
            return None if a is None or b is None else f"({a} {op} {b})"
        case _:
            return None


def flattened(subscripts: tuple[Expr, ...], inner: tuple[Expr, ...], long: ScalarType) -> Expr:
    """The distance in elements that the subscripts stand for, computed as the language computes addresses."""
    assert len(subscripts) == len(inner) + 1
    assert long.kind is TypeKind.SIGNED

    def wide(expr: Expr) -> Expr:
        if isinstance(expr, IntConst) and expr.value < 1 << 63:
            return replace(expr, type=long)
        return expr if expr.type == long else Cast(expr, long)

    total = subscripts[0]
    for extent, subscript in zip(inner, subscripts[1:], strict=True):
        total = Binary("+", Binary("*", wide(total), wide(extent), long), wide(subscript), long)
    return total


def variables(extents: tuple[Expr, ...]) -> tuple[VarRef, ...]:
    """The variables that the extents are made of."""
    return tuple(expr for top in extents for expr in expressions(top) if isinstance(expr, VarRef))

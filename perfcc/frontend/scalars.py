"""From libclang's types to perfcc's scalar types and ways of holding elements."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from perfcc.core.types import ScalarType, Storage, TypeKind
from perfcc.frontend import kinds as k
from perfcc.frontend.libclang import Ast, Cursor, Type

_SCALARS = {
    3: ("bool", TypeKind.BOOL),
    4: ("char", TypeKind.UNSIGNED),
    5: ("unsigned char", TypeKind.UNSIGNED),
    8: ("unsigned short", TypeKind.UNSIGNED),
    9: ("unsigned int", TypeKind.UNSIGNED),
    10: ("unsigned long", TypeKind.UNSIGNED),
    11: ("unsigned long long", TypeKind.UNSIGNED),
    13: ("char", TypeKind.SIGNED),
    14: ("signed char", TypeKind.SIGNED),
    16: ("short", TypeKind.SIGNED),
    17: ("int", TypeKind.SIGNED),
    18: ("long", TypeKind.SIGNED),
    19: ("long long", TypeKind.SIGNED),
    21: ("float", TypeKind.FLOAT),
    22: ("double", TypeKind.FLOAT),
    23: ("long double", TypeKind.FLOAT),
}


@lru_cache(maxsize=64)
def _scalar(kind: int, bits: int) -> ScalarType:
    spelling, family = _SCALARS[kind]
    return ScalarType(spelling, family, bits)


@dataclass(frozen=True, slots=True)
class Shape:
    """How an object of some type holds scalars; ``why`` names the obstacle when ``storage`` is OTHER.

    ``dims`` are an ARRAY's extents; for a pointer to an array ``(None, extents...)``, one entry a subscript.
    """

    storage: Storage
    element: ScalarType | None = None
    dims: tuple[int | None, ...] = ()
    is_reference: bool = False
    is_const: bool = False
    is_restrict: bool = False
    is_volatile: bool = False
    is_atomic: bool = False
    why: str = ""


class Types:
    """Classifies the types of one unit in that language: C spells ``bool`` as ``_Bool``, which needs no header."""

    def __init__(self, ast: Ast, language: str) -> None:
        self._ast = ast
        self._bool = "_Bool" if language == "c" else "bool"
        self._lib = ast.lib

    def scalar(self, type: Type) -> ScalarType | None:
        """The arithmetic or enumeration type, qualifiers dropped; ``None`` for anything else."""
        type = self._ast.canonical_type(type)
        if type.kind == k.T_ENUM:
            declared = self._lib.clang_getTypeDeclaration(type)
            type = self._ast.canonical_type(self._lib.clang_getEnumDeclIntegerType(declared))
        if type.kind not in _SCALARS:
            return None
        if type.kind == k.T_BOOL:
            return ScalarType(self._bool, TypeKind.BOOL, 8)
        return _scalar(type.kind, 8 * self._lib.clang_Type_getSizeOf(type))

    def is_enum(self, type: Type) -> bool:
        return self._ast.canonical_type(type).kind == k.T_ENUM

    def is_pointer(self, type: Type) -> bool:
        return self._ast.canonical_type(type).kind == k.T_POINTER

    def is_address(self, type: Type) -> bool:
        """A pointer, or an array that decays to one."""
        return self._ast.canonical_type(type).kind in (k.T_POINTER, k.T_CONSTANT_ARRAY, k.T_INCOMPLETE_ARRAY, k.T_VARIABLE_ARRAY)

    def is_const(self, type: Type) -> bool:
        return bool(self._lib.clang_isConstQualifiedType(self._ast.canonical_type(type)))

    def canonical(self, type: Type) -> str:
        spelling = self._ast.type_spelling(self._ast.canonical_type(type))
        return re.sub(r"\bbool\b", self._bool, spelling)  # where <stdbool.h> was read, libclang has its macro's name

    def spelling(self, type: Type, shape: Shape) -> str:
        """The canonical spelling of a variable's type; a parameter written as an array is spelled as the pointer it is."""
        if shape.storage is not Storage.POINTER or shape.element is None or self.is_pointer(type) or shape.is_reference:
            return self.canonical(type)
        const = "const " if shape.is_const else ""
        extents = "".join(f"[{n}]" for n in shape.dims[1:])
        return f"{const}{shape.element.spelling} {'(*)' + extents if extents else '*'}"

    def unqualified(self, type: Type) -> str:
        """The canonical spelling without top-level qualifiers."""
        return self._ast.type_spelling(self._lib.clang_getUnqualifiedType(self._ast.canonical_type(type)))

    def shape(self, type: Type) -> Shape:
        """How an object of this type can be modelled."""
        lib, canonical = self._lib, self._ast.canonical_type
        type = canonical(type)
        reference = type.kind in (k.T_LVALUE_REFERENCE, k.T_RVALUE_REFERENCE)
        if reference:
            type = canonical(lib.clang_getPointeeType(type))
        restrict = bool(lib.clang_isRestrictQualifiedType(type)) and not reference
        const = bool(lib.clang_isConstQualifiedType(type))
        volatile = bool(lib.clang_isVolatileQualifiedType(type))

        def made(storage: Storage, element: Type | None, dims: tuple[int | None, ...], is_const: bool, why: str = "") -> Shape:
            scalar = self.scalar(element) if element is not None else None
            inner_volatile = element is not None and bool(lib.clang_isVolatileQualifiedType(canonical(element)))
            return Shape(
                storage if scalar else Storage.OTHER,
                scalar,
                dims,
                reference,
                is_const,
                restrict,
                volatile or inner_volatile,
                self._atomic(type) or (element is not None and self._atomic(element)),
                why if scalar is None else "",
            )

        spelling = self._ast.type_spelling(type)
        if self.scalar(type) is not None:
            return made(Storage.SCALAR, type, (), const)
        if type.kind == k.T_POINTER:
            pointee = canonical(lib.clang_getPointeeType(type))
            if pointee.kind == k.T_CONSTANT_ARRAY:
                element, dims = self._array(pointee)  # qualifiers stand on the array or on its elements
                volatile = bool(lib.clang_isVolatileQualifiedType(pointee))
                return made(
                    Storage.POINTER, element, (None, *dims), self.is_const(pointee) or self.is_const(element), f"pointer to {spelling}"
                )
            why = "pointer to pointer" if pointee.kind == k.T_POINTER else spelling
            return made(Storage.POINTER, pointee, (), self.is_const(pointee), why)
        if type.kind in (k.T_CONSTANT_ARRAY, k.T_INCOMPLETE_ARRAY):
            element, dims = self._array(type)
            return made(Storage.ARRAY, element, dims, const or self.is_const(element), f"array of {self._ast.type_spelling(element)}")
        vector = self._vector_element(type, spelling)
        if vector is not None:
            if canonical(vector).kind == k.T_BOOL:
                return made(Storage.OTHER, None, (), const, "std::vector<bool>")
            return made(Storage.VECTOR, vector, (), const, spelling)
        return made(Storage.OTHER, None, (), const, spelling)

    def shape_of(self, declaration: Cursor) -> Shape:
        """The shape of a declared variable.

        libclang gives a parameter's type as written, ``double a[10]``, where the language has a pointer.
        """
        shape = self.shape(self._ast.type(declaration))
        if declaration.kind == k.PARM_DECL and shape.storage is Storage.ARRAY and not shape.is_reference:
            inner = shape.dims[1:]
            return replace(shape, storage=Storage.POINTER, dims=(None, *inner) if inner else ())
        return shape

    def is_atomic(self, type: Type) -> bool:
        return self._atomic(self._ast.canonical_type(type))

    def _atomic(self, type: Type) -> bool:
        type = self._ast.canonical_type(type)
        if type.kind == k.T_ATOMIC:
            return True
        return type.kind == k.T_RECORD and self._ast.type_spelling(type).removeprefix("const ").startswith("std::atomic")

    def _array(self, type: Type) -> tuple[Type, tuple[int | None, ...]]:
        lib, dims = self._lib, []
        while type.kind in (k.T_CONSTANT_ARRAY, k.T_INCOMPLETE_ARRAY):
            dims.append(int(lib.clang_getArraySize(type)) if type.kind == k.T_CONSTANT_ARRAY else None)
            type = self._ast.canonical_type(lib.clang_getArrayElementType(type))
        return type, tuple(dims)

    def _vector_element(self, type: Type, spelling: str) -> Type | None:
        """``T`` of ``std::vector<T>`` with the standard allocator."""
        name = spelling.removeprefix("const ")
        if type.kind != k.T_RECORD or not name.startswith("std::vector<"):
            return None
        if not self._ast.in_system_header(self._lib.clang_getTypeDeclaration(type)):
            return None  # a specialisation of the program's own
        element: Type = self._lib.clang_Type_getTemplateArgumentAsType(type, 0)
        text = self._ast.type_spelling(element)
        return element if name in (f"std::vector<{text}>", f"std::vector<{text}, std::allocator<{text}>>") else None

"""Scalar types and variables, as far as the analyses and the codelets need them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from perfcc.core.span import Span


class TypeKind(Enum):
    """What arithmetic a scalar type obeys."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    BOOL = "bool"


@dataclass(frozen=True, slots=True)
class ScalarType:
    """An arithmetic type. ``spelling`` is canonical C (``unsigned int``), ``bits`` its storage size."""

    spelling: str
    kind: TypeKind
    bits: int

    @property
    def is_integer(self) -> bool:
        return self.kind in (TypeKind.SIGNED, TypeKind.UNSIGNED)

    @property
    def aliases_anything(self) -> bool:
        """Character types may alias every object ([basic.lval]/11, C11 6.5/7)."""
        return self.spelling in ("char", "signed char", "unsigned char", "std::byte")


class Storage(Enum):
    """How a variable holds its elements."""

    SCALAR = "scalar"  # one arithmetic or enum object
    POINTER = "pointer"  # T* to arithmetic elements
    ARRAY = "array"  # T[N]..., extents in Variable.dims
    VECTOR = "vector"  # std::vector<T>
    OTHER = "other"  # anything the first form can't exercise: structs, maps, nested vectors, ...


class Scope(Enum):
    """Where a variable lives; decides who else can reach it."""

    LOCAL = "local"
    PARAMETER = "parameter"
    GLOBAL = "global"  # namespace scope, file static included
    STATIC_LOCAL = "static-local"
    MEMBER = "member"  # reached through an implicit or explicit `this`


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that a kernel mentions.

    ``id`` is unique within the kernel (name and declaration offset). ``name`` is the spelling in the kernel's text.
    ``element`` is the scalar itself for SCALAR and the element type for the rest, ``None`` for OTHER.
    ``dims`` holds the extents of an ARRAY, outermost first; ``None`` stands for an unknown extent. A POINTER to an array
    (``double (*a)[100]``) has ``(None, 100)``: one entry a subscript; a plain POINTER has none.
    ``extents``: a POINTER to arrays of variable length (``double (*a)[m]``, or such an array itself) has the C text of their extents
    here, and its accesses have one subscript, which counts elements.
    """

    id: str
    name: str
    type_spelling: str
    storage: Storage
    element: ScalarType | None
    scope: Scope
    is_reference: bool = False
    is_const: bool = False
    is_restrict: bool = False
    is_volatile: bool = False
    is_atomic: bool = False
    is_thread_local: bool = False
    address_taken: bool = False
    declared_in_kernel: bool = False
    dims: tuple[int | None, ...] = ()
    extents: tuple[str, ...] = ()
    span: Span | None = None

"""The variables a kernel mentions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from perfcc.core.ir import Expr
from perfcc.core.span import Span
from perfcc.core.types import Scope, Storage, Variable
from perfcc.frontend import attributes
from perfcc.frontend import kinds as k
from perfcc.frontend.lengths import lengths, text
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.scalars import Shape
from perfcc.frontend.tree import Node
from perfcc.frontend.unit import Unit
from perfcc.frontend.uses import Uses

STATIC = 3


class Variables:
    """Makes each Variable once. ``begin`` and ``end`` bound the kernel; ``uses`` are those of the function that holds it.

    ``extents`` are those of the arrays of variable length, by the variable's id; ``measure`` makes them from what the declaration says.
    """

    def __init__(self, unit: Unit, uses: Uses, begin: int, end: int) -> None:
        self._unit = unit
        self._uses = uses
        self._begin = begin
        self._end = end
        self._made: dict[int, Variable] = {}
        self.declarations: dict[str, Cursor] = {}
        self.extents: dict[str, tuple[Expr, ...]] = {}
        self.measure: Callable[[Sequence[Node], Node], tuple[Expr, ...]] | None = None

    @property
    def all(self) -> tuple[Variable, ...]:
        return tuple(self._made.values())

    def key_of(self, variable: Variable) -> int:
        return self._unit.ast.key(self.declarations[variable.id])

    def get(self, declaration: Cursor, node: Node) -> Variable:
        """The variable that ``node`` refers to (or declares). Raises Refused for what must not be touched."""
        ast = self._unit.ast
        key = ast.key(declaration)
        known = self._made.get(key)
        if known is None:
            known = self._make(declaration, node, key)
            self._made[key] = known
            self.declarations[known.id] = declaration
        return known

    def _make(self, declaration: Cursor, node: Node, key: int) -> Variable:
        unit, ast = self._unit, self._unit.ast
        name = ast.spelling(declaration)
        type = ast.type(declaration)
        shape = unit.types.shape_of(declaration)
        begin, end = ast.extent(declaration)
        here = ast.file_of(declaration) == unit.path
        inside = here and self._begin <= begin < self._end
        extents: tuple[Expr, ...] = ()
        variable = lengths(unit, declaration) if shape.storage is Storage.OTHER and not inside and self.measure is not None else None
        if variable is not None and self.measure is not None:
            shape = variable.shape
            extents = self.measure(variable.inner, node)
        thread_local = ast.lib.clang_getCursorTLSKind(declaration) != 0
        self._check(shape, thread_local, node, name)
        self._check_attributes(declaration, node, name)
        if declaration.kind == k.FIELD_DECL:
            self._check_field(declaration, node, name)
        scope = self._scope(declaration)
        shared = scope in (Scope.GLOBAL, Scope.MEMBER)
        id = f"{name}@{begin - self._begin}" if inside else name
        while id in self.declarations:
            id += "'"
        texts = tuple(text(extent) or "" for extent in extents)
        self.extents[id] = extents
        return Variable(
            id=id,
            name=name,
            type_spelling=unit.types.spelling(type, shape) if variable is None else _spelling(shape, texts),
            storage=shape.storage,
            element=shape.element,
            scope=scope,
            is_reference=shape.is_reference or key in self._uses.captured,
            is_const=shape.is_const or (scope is Scope.MEMBER and self._uses.const_method),
            is_restrict=shape.is_restrict,
            address_taken=shared or key in self._uses.escaped,
            declared_in_kernel=inside,
            dims=shape.dims,
            extents=texts,
            span=self._span(begin, end) if here else None,
        )

    def _span(self, begin: int, end: int) -> Span:
        return self._unit.source.span(begin, max(end, begin + 1))

    def _check(self, shape: Shape, thread_local: bool, node: Node, name: str) -> None:
        refuse = self._unit.refuse
        if shape.is_atomic:
            raise refuse("atomic-access", node, name)
        if shape.is_volatile:
            raise refuse("volatile-access", node, name)
        if thread_local:
            raise refuse("thread-local-access", node, name)
        if shape.storage is Storage.OTHER:
            raise refuse("unmodelled-type", node, f"{name} is {shape.why}")

    def _check_attributes(self, declaration: Cursor, node: Node, name: str) -> None:
        """An object that may go by another name or another type too."""
        unit = self._unit
        attribute = attributes.elsewhere(unit, declaration) if declaration.kind == k.VAR_DECL else ""
        owner = unit.ast.parent(declaration) if declaration.kind == k.FIELD_DECL else None
        given = attributes.words(unit, owner) if owner is not None else set()
        if "may_alias" in given or attributes.aliases_anything(unit, unit.ast.type(declaration)):
            attribute = "may_alias"
        if attribute:
            raise unit.refuse("unmodelled-type", node, f"{name} has the attribute {attribute}")

    def _check_field(self, declaration: Cursor, node: Node, name: str) -> None:
        """Bit-fields share memory with their neighbours, and members of unions with each other."""
        ast = self._unit.ast
        if ast.lib.clang_Cursor_isBitField(declaration):
            raise self._unit.refuse("unmodelled-type", node, f"bit-field {name}")
        parent = ast.parent(declaration)
        while parent is not None and parent.kind in k.RECORDS:
            if parent.kind == k.UNION_DECL:
                raise self._unit.refuse("unmodelled-type", node, f"{name} is a member of a union")
            parent = ast.parent(parent)

    def _scope(self, declaration: Cursor) -> Scope:
        ast = self._unit.ast
        if declaration.kind == k.PARM_DECL:
            return Scope.PARAMETER
        if declaration.kind == k.FIELD_DECL:
            return Scope.MEMBER
        parent = ast.parent(declaration)
        local = parent is not None and (parent.kind in k.FUNCTIONS or parent.kind == k.FUNCTION_TEMPLATE)
        if not local:
            return Scope.GLOBAL
        storage = ast.lib.clang_Cursor_getStorageClass(declaration)
        if storage == 2:  # a local `extern`
            return Scope.GLOBAL
        return Scope.STATIC_LOCAL if storage == STATIC else Scope.LOCAL


def _spelling(shape: Shape, extents: tuple[str, ...]) -> str:
    assert shape.element is not None
    rows = "".join(f"[{extent}]" for extent in extents)
    return f"{'const ' if shape.is_const else ''}{shape.element.spelling} {'(*)' + rows if rows else '*'}"

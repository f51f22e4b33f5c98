"""Functions of the unit whose bodies are seen: pure ones may run on any thread, in any order."""

from __future__ import annotations

from perfcc.core.kernel import CallEffect
from perfcc.core.types import Storage
from perfcc.frontend import attributes, library
from perfcc.frontend import kinds as k
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.tree import Node
from perfcc.frontend.unit import Unit

MAX_NODES = 4000
_ALLOWED = frozenset(
    {
        k.UNEXPOSED_EXPR, k.MEMBER_REF, k.TYPE_REF, k.NAMESPACE_REF, k.INTEGER_LITERAL, k.FLOATING_LITERAL, k.CHARACTER_LITERAL,
        k.BOOL_LITERAL, k.PAREN_EXPR, k.ARRAY_SUBSCRIPT_EXPR, k.BINARY_OPERATOR, k.COMPOUND_ASSIGNMENT, k.CONDITIONAL_OPERATOR,
        k.CSTYLE_CAST, k.STATIC_CAST, k.FUNCTIONAL_CAST, k.INIT_LIST_EXPR, k.COMPOUND_STMT, k.IF_STMT, k.SWITCH_STMT, k.CASE_STMT,
        k.DEFAULT_STMT, k.FOR_STMT, k.CONTINUE_STMT, k.BREAK_STMT, k.RETURN_STMT, k.NULL_STMT, k.DECL_STMT, k.PARM_DECL,
    }
)  # fmt: skip


class Impure(Exception):
    """A function is not pure, or that can't be told; ``reason`` is a Reason id."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


class Purity:
    """Remembers what it found for each function of the unit."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._ast = unit.ast
        self._known: dict[int, CallEffect | Impure] = {}
        self._running: set[int] = set()
        self.bodies: dict[int, Node] = {}
        self.callees: dict[int, list[Cursor]] = {}

    def effect(self, callee: Cursor) -> CallEffect:
        """The effect of calling ``callee``. Raises Impure unless it is pure."""
        key = self._ast.key(callee)
        if key in self._running:
            raise Impure("unknown-effects", "it is recursive")
        if key not in self._known:
            self._running.add(key)
            try:
                self._known[key] = self._look(callee, key)
            except Impure as impure:
                self._known[key] = impure
            finally:
                self._running.discard(key)
        found = self._known[key]
        if isinstance(found, Impure):
            raise Impure(found.reason, found.detail)
        return found

    def _look(self, callee: Cursor, key: int) -> CallEffect:
        ast = self._ast
        name = ast.spelling(callee)
        definition = ast.definition(callee)
        if definition is None:
            raise Impure("unknown-call")
        if definition.kind not in (k.FUNCTION_DECL, k.CXX_METHOD) or ast.template_of(callee) is not None:
            raise Impure("unknown-effects", "a template")
        attribute = attributes.replaceable(self._unit, definition)
        if attribute:
            raise Impure("unknown-effects", f"it has the attribute {attribute}")
        body = Node(ast, definition, None)
        errno: dict[str, None] = {}
        callees: list[Cursor] = []
        for count, node in enumerate(body.walk()):
            if count > MAX_NODES:
                raise Impure("unknown-effects", "too large to look through")
            if count:
                self._check(node, definition, errno, callees)
        self.bodies[key] = body
        self.callees[key] = callees
        return CallEffect(name, True, tuple(errno), definition=self._text(definition, name, key))

    def _check(self, node: Node, function: Cursor, errno: dict[str, None], callees: list[Cursor]) -> None:
        ast, kind = self._ast, node.kind
        if kind in (k.DECL_REF_EXPR, k.MEMBER_REF_EXPR):
            self._reference(node, function)
        elif kind == k.CALL_EXPR:
            self._call(node, errno, callees)
        elif kind in (k.VAR_DECL, k.PARM_DECL):
            self._variable(node)
        elif kind == k.UNARY_OPERATOR:
            if ast.lib.clang_getCursorUnaryOperatorKind(node.cursor) in (k.ADDRESS_OF, k.DEREFERENCE):
                raise Impure("unknown-effects", "it uses pointers")
        elif kind == k.THROW_EXPR:
            raise Impure("may-throw", "it throws")
        elif kind in (k.NEW_EXPR, k.DELETE_EXPR):
            raise Impure("allocation-in-loop", "it allocates")
        elif kind == k.ASM_STMT:
            raise Impure("inline-assembly", "")
        elif kind in (k.WHILE_STMT, k.DO_STMT):
            raise Impure("unknown-effects", "it holds a loop that is not counted")
        elif kind not in _ALLOWED and not 400 <= kind < 500:
            raise Impure("unknown-effects", "it holds a construct perfcc has no model for")

    def _variable(self, node: Node) -> None:
        ast = self._ast
        shape = self._unit.types.shape(ast.type(node.cursor))
        if shape.is_volatile or shape.is_atomic:
            raise Impure("volatile-access" if shape.is_volatile else "atomic-access")
        if node.kind == k.VAR_DECL and ast.lib.clang_Cursor_getStorageClass(node.cursor) not in (1, 5, 6, 7):
            raise Impure("unknown-effects", "it has static variables")
        scalar = shape.storage is Storage.SCALAR and not (shape.is_reference and not shape.is_const)
        array = shape.storage is Storage.ARRAY and node.kind == k.VAR_DECL and not shape.is_reference and None not in shape.dims
        if not scalar and not array:
            raise Impure("unknown-effects", "it takes pointers or objects")

    def _reference(self, node: Node, function: Cursor) -> None:
        ast = self._ast
        declared = ast.referenced(node.cursor)
        if declared is None:
            raise Impure("unknown-effects")
        if declared.kind in (*k.FUNCTIONS, k.ENUM_CONSTANT_DECL):
            return
        if declared.kind == k.PARM_DECL:
            return
        if declared.kind == k.VAR_DECL:
            parent = ast.parent(declared)
            if parent is not None and ast.key(parent) == ast.key(function):
                return
            constant = self._unit.types.is_const(ast.type(declared)) and ast.evaluate(ast.definition(declared) or declared) is not None
            if constant and not attributes.elsewhere(self._unit, declared):
                return
            raise Impure("unknown-effects", f"it uses {ast.spelling(declared)}")
        raise Impure("unknown-effects", f"it uses {ast.spelling(declared)}")

    def _call(self, node: Node, errno: dict[str, None], callees: list[Cursor]) -> None:
        from perfcc.frontend.calls import call_refusal, is_library

        callee = self._ast.referenced(node.cursor)
        stopped = call_refusal(self._unit, node, callee)
        if stopped is not None:
            raise Impure(stopped.reason.id, stopped.reason.detail)
        assert callee is not None
        if is_library(self._unit, callee):
            found = library.effect(self._ast.spelling(callee), self._unit.language)
            if found is None:
                raise Impure("unknown-call", self._ast.spelling(callee))
        else:
            found = self.effect(callee)
            callees.append(callee)
        errno.update(dict.fromkeys(found.errno_values))

    def _text(self, definition: Cursor, name: str, key: int) -> str:
        ast = self._ast
        place = ast.place(definition)
        begin, end = ast.extent(definition)
        text = self._unit.whole.text_of(place.file or "")[begin:end].decode("utf-8", "surrogateescape") if place.file else ""
        if not text.endswith("}") or name not in text or "#" in text:
            raise Impure("macro-in-kernel", "its definition comes out of a macro or holds directives")
        return text

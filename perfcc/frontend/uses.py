"""How a function uses its variables: whose address may be known to others, and where each is mentioned."""

from __future__ import annotations

from perfcc.core.types import Storage
from perfcc.frontend import kinds as k
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.scalars import Types
from perfcc.frontend.tree import Node

_SIZE_METHODS = frozenset(
    {"size", "empty", "capacity", "push_back", "resize", "clear", "reserve", "assign", "pop_back", "shrink_to_fit", "max_size"}
)


class Uses:
    """Facts about one function body. ``mentions`` are the nodes that name a variable, by its declaration's key, in source order.

    ``escaped``: variables used in any way but reading, writing, subscripting and the size methods of vectors, so that a pointer or
    reference to them may exist. ``captured``: variables that some lambda captures. ``jumps``: the function has labels.
    """

    def __init__(self, body: Node, types: Types) -> None:
        self.body = body
        self._types = types
        self.mentions: dict[int, list[Node]] = {}
        self.escaped: set[int] = set()
        self.captured: set[int] = set()
        self.has_labels = False
        self.const_method = bool(body.kind in (k.CXX_METHOD, k.FUNCTION_TEMPLATE) and body.ast.lib.clang_CXXMethod_isConst(body.cursor))
        ast = body.ast
        for node in body.walk():
            if node.kind in (k.DECL_REF_EXPR, k.VARIABLE_REF, k.MEMBER_REF_EXPR):
                declared = ast.referenced(node.cursor)
                if declared is None or declared.kind not in (k.VAR_DECL, k.PARM_DECL, k.FIELD_DECL):
                    continue
                self._mention(node, declared)
            elif node.kind in (k.LABEL_STMT, k.GOTO_STMT, k.INDIRECT_GOTO_STMT):
                self.has_labels = True
        for nodes in self.mentions.values():
            nodes.sort(key=lambda node: node.begin)

    def escape(self, names: set[str]) -> None:
        """Variables of these names may be used in ways that the tree does not show."""
        self.escaped |= {key for key, nodes in self.mentions.items() if nodes[0].spelling in names}

    def _mention(self, node: Node, declared: Cursor) -> None:
        key = node.ast.key(declared)
        self.mentions.setdefault(key, []).append(node)
        if any(above.kind == k.LAMBDA_EXPR for above in node.ancestors()) and self._outside_lambda(node, declared):
            self.captured.add(key)
            self.escaped.add(key)
        elif key not in self.escaped and not self._harmless(node):
            self.escaped.add(key)

    @staticmethod
    def _outside_lambda(node: Node, declared: Cursor) -> bool:
        begin = node.ast.extent(declared)[0]
        return any(above.kind == k.LAMBDA_EXPR and not above.begin <= begin < above.end for above in node.ancestors())

    def _harmless(self, node: Node) -> bool:
        """True when this use of an object can't make a pointer or reference to it that outlives the expression."""
        above = node.parent
        while above is not None and above.kind == k.PAREN_EXPR:
            node, above = above, above.parent
        if above is None:
            return False
        if above.kind in (k.SIZEOF_EXPR, k.CSTYLE_CAST) and (above.kind == k.SIZEOF_EXPR or above.ast.type(above.cursor).kind == k.T_VOID):
            return True
        if above.kind == k.UNEXPOSED_EXPR:
            return self._harmless_conversion(node, above)
        if above.kind in (k.VAR_DECL, k.PARM_DECL):
            return self._is_extent(node, above)
        if above.kind == k.CALL_EXPR:
            return self._harmless_call(node, above)
        if above.kind == k.MEMBER_REF_EXPR:
            call = above.parent
            return call is not None and call.kind == k.CALL_EXPR and call.children[:1] == [above] and above.spelling in _SIZE_METHODS
        if above.kind in (k.BINARY_OPERATOR, k.COMPOUND_ASSIGNMENT, k.UNARY_OPERATOR):
            return self._is_write(node, above) and self._dropped(above)
        return False

    @staticmethod
    def _is_extent(node: Node, declaration: Node) -> bool:
        """True for an extent in the declarator of an array of variable length, whose value is read."""
        ast = node.ast
        first = ast.initialiser(declaration.cursor)
        if first is not None and ast.extent(first) == (node.begin, node.end):
            return False
        type = ast.canonical_type(ast.type(declaration.cursor))
        if type.kind == k.T_POINTER:
            type = ast.canonical_type(ast.lib.clang_getPointeeType(type))
        return type.kind in (k.T_CONSTANT_ARRAY, k.T_INCOMPLETE_ARRAY, k.T_VARIABLE_ARRAY)

    def _harmless_conversion(self, node: Node, above: Node) -> bool:
        types, ast = self._types, node.ast
        source = ast.canonical_type(ast.type(node.cursor))
        if source.kind in (k.T_CONSTANT_ARRAY, k.T_INCOMPLETE_ARRAY, k.T_VARIABLE_ARRAY):
            declared = ast.referenced(node.cursor) if node.kind == k.DECL_REF_EXPR else None
            if declared is not None and declared.kind == k.PARM_DECL and types.shape_of(declared).storage is not Storage.ARRAY:
                return True  # really a pointer, and its value is read
            outer = above.parent
            while outer is not None and outer.kind == k.PAREN_EXPR:
                outer = outer.parent
            return outer is not None and outer.kind == k.ARRAY_SUBSCRIPT_EXPR and self._harmless(outer)
        target = ast.type(above.cursor)
        outer = above.parent
        if outer is not None and outer.kind == k.CALL_EXPR and is_std_minmax(outer):
            return self._harmless(outer)
        if types.scalar(source) is None and not types.is_pointer(source):
            # `const` added to an object before a call of its method
            return outer is not None and outer.kind == k.CALL_EXPR and self._harmless_call(above, outer)
        return not types.is_const(target)

    def _harmless_call(self, node: Node, call: Node) -> bool:
        if is_std_minmax(call):
            return self._harmless(call)
        return call.spelling == "operator[]" and call.children[:1] == [node] and self._harmless(call)

    def only_read(self, key: int) -> bool:
        """True when nothing in the function changes the variable after its declaration."""
        return key not in self.escaped and not any(self._written(node) for node in self.mentions.get(key, ()))

    @staticmethod
    def _written(node: Node) -> bool:
        above = node.parent
        while above is not None and above.kind == k.PAREN_EXPR:
            node, above = above, above.parent
        writes = (k.BINARY_OPERATOR, k.COMPOUND_ASSIGNMENT, k.UNARY_OPERATOR)
        return above is not None and above.kind in writes and Uses._is_write(node, above)

    @staticmethod
    def _is_write(node: Node, above: Node) -> bool:
        lib = node.ast.lib
        if above.kind == k.UNARY_OPERATOR:
            return lib.clang_getCursorUnaryOperatorKind(above.cursor) in k.INCREMENT
        if above.kind == k.COMPOUND_ASSIGNMENT:
            return above.children[:1] == [node]
        return lib.clang_getCursorBinaryOperatorKind(above.cursor) == 22 and above.children[:1] == [node]

    @staticmethod
    def _dropped(node: Node) -> bool:
        """The value of an assignment is not used as an object."""
        above = node.parent
        while above is not None and above.kind == k.PAREN_EXPR:
            above = above.parent
        if above is None or above.kind > k.LAST_EXPR:
            return True
        if above.kind == k.BINARY_OPERATOR and node.ast.lib.clang_getCursorBinaryOperatorKind(above.cursor) == k.COMMA:
            return Uses._dropped(above)
        return above.kind == k.UNEXPOSED_EXPR and not node.ast.lib.clang_isConstQualifiedType(node.ast.type(above.cursor))


def is_std_minmax(call: Node) -> bool:
    """``std::min(a, b)`` or ``std::max(a, b)`` of the standard library."""
    if call.spelling not in ("min", "max") or len(call.children) != 3:
        return False
    callee = call.ast.referenced(call.cursor)
    owner = call.ast.parent(callee) if callee is not None else None
    if callee is None or owner is None or not call.ast.in_system_header(callee):
        return False
    above = call.ast.parent(owner)
    return call.ast.spelling(owner) == "std" and owner.kind == k.NAMESPACE and (above is None or above.kind != k.NAMESPACE)

"""From expression cursors to core/ir expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from perfcc.core.ir import Access, Binary, Call, Cast, Conditional, ContainerSize, Expr, FloatConst, IntConst, Unary, VarRef
from perfcc.core.span import Span
from perfcc.core.types import ScalarType, Scope, Storage, TypeKind, Variable
from perfcc.frontend import attributes, lengths
from perfcc.frontend import kinds as k
from perfcc.frontend.lengths import flattened
from perfcc.frontend.tree import Node, strip
from perfcc.frontend.uses import is_std_minmax

if TYPE_CHECKING:
    from perfcc.frontend.context import Context

MAX_DEPTH = 120
POINTER_DIFFERENCE = ScalarType("long", TypeKind.SIGNED, 64)


@dataclass(frozen=True, slots=True)
class Address:
    """A pointer's value as ``&base[subscripts...][offset]``; ``offset`` ``None`` means 0.

    ``flat``: the offset counts elements of an array of variable length, whatever its dimensions.
    """

    base: Variable
    subscripts: tuple[Expr, ...] = ()
    offset: Expr | None = None
    flat: bool = False


class Expressions:
    """Builds expressions for one kernel. Every method raises Refused for what has no model."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._unit = context.unit
        self._ast = context.unit.ast
        self._types = context.unit.types
        self._depth = 0
        self._in_macro = False
        context.variables.measure = self._measure

    # -- values --------------------------------------------------------------------------------------------------

    def value(self, node: Node) -> Expr:
        """The value of a scalar expression."""
        use = None if self._in_macro else self._context.macro_root(node)
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise self._unit.refuse("unmodelled-expression", node, "nested too deeply")
            if use is None:
                return self._value(node)
            self._in_macro = True
            try:
                folded = self._fold(node)
                inner = folded if folded is not None else self._value(node)
            finally:
                self._in_macro = False
            return replace(inner, span=self._unit.source.span(use.begin, use.end))
        finally:
            self._depth -= 1

    def span(self, node: Node) -> Span | None:
        return None if self._in_macro else self._unit.span(node)

    def scalar_type(self, node: Node) -> ScalarType:
        type = self._ast.type(node.cursor)
        scalar = self._types.scalar(type)
        if scalar is None:
            spelling = self._ast.type_spelling(type)
            if self._types.is_atomic(type):
                raise self._unit.refuse("atomic-access", node, spelling)
            if "dependent" in spelling or "type-parameter" in spelling:
                raise self._unit.refuse("dependent-type", node, spelling)
            raise self._unit.refuse("unmodelled-type", node, spelling)
        return scalar

    def _value(self, node: Node) -> Expr:
        match node.kind:
            case k.PAREN_EXPR:
                return replace(self.value(self._only(node)), span=self.span(node))
            case k.UNEXPOSED_EXPR:
                return self._implicit(node)
            case k.INTEGER_LITERAL | k.CHARACTER_LITERAL | k.BOOL_LITERAL | k.SIZEOF_EXPR:
                return self._integer(node)
            case k.FLOATING_LITERAL:
                return self._floating(node)
            case k.DECL_REF_EXPR:
                constant = self._constant(node)
                return constant if constant is not None else self.place(node)
            case k.MEMBER_REF_EXPR | k.ARRAY_SUBSCRIPT_EXPR:
                return self.place(node)
            case k.UNARY_OPERATOR:
                return self._unary(node)
            case k.BINARY_OPERATOR:
                return self._binary(node)
            case k.COMPOUND_ASSIGNMENT:
                raise self._unit.refuse("unmodelled-expression", node, "an assignment inside an expression")
            case k.CONDITIONAL_OPERATOR:
                return self._conditional(node)
            case k.CSTYLE_CAST | k.STATIC_CAST | k.FUNCTIONAL_CAST:
                return self._written_cast(node)
            case k.CALL_EXPR:
                return self._call(node)
            case k.INIT_LIST_EXPR if len(node.expressions) == 1:
                return self.value(node.expressions[0])
            case _:
                raise self._context.refusal_of(node)

    def _only(self, node: Node) -> Node:
        inner = node.expressions
        if len(inner) != 1:
            raise self._unit.refuse("unmodelled-expression", node)
        return inner[0]

    def _implicit(self, node: Node) -> Expr:
        inner = self._only(node)
        if self._types.scalar(self._ast.type(node.cursor)) is None:
            raise self._context.refusal_of(node)
        target = self.scalar_type(node)
        if self._types.scalar(self._ast.type(inner.cursor)) is None:
            if inner.kind == k.CALL_EXPR or strip(inner).kind == k.CALL_EXPR:
                return self.value(inner)
            raise self._context.refusal_of(inner)
        return converted(self.value(inner), target, self.span(node))

    def _integer(self, node: Node) -> Expr:
        if node.kind == k.SIZEOF_EXPR and any(child.kind in (k.DECL_REF_EXPR, k.MEMBER_REF_EXPR) for child in node.walk()):
            raise self._unit.refuse("unmodelled-expression", node, "sizeof of an object")
        folded = self._fold(node)
        if folded is None:
            raise self._unit.refuse("unmodelled-expression", node)
        self._context.needs.types_in(node)
        return folded

    def _fold(self, node: Node) -> Expr | None:
        """An integer constant expression's value; ``None`` when it is none. Never looks inside what mentions a variable."""
        scalar = self._types.scalar(self._ast.type(node.cursor))
        if scalar is None or not (scalar.is_integer or scalar.kind is TypeKind.BOOL):
            return None
        if any(below.kind in (k.DECL_REF_EXPR, k.CALL_EXPR, k.MEMBER_REF_EXPR) for below in node.walk()):
            return None
        folded = self._ast.evaluate(node.cursor)
        return IntConst(folded, scalar, self.span(node)) if isinstance(folded, int) else None

    def _floating(self, node: Node) -> Expr:
        scalar = self.scalar_type(node)
        if not self._in_macro:
            return FloatConst(self._unit.source.slice(node.begin, node.end), scalar, self.span(node))
        value = self._ast.evaluate(node.cursor)
        if not isinstance(value, float) or scalar.spelling == "long double":
            raise self._unit.refuse("macro-in-kernel", node)
        return FloatConst(float_text(value, scalar), scalar, None)

    def _constant(self, node: Node) -> Expr | None:
        """Enumerators and constants that the codelet can define for itself."""
        declared = self._ast.referenced(node.cursor)
        if declared is None:
            return None
        if declared.kind == k.ENUM_CONSTANT_DECL:
            self._context.needs.enumerator(declared, node)
            enumerator = int(self._ast.lib.clang_getEnumConstantDeclValue(declared))
            return IntConst(enumerator, self.scalar_type(node), self.span(node))
        if declared.kind != k.VAR_DECL or not self._types.is_const(self._ast.type(declared)):
            return None
        if self._ast.lib.clang_isVolatileQualifiedType(self._ast.canonical_type(self._ast.type(declared))):
            return None
        scalar = self._types.scalar(self._ast.type(declared))
        definition = self._ast.definition(declared) or declared
        if scalar is None or self._ast.initialiser(definition) is None or scalar.spelling == "long double":
            return None
        if self._context.declared_inside(definition) or attributes.elsewhere(self._unit, definition):
            return None
        value = self._ast.evaluate(definition)
        if isinstance(value, int) and scalar.kind is not TypeKind.FLOAT:
            self._context.needs.constant(declared, scalar, str(value), node)
            return IntConst(value, scalar, self.span(node))
        if isinstance(value, float) and scalar.kind is TypeKind.FLOAT and value - value == 0.0:
            self._context.needs.constant(declared, scalar, float_text(value, scalar), node)
            return FloatConst(float_text(value, scalar), scalar, self.span(node))
        return None

    def _unary(self, node: Node) -> Expr:
        op = self._ast.lib.clang_getCursorUnaryOperatorKind(node.cursor)
        if op == k.DEREFERENCE:
            return self.place(node)
        if op in k.INCREMENT:
            raise self._unit.refuse("unmodelled-expression", node, "an increment inside an expression")
        if op not in k.UNARY:
            raise self._unit.refuse("unmodelled-expression", node)
        operand = self.value(self._only(node))
        return Unary(k.UNARY[op], operand, self.scalar_type(node), self.span(node))

    def _binary(self, node: Node) -> Expr:
        op = self._ast.lib.clang_getCursorBinaryOperatorKind(node.cursor)
        if op == k.COMMA:
            raise self._unit.refuse("unmodelled-expression", node, "a comma operator")
        if op in k.ASSIGN:
            raise self._unit.refuse("unmodelled-expression", node, "an assignment inside an expression")
        parts = node.expressions
        if op not in k.BINARY or len(parts) != 2:
            raise self._unit.refuse("unmodelled-expression", node)
        for part in parts:
            if self._types.is_pointer(self._ast.type(part.cursor)):
                raise self._unit.refuse("unmodelled-expression", node, "pointer arithmetic or comparison")
        scalar = self.scalar_type(node)
        return Binary(k.BINARY[op], self.value(parts[0]), self.value(parts[1]), scalar, self.span(node))

    def _conditional(self, node: Node) -> Expr:
        parts = node.expressions
        if len(parts) != 3:
            raise self._unit.refuse("unmodelled-expression", node)
        condition, then, other = (self.value(part) for part in parts)
        return Conditional(condition, then, other, self.scalar_type(node), self.span(node))

    def _written_cast(self, node: Node) -> Expr:
        inner = self._only(node)
        target = self.scalar_type(node)
        if self._types.scalar(self._ast.type(inner.cursor)) is None:
            raise self._context.refusal_of(inner)
        self._context.needs.types_in(node)
        return replace(converted(self.value(inner), target, self.span(node)), span=self.span(node))

    # -- calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: Node) -> Expr:
        if node.spelling == "operator[]" and len(node.children) == 3:
            return self.place(node)
        callee = self._ast.referenced(node.cursor)
        if callee is not None and callee.kind == k.CXX_METHOD and node.spelling == "size" and len(node.children) == 1:
            owner = self._object_of(node)
            if owner is not None and owner.storage is Storage.VECTOR:
                return ContainerSize(owner, self.scalar_type(node), self.span(node))
        if is_std_minmax(node):
            return self._minmax(node)
        effect = self._context.calls.effect(node, callee)
        first = node.expressions[0] if node.expressions else None
        arguments = tuple(self.value(argument) for argument in node.expressions[1:]) if first is not None else ()
        return Call(effect.callee, arguments, self.scalar_type(node), self.span(node))

    def _object_of(self, call: Node) -> Variable | None:
        member = call.children[0]
        if member.kind != k.MEMBER_REF_EXPR or len(member.children) != 1:
            return None
        return self._container(member.children[0])

    def _container(self, node: Node) -> Variable | None:
        inner = strip(node)
        if inner.kind == k.DECL_REF_EXPR or (inner.kind == k.MEMBER_REF_EXPR and not inner.children):
            declared = self._ast.referenced(inner.cursor)
            if declared is not None and self._types.shape_of(declared).storage is Storage.VECTOR:
                return self._variable(inner)
        return None

    def _measure(self, extents: Sequence[Node], node: Node) -> tuple[Expr, ...]:
        """The extents of an array of variable length, which must still be what they were when its type was computed."""
        inside, self._in_macro = self._in_macro, True  # no place in the kernel's text is theirs
        try:
            found = tuple(self.value(extent) for extent in extents)
        finally:
            self._in_macro = inside
        if any(lengths.text(extent) is None for extent in found):
            raise self._unit.refuse("unmodelled-type", node, "an array of variable length whose extents are computed")
        for mention in lengths.variables(found):
            var, variables = mention.var, self._context.variables
            own = var.scope in (Scope.LOCAL, Scope.PARAMETER) and not var.is_reference and not var.declared_in_kernel
            kept = own and self._context.uses.only_read(variables.key_of(var))
            if not kept or var.name in self._unit.pragma_words:
                why = f"an array of variable length with the extent {var.name}, which may change"
                raise self._unit.refuse("unmodelled-type", node, why)
        return found

    def _minmax(self, node: Node) -> Expr:
        scalar = self.scalar_type(node)
        left, right = (self.value(part) for part in node.children[1:])
        self._context.headers.add("<algorithm>")
        smaller = Binary("<", *((right, left) if node.spelling == "min" else (left, right)), BOOL)
        return Conditional(smaller, right, left, scalar, self.span(node))

    # -- places --------------------------------------------------------------------------------------------------

    def place(self, node: Node) -> VarRef | Access:
        """The scalar object that an lvalue names."""
        use = None if self._in_macro else self._context.macro_root(node)
        if use is not None:
            self._in_macro = True
            try:
                found = self._place(node)
            finally:
                self._in_macro = False
            return replace(found, span=self._unit.source.span(use.begin, use.end))
        return self._place(node)

    def _place(self, node: Node) -> VarRef | Access:
        type = self._ast.canonical_type(self._ast.type(node.cursor))
        scalar = self._types.scalar(type)
        if self._ast.lib.clang_isVolatileQualifiedType(type):
            raise self._unit.refuse("volatile-access", node)
        match node.kind:
            case k.PAREN_EXPR:
                return replace(self.place(self._only(node)), span=self.span(node))
            case k.DECL_REF_EXPR | k.MEMBER_REF_EXPR:
                declared = self._ast.referenced(node.cursor)
                named = self._context.place_aliases.get(self._ast.key(declared)) if declared is not None else None
                if named is not None:
                    return replace(named, span=self.span(node))
                variable = self._variable(node)
                if variable is None or variable.storage is not Storage.SCALAR or scalar is None:
                    raise self._context.refusal_of(node)
                return VarRef(variable, scalar, self.span(node))
            case k.ARRAY_SUBSCRIPT_EXPR | k.UNARY_OPERATOR if scalar is not None:
                address = self._element(node)
                last = address.offset if address.offset is not None else IntConst(0, POINTER_DIFFERENCE)
                subscripts = (*address.subscripts, last)
                inner = self._context.variables.extents[address.base.id] if not address.flat else ()
                if inner:
                    if len(subscripts) != len(inner) + 1:
                        raise self._unit.refuse("unmodelled-expression", node)
                    subscripts = (flattened(subscripts, inner, POINTER_DIFFERENCE),)
                return Access(address.base, subscripts, scalar, self.span(node))
            case k.CALL_EXPR if node.spelling == "operator[]" and len(node.children) == 3 and scalar is not None:
                container = self._container(node.children[0])
                if container is None:
                    raise self._context.refusal_of(node)
                return Access(container, (self.value(node.children[2]),), scalar, self.span(node))
            case _:
                raise self._context.refusal_of(node)

    def _variable(self, node: Node) -> Variable | None:
        """The variable that a name or an implicit member access refers to."""
        declared = self._ast.referenced(node.cursor)
        if declared is None or declared.kind not in (k.VAR_DECL, k.PARM_DECL, k.FIELD_DECL):
            return None
        if node.kind == k.MEMBER_REF_EXPR and any(child.kind <= k.LAST_EXPR for child in node.children if child.kind >= k.UNEXPOSED_EXPR):
            raise self._context.member_refusal(node, declared)
        if any(child.kind in (k.NAMESPACE_REF, k.TYPE_REF) for child in node.children):
            raise self._unit.refuse("unmodelled-expression", node, "a qualified name")
        return self._context.variables.get(declared, node)

    # -- pointers ------------------------------------------------------------------------------------------------

    def _element(self, node: Node) -> Address:
        """The address that ``p[i]`` or ``*p`` names; its last subscript is ``offset``."""
        if node.kind == k.UNARY_OPERATOR:
            if self._ast.lib.clang_getCursorUnaryOperatorKind(node.cursor) != k.DEREFERENCE:
                raise self._context.refusal_of(node)
            return self.address(self._only(node))
        parts = node.expressions
        if len(parts) != 2:
            raise self._unit.refuse("unmodelled-expression", node)
        base, index = parts
        if not self._types.is_address(self._ast.type(base.cursor)):
            base, index = index, base
        address = self.address(base)
        subscript = self.value(index)
        return replace(address, offset=added(address.offset, subscript))

    def address(self, node: Node) -> Address:
        """The value of a pointer expression, or of an array's name."""
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise self._unit.refuse("unmodelled-expression", node, "nested too deeply")
            use = None if self._in_macro else self._context.macro_root(node)
            if use is None:
                return self._address(node)
            self._in_macro = True
            try:
                return self._address(node)
            finally:
                self._in_macro = False
        finally:
            self._depth -= 1

    def _address(self, node: Node) -> Address:
        inner = self._peel(node)
        if inner.kind in (k.DECL_REF_EXPR, k.MEMBER_REF_EXPR):
            declared = self._ast.referenced(inner.cursor)
            alias = self._context.aliases.get(self._ast.key(declared)) if declared is not None else None
            if alias is not None:
                return alias
            variable = self._variable(inner)
            if variable is None or variable.storage not in (Storage.POINTER, Storage.ARRAY):
                raise self._context.refusal_of(inner)
            return Address(variable)
        if inner.kind == k.ARRAY_SUBSCRIPT_EXPR or inner.kind == k.UNARY_OPERATOR:
            return self._inner_address(inner)
        if inner.kind == k.BINARY_OPERATOR:
            return self._pointer_sum(inner)
        raise self._context.refusal_of(inner)

    def _peel(self, node: Node) -> Node:
        """The node below parentheses, array decay and lvalue conversion; a conversion between pointer types stays."""
        while node.kind in (k.PAREN_EXPR, k.UNEXPOSED_EXPR):
            inner = self._only(node)
            if node.kind == k.UNEXPOSED_EXPR and not self._same_target(node, inner):
                raise self._unit.refuse("unmodelled-expression", node, "a pointer conversion")
            node = inner
        return node

    def _same_target(self, outer: Node, inner: Node) -> bool:
        return self._target(outer) == self._target(inner)

    def _target(self, node: Node) -> str:
        """The type pointed to (or an array's element type), qualifiers dropped."""
        lib, type = self._ast.lib, self._ast.canonical_type(self._ast.type(node.cursor))
        if type.kind in (k.T_CONSTANT_ARRAY, k.T_INCOMPLETE_ARRAY, k.T_VARIABLE_ARRAY):
            type = self._ast.canonical_type(lib.clang_getArrayElementType(type))
        elif type.kind == k.T_POINTER:
            type = self._ast.canonical_type(lib.clang_getPointeeType(type))
        return self._types.unqualified(type)

    def _inner_address(self, node: Node) -> Address:
        """An array within an array (``a[i]`` of ``a[i][j]``), or ``&place``."""
        type = self._ast.canonical_type(self._ast.type(node.cursor))
        if type.kind in (k.T_CONSTANT_ARRAY, k.T_INCOMPLETE_ARRAY, k.T_VARIABLE_ARRAY):
            outer = self._element(node)
            last = outer.offset if outer.offset is not None else IntConst(0, POINTER_DIFFERENCE)
            return Address(outer.base, (*outer.subscripts, last))
        if node.kind == k.UNARY_OPERATOR and self._ast.lib.clang_getCursorUnaryOperatorKind(node.cursor) == k.ADDRESS_OF:
            place = self.place(self._only(node))
            if isinstance(place, Access) and len(place.subscripts) == 1:
                flat = bool(self._context.variables.extents[place.base.id])
                return Address(place.base, place.subscripts[:-1], place.subscripts[-1], flat)
        stopped = self._context.refusal_of(node)
        if stopped.reason.id == "unmodelled-expression" and type.kind in (k.T_POINTER, k.T_VARIABLE_ARRAY):
            raise self._unit.refuse("unmodelled-type", node, f"a {self._ast.type_spelling(type)} within another object")
        raise stopped

    def _pointer_sum(self, node: Node) -> Address:
        op = self._ast.lib.clang_getCursorBinaryOperatorKind(node.cursor)
        parts = node.expressions
        if op not in (6, 7) or len(parts) != 2:
            raise self._context.refusal_of(node)
        pointer, index = parts
        if not self._types.is_address(self._ast.type(pointer.cursor)):
            pointer, index = index, pointer
        if self._types.is_address(self._ast.type(index.cursor)):
            raise self._unit.refuse("unmodelled-expression", node, "a difference of pointers")
        address = self.address(pointer)
        subscript = self.value(index)
        if op == 7:
            subscript = Unary("-", converted(subscript, POINTER_DIFFERENCE, None), POINTER_DIFFERENCE)
        return replace(address, offset=added(address.offset, subscript))


BOOL = ScalarType("bool", TypeKind.BOOL, 8)


def added(offset: Expr | None, subscript: Expr) -> Expr:
    """``offset + subscript`` as pointer arithmetic computes it: in the pointer-difference type."""
    if offset is None:
        return subscript
    left = converted(offset, POINTER_DIFFERENCE, None)
    right = converted(subscript, POINTER_DIFFERENCE, None)
    return Binary("+", left, right, POINTER_DIFFERENCE)


def converted(expr: Expr, target: ScalarType, span: Span | None) -> Expr:
    """``expr`` as a ``target``: itself, a constant of that type, or a Cast."""
    if expr.type == target:
        return expr
    if isinstance(expr, IntConst) and target.is_integer and fits(expr.value, target):
        return replace(expr, type=target)
    return Cast(expr, target, span)


def fits(value: int, type: ScalarType) -> bool:
    """True when an integer type holds ``value``."""
    if type.kind is TypeKind.UNSIGNED:
        return 0 <= value < 1 << type.bits
    return -(1 << (type.bits - 1)) <= value < 1 << (type.bits - 1)


def float_text(value: float, type: ScalarType) -> str:
    """A literal with exactly that value; negative ones in parentheses."""
    text = repr(value)
    if "." not in text and "e" not in text and "n" not in text:
        text += ".0"
    text += "f" if type.spelling == "float" else ""
    return f"({text})" if text.startswith("-") else text

"""Recognising counted loops: ``for (i = lower; i < bound; i += step)`` in all its spellings."""

from __future__ import annotations

from dataclasses import dataclass

from perfcc.core.ir import Binary, Expr, IntConst, Unary
from perfcc.core.types import Scope, Storage, TypeKind, Variable
from perfcc.frontend import kinds as k
from perfcc.frontend.context import Context
from perfcc.frontend.expressions import Expressions, fits
from perfcc.frontend.refusal import Refused
from perfcc.frontend.tree import Node, strip

_RELATIONS = {11: "<", 12: ">", 13: "<=", 14: ">=", 16: "!="}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Header:
    """What the three parts of a ``for`` say; the body comes along."""

    var: Variable
    lower: Expr
    bound: Expr
    relation: str
    step: int
    declares_var: bool
    body: Node


def read_header(context: Context, values: Expressions, node: Node) -> Header:
    """The header of a ``for`` statement. Raises Refused unless the loop is counted."""
    unit = context.unit
    parts = [child for child in node.children if child.kind >= k.UNEXPOSED_EXPR]
    if len(parts) != 4 or not _sections_full(context, node):
        io = _input_output(context, node)
        raise io if io is not None else unit.refuse("not-counted", node, "a part of the header is missing")
    init, condition, step, body = parts
    declaration, lower_node, declares = _start(context, node, init)
    var_name = context.unit.ast.spelling(declaration.cursor) if declares else declaration.spelling
    key = unit.ast.key(declaration.cursor if declares else unit.ast.referenced(declaration.cursor) or declaration.cursor)
    scalar = unit.types.scalar(unit.ast.type(declaration.cursor))
    if scalar is None or not scalar.is_integer:
        raise unit.refuse("not-counted", node, f"{var_name} is not an integer")
    if scalar.bits < 32:
        raise unit.refuse("not-counted", node, f"{var_name} is narrower than int")
    relation, bound_node, compared = _condition(context, node, condition, key)
    step_value = _step(context, values, node, step, key)
    if (relation in ("<", "<=") and step_value < 0) or (relation in (">", ">=") and step_value > 0):
        raise unit.refuse("not-counted", node, "the step leads away from the bound")
    if relation == "!=" and abs(step_value) != 1:
        raise unit.refuse("not-counted", node, "the step may jump over the bound")
    if not fits(abs(step_value) if scalar.kind is TypeKind.UNSIGNED else step_value, scalar):
        raise unit.refuse("not-counted", node, f"{var_name} can't hold the step")
    lower = values.value(lower_node)
    if declares:
        context.needs.types_in(declaration)
    var = _variable(context, node, declaration, declares)
    bound = values.value(bound_node)
    if bound.type is None or not bound.type.is_integer or compared:
        raise unit.refuse("not-counted", node, "the bound is not an integer")
    return Header(var, lower, bound, relation, step_value, declares, body)


def _variable(context: Context, node: Node, declaration: Node, declares: bool) -> Variable:
    unit = context.unit
    cursor = declaration.cursor if declares else unit.ast.referenced(declaration.cursor)
    assert cursor is not None
    var = context.variables.get(cursor, declaration)
    if var.storage is not Storage.SCALAR or var.is_const:
        raise unit.refuse("not-counted", node, var.name)
    return var


def check_own(context: Context, node: Node, var: Variable) -> None:
    """Raises Refused unless nobody but the loop itself can change its variable."""
    if var.scope not in (Scope.LOCAL, Scope.PARAMETER) or var.is_reference or var.address_taken:
        raise context.unit.refuse("address-escapes", node, f"{var.name} is not a local variable of its own")


def _sections_full(context: Context, node: Node) -> bool:
    """All three parts of the header are there: none of the two semicolons touches a parenthesis or the other."""
    source = context.unit.source
    index = source.token_index(node.begin) + 1
    if index >= len(source.tokens) or source.tokens[index].text != "(":
        return False
    close = source.close_of(index)
    depth, filled, semicolons = 0, False, 0
    for token in source.tokens[index + 1 : close]:
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
        if depth == 0 and token.text == ";":
            if not filled:
                return False
            semicolons += 1
            filled = False
        else:
            filled = True
    return semicolons == 2 and filled


def _input_output(context: Context, node: Node) -> Refused | None:
    for below in node.walk():
        if below.kind == k.CALL_EXPR:
            found = context.refusal_of(below)
            if found.reason.id == "io-in-loop":
                return found
    return None


def _start(context: Context, node: Node, init: Node) -> tuple[Node, Node, bool]:
    """The loop variable (its declaration, or the reference to it), the node of its first value, and whether it is declared here."""
    unit, ast = context.unit, context.unit.ast
    if init.kind == k.DECL_STMT:
        if len(init.children) != 1 or init.children[0].kind != k.VAR_DECL:
            raise unit.refuse("not-counted", node, "more than one loop variable")
        declared = init.children[0]
        first = ast.initialiser(declared.cursor)
        if first is None:
            raise unit.refuse("not-counted", node, "the loop variable has no first value")
        return declared, Node(ast, first, declared), True
    inner = strip(init)
    if inner.kind == k.BINARY_OPERATOR and ast.lib.clang_getCursorBinaryOperatorKind(inner.cursor) == 22:
        target, value = inner.expressions
        if target.kind == k.DECL_REF_EXPR and not target.children:
            return target, value, False
    if inner.kind == k.BINARY_OPERATOR and ast.lib.clang_getCursorBinaryOperatorKind(inner.cursor) == k.COMMA:
        raise unit.refuse("not-counted", node, "more than one loop variable")
    raise unit.refuse("not-counted", node, "no loop variable is set")


def _condition(context: Context, node: Node, condition: Node, key: int) -> tuple[str, Node, bool]:
    """The relation as seen from the loop variable, the bound's node, and whether the comparison is not one of integers."""
    unit, ast = context.unit, context.unit.ast
    while condition.kind in (k.PAREN_EXPR, k.UNEXPOSED_EXPR) and len(condition.expressions) == 1:
        condition = condition.expressions[0]
    relation = None
    if condition.kind == k.BINARY_OPERATOR:
        relation = _RELATIONS.get(ast.lib.clang_getCursorBinaryOperatorKind(condition.cursor))
    if relation is None or len(condition.expressions) != 2:
        io = _input_output(context, condition)
        raise io if io is not None else unit.refuse("not-counted", condition, "the condition is not one comparison with the loop variable")
    left, right = condition.expressions
    if _is_variable(context, left, key):
        side, other = left, right
    elif _is_variable(context, right, key):
        side, other, relation = right, left, _MIRRORED[relation]
    else:
        raise unit.refuse("not-counted", condition, "the condition does not compare the loop variable")
    scalar = unit.types.scalar(ast.type(side.cursor))
    return relation, other, scalar is None or not scalar.is_integer


def _is_variable(context: Context, node: Node, key: int) -> bool:
    """``node`` is the loop variable, implicit integer conversions that keep its value's order included."""
    inner = strip(node)
    if inner.kind != k.DECL_REF_EXPR or inner.children:
        return False
    declared = context.unit.ast.referenced(inner.cursor)
    return declared is not None and context.unit.ast.key(declared) == key


def _step(context: Context, values: Expressions, node: Node, step: Node, key: int) -> int:
    """The constant that each iteration adds."""
    unit, ast = context.unit, context.unit.ast
    lib = ast.lib
    inner = strip(step)
    amount: Expr | None = None
    sign = 1
    parts = inner.expressions
    if inner.kind == k.UNARY_OPERATOR and lib.clang_getCursorUnaryOperatorKind(inner.cursor) in k.INCREMENT:
        if _is_variable(context, parts[0], key):
            return 1 if k.INCREMENT[lib.clang_getCursorUnaryOperatorKind(inner.cursor)] == "+=" else -1
    elif inner.kind == k.COMPOUND_ASSIGNMENT and _is_variable(context, parts[0], key):
        op = k.ASSIGN[lib.clang_getCursorBinaryOperatorKind(inner.cursor)]
        if op in ("+=", "-="):
            amount, sign = values.value(parts[1]), 1 if op == "+=" else -1
    elif inner.kind == k.BINARY_OPERATOR:
        op_kind = lib.clang_getCursorBinaryOperatorKind(inner.cursor)
        if op_kind == k.COMMA:
            raise unit.refuse("not-counted", step, "more than one loop variable")
        if op_kind == 22 and _is_variable(context, parts[0], key):
            total = strip(parts[1])
            total_op = lib.clang_getCursorBinaryOperatorKind(total.cursor) if total.kind == k.BINARY_OPERATOR else 0
            if total_op in (6, 7):
                left, right = total.expressions
                if _is_variable(context, left, key):
                    amount, sign = values.value(right), 1 if total_op == 6 else -1
                elif total_op == 6 and _is_variable(context, right, key):
                    amount = values.value(left)
    value = constant(amount)
    if value is None or value == 0:
        raise unit.refuse("not-counted", step, "the step is not a constant")
    return sign * value


def constant(expr: Expr | None) -> int | None:
    """The value of an integer expression made of constants; ``None`` when it has none that is plain to see."""
    match expr:
        case IntConst(value=value):
            return value
        case Unary(op="-", operand=inner, type=type):
            negated = constant(inner)
            return None if negated is None or type is None or type.kind.value != "signed" else -negated
        case Binary(op=op, left=left, right=right, type=type) if type is not None and type.kind.value == "signed":
            a, b = constant(left), constant(right)
            if a is None or b is None:
                return None
            return {"+": a + b, "-": a - b, "*": a * b}.get(op)
        case _:
            return None

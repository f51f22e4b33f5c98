"""Scalars that a loop only accumulates into."""

from __future__ import annotations

from dataclasses import dataclass

from perfcc.analysis.match import keeps_values, reads, same, widened
from perfcc.core.ir import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Declare,
    Expr,
    If,
    Loop,
    Reduction,
    Stmt,
    Unary,
    VarRef,
    own_expressions,
    statements,
)
from perfcc.core.span import Span
from perfcc.core.types import ScalarType, TypeKind, Variable

_OPS = {"+": "+", "-": "+", "*": "*", "&": "&", "|": "|", "^": "^"}
_UNSIGNED = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long"}


@dataclass(frozen=True, slots=True)
class Update:
    """One accumulation: ``op`` as in Reduction, where it stands, and whether it is done in floating point."""

    op: str
    span: Span | None
    floating: bool = False


def updates(loop: Loop, variable: Variable) -> list[Update] | None:
    """All mentions of the scalar in the loop's body as accumulations with one and the same operator; None if some are anything else."""
    found: list[Update] = []
    covered: set[int] = set()
    mentions = 0
    for stmt in statements(loop.body):
        update = _update(stmt, variable)
        if update is not None:
            found.append(update)
            covered.add(id(stmt))
            if isinstance(stmt, If):
                covered.update(id(item) for item in statements(stmt.then))
    for stmt in statements(loop.body):
        if id(stmt) not in covered:
            mentions += sum(reads(expr, variable.id) for expr in own_expressions(stmt))
            mentions += isinstance(stmt, Declare) and stmt.var.id == variable.id
            mentions += isinstance(stmt, Loop) and stmt.var.id == variable.id
    if mentions or not found or reads(loop.bound, variable.id) or len({update.op for update in found}) != 1:
        return None
    return found


def reduction(found: list[Update], variable: Variable) -> Reduction | None:
    """The reduction these accumulations make, with the type its partial results use; None where no type makes it exact."""
    type, op = variable.element, found[0].op
    if type is None:
        return None
    if type.kind is TypeKind.FLOAT:
        return Reduction(op, variable, type) if op in ("+", "*") else None
    if any(update.floating for update in found):
        return None
    if type.kind is TypeKind.BOOL:
        return Reduction(op, variable, type) if op in ("&", "|") else None
    if op in ("min", "max"):
        return Reduction(op, variable, type)
    spelling = type.spelling if type.kind is TypeKind.UNSIGNED else _UNSIGNED.get(type.bits)
    if spelling is None:
        return None
    return Reduction(op, variable, ScalarType(spelling, TypeKind.UNSIGNED, type.bits))


def _update(stmt: Stmt, variable: Variable) -> Update | None:
    match stmt:
        case Assign(target=VarRef(var=var), op=op, value=value) if var.id == variable.id:
            if op != "=":
                operator = _OPS.get(op[:-1])
                if operator is None or reads(value, variable.id):
                    return None
                return _arithmetic(operator, value, variable, stmt.span)
            return _plain(value, variable, stmt.span)
        case If(condition=Binary() as condition, then=then, other=None):
            return _conditional_update(condition, then, variable, stmt.span)
    return None


def _arithmetic(op: str, value: Expr, variable: Variable, span: Span | None) -> Update | None:
    type, own = value.type, variable.element
    if type is None or own is None:
        return None
    floating = type.kind is TypeKind.FLOAT or own.kind is TypeKind.FLOAT
    if own.kind is TypeKind.FLOAT and type.kind is TypeKind.FLOAT and type.bits > own.bits:
        return None  # every addition rounds twice
    if own.kind is TypeKind.BOOL and type.kind is not TypeKind.BOOL and op == "^":
        return None
    return Update(op, span, floating)


def _plain(value: Expr, variable: Variable, span: Span | None) -> Update | None:
    """``s = s + e``, ``s = e + s``, ``s = s - e``, sums of several terms, and minima and maxima."""
    inner = _through_integers(value, variable)
    match inner:
        case Conditional(condition=Binary() as condition, then=then, other=other):
            for kept, taken, holds in ((other, then, True), (then, other, False)):
                if _is(kept, variable) and not reads(taken, variable.id):
                    return _extreme(condition, taken, variable, span, holds)
            return None
        case Call(callee="std::min" | "std::max" as callee, arguments=(left, right)):
            new = right if _is(left, variable) else left if _is(right, variable) else None
            if new is None or reads(new, variable.id) or not _keeps(new, variable) or inner.type != variable.element:
                return None
            return Update(callee[5:], span, _floating(new, variable))
        case Binary(op=op) if op in _OPS and _holds(inner, variable):
            operator = _OPS[op]
            terms = _terms(inner, operator, False, variable)
            own = [negated for part, negated in terms if _is(part, variable)]
            rest = [part for part, _ in terms if not _is(part, variable)]
            if own != [False] or not rest or any(reads(part, variable.id) for part in rest):
                return None
            if operator == "*" and len(terms) > 2:
                return None
            checked = [_arithmetic(operator, part, variable, span) for part in rest]
            if None in checked or (len(rest) > 1 and inner.type is not None and inner.type.kind is TypeKind.FLOAT):
                return None
            return checked[0]
    return None


def _terms(expr: Expr, operator: str, negated: bool, variable: Variable) -> list[tuple[Expr, bool]]:
    inner = _through_integers(expr, variable)
    if isinstance(inner, Binary) and _OPS.get(inner.op) == operator and _holds(inner, variable):
        right = negated != (inner.op == "-")
        return _terms(inner.left, operator, negated, variable) + _terms(inner.right, operator, right, variable)
    if isinstance(inner, Unary) and inner.op == "-" and operator == "+" and _holds(inner, variable):
        return _terms(inner.operand, operator, not negated, variable)
    return [(expr, negated)]


def _holds(expr: Expr, variable: Variable) -> bool:
    """True when the expression's type has all the bits of the variable's, so that what it wraps away is not in the variable."""
    return expr.type is not None and variable.element is not None and expr.type.bits >= variable.element.bits


def _through_integers(expr: Expr, variable: Variable) -> Expr:
    """The expression below conversions between integer types no narrower than the variable's, and value-keeping ones: sums, products
    and bit operations commute with them in the variable's width."""
    while isinstance(expr, Cast) and expr.type is not None and expr.operand.type is not None:
        both = expr.type.is_integer and expr.operand.type.is_integer and _holds(expr, variable) and _holds(expr.operand, variable)
        if not both and not keeps_values(expr.operand.type, expr.type):
            break
        expr = expr.operand
    return expr


def _conditional_update(condition: Binary, then: Block, variable: Variable, span: Span | None) -> Update | None:
    items = then.items
    while len(items) == 1 and isinstance(items[0], Block):
        items = items[0].items
    match items:
        case (Assign(target=VarRef(var=var), op="=", value=value),) if var.id == variable.id and not reads(value, variable.id):
            return _extreme(condition, value, variable, span, True)
    return None


def _extreme(condition: Binary, new: Expr, variable: Variable, span: Span | None, holds: bool) -> Update | None:
    """``new`` is taken when the condition ``new < s`` (or the like) is (not ``holds``: isn't) true."""
    if condition.op not in ("<", "<=", ">", ">=") or not _keeps(new, variable):
        return None
    left, right = widened(condition.left), widened(condition.right)
    candidate = widened(new)
    less = condition.op in ("<", "<=")
    if same(left, candidate) and _is(right, variable):
        taken_if_less = less
    elif same(right, candidate) and _is(left, variable):
        taken_if_less = not less
    else:
        return None
    return Update("min" if taken_if_less == holds else "max", span, _floating(new, variable))


def _is(expr: Expr, variable: Variable) -> bool:
    inner = widened(expr)
    return isinstance(inner, VarRef) and inner.var.id == variable.id


def _keeps(new: Expr, variable: Variable) -> bool:
    return keeps_values(widened(new).type, variable.element)


def _floating(new: Expr, variable: Variable) -> bool:
    return any(type is not None and type.kind is TypeKind.FLOAT for type in (new.type, variable.element))

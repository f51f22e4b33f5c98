"""Which values cross the kernel's borders."""

from __future__ import annotations

from dataclasses import dataclass

from perfcc.core.ir import (
    Access,
    Assign,
    Block,
    ContainerSize,
    Declare,
    Evaluate,
    Expr,
    If,
    Loop,
    Stmt,
    VarRef,
    expressions,
    own_expressions,
    statements,
)
from perfcc.core.types import Scope, Storage, Variable
from perfcc.frontend import kinds as k
from perfcc.frontend.context import Context
from perfcc.frontend.tree import Node, strip


@dataclass(frozen=True, slots=True)
class Liveness:
    """Variable ids, in order of first mention."""

    live_in: tuple[str, ...]
    live_out: tuple[str, ...]
    dead_after: tuple[str, ...]


def liveness(context: Context, nest: Loop, node: Node) -> Liveness:
    """The live-ins and live-outs of a nest whose loop statement is ``node``."""
    mentioned = _mentioned(nest)
    outside = {id: var for id, var in mentioned.items() if not var.declared_in_kernel}
    flow = _Flow()
    flow.statement(nest)
    live_out = [id for id in outside if id in flow.written]
    dead = [id for id in live_out if outside[id].storage is Storage.SCALAR and _dead(context, outside[id], node, id in flow.exposed)]
    live_in = [
        id
        for id, var in outside.items()
        if var.storage is not Storage.SCALAR or id in flow.exposed or id not in flow.written or (id not in flow.assigned and id not in dead)
    ]
    return Liveness(tuple(live_in), tuple(live_out), tuple(dead))


def _mentioned(nest: Loop) -> dict[str, Variable]:
    found: dict[str, Variable] = {}
    for stmt in statements(nest):
        if isinstance(stmt, Loop):
            found.setdefault(stmt.var.id, stmt.var)
        if isinstance(stmt, Declare):
            found.setdefault(stmt.var.id, stmt.var)
        for top in own_expressions(stmt):
            for expr in expressions(top):
                match expr:
                    case VarRef(var=var) | Access(base=var) | ContainerSize(base=var):
                        found.setdefault(var.id, var)
                    case _:
                        pass
    return found


class _Flow:
    """Definite assignment and upward-exposed reads of scalars. ``assigned`` is what is surely written when the nest ends."""

    def __init__(self) -> None:
        self.assigned: set[str] = set()
        self.exposed: set[str] = set()
        self.written: set[str] = set()

    def _reads(self, expr: Expr) -> None:
        for inner in expressions(expr):
            if isinstance(inner, VarRef) and inner.var.id not in self.assigned:
                self.exposed.add(inner.var.id)

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(target=target, op=op, value=value):
                self._reads(value)
                if isinstance(target, Access):
                    for part in target.subscripts:
                        self._reads(part)
                    self.written.add(target.base.id)
                else:
                    if op != "=":
                        self._reads(target)
                    self.assigned.add(target.var.id)
                    self.written.add(target.var.id)
            case Declare(var=var, init=init):
                if init is not None:
                    self._reads(init)
                self.assigned.add(var.id)
            case Evaluate(expr=expr):
                self._reads(expr)
            case If(condition=condition, then=then, other=other):
                self._reads(condition)
                before = set(self.assigned)
                self.statement(then)
                after = self.assigned
                self.assigned = before
                if other is not None:
                    self.statement(other)
                self.assigned = self.assigned & after
            case Block(items=items):
                for item in items:
                    self.statement(item)
            case Loop(var=var, lower=lower, bound=bound, body=body):
                self._reads(lower)
                self.assigned.add(var.id)
                self.written.add(var.id)
                self._reads(bound)
                before = set(self.assigned)
                self.statement(body)
                self.assigned = before
            case _:
                pass


def _dead(context: Context, var: Variable, node: Node, exposed: bool) -> bool:
    """True when it is plain that nobody reads the scalar after the kernel."""
    uses = context.uses
    if var.scope not in (Scope.LOCAL, Scope.PARAMETER) or var.is_reference or var.address_taken or uses.has_labels:
        return False
    key = context.variables.key_of(var)
    mentions = uses.mentions.get(key, [])
    outside = [m for m in mentions if not context.begin <= m.begin < context.end]
    declared = context.unit.ast.extent(context.variables.declarations[var.id])[0]
    enclosing = [a for a in node.ancestors() if a.kind in k.LOOPS and a.begin > declared]
    if var.name in context.unit.pragma_words:
        return False
    if any(a.kind in (k.LAMBDA_EXPR, k.TRY_STMT, k.CATCH_STMT, k.SWITCH_STMT) for a in node.ancestors()):
        return False
    if not outside:
        return not enclosing or not exposed
    if enclosing and not _set_first_in(enclosing[-1], mentions, exposed, context, node):
        return False
    later = [m for m in outside if m.begin >= context.end]
    return not later or _is_fresh_start(later[0], node, key)


def _set_first_in(loop: Node, mentions: list[Node], exposed: bool, context: Context, node: Node) -> bool:
    """Each iteration of the outermost enclosing loop sets the scalar before it reads it."""
    inside = [m for m in mentions if loop.begin <= m.begin < loop.end]
    if any(below.kind in (k.BREAK_STMT, k.CONTINUE_STMT) and not context.begin <= below.begin < context.end for below in loop.walk()):
        return False
    first = inside[0]
    if context.begin <= first.begin < context.end:
        return not exposed and _body_level(node, loop)
    start = _start_statement(first)
    return start is not None and _body_level(start, loop)


def _body_level(statement: Node, loop: Node) -> bool:
    """``statement`` stands directly in the loop's body, so every iteration runs it."""
    above = statement.parent
    return above is loop or (above is not None and above.kind == k.COMPOUND_STMT and above.parent is loop)


def _start_statement(mention: Node) -> Node | None:
    """The statement ``x = e;`` or ``for (x = e; ...)`` of which ``mention`` is the ``x``, when ``e`` does not mention ``x``."""
    assign = mention.parent
    if assign is None or assign.kind != k.BINARY_OPERATOR or mention.ast.lib.clang_getCursorBinaryOperatorKind(assign.cursor) != 22:
        return None
    target, value = assign.expressions
    if target is not mention:
        return None
    declared = mention.ast.referenced(mention.cursor)
    for below in value.walk():
        if below.kind == k.LAMBDA_EXPR:
            return None
        if below.kind == k.DECL_REF_EXPR:
            other = mention.ast.referenced(below.cursor)
            if declared is not None and other is not None and mention.ast.key(other) == mention.ast.key(declared):
                return None
    above = assign.parent
    if above is not None and above.kind == k.FOR_STMT and above.children[0] is assign:
        return above
    return assign


def _is_fresh_start(mention: Node, kernel: Node, key: int) -> bool:
    """``mention`` sets the scalar anew in a statement of a block that holds the kernel too, so nobody can read the kernel's value."""
    start = _start_statement(mention)
    if start is None or start.parent is None or start.parent.kind != k.COMPOUND_STMT:
        return False
    return any(above is start.parent for above in kernel.ancestors()) and strip(mention) is mention

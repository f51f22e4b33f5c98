"""Which scalars are assigned before they are read, and which are needed afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfcc.analysis.match import scalars
from perfcc.analysis.work import certain_trip
from perfcc.core.ir import (
    Assign,
    Block,
    Declare,
    Evaluate,
    Expr,
    If,
    Jump,
    Loop,
    Opaque,
    Stmt,
    Unmodelled,
    VarRef,
    expressions,
    own_expressions,
    statements,
)

Assigned = frozenset[str]


@dataclass(slots=True)
class Exposed:
    """What one iteration of a loop's body does with scalars: ``reads`` before any assignment, ``assigned`` for certain at its end.

    ``opaque`` tells that a statement outside the model may read anything.
    """

    reads: dict[str, VarRef] = field(default_factory=dict)
    assigned: Assigned = frozenset()
    opaque: bool = False


def iteration(loop: Loop) -> Exposed:
    """Follows every path through one iteration of the loop, its variable already set."""
    result = Exposed()
    walk = _Forward(result)
    start = frozenset((loop.var.id,))
    walk.reading(loop.bound, start)
    continues: list[Assigned] = []
    end = walk.block(loop.body, start, [(continues, [])])
    ends = continues + ([end] if end is not None else [])
    result.assigned = frozenset.intersection(*ends) if ends else start
    return result


_Frames = list[tuple[list[Assigned], list[Assigned]]]


@dataclass(slots=True)
class _Forward:
    """A must-be-assigned analysis over the tree; None as a state is unreachable.

    Frames collect the states at ``continue`` and ``break`` of each open loop.
    """

    result: Exposed

    def reading(self, expr: Expr, assigned: Assigned) -> None:
        for part in scalars(expr):
            if part.var.id not in assigned:
                self.result.reads.setdefault(part.var.id, part)

    def block(self, block: Block, state: Assigned, frames: _Frames) -> Assigned | None:
        current: Assigned | None = state
        for item in block.items:
            if current is None:
                break
            current = self.statement(item, current, frames)
        return current

    def statement(self, stmt: Stmt, state: Assigned, frames: _Frames) -> Assigned | None:
        match stmt:
            case Block():
                return self.block(stmt, state, frames)
            case Assign(target=target, op=op, value=value):
                self.reading(value, state)
                if isinstance(target, VarRef):
                    if op != "=":
                        self.reading(target, state)
                    return state | {target.var.id}
                self.reading(target, state)
                return state
            case Declare(var=var, init=init):
                if init is not None:
                    self.reading(init, state)
                return state | {var.id}
            case If(condition=condition, then=then, other=other):
                self.reading(condition, state)
                first = self.block(then, state, frames)
                second = state if other is None else self.block(other, state, frames)
                if first is None or second is None:
                    return second if first is None else first
                return first & second
            case Loop():
                return self.loop(stmt, state, frames)
            case Jump(kind=kind):
                if kind == "continue":
                    frames[-1][0].append(state)
                elif kind == "break":
                    frames[-1][1].append(state)
                else:  # where a goto lands is not followed: nothing is certain after it in any open loop
                    for continues, breaks in frames:
                        continues.append(frozenset())
                        breaks.append(frozenset())
                return None
            case Unmodelled():
                self.result.opaque = True
                return state
            case Evaluate(expr=expr):
                self.reading(expr, state)
                return state
        return state

    def loop(self, loop: Loop, state: Assigned, frames: _Frames) -> Assigned:
        self.reading(loop.lower, state)
        state = state | {loop.var.id}
        self.reading(loop.bound, state)
        continues: list[Assigned] = []
        breaks: list[Assigned] = []
        end = self.block(loop.body, state, [*frames, (continues, breaks)])
        if not certain_trip(loop):
            return state
        ends = continues + breaks + ([end] if end is not None else [])
        return frozenset.intersection(*ends) if ends else state


@dataclass(slots=True)
class Liveness:
    """``after`` maps each loop id to the ids of the scalars that may be read once that loop is done, before they are written again."""

    after: dict[str, frozenset[str]] = field(default_factory=dict)


def liveness(nest: Loop, at_exit: frozenset[str]) -> Liveness:
    """Backward liveness over the whole nest; ``at_exit`` are the scalars needed after it."""
    result = Liveness()
    mentioned = {part.var.id for stmt in statements(nest) for expr in own_expressions(stmt) for part in scalars(expr)}
    declared = {stmt.var.id for stmt in statements(nest) if isinstance(stmt, (Declare, Loop))}
    _Backward(result, at_exit | mentioned | declared).statement(nest, at_exit, [])
    return result


@dataclass(slots=True)
class _Backward:
    result: Liveness
    everything: frozenset[str]

    def block(self, block: Block, live: frozenset[str], ends: list[frozenset[str]]) -> frozenset[str]:
        for item in reversed(block.items):
            live = self.statement(item, live, ends)
        return live

    def statement(self, stmt: Stmt, live: frozenset[str], ends: list[frozenset[str]]) -> frozenset[str]:
        match stmt:
            case Block():
                return self.block(stmt, live, ends)
            case Assign(target=VarRef(var=var), op=op, value=value):
                live = live - {var.id} if op == "=" else live | {var.id}
                return live | self.read(value)
            case Declare(var=var, init=init):
                live = live - {var.id}
                return live if init is None else live | self.read(init)
            case If(condition=condition, then=then, other=other):
                first = self.block(then, live, ends)
                second = live if other is None else self.block(other, live, ends)
                return first | second | self.read(condition)
            case Jump(kind="continue") if ends:
                return ends[-1]
            case Jump() | Unmodelled():
                return self.everything
            case Loop():
                return self.loop(stmt, live, ends)
        return live.union(*(self.read(expr) for expr in own_expressions(stmt)))

    def loop(self, loop: Loop, live: frozenset[str], ends: list[frozenset[str]]) -> frozenset[str]:
        self.result.after[loop.id] = self.result.after.get(loop.id, frozenset()) | live
        around = live | self.read(loop.bound)
        while True:
            inside = self.block(loop.body, around, [*ends, around])
            wider = around | (inside - {loop.var.id})
            if wider == around:
                break
            around = wider
        return (around - {loop.var.id}) | self.read(loop.lower)

    def read(self, expr: Expr) -> frozenset[str]:
        """The scalars an expression reads; one outside the model may read any."""
        if any(isinstance(part, Opaque) for part in expressions(expr)):
            return self.everything
        return frozenset(part.var.id for part in scalars(expr))

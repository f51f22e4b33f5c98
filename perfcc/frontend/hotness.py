"""A static guess at how much a kernel matters."""

from __future__ import annotations

from perfcc.core.ir import Call, Loop, Stmt, expressions, own_expressions, statements
from perfcc.core.kernel import Hotness
from perfcc.frontend.header import constant

UNKNOWN_TRIPS = 100.0
MAX_SCORE = 1e15


def hotness(nest: Loop, enclosing: int) -> Hotness:
    """Innermost work, taking 100 iterations for a trip count that isn't constant; ``enclosing`` loops run the kernel again and again."""
    work = _work(nest)
    calls = sum(isinstance(expr, Call) for stmt in statements(nest) for top in own_expressions(stmt) for expr in expressions(top))
    depth = _depth(nest)
    score = min(MAX_SCORE, work * UNKNOWN_TRIPS ** min(enclosing, 4))
    parts = [f"{depth} nested loop{'s' if depth > 1 else ''}"]
    if enclosing:
        parts.append(f"inside {enclosing} more")
    if calls:
        parts.append(f"{calls} call{'s' if calls > 1 else ''} of functions")
    return Hotness(score, f"static estimate: {', '.join(parts)}")


def refused_hotness(enclosing: int) -> Hotness:
    """For a loop that isn't modelled."""
    return Hotness(min(MAX_SCORE, UNKNOWN_TRIPS ** (1 + min(enclosing, 4))), "static estimate: not looked into")


def _depth(loop: Loop) -> int:
    return 1 + max((_depth(inner) for inner in statements(loop.body) if isinstance(inner, Loop)), default=0)


def _trips(loop: Loop) -> float:
    lower, bound = constant(loop.lower), constant(loop.bound)
    if lower is None or bound is None:
        return UNKNOWN_TRIPS
    return max(1.0, abs(bound - lower) / abs(loop.step))


def _work(loop: Loop) -> float:
    inside = 1.0
    inner_loops = []
    for stmt in _own_statements(loop):
        if isinstance(stmt, Loop):
            inner_loops.append(stmt)
        else:
            calls = sum(isinstance(expr, Call) for top in own_expressions(stmt) for expr in expressions(top))
            inside += 1.0 + 10.0 * calls
    inside += sum(_work(inner) for inner in inner_loops)
    return min(MAX_SCORE, _trips(loop) * inside)


def _own_statements(loop: Loop) -> list[Stmt]:
    """The statements of the loop's body, those inside inner loops left out."""
    found: list[Stmt] = []
    skip: set[int] = set()
    for stmt in statements(loop.body):
        if id(stmt) in skip:
            continue
        found.append(stmt)
        if isinstance(stmt, Loop):
            skip.update(id(inner) for inner in statements(stmt.body))
    return found

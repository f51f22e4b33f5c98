"""Inputs for a rewrite whose threads share blocks of iterations: long enough that several threads get some."""

from __future__ import annotations

from perfcc.core.ir import Expr, Loop, VarRef, loops
from perfcc.verify.inputs import Shape
from perfcc.verify.roles import Roles, parts

SHARES = 8
"""Blocks that the input should hold, so that each of four threads gets two."""
MOST_ITERATIONS = 2.5e6
_SHORT = 7


def block(nest: Loop) -> int:
    """The most iterations that a thread takes at once in ``nest``; 1 where nothing is cut into blocks."""
    return max((abs(loop.step) for loop in loops(nest) if loop.annotations), default=1)


def shapes(nest: Loop, original: Loop, roles: Roles) -> tuple[Shape, ...]:
    """For each loop of ``nest`` that threads share in blocks: what sets its length is long, the rest short."""
    made: list[Shape] = []
    for loop in loops(nest):
        if not loop.annotations or abs(loop.step) == 1:
            continue
        named: list[str | None] = [id for id in roles.bounds if _mentions(loop.bound, id, roles) or _mentions(loop.lower, id, roles)]
        for id in named or [None]:
            alike = sum(1 for other in loops(original) if id is None or _mentions(other.bound, id, roles))
            made.append(_shape(abs(loop.step), id, max(alike, 1), max(roles.depth, alike, 1)))
    return tuple(dict.fromkeys(made))


def _shape(step: int, long: str | None, alike: int, depth: int) -> Shape:
    affordable = int((MOST_ITERATIONS / _SHORT ** (depth - min(alike, depth))) ** (1 / alike))
    return Shape(f"blocks of {step}", max(min(SHARES * step + 3, affordable), step + 1), 1, "random", long=long, short=_SHORT)


def _mentions(expr: Expr, id: str, roles: Roles) -> bool:
    return any(isinstance(part, VarRef) and part.var.id == id for part in parts(expr, roles.locals))

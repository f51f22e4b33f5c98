"""What each live-in is for, told from how the nest uses it: loop bounds, subscripts, row pointers, plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perfcc.core.facts import Facts, Holds, NoOverlap, NoWrap, Obligation, Untouched
from perfcc.core.ir import (
    Access,
    Assign,
    Block,
    ContainerSize,
    Declare,
    Expr,
    FloatConst,
    If,
    IntConst,
    Loop,
    Stmt,
    VarRef,
    expressions,
    loops,
    own_expressions,
    statements,
)
from perfcc.core.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Place:
    """One access and the loops around it, outermost first."""

    access: Access
    loops: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Roles:
    """``bounds``: scalars that loop bounds, subscripts or extents depend on; ``lowers`` those of them that start loops.
    ``windows``: those that bound nothing but the inner loops of a deep nest, such as a mask's width.

    ``indexes``: arrays whose values are subscripts, with the arrays they point into. ``rows``: arrays whose values bound loops.
    ``sized``: vectors whose size the nest asks for. ``constants``: numbers in the text. ``locals``: what the nest gives to scalars.
    """

    bounds: tuple[str, ...]
    lowers: tuple[str, ...]
    windows: tuple[str, ...]
    indexes: dict[str, tuple[str, ...]]
    rows: tuple[str, ...]
    sized: tuple[str, ...]
    constants: tuple[float, ...]
    places: tuple[Place, ...]
    locals: dict[str, tuple[Expr, ...]]
    obligations: tuple[Obligation, ...]
    depth: int


def infer(kernel: Kernel, facts: Facts) -> Roles:
    """The roles in ``kernel``. Needs its nest."""
    nest = kernel.nest
    assert nest is not None
    assigned = _assigned(nest)
    inside = {loop.var.id for loop in loops(nest)}
    places = tuple(_places(nest, ()))
    depth = max((len(place.loops) for place in places), default=1)
    uppers: dict[str, None] = {}
    lowers: dict[str, None] = {}
    rows: dict[str, None] = {}
    sized: dict[str, None] = {}
    for loop in loops(nest):
        for expr, into in ((loop.bound, uppers), (loop.lower, lowers)):
            for part in _expand(expr, assigned):
                if isinstance(part, VarRef) and part.var.id not in inside and part.var.id not in assigned:
                    into[part.var.id] = None
                elif isinstance(part, Access):
                    rows[part.base.id] = None
                elif isinstance(part, ContainerSize):
                    sized[part.base.id] = None
    indexes: dict[str, dict[str, None]] = {}
    for place in places:
        for subscript in place.access.subscripts:
            for part in _expand(subscript, assigned):
                if isinstance(part, Access):
                    indexes.setdefault(part.base.id, {})[place.access.base.id] = None
                elif isinstance(part, VarRef) and part.var.id not in inside and part.var.id not in assigned:
                    uppers.setdefault(part.var.id)
    obligations = _obligations(facts)
    for expr in (*_extent_expressions(facts), *_obligation_expressions(obligations)):
        for part in expressions(expr):
            if isinstance(part, VarRef) and part.var.id not in inside:
                uppers.setdefault(part.var.id)
            elif isinstance(part, ContainerSize):
                sized[part.base.id] = None
    return Roles(
        bounds=tuple(dict.fromkeys((*uppers, *lowers))),
        lowers=tuple(lowers),
        windows=_windows(nest, assigned) if depth >= 4 else (),
        indexes={id: tuple(targets) for id, targets in indexes.items() if id not in rows},
        rows=tuple(rows),
        sized=tuple(sized),
        constants=tuple(_constants(nest)),
        places=places,
        locals={id: tuple(values) for id, values in assigned.items()},
        obligations=obligations,
        depth=depth,
    )


def _windows(nest: Loop, assigned: dict[str, list[Expr]]) -> tuple[str, ...]:
    """Scalars in the bounds of the third loop and deeper ones, and of no loop further out."""
    outer: set[str] = set()
    inner: dict[str, None] = {}

    def visit(stmt: Stmt, depth: int) -> None:
        if isinstance(stmt, Loop):
            for expr in (stmt.lower, stmt.bound):
                for part in _expand(expr, assigned):
                    if isinstance(part, VarRef) and depth < 2:
                        outer.add(part.var.id)
                    elif isinstance(part, VarRef):
                        inner[part.var.id] = None
            visit(stmt.body, depth + 1)
        elif isinstance(stmt, Block):
            for item in stmt.items:
                visit(item, depth)
        elif isinstance(stmt, If):
            visit(stmt.then, depth)
            if stmt.other is not None:
                visit(stmt.other, depth)

    visit(nest, 0)
    return tuple(id for id in inner if id not in outer)


def _assigned(nest: Loop) -> dict[str, list[Expr]]:
    """The values that the nest gives to scalars."""
    found: dict[str, list[Expr]] = {}
    for statement in statements(nest):
        if isinstance(statement, Declare) and statement.init is not None:
            found.setdefault(statement.var.id, []).append(statement.init)
        elif isinstance(statement, Assign) and isinstance(statement.target, VarRef):
            found.setdefault(statement.target.var.id, []).append(statement.value)
    return found


def _expand(expr: Expr, assigned: Mapping[str, Sequence[Expr]], seen: frozenset[str] = frozenset()) -> Iterator[Expr]:
    """The parts of ``expr``, those of the values of locals in it included."""
    for part in expressions(expr):
        yield part
        if isinstance(part, VarRef) and part.var.id in assigned and part.var.id not in seen:
            for value in assigned[part.var.id]:
                yield from _expand(value, assigned, seen | {part.var.id})


def parts(expr: Expr, locals: Mapping[str, Sequence[Expr]]) -> Iterator[Expr]:
    """The parts of ``expr``, those of the values of ``locals`` in it included."""
    return _expand(expr, locals)


def _places(stmt: Stmt, around: tuple[Loop, ...]) -> Iterator[Place]:
    inner = (*around, stmt) if isinstance(stmt, Loop) else around
    for expr in own_expressions(stmt):
        scope = around if isinstance(stmt, Loop) else inner
        for part in expressions(expr):
            if isinstance(part, Access):
                yield Place(part, scope)
    match stmt:
        case Block(items=items):
            for item in items:
                yield from _places(item, inner)
        case If(then=then, other=other):
            yield from _places(then, inner)
            if other is not None:
                yield from _places(other, inner)
        case Loop(body=body):
            yield from _places(body, inner)
        case _:
            pass


def _constants(nest: Loop) -> Iterator[float]:
    """Numbers in conditions; for inputs that fall on both sides and on them."""
    seen: set[float] = set()
    for statement in statements(nest):
        exprs = (statement.condition,) if isinstance(statement, If) else own_expressions(statement)
        for expr in exprs:
            for part in expressions(expr):
                value = _number(part)
                if value is not None and value not in seen:
                    seen.add(value)
                    yield value


def _number(expr: Expr) -> float | None:
    if isinstance(expr, IntConst):
        return float(expr.value) if abs(expr.value) < 1 << 31 else None
    if isinstance(expr, FloatConst):
        try:
            return float(expr.text.rstrip("fFlL"))
        except ValueError:
            return None
    return None


def _obligations(facts: Facts) -> tuple[Obligation, ...]:
    all = (*facts.order_obligations, *(o for loop in facts.loops for o in loop.obligations))
    return tuple(dict.fromkeys(all))


def _extent_expressions(facts: Facts) -> Iterator[Expr]:
    for extent in facts.extents:
        if extent.count is not None:
            yield extent.count
        if extent.lowest is not None:
            yield extent.lowest


def _obligation_expressions(obligations: tuple[Obligation, ...]) -> Iterator[Expr]:
    for obligation in obligations:
        match obligation:
            case Holds(left=left, right=right):
                yield left
                yield right
            case NoWrap(expr=expr):
                yield expr
            case NoOverlap() | Untouched():
                pass

"""Finding and exchanging loops in a nest. A node that changes loses its span, and so does every node around it."""

from __future__ import annotations

from dataclasses import replace

from perfcc.core.ir import Assign, Block, Declare, If, Loop, Stmt, VarRef, loops, statements
from perfcc.core.types import Variable


def find(nest: Loop, id: str) -> Loop:
    """The loop with that id. Raises KeyError when the nest holds none such."""
    for loop in loops(nest):
        if loop.id == id:
            return loop
    raise KeyError(id)


def path(nest: Loop, id: str) -> tuple[Loop, ...]:
    """The loops around ``id``, outermost first, itself last. Raises KeyError."""
    found = _path(nest, id)
    if found is None:
        raise KeyError(id)
    return found


def _path(stmt: Stmt, id: str) -> tuple[Loop, ...] | None:
    match stmt:
        case Loop(body=body):
            if stmt.id == id:
                return (stmt,)
            inner = _path(body, id)
            return None if inner is None else (stmt, *inner)
        case Block(items=items):
            for item in items:
                if (found := _path(item, id)) is not None:
                    return found
        case If(then=then, other=other):
            for part in (then, other):
                if part is not None and (found := _path(part, id)) is not None:
                    return found
        case _:
            pass
    return None


def exchange(nest: Loop, id: str, new: Loop) -> Loop:
    """The nest with loop ``id`` replaced by ``new``; the loops and statements around it are from then on printed from structure."""
    changed = _exchange(nest, id, new)
    if not isinstance(changed, Loop):
        raise KeyError(id)
    return changed


def _exchange(stmt: Stmt, id: str, new: Stmt) -> Stmt | None:
    match stmt:
        case Loop(body=body):
            if stmt.id == id:
                return new
            inner = _exchange(body, id, new)
            return replace(stmt, body=inner, span=None) if isinstance(inner, Block) else None
        case Block(items=items):
            for position, item in enumerate(items):
                if (found := _exchange(item, id, new)) is not None:
                    return Block((*items[:position], found, *items[position + 1 :]))
        case If(then=then, other=other):
            if isinstance(inner := _exchange(then, id, new), Block):
                return replace(stmt, then=inner, span=None)
            if other is not None and isinstance(inner := _exchange(other, id, new), Block):
                return replace(stmt, other=inner, span=None)
        case _:
            pass
    return None


def only_loop(block: Block) -> Loop | None:
    """The loop that is all there is in the block, nested braces looked through."""
    if len(block.items) != 1:
        return None
    match block.items[0]:
        case Loop() as loop:
            return loop
        case Block() as inner:
            return only_loop(inner)
        case _:
            return None


def band(loop: Loop) -> tuple[Loop, ...]:
    """The loops nested perfectly from ``loop`` inwards."""
    found = [loop]
    while (inner := only_loop(found[-1].body)) is not None:
        found.append(inner)
    return tuple(found)


def assigned(stmt: Stmt) -> set[str]:
    """Ids of the variables that the statement declares or writes as a whole: scalars, loop variables; not elements of arrays."""
    found: set[str] = set()
    for inner in statements(stmt):
        match inner:
            case Loop(var=var) | Declare(var=var):
                found.add(var.id)
            case Assign(target=VarRef(var=var)):
                found.add(var.id)
            case _:
                pass
    return found


def undeclared_loop_variables(stmt: Stmt) -> tuple[Variable, ...]:
    """Variables of the loops in ``stmt`` that are declared outside their headers, each once."""
    declared = {inner.var.id for inner in statements(stmt) if isinstance(inner, Declare)}
    found: dict[str, Variable] = {}
    for loop in loops(stmt):
        if not loop.declares_var and loop.var.id not in declared:
            found.setdefault(loop.var.id, loop.var)
    return tuple(found.values())

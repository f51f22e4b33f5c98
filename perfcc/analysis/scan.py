"""What a nest writes and where: the facts that decide which values stand still."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfcc.analysis.atoms import NO_LOOPS
from perfcc.core.ir import (
    Access,
    Assign,
    Block,
    Call,
    Declare,
    If,
    Loop,
    Opaque,
    Stmt,
    Unmodelled,
    VarRef,
    expressions,
    own_expressions,
)
from perfcc.core.types import Scope, Storage, Variable


@dataclass(slots=True)
class Scan:
    """``writes``: for each variable id written (elements of arrays included) the loops around some write. ``write_count``: textual
    writes of it.

    ``unknown`` are the loops around a statement outside the model, which may write anything. ``declared`` maps a variable declared in
    the nest to the loops around its declaration.
    ``chain`` maps a loop id to the ids of the loops around it, outermost first, itself included.
    """

    writes: dict[str, set[str]] = field(default_factory=dict)
    write_count: dict[str, int] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    declared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pointer_writes: set[str] = field(default_factory=set)
    pure: frozenset[str] = frozenset()
    chain: dict[str, tuple[str, ...]] = field(default_factory=dict)
    loops: dict[str, Loop] = field(default_factory=dict)

    def varies(self, variable: Variable) -> frozenset[str]:
        """The loops whose iterations may change the variable (or what it points to)."""
        if variable.is_const and not variable.is_reference and variable.storage is Storage.SCALAR and variable.id not in self.declared:
            return NO_LOOPS
        return frozenset(self.writes.get(variable.id, ())) | frozenset(self.unknown)


def scan(nest: Loop, pure: frozenset[str]) -> Scan:
    """Walks the nest once; ``pure`` names the callees that write nothing."""
    result = Scan(pure=pure)
    _visit(nest, (), result)
    return result


def _write(variable: Variable, loops: tuple[str, ...], result: Scan) -> None:
    result.writes.setdefault(variable.id, set()).update(loops)
    result.write_count[variable.id] = result.write_count.get(variable.id, 0) + 1


def _visit(stmt: Stmt, loops: tuple[str, ...], result: Scan) -> None:
    around = (*loops, stmt.id) if isinstance(stmt, Loop) else loops
    for whole in own_expressions(stmt):
        for part in expressions(whole):
            if isinstance(part, Opaque) or (isinstance(part, Call) and part.callee not in result.pure):
                result.unknown.update(around)
    match stmt:
        case Block(items=items):
            for item in items:
                _visit(item, loops, result)
        case Loop():
            inner = (*loops, stmt.id)
            result.chain[stmt.id] = inner
            result.loops[stmt.id] = stmt
            _write(stmt.var, inner, result)
            if stmt.declares_var:
                result.declared[stmt.var.id] = inner
            _visit(stmt.body, inner, result)
        case If(then=then, other=other):
            _visit(then, loops, result)
            if other is not None:
                _visit(other, loops, result)
        case Declare(var=var):
            result.declared[var.id] = loops
            _write(var, loops, result)
        case Assign(target=VarRef(var=var)):
            if var.storage is not Storage.SCALAR:
                result.pointer_writes.add(var.id)
            _write(var, loops, result)
        case Assign(target=Access(base=var)):
            _write(var, loops, result)
        case Unmodelled():
            result.unknown.update(loops)
        case _:
            pass


def in_memory(variable: Variable) -> bool:
    """True when something other than the variable's own name may reach the object (or pointer, or header)."""
    return (
        variable.is_reference
        or variable.address_taken
        or variable.scope in (Scope.GLOBAL, Scope.STATIC_LOCAL, Scope.MEMBER)
    )

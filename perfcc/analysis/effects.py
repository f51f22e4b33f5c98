"""What a loop's body may do beyond reading and writing memory: jumps, calls, errno, objects that other threads watch."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfcc.core.ir import (
    Access,
    Call,
    ContainerSize,
    Declare,
    Expr,
    Jump,
    Loop,
    Opaque,
    Stmt,
    Unmodelled,
    VarRef,
    expressions,
    loops,
    own_expressions,
    statements,
)
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.types import Scope, Storage, TypeKind, Variable
from perfcc.core.unit import Semantics

_LARGEST_PRIVATE = 16 * 1024


@dataclass(slots=True)
class Effects:
    """``blockers`` stop the loop's iterations from running at once; ``errno_values`` are what they may leave in errno."""

    blockers: list[Reason] = field(default_factory=list)
    errno_values: tuple[str, ...] = ()
    floating_point: bool = False


def effects(kernel: Kernel, loop: Loop, semantics: Semantics) -> Effects:
    """Everything in the loop's header and body, inner loops included."""
    result = Effects()
    errno: dict[str, None] = {}
    known = {effect.callee: effect for effect in kernel.calls}
    for stmt in statements(loop):
        _statement(stmt, loop, result)
        for whole in own_expressions(stmt):
            for expr in expressions(whole):
                _expression(expr, stmt, result)
                if isinstance(expr, Call):
                    effect = known.get(expr.callee)
                    if effect is None or not effect.pure:
                        _block(result, Reason("unknown-effects", expr.span or stmt.span, f"'{expr.callee}'"))
                    elif effect.may_throw:
                        _block(result, Reason("may-throw", expr.span or stmt.span, f"'{expr.callee}'"))
                    elif semantics.math_errno:
                        errno.update(dict.fromkeys(effect.errno_values))
    result.errno_values = tuple(errno)
    if len(errno) > 1:
        _block(result, Reason("errno-order", loop.span, " and ".join(errno)))
    return result


def _statement(stmt: Stmt, loop: Loop, result: Effects) -> None:
    match stmt:
        case Unmodelled(reason=reason):
            _block(result, reason)
        case Jump(kind=kind, leaves=leaves):
            depth = _depth(loop, stmt)
            if leaves >= depth or kind not in ("break", "continue"):
                _block(result, Reason("early-exit", stmt.span, kind))
        case Declare(var=var):
            if var.scope is Scope.STATIC_LOCAL and not var.is_const:
                _block(result, Reason("scalar-carried", stmt.span, f"static '{var.name}'"))
            elif var.storage is Storage.ARRAY and not var.is_reference:
                size = (var.element.bits // 8) if var.element is not None else _LARGEST_PRIVATE + 1
                for extent in var.dims:
                    size = _LARGEST_PRIVATE + 1 if extent is None else size * extent
                if size > _LARGEST_PRIVATE:
                    _block(result, Reason("large-private", stmt.span, f"'{var.name}'"))
            elif var.storage is Storage.OTHER:
                _block(result, Reason("unmodelled-type", stmt.span, f"'{var.name}' is a {var.type_spelling}"))
        case _:
            pass


def _expression(expr: Expr, stmt: Stmt, result: Effects) -> None:
    place = expr.span or stmt.span
    if expr.type is not None and expr.type.kind is TypeKind.FLOAT:
        result.floating_point = True
    match expr:
        case Opaque(reason=reason):
            _block(result, reason)
        case VarRef(var=var) | Access(base=var) | ContainerSize(base=var):
            for watched in _watched(var):
                _block(result, Reason(watched, place, f"'{var.name}'"))
            if var.storage is Storage.OTHER:
                _block(result, Reason("unmodelled-type", place, f"'{var.name}' is a {var.type_spelling}"))
            if var.element is not None and var.element.kind is TypeKind.FLOAT:
                result.floating_point = True
        case _:
            pass


def _watched(var: Variable) -> list[str]:
    flags = ((var.is_volatile, "volatile-access"), (var.is_atomic, "atomic-access"), (var.is_thread_local, "thread-local-access"))
    return [reason for on, reason in flags if on]


def _depth(loop: Loop, jump: Jump) -> int:
    """How many loops, ``loop`` itself included, are around the jump."""
    depth = 1
    inside = [inner for inner in loops(loop.body) if any(stmt is jump for stmt in statements(inner.body))]
    return depth + len(inside)


def _block(result: Effects, reason: Reason) -> None:
    if reason not in result.blockers:
        result.blockers.append(reason)

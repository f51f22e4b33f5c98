"""Loop headers made anew: when may a bound be converted to the loop variable's type and evaluated once?"""

from __future__ import annotations

from dataclasses import replace

from perfcc.core.facts import Holds, NoWrap, Obligation
from perfcc.core.ir import Binary, Cast, ContainerSize, Expr, IntConst, Loop, Unary, VarRef, expressions
from perfcc.core.reason import Reason
from perfcc.core.types import ScalarType, Storage, TypeKind
from perfcc.rules.tree import assigned
from perfcc.rules.types import common, same, type_of

_ARITHMETIC = ("+", "-", "*", "min", "max")


def known_at_entry(expr: Expr, nest: Loop) -> bool:
    """True when the expression has one value during the whole nest, reads only scalars and container sizes, and can't trap."""
    written = assigned(nest)
    return all(_harmless(e, written) for e in expressions(expr))


def _harmless(expr: Expr, written: set[str]) -> bool:
    match expr:
        case IntConst() | Cast():
            type = type_of(expr)
            return type is None or type.kind is not TypeKind.FLOAT
        case VarRef(var=var):
            scalar = var.storage is Storage.SCALAR and not var.is_volatile
            return scalar and var.element is not None and var.element.kind is not TypeKind.FLOAT and var.id not in written
        case ContainerSize(base=base):
            return base.id not in written
        case Unary(op="-" | "+"):
            return True
        case Binary(op=op, right=right):
            return op in _ARITHMETIC or (op in ("/", "%") and isinstance(right, IntConst) and right.value > 0)
        case _:
            return False


def rectangular(loops: tuple[Loop, ...], nest: Loop) -> bool:
    """True when no bound of the loops depends on anything that changes in the nest, or means something else inside another of the loops."""
    names = {loop.var.name: loop.var.id for loop in loops}
    for loop in loops:
        for expr in (*expressions(loop.lower), *expressions(loop.bound)):
            var = expr.var if isinstance(expr, VarRef) else expr.base if isinstance(expr, ContainerSize) else None
            if var is not None and names.get(var.name, var.id) != var.id:
                return False
    return all(known_at_entry(loop.lower, nest) and known_at_entry(loop.bound, nest) for loop in loops)


def fresh(loop: Loop, nest: Loop) -> tuple[Loop, tuple[Obligation, ...]] | Reason:
    """The loop with a header that may be printed anew, and what has to hold at run time for it to mean the same.

    The printed header compares in the variable's own type T. The user's compares in C, T's and the bound's common type.
    Where T is C converting the bound changes nothing. Elsewhere both ends must be values of T, tested at the kernel's entry.
    """
    if loop.fresh:
        return loop, ()
    variable, bound = loop.var.element, type_of(loop.bound)
    if variable is None or bound is None or not variable.is_integer or bound.kind is TypeKind.FLOAT:
        return Reason("bound-not-checkable", loop.span or loop.bound.span, f"loop variable {loop.var.name}")
    known = known_at_entry(loop.lower, nest) and known_at_entry(loop.bound, nest)
    compared = common(variable, bound)
    obligations: list[Obligation] = []
    if not same(variable, compared):
        if not known:
            detail = f"{variable.spelling} {loop.var.name} against {bound.spelling}"
            return Reason("bound-not-checkable", loop.span or loop.bound.span, detail)
        obligations += _in_range(loop, variable, compared)
    relation = loop.relation
    if relation == "!=":
        relation = "<" if loop.step > 0 else ">"
        undefined_otherwise = same(variable, compared) and variable.kind is TypeKind.SIGNED
        if abs(loop.step) != 1 or not (known or undefined_otherwise):
            return Reason("bound-not-checkable", loop.span or loop.bound.span, f"{loop.var.name} != bound")
        if known:
            obligations.append(Holds(loop.lower, "<=" if loop.step > 0 else ">=", loop.bound))
    if known and (overshoot := _overshoot(relation, loop.step)):
        obligations.append(NoWrap(Binary("+", loop.bound, IntConst(overshoot)), variable.bits, variable.kind is TypeKind.SIGNED))
    return replace(loop, relation=relation, fresh=True, span=None), tuple(obligations)


def runs(loop: Loop) -> Obligation:
    """Guard: the loop has at least one iteration."""
    return Holds(loop.lower, loop.relation, loop.bound)


def _in_range(loop: Loop, variable: ScalarType, compared: ScalarType) -> list[Obligation]:
    signed = variable.kind is TypeKind.SIGNED
    found: list[Obligation] = [NoWrap(loop.lower, variable.bits, signed), NoWrap(loop.bound, variable.bits, signed)]
    if compared.kind is TypeKind.UNSIGNED and signed:
        found += [Holds(loop.lower, ">=", IntConst(0)), Holds(loop.bound, ">=", IntConst(0))]
    return found


def _overshoot(relation: str, step: int) -> int:
    """How far past the bound the variable may come; 0 when it can't leave the bound's type."""
    return step if relation in ("<=", ">=") else step - (1 if step > 0 else -1)

"""Facts in words, for the report."""

from __future__ import annotations

from perfcc.core.facts import Dependence, Facts
from perfcc.core.ir import (
    Access,
    Binary,
    Call,
    Cast,
    Conditional,
    ContainerSize,
    Expr,
    FloatConst,
    IntConst,
    Loop,
    Opaque,
    Unary,
    VarRef,
    loops,
)

_MOST = 6


def fact_pairs(nest: Loop, facts: Facts) -> tuple[tuple[str, str], ...]:
    """(name, value) pairs: trip counts and work, steps through memory, dependences, what threads would have to keep apart."""
    names = {loop.id: loop.var.name for loop in loops(nest)}
    found: list[tuple[str, str]] = []
    for own in facts.loops:
        name = names.get(own.loop, own.loop)
        trips = "unknown at entry" if own.trip_count is None else words(own.trip_count)
        found.append((f"iterations of {name}", trips + (", uneven" if own.uneven else "")))
        if own.private or own.lastprivate:
            found.append((f"private to an iteration of {name}", ", ".join(v.name for v in (*own.private, *own.lastprivate))))
        if own.reductions:
            found.append((f"gathered over {name}", ", ".join(f"{r.var.name} ({r.op})" for r in own.reductions)))
    for access in facts.accesses[:_MOST]:
        texts = dict(access.stride_text)
        steps = [f"{names.get(id, id)}: {texts.get(id) or ('varies' if step is None else step)}" for id, step in access.strides]
        kind = "write" if access.write else "read"
        place = f" at line {access.span.line}" if access.span else ""
        found.append((f"{kind} of {access.variable}{place}", "elements a step, " + ", ".join(steps) if steps else "one element"))
    found += [("dependence", _dependence(d, names)) for d in facts.dependences[:_MOST]]
    if not facts.dependences:
        found.append(("dependence", "none between iterations"))
    return tuple(dict.fromkeys(found))


def _dependence(dependence: Dependence, names: dict[str, str]) -> str:
    steps = zip(dependence.loops, dependence.directions, dependence.distance, strict=True)
    vector = ", ".join(f"{names.get(id, id)} {direction if distance is None else distance}" for id, direction, distance in steps)
    bound = "" if dependence.exact else ", at most"
    return f"{dependence.kind.value} on {dependence.variable} ({vector}){bound}"


def words(expr: Expr) -> str:
    """The expression in the notation of C, without the conversions."""
    match expr:
        case IntConst(value=value):
            return str(value)
        case FloatConst(text=text):
            return text
        case VarRef(var=var):
            return var.name
        case Access(base=base, subscripts=subscripts):
            return base.name + "".join(f"[{words(s)}]" for s in subscripts)
        case ContainerSize(base=base):
            return f"{base.name}.size()"
        case Unary(op=op, operand=operand):
            return f"{op}{_operand(operand)}"
        case Binary(op="min" | "max" as op, left=left, right=right):
            return f"{op}({words(left)}, {words(right)})"
        case Binary(op=op, left=left, right=right):
            return f"{_operand(left)} {op} {_operand(right)}"
        case Cast(operand=operand):
            return words(operand)
        case Conditional(condition=condition, then=then, other=other):
            return f"{_operand(condition)} ? {_operand(then)} : {_operand(other)}"
        case Call(callee=callee, arguments=arguments):
            return f"{callee}({', '.join(words(a) for a in arguments)})"
        case Opaque():
            return "?"


def _operand(expr: Expr) -> str:
    text = words(expr)
    return f"({text})" if isinstance(expr, Binary | Conditional) and getattr(expr, "op", "") not in ("min", "max") else text

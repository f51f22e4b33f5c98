"""Parsing snippets with the compiler's own include paths, and nests as text to compare with."""

from __future__ import annotations

import subprocess
from functools import lru_cache

from perfcc.core import ir
from perfcc.core.kernel import Kernel, ParsedUnit
from perfcc.core.unit import Invocation, Semantics, TranslationUnit
from perfcc.frontend import parse


@lru_cache(maxsize=4)
def include_args(language: str) -> tuple[str, ...]:
    done = subprocess.run(["g++", "-x", language, "-E", "-v", "-"], input="", capture_output=True, text=True, check=True)
    listing = done.stderr.split("search starts here:\n")[-1].split("End of search list")[0]
    return tuple(word for path in listing.split() for word in ("-isystem", path))


def unit_of(
    text: str | bytes, language: str = "c++", extra: tuple[str, ...] = (), name: str = "unit.cpp", cwd: str = "/"
) -> TranslationUnit:
    standard = "-std=gnu++17" if language == "c++" else "-std=gnu11"
    args = ("-nostdinc", "-x", language, standard, *include_args(language), *extra)
    content = text.encode() if isinstance(text, str) else text
    return TranslationUnit(Invocation(("g++",), "g++", cwd, name, 0, "unit.o", language), args, Semantics(), content)


def parsed(text: str | bytes, language: str = "c++", extra: tuple[str, ...] = ()) -> ParsedUnit:
    unit = parse(unit_of(text, language, extra))
    assert unit.refusal is None, unit.refusal
    return unit


def kernels(text: str | bytes, language: str = "c++", extra: tuple[str, ...] = ()) -> tuple[Kernel, ...]:
    return parsed(text, language, extra).kernels


def kernel(text: str | bytes, language: str = "c++", extra: tuple[str, ...] = ()) -> Kernel:
    (only,) = kernels(text, language, extra)
    assert only.refusal is None, only.refusal
    return only


def nest_text(kernel: Kernel) -> str:
    assert kernel.nest is not None, kernel.refusal
    return statement(kernel.nest)


def expression(e: ir.Expr) -> str:
    """``<type>`` stands for a conversion, ``@`` for a place in the kernel where a variable is declared."""
    match e:
        case ir.IntConst(value=value):
            return str(value)
        case ir.FloatConst(text=text):
            return text
        case ir.VarRef(var=var):
            return var.name
        case ir.Access(base=base, subscripts=subscripts):
            return base.name + "".join(f"[{expression(s)}]" for s in subscripts)
        case ir.ContainerSize(base=base):
            return f"{base.name}.size()"
        case ir.Unary(op=op, operand=operand):
            return f"{op}{expression(operand)}"
        case ir.Binary(op=op, left=left, right=right):
            return f"({expression(left)} {op} {expression(right)})"
        case ir.Cast(operand=operand, type=type):
            return f"<{type.spelling if type else '?'}>{expression(operand)}"
        case ir.Conditional(condition=c, then=a, other=b):
            return f"({expression(c)} ? {expression(a)} : {expression(b)})"
        case ir.Call(callee=callee, arguments=arguments):
            return f"{callee}({', '.join(map(expression, arguments))})"
        case ir.Opaque():
            return "opaque"


def statement(s: ir.Stmt) -> str:
    match s:
        case ir.Loop():
            sign = "" if s.declares_var else "outer "
            return f"for {sign}{s.var.name}={expression(s.lower)} {s.relation} {expression(s.bound)} {s.step:+} {statement(s.body)}"
        case ir.Assign(target=target, op=op, value=value):
            return f"{expression(target)} {op} {expression(value)};"
        case ir.Declare(var=var, init=init):
            return f"{var.name}{'' if init is None else ' := ' + expression(init)};"
        case ir.Evaluate(expr=e):
            return f"{expression(e)};"
        case ir.If(condition=c, then=then, other=other):
            return f"if {expression(c)} {statement(then)}" + (f" else {statement(other)}" if other else "")
        case ir.Block(items=items):
            return "{" + " ".join(map(statement, items)) + "}"
        case ir.Jump(kind=kind, leaves=leaves):
            return f"{kind}/{leaves};"
        case ir.Unmodelled():
            return "unmodelled;"

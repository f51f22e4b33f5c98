"""Expressions and leaf statements as text: the user's own where there is a span, from structure where a rule made the node."""

from __future__ import annotations

from perfcc.core.ir import Access, Binary, Call, Cast, Conditional, ContainerSize, Expr, FloatConst, IntConst, Opaque, Unary, VarRef
from perfcc.core.kernel import Kernel
from perfcc.core.span import Span
from perfcc.core.types import ScalarType, TypeKind


class SourceText:
    """The bytes of one kernel, addressed by spans of the file they stand in."""

    def __init__(self, kernel: Kernel) -> None:
        self._span = kernel.span
        self._bytes = kernel.text.encode("utf-8", "surrogateescape")

    def holds(self, span: Span | None) -> bool:
        """True when the span's bytes are part of the kernel's own text."""
        return span is not None and self._span.contains(span) and span.begin < span.end

    def slice(self, begin: int, end: int) -> str:
        """The bytes ``[begin, end)`` of the file; both must lie inside the kernel."""
        base = self._span.begin
        return self._bytes[begin - base : end - base].decode("utf-8", "surrogateescape")

    def text(self, span: Span) -> str:
        return self.slice(span.begin, span.end)

    def terminated(self, span: Span) -> str:
        """The spanned statement with its semicolon, which clang leaves out of an expression statement's extent."""
        return self.terminated_from(span.begin, span)

    def terminated_from(self, begin: int, span: Span) -> str:
        """The part of the spanned statement from ``begin`` on, with its semicolon."""
        text = self.slice(begin, span.end)
        if text.endswith(";"):
            return text
        rest = self.slice(span.end, self._span.end).lstrip()
        if text.endswith("}") and not rest.startswith(";"):
            return text
        return text + ";"

    def expr(self, expr: Expr) -> str:
        """C text that may stand as an operand: parenthesised unless it is one token or a postfix expression."""
        span = expr.span
        if span is not None and self.holds(span):
            text = self.text(span)
            return text if _is_atom(expr, text) else f"({text})"
        return self.structure(expr)

    def structure(self, expr: Expr) -> str:
        """The expression's text from its structure alone at the top level."""
        match expr:
            case IntConst(value=value, type=type):
                return _integer(value, type)
            case FloatConst(text=text):
                return text
            case VarRef(var=var):
                return var.name
            case Access(base=base) if base.extents:
                return "(perfcc_opaque_expression)"  # its one subscript is not what C would take
            case Access(base=base, subscripts=subscripts):
                return base.name + "".join(f"[{self.expr(s)}]" for s in subscripts)
            case ContainerSize(base=base):
                return f"{base.name}.size()"
            case Unary(op=op, operand=operand):
                return f"({op}{self.expr(operand)})"
            case Binary(op="min" | "max" as op, left=left, right=right):
                a, b = self.expr(left), self.expr(right)
                return f"({a} {'<' if op == 'min' else '>'} {b} ? {a} : {b})"
            case Binary(op=op, left=left, right=right):
                return f"({self.expr(left)} {op} {self.expr(right)})"
            case Cast(operand=operand, type=type):
                return self.expr(operand) if type is None else f"(({type.spelling}){self.expr(operand)})"
            case Conditional(condition=condition, then=then, other=other):
                return f"({self.expr(condition)} ? {self.expr(then)} : {self.expr(other)})"
            case Call(callee=callee, arguments=arguments):
                return f"{callee}({', '.join(self.expr(a) for a in arguments)})"
            case Opaque():
                return "(perfcc_opaque_expression)"


def bare(text: str) -> str:
    """``text`` without one pair of parentheses around the whole of it."""
    if not (text.startswith("(") and text.endswith(")")) or "'" in text or '"' in text:
        return text
    depth = 0
    for position, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1]


def _is_atom(expr: Expr, text: str) -> bool:
    return text.replace(".", "").isalnum() or (isinstance(expr, VarRef | Access | ContainerSize) and "\n" not in text)


def _integer(value: int, type: ScalarType | None) -> str:
    suffix = ""
    if type is not None and type.kind is TypeKind.UNSIGNED:
        suffix = "u"
    if not -(2**31) < value < 2**31 or (type is not None and type.bits > 32):
        suffix += "L"
    return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"

"""The loop tree as C or C++ text: leaf statements as the user wrote them, loop headers and OpenMP regions made anew.

The text is valid C89 with GNU extensions and C++98: declarations open their block, and a loop variable is declared in a header only where
the user's own header did so.
"""

from __future__ import annotations

from perfcc.core.ir import Assign, Block, Declare, Evaluate, Expr, If, IntConst, Jump, Loop, Parallel, Stmt, Unmodelled, VarRef, statements
from perfcc.core.kernel import Kernel
from perfcc.core.span import Span
from perfcc.core.types import Scope, Storage, Variable
from perfcc.rules.region import Accumulator, Header, accumulated, element, indented, is_ours, region
from perfcc.rules.source import SourceText, bare
from perfcc.rules.tree import assigned, only_loop
from perfcc.rules.types import same, type_of


def print_nest(kernel: Kernel, nest: Loop) -> str:
    """The text of ``nest``, a rewritten form of the kernel's own: the fast path, without guard."""
    return "\n".join(_Printer(kernel).stmt(nest))


class _Printer:
    """Prints one nest; numbers the names it makes. Methods return lines."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._source = SourceText(kernel)
        self._count = 0
        self._accumulators: dict[str, Accumulator] = {}  # by Variable.id of the reduction's target

    def stmt(self, stmt: Stmt) -> list[str]:
        if stmt.span is not None and self._verbatim(stmt):
            return self._source.terminated(stmt.span).split("\n")
        match stmt:
            case Loop():
                return self._loop(stmt)
            case Block():
                return self._block(stmt)
            case If(condition=condition, then=then, other=other):
                lines = [f"if ({bare(self._source.expr(condition))})", *self._block(then)]
                return lines if other is None else [*lines, "else", *self._block(other)]
            case Assign(target=target, op=op, value=value):
                return [self._assign(target, op, value)]
            case Declare(var=var, init=init):
                return [_declaration(var, None if init is None else bare(self._source.expr(init)))]
            case Evaluate(expr=expr):
                return [bare(self._source.expr(expr)) + ";"]
            case Jump(kind=kind):
                return [kind + ";"]
            case Unmodelled(reason=reason):
                raise ValueError(f"can't be printed: {reason}")

    def _verbatim(self, stmt: Stmt) -> bool:
        if not self._source.holds(stmt.span):
            return False
        targets = (s.target for s in statements(stmt) if isinstance(s, Assign))
        return not any(isinstance(t, VarRef) and t.var.id in self._accumulators for t in targets)

    def _block(self, block: Block) -> list[str]:
        """Always braced."""
        if block.span is not None and self._verbatim(block):
            text = self._source.text(block.span)
            if text.startswith("{") and text.endswith("}"):
                return text.split("\n")
        lines: list[str] = []
        printed: Span | None = None
        for item in block.items:
            span = item.span
            if isinstance(item, Declare) and span is not None and self._source.holds(span):
                # `double x = a, y = b;` is two declarations whose spans both begin at the type
                if printed is not None and span.begin < printed.end:
                    if span.end > printed.end:
                        lines[-1] = lines[-1].removesuffix(";") + self._source.terminated_from(printed.end, span)
                        printed = span
                    continue
                printed = span
                lines.append(self._source.terminated(span))
            else:
                lines += self.stmt(item)
        return ["{", *indented([part for line in lines for part in line.split("\n")]), "}"]

    def _assign(self, target: Expr, op: str, value: Expr) -> str:
        if isinstance(target, VarRef) and target.var.id in self._accumulators:
            part = self._accumulators[target.var.id]
            terms = accumulated(target.var, op, value)
            if terms is None:
                raise ValueError(f"not an accumulation on {target.var.name}")
            return " ".join(f"{part.name} {sign}= ({part.type}){self._source.expr(term)};" for sign, term in terms)
        return f"{self._source.expr(target)} {op} {bare(self._source.expr(value))};"

    def _loop(self, loop: Loop) -> list[str]:
        for annotation in loop.annotations:
            if isinstance(annotation, Parallel):
                return self._region(loop, annotation)
        if not loop.fresh:
            header = Header(loop, bare(self._source.expr(loop.lower)), self._source.expr(loop.bound))
            return [header.text(), *self._block(loop.body)]
        hoisted, header = self._header(loop, self._next(), hoist_lower=False)
        if is_ours(loop.var) and not loop.declares_var:
            hoisted.append(f"{element(loop.var)} {loop.var.name};")
        lines = [header.text(), *self._block(loop.body)]
        return ["{", *indented([*hoisted, *lines]), "}"] if hoisted else lines

    def _region(self, loop: Loop, parallel: Parallel) -> list[str]:
        number = self._next()
        hoisted, header = self._header(loop, number, hoist_lower=True)
        headers = [header]
        innermost = loop
        while len(headers) < parallel.collapse:
            inner = only_loop(innermost.body)
            if inner is None:
                raise ValueError("collapse needs a perfect nest")
            innermost = inner
            declarations, header = self._header(inner, self._next(), hoist_lower=True)
            hoisted += declarations
            headers.append(header)
        plan = region(self._kernel, tuple(headers), parallel, number)
        outer, self._accumulators = self._accumulators, {**self._accumulators, **{a.reduction.var.id: a for a in plan.accumulators}}
        body = self._block(innermost.body)
        self._accumulators = outer
        return ["{", *indented([*hoisted, *plan.lines(body)]), "}"]

    def _header(self, loop: Loop, number: int, hoist_lower: bool) -> tuple[list[str], Header]:
        """The declarations that must stand before the loop, and its header."""
        type = element(loop.var)
        hoisted: list[str] = []
        lower, bound = bare(self._source.expr(loop.lower)), self._source.expr(loop.bound)
        if hoist_lower and not _simple(loop, loop.lower):
            hoisted.append(f"const {type} perfcc_lo{number} = {_converted(loop, loop.lower, lower)};")
            lower = f"perfcc_lo{number}"
        if not _simple(loop, loop.bound):
            hoisted.append(f"const {type} perfcc_hi{number} = {_converted(loop, loop.bound, bound)};")
            bound = f"perfcc_hi{number}"
        return hoisted, Header(loop, lower, bound)

    def _next(self) -> int:
        self._count += 1
        return self._count - 1


def _simple(loop: Loop, expr: Expr) -> bool:
    """True when the expression can be evaluated again at no cost and with no change of type: a constant, or a local scalar
    that the loop leaves alone (what it writes may be a thread's own copy, or a partial result)."""
    if isinstance(expr, IntConst):
        return True
    if not isinstance(expr, VarRef) or expr.var.element is None or loop.var.element is None or expr.var.id in assigned(loop):
        return False
    return same(expr.var.element, loop.var.element) and expr.var.scope in (Scope.LOCAL, Scope.PARAMETER) and not expr.var.is_reference


def _converted(loop: Loop, expr: Expr, text: str) -> str:
    own = type_of(expr)
    unchanged = own is not None and loop.var.element is not None and same(own, loop.var.element)
    return bare(text) if unchanged else f"({element(loop.var)}){text}"


def _declaration(var: Variable, init: str | None) -> str:
    dims = "".join(f"[{d}]" for d in var.dims) if var.storage is Storage.ARRAY else ""
    return f"{element(var)} {var.name}{dims}{'' if init is None else ' = ' + init};"

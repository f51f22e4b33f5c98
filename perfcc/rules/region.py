"""One parallel region as text: private copies, accumulators, and what threads must hand back (errno, floating-point flags)."""

from __future__ import annotations

from dataclasses import dataclass

from perfcc.core.ir import Binary, Cast, Declare, Expr, Loop, Parallel, Reduction, VarRef, expressions, statements
from perfcc.core.kernel import Kernel
from perfcc.core.types import ScalarType, Scope, TypeKind, Variable
from perfcc.rules.tree import undeclared_loop_variables
from perfcc.rules.types import unsigned_like

_IDENTITY = {"+": "0", "*": "1", "|": "0", "^": "0"}


@dataclass(frozen=True, slots=True)
class Header:
    """A loop's header: ``lower`` and ``bound`` are text that costs nothing to evaluate where the header stands."""

    loop: Loop
    lower: str
    bound: str

    def text(self, declare: bool | None = None) -> str:
        loop = self.loop
        name = loop.var.name
        typed = f"{element(loop.var)} " if (loop.declares_var if declare is None else declare) else ""
        sign = "+" if loop.step > 0 else "-"
        size = abs(loop.step)
        step = f"{sign}{sign}{name}" if size == 1 else f"{name} {sign}= {size}"
        return f"for ({typed}{name} = {self.lower}; {name} {loop.relation} {self.bound}; {step})"

    def final(self) -> str:
        """The value the loop leaves in its variable; in unsigned arithmetic where a difference could overflow."""
        loop = self.loop
        strict = loop.relation in ("<", ">")
        runs = f"{self.lower} {loop.relation} {self.bound}"
        if abs(loop.step) == 1:
            end = self.bound if strict else f"{self.bound} {'+' if loop.step > 0 else '-'} 1"
            return f"{runs} ? {end} : {self.lower}"
        assert loop.var.element is not None
        type, wide, size = element(loop.var), unsigned_like(loop.var.element).spelling, abs(loop.step)
        near, far = (self.lower, self.bound) if loop.step > 0 else (self.bound, self.lower)
        distance = f"(({wide}){far} - ({wide}){near}{' - 1u' if strict else ''})"
        sign = "+" if loop.step > 0 else "-"
        return f"{runs} ? ({type})(({wide}){self.lower} {sign} ({distance} / {size}u + 1u) * {size}u) : {self.lower}"


@dataclass(frozen=True, slots=True)
class Accumulator:
    """The variable in which a thread gathers its part of a reduction, in unsigned arithmetic."""

    reduction: Reduction
    name: str
    type: str

    def start(self) -> str:
        return f"{self.type} {self.name} = {_IDENTITY[self.reduction.op]};"

    def combine(self) -> str:
        var = self.reduction.var
        return f"{var.name} = ({element(var)})(({self.type}){var.name} {self.reduction.op} {self.name});"


def is_ours(var: Variable) -> bool:
    """True for a loop variable that a rule made: it is declared where its loop stands."""
    return var.id.startswith("perfcc_")


def element(var: Variable) -> str:
    """The spelling of a scalar variable's own type, references looked through."""
    return var.type_spelling if var.element is None else var.element.spelling


def needs_accumulator(reduction: Reduction) -> bool:
    """True when partial results could overflow where the whole does not, or the variable can't stand in an OpenMP clause."""
    if reduction.op not in _IDENTITY:
        return False
    type: ScalarType | None = reduction.var.element
    wraps = type is not None and type.kind is TypeKind.UNSIGNED and type.bits >= 32
    return reduction.var.scope is Scope.MEMBER or (reduction.op in ("+", "*") and not wraps)


def accumulated(var: Variable, op: str, value: Expr) -> tuple[tuple[str, Expr], ...] | None:
    """What ``var op value`` adds (or multiplies, ...) to ``var``, as (operator, operand) pairs; None when it isn't of that form.

    ``s += e``, ``s -= e``, ``s = s + e``, ``s = e + s``, ``s = s + e - f``.
    """
    if op != "=":
        return None if _mentions(value, var) else ((op[:-1], value),)
    value = _uncast(value, var)
    terms: list[tuple[str, Expr]] = []
    while isinstance(value, Binary):
        if _mentions(value.right, var) and not _mentions(value.left, var) and value.op in ("+", "*", "&", "|", "^"):
            terms.append((value.op, value.left))
            value = value.right
        elif not _mentions(value.right, var):
            terms.append((value.op, value.right))
            value = value.left
        else:
            return None
        value = _uncast(value, var)
    ops = {"+" if sign == "-" else sign for sign, _ in terms}
    is_var = isinstance(value, VarRef) and value.var.id == var.id
    return tuple(terms) if is_var and len(ops) == 1 else None


def _uncast(expr: Expr, var: Variable) -> Expr:
    """Integer conversions that keep the low bits which ``var`` holds change nothing about its sum."""
    while isinstance(expr, Cast) and expr.type is not None and var.element is not None:
        if not expr.type.is_integer or expr.type.bits < var.element.bits:
            break
        expr = expr.operand
    return expr


def _mentions(expr: Expr, var: Variable) -> bool:
    return any(isinstance(e, VarRef) and e.var.id == var.id for e in expressions(expr))


@dataclass(frozen=True, slots=True)
class Region:
    """What stands around the loops of one parallel region. ``number`` makes its names unique in the nest."""

    kernel: Kernel
    headers: tuple[Header, ...]
    parallel: Parallel
    number: int
    accumulators: tuple[Accumulator, ...]

    def lines(self, body: list[str]) -> list[str]:
        n, parallel = self.number, self.parallel
        carries_errno, carries_flags = bool(parallel.errno_values), parallel.floating_point
        before: list[str] = [a.start() for a in self.accumulators]
        entering: list[str] = []
        leaving: list[str] = []
        after: list[str] = []
        handed_back: list[str] = []
        if carries_errno:
            before += [f"const int perfcc_errno{n} = perfcc_rt_errno_get();", f"int perfcc_left{n} = 0;"]
            entering.append(f"const int perfcc_own_errno{n} = perfcc_rt_errno_swap(0);")
            leaving.append(f"perfcc_left{n} = perfcc_rt_errno_swap(perfcc_own_errno{n});")
            after.append(f"perfcc_rt_errno_swap(perfcc_left{n} ? perfcc_left{n} : perfcc_errno{n});")
            handed_back.append(f"reduction(max : perfcc_left{n})")
        if carries_flags:
            before += [f"const perfcc_rt_fenv perfcc_fenv{n} = perfcc_rt_fenv_read();", f"unsigned perfcc_flags{n} = 0;"]
            entering.append(f"const perfcc_rt_fenv perfcc_own_fenv{n} = perfcc_rt_fenv_enter(perfcc_fenv{n});")
            leaving.insert(0, f"perfcc_flags{n} = perfcc_rt_fenv_leave(perfcc_own_fenv{n});")
            after.append(f"perfcc_rt_fenv_raise(perfcc_flags{n});")
            handed_back.append(f"reduction(| : perfcc_flags{n})")
        after += [a.combine() for a in self.accumulators]
        shadows = [f"{element(h.loop.var)} {h.loop.var.name};" for h in self.headers if not h.loop.declares_var]
        after += [f"{h.loop.var.name} = {h.final()};" for h in self.headers if self._outlives(h.loop)]
        loops = [header.text() for header in self.headers]
        if not (shadows or entering):
            clauses = self._clauses(self._private())
            return [*before, f"#pragma omp parallel for{clauses}", *loops, *body, *after]
        private = "".join(f" {c}" for c in [*self._private(), *handed_back])
        inside = [*shadows, *entering, f"#pragma omp for{self._clauses([])}", *loops, *body, *leaving]
        return [*before, f"#pragma omp parallel{private}", "{", *indented(inside), "}", *after]

    def _outlives(self, loop: Loop) -> bool:
        return not loop.declares_var and not is_ours(loop.var) and loop.var.id not in self.kernel.dead_after

    def _private(self) -> list[str]:
        kept = {v.id for v in self.parallel.lastprivate} | {h.loop.var.id for h in self.headers}
        inner = undeclared_loop_variables(self.headers[-1].loop.body)
        declared = {s.var.id for s in statements(self.headers[-1].loop.body) if isinstance(s, Declare)}
        found = {v.id: v.name for v in (*self.parallel.private, *inner) if v.id not in kept | declared and not is_ours(v)}
        return [f"private({', '.join(found.values())})"] if found else []

    def _clauses(self, private: list[str]) -> str:
        parallel = self.parallel
        clauses = [f"schedule({parallel.schedule})", *private]
        if parallel.collapse > 1:
            clauses.append(f"collapse({parallel.collapse})")
        if last := [v.name for v in parallel.lastprivate if v.id not in {h.loop.var.id for h in self.headers}]:
            clauses.append(f"lastprivate({', '.join(last)})")
        gathered = {a.reduction.var.id: a.name for a in self.accumulators}
        clauses += [f"reduction({r.op} : {gathered.get(r.var.id, r.var.name)})" for r in parallel.reductions]
        return "".join(f" {clause}" for clause in clauses)


def region(kernel: Kernel, headers: tuple[Header, ...], parallel: Parallel, number: int) -> Region:
    """The region that runs the loops with these headers, outermost first and as many as ``parallel.collapse`` says."""
    accumulators = tuple(
        Accumulator(r, f"perfcc_part{number}_{position}", unsigned_like(r.type).spelling)
        for position, r in enumerate(parallel.reductions)
        if needs_accumulator(r)
    )
    return Region(kernel, headers, parallel, number, accumulators)


def indented(lines: list[str]) -> list[str]:
    """Preprocessor lines keep to column 1."""
    return [line if not line or line.startswith("#") else "    " + line for line in lines]

"""The text that takes a kernel's place: guard, fast path, and the original as it was."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perfcc.core.candidate import Candidate
from perfcc.core.ir import Declare, statements
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.types import Scope
from perfcc.rules.guard import at_least

_LABEL = re.compile(r"(?:^|[;{}])\s*(?!default\b|case\b|public\b|private\b|protected\b)[A-Za-z_]\w*\s*:(?!:)")
_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)", re.MULTILINE)
_UNIQUE = re.compile(r"\b(__COUNTER__|_Pragma|__label__)\b")
_STATIC = re.compile(r"\bstatic\b(?!_)")
_LAMBDA = re.compile(r"\[[^\]\[]*\]\s*(?:\([^()]*\)\s*(?:mutable\b\s*|noexcept\b\s*|->\s*[\w:<>&* ]+)?)?\{")
_QUIET = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Replacement:
    """``head`` ends with a line break and ``tail`` begins with one, so that a ``#line`` may stand before and after the original."""

    head: str
    original: str
    tail: str

    @property
    def text(self) -> str:
        return self.head + self.original + self.tail


def replacement(kernel: Kernel, candidate: Candidate, threshold: float) -> str:
    """``{ if (work && threads && guard) fast else original }``: one compound statement, whatever the kernel's surroundings."""
    return parts(kernel, candidate, threshold).text


def parts(kernel: Kernel, candidate: Candidate, threshold: float) -> Replacement:
    """The replacement cut where the original's own lines begin and end."""
    fast = candidate.fast if candidate.fast.startswith("{") else "{\n" + candidate.fast + "\n}"
    return Replacement(f"{{ if ({condition(candidate, threshold)}) {fast}\nelse {{\n", kernel.text, "\n} }")


def condition(candidate: Candidate, threshold: float) -> str:
    """The whole run-time test, cheapest first. It asks for work of at least 1: the fast path may evaluate the bounds of inner loops."""
    terms: list[str] = []
    if candidate.work is not None:
        work = at_least(candidate.work, max(1, round(threshold)))
        if work is not None and work != "1":
            terms.append(work)
    if candidate.threads:
        terms.append("perfcc_rt_parallel_ok()")
    if candidate.guard != "1" or not terms:
        terms.append(candidate.guard)
    return " && ".join(terms)


def duplicable(kernel: Kernel) -> Reason | None:
    """Why the kernel's text can't stand twice in its function, if so: directives, labels, local statics, lambdas."""
    text = _QUIET.sub(lambda m: "\n" * m.group().count("\n") + " ", kernel.text)
    if _DIRECTIVE.search(text):
        return Reason("macro-in-kernel", kernel.span, "preprocessor directive")
    for pattern, what in ((_LABEL, "label"), (_STATIC, "local static"), (_LAMBDA, "lambda"), (_UNIQUE, "__COUNTER__ or _Pragma")):
        if pattern.search(text):
            return Reason("not-duplicable", kernel.span, what)
    if kernel.nest is not None:
        for stmt in statements(kernel.nest):
            if isinstance(stmt, Declare) and stmt.var.scope is Scope.STATIC_LOCAL:
                return Reason("not-duplicable", stmt.span or kernel.span, "local static")
    return None

"""A candidate: a sequence of proved steps, and the code that comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from perfcc.core.facts import Obligation
from perfcc.core.ir import Expr, Loop

Parameters = tuple[tuple[str, int | str], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One rule applied to one loop with its parameters, and the argument of its proof."""

    rule: str
    loop: str
    parameters: Parameters = ()
    argument: str = ""
    category: str = ""

    def __str__(self) -> str:
        inner = ", ".join(f"{k}={v}" for k, v in self.parameters)
        return f"{self.rule}({inner})" if inner else self.rule


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rewritten nest.

    ``fast`` is the text of the fast path alone; ``guard`` a C expression over the kernel's live-ins, "1" if nothing needs checking;
    ``work`` an expression for the work of one run (innermost iterations of one run of the loop the rewrite starts at), None when it can't
    be told at entry. ``threads`` tells that it starts threads.
    """

    kernel: str
    steps: tuple[Step, ...]
    nest: Loop
    fast: str
    guard: str
    work: Expr | None
    obligations: tuple[Obligation, ...]
    threads: bool
    proposer: str = "rules"

    @property
    def name(self) -> str:
        return " > ".join(str(step) for step in self.steps)

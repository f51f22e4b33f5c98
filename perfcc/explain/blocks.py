"""The block of text for one loop nest, and the page it is printed on."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfcc.core.decision import Decision, SizeTiming, Status
from perfcc.core.reason import REASONS, Reason
from perfcc.explain import wording
from perfcc.explain.wording import Catalogue

if TYPE_CHECKING:
    from rich.console import Console

LABEL = 10
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
NOUNS = {Status.REFUSED: "refused", Status.REJECTED: "tried without success", Status.UNDECIDED: "not decided yet"}


@dataclass(frozen=True, slots=True)
class Page:
    """Where a report goes: a console, the rules' words, and the directory that paths are relative to."""

    console: Console
    words: Catalogue
    base: str = ""

    def line(self, text: str, style: str = "") -> None:
        """Print one line as it is: never wrapped, no markup, safe for the console's encoding."""
        from rich.text import Text

        self.console.print(Text(wording.printable(text, self.console.encoding), style), soft_wrap=True)

    def heading(self, text: str) -> None:
        self.line("")
        self.line(text, "bold underline")

    def field(self, label: str, lines: Sequence[str], style: str = "") -> None:
        """A label with its lines beside it; nothing at all when there are none."""
        for index, text in enumerate(lines):
            self.line(f"  {label if index == 0 else '':<{LABEL}}{text}", style)

    def table(self, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
        """Columns as wide as their cells."""
        widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
        for row in (header, *rows):
            cells = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            self.line(f"  {cells.rstrip()}", "dim" if row is header else "")

    def lift(self, reason: Reason, indent: str) -> None:
        """What the user could change, where anything would help."""
        if reason.kind.lift:
            self.line(f"{indent}to lift it: {reason.kind.lift}", "dim")


def runs_from(decision: Decision) -> str:
    """The least work at which the guard lets the rewrite run."""
    return f"{wording.count(decision.threshold)} iterations" if decision.threshold > 0 else "any size"


def rewritten(decision: Decision, page: Page) -> None:
    """Where, how hot, what was tried, what won, why it helps, the checks, the speed-up, the guard, the diff."""
    known = " (from the store)" if decision.cached else ""
    page.line("")
    where = f"{wording.place(decision.span, page.base)}  {decision.function}"
    page.line(f"{where}  {wording.ratio(decision.speedup)} faster{known}", "bold green")
    page.field("hot", [decision.hotness_why] if decision.hotness_why else [])
    page.field("tried", _tried(decision, page))
    page.field("won", _won(decision, page))
    page.field("helps", _helps(decision, page))
    page.field("checks", _checks(decision))
    page.field("timed", [_timing(timing) for timing in decision.timings])
    page.field("guard", _guard(decision))
    _diff(decision, page)


def left_alone(decision: Decision, page: Page) -> None:
    """Where, the first reason at the line that caused it, what was tried, and what would lift it."""
    page.line("")
    page.line(f"{wording.place(decision.span, page.base)}  {decision.function}: {NOUNS[decision.status]}", "bold")
    reason = decision.reason
    if reason is not None:
        at = f"{wording.place(reason.at, page.base)}: " if reason.at is not None else ""
        page.line(f"  {at}{wording.cause(reason)}")
        page.lift(reason, "  ")
    page.field("tried", _tried(decision, page))


def _tried(decision: Decision, page: Page) -> list[str]:
    """The candidates that did not win, under what stopped them."""
    stopped: dict[str, list[str]] = {}
    for tried in decision.tried:
        detail = f" ({tried.reason.detail})" if tried.reason.detail else ""
        stopped.setdefault(tried.reason.id, []).append(wording.steps(tried.steps, page.words) + detail)
    lines = []
    for id, candidates in stopped.items():
        lines.append(f"{wording.plural(len(candidates), 'candidate')}: {REASONS[id].sentence} [{id}]")
        lines += [f"  {candidate}" for candidate in candidates]
    return lines


def _won(decision: Decision, page: Page) -> list[str]:
    lines = []
    for step in decision.steps:
        category = wording.category(step, page.words)
        lines.append(wording.step(step, page.words) + (f" [{category}]" if category else ""))
        if step.argument:
            lines.append(f"  legal because {step.argument}")
    return lines


def _helps(decision: Decision, page: Page) -> list[str]:
    """The rules' general reasons, then the facts that make them hold here."""
    general = [words.why for step in decision.steps if (words := page.words.get(step.rule)) is not None and words.why]
    return [*dict.fromkeys(general), *(f"{name}: {value}" for name, value in decision.facts)]


def _checks(decision: Decision) -> list[str]:
    lines = []
    for evidence in decision.evidence:
        shown = [f"{name} {value}" for name, value in evidence.figures if not (decision.timings and name.startswith("work "))]
        took = f" ({wording.seconds(evidence.seconds)})" if evidence.seconds > 0 else ""
        verdict = "passed" if evidence.passed else "FAILED"
        lines.append(f"{verdict}  {evidence.stage}: {evidence.summary}{took}" + (f"; {', '.join(shown)}" if shown else ""))
    return lines


def _timing(timing: SizeTiming) -> str:
    speedup = f"{wording.ratio(timing.ratio)} ({timing.low:.2f} to {timing.high:.2f})"
    return f"{speedup} at {wording.count(timing.work)} iterations, {wording.plural(timing.pairs, 'pair')}: {timing.verdict}"


def _guard(decision: Decision) -> list[str]:
    conditions = []
    if decision.threshold > 0:
        conditions.append(f"the work is at least {runs_from(decision)}")
    if decision.threads:
        conditions.append("threads may be started here")
    if decision.guard not in ("", "1"):
        conditions += _conjuncts(decision.guard)
    if not conditions:
        return ["none: the rewrite always runs"]
    return ["the rewrite runs when all of this holds, else the original loop:", *(f"  {condition}" for condition in conditions)]


def _conjuncts(expression: str) -> list[str]:
    """A C expression cut at its outermost ``&&``; left whole where an operator that binds more loosely stands beside them."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(expression):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and expression.startswith(("||", "?", ","), index):
            return [expression]
        if depth == 0 and expression.startswith("&&", index):
            parts.append(expression[start:index].strip())
            start = index + 2
    return [part for part in (*parts, expression[start:].strip()) if part]


def _diff(decision: Decision, page: Page) -> None:
    """The change as a unified diff, numbered from the kernel's first line."""
    name = wording.path(decision.span.file, page.base)
    before, after = decision.before.splitlines(), decision.replacement.splitlines()
    lines = list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=2, lineterm=""))
    for index, text in enumerate(lines):
        if text.startswith("@@"):
            text = _renumbered(text, decision.span.line - 1)
        page.line(f"    {text}", DIFF_STYLES.get(text[0], "") if index > 1 else "dim")


def _renumbered(header: str, offset: int) -> str:
    """A hunk header ``@@ -a,b +c,d @@`` of the kernel's text as one of its file."""
    words = header.split()
    for index in (1, 2):
        sign, (start, *rest) = words[index][0], words[index][1:].split(",")
        words[index] = sign + ",".join([str(int(start) + offset), *rest])
    return " ".join(words)

"""What perfcc is expected to do with the legacy program's loops, and whether a report says it did."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
LEGACY = ROOT / "bench" / "legacy"
LIST = ROOT / "tests" / "suites" / "legacy" / "expectations.toml"

Decision = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trap:
    """A loop that must be left alone: ``reason`` is the id of the refusal, ``at`` text of the line that it has to name."""

    what: str
    file: str
    function: str
    nest: int
    reason: str
    at: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """A loop nest that carries run time: the step of the time table it belongs to, and rules of which one must be applied."""

    step: str
    file: str
    function: str
    nest: int
    rules: tuple[str, ...]


def traps() -> tuple[Trap, ...]:
    return tuple(Trap(**row) for row in _rows("trap"))


def kernels() -> tuple[Kernel, ...]:
    return tuple(Kernel(**{**row, "rules": tuple(row["rules"])}) for row in _rows("kernel"))


def _rows(table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(LIST.read_text("utf-8"))[table]
    return rows


def find(report: dict[str, Any], place: Trap | Kernel) -> Decision | None:
    """The decision about that nest in a ``perfcc --explain --format json`` report, None if the report has none."""
    found = [
        decision
        for unit in report["units"]
        if Path(unit["source"]).name == place.file
        for decision in unit["decisions"]
        if decision["function"] == place.function
    ]
    found.sort(key=lambda decision: decision["at"]["begin"])
    return found[place.nest - 1] if len(found) >= place.nest else None


def judge_trap(trap: Trap, decision: Decision | None) -> str:
    """What is wrong with the decision about a trap; empty when it was refused for the right reason at the right line."""
    if decision is None:
        return "no decision about it"
    if decision["status"] != "refused":
        return f"it was {decision['status']}, not refused"
    reason = decision["reason"]
    if reason["id"] != trap.reason:
        return f"the reason given is {reason['id']}, not {trap.reason}"
    if reason["at"] is None:
        return "the reason names no line"
    line = (LEGACY / "src" / trap.file).read_text("utf-8").splitlines()[reason["at"]["line"] - 1]
    return "" if trap.at in line else f"the reason names line {reason['at']['line']}: {line.strip()}"


def judge_kernel(kernel: Kernel, decision: Decision | None) -> str:
    """What is wrong with the decision about a kernel; empty when one of its rules was applied."""
    if decision is None:
        return "no decision about it"
    if decision["status"] != "rewritten":
        return f"it was {decision['status']}: {decision['reason']['sentence']}"
    applied = [step["rule"] for step in decision["steps"]]
    return "" if set(applied) & set(kernel.rules) else f"done with {', '.join(applied)}, not with {' or '.join(kernel.rules)}"

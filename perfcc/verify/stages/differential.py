"""Differential: original and candidate side by side, bit for bit, at several thread counts; then over other unwritten memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perfcc.core.candidate import Candidate
from perfcc.core.reason import Reason
from perfcc.verify.builds import Builds
from perfcc.verify.job import Input
from perfcc.verify.runner import Report
from perfcc.verify.session import THREADS, Session
from perfcc.verify.stages.result import Result, failed, passed

STAGE = "differential"
LEAST_FAST = 3


def run(session: Session, candidate: Candidate, builds: Builds) -> Result:
    """Compares every byte of every live-out and of what must not change."""
    inputs = (*session.inputs, *session.blocks(candidate))
    counts = THREADS if candidate.threads else (1,)
    fast = 0
    for threads in counts:
        report = _compare(session, inputs, "zero", builds, threads, poison=0, paged=True)
        reason = _judge(session, inputs, report, f"{threads} threads" if candidate.threads else "")
        if reason is not None:
            return failed(STAGE, reason, ("threads", threads))
        fast = max(fast, sum(1 for line in report.results if int(line.get("fast", 0)) > 0))
    if fast < min(LEAST_FAST, len(session.inputs)):
        words = f"the guard let the rewrite run on {fast} of {len(inputs)} inputs"
        return failed(STAGE, Reason("cannot-exercise", session.kernel.span, words))
    report = _compare(session, inputs, "pattern", builds, 2 if candidate.threads else 1, poison=0xA5, paged=False)
    reason = _judge(session, inputs, report, "with other unwritten memory")
    if reason is not None:
        # With threads it may as well be a race.
        known = reason.id == "different-result" and not candidate.threads
        return failed(STAGE, Reason("uninitialised-read", reason.at, reason.detail) if known else reason)
    summary = f"the same bits on {len(inputs)} inputs"
    summary += f" with {', '.join(map(str, counts))} threads" if candidate.threads else ""
    return passed(STAGE, summary, ("inputs", len(inputs)), ("rewrite ran on", fast), ("threads", " ".join(map(str, counts))))


def _compare(session: Session, inputs: Sequence[Input], kind: str, builds: Builds, threads: int, poison: int, paged: bool) -> Report:
    original, candidate = session.original.get(kind).path, builds.get(kind).path
    assert original is not None
    return session.compare(inputs, original, candidate or Path(), threads, poison, paged)


def _judge(session: Session, inputs: Sequence[Input], report: Report, where: str) -> Reason | None:
    """The first thing that went wrong; an incomplete run is one."""
    labels = {item.id: item.label for item in inputs}
    suffix = f", {where}" if where else ""
    for line in report.results:
        if line.get("equal") is not True:
            label = labels[int(line["input"])]
            return Reason("different-result", session.kernel.span, f"{describe(session, line)} on input '{label}'{suffix}")
    if report.complete and len(report.results) == len(inputs):
        return None
    at, phase = report.last
    words = f"{report.ending()} on input '{labels.get(at, '')}'{suffix}"
    if phase == "original":
        words = f"the original {words}"
    elif not phase:
        words = f"the comparison did not run: {report.stderr.strip().splitlines()[-1] if report.stderr.strip() else report.ending()}"
    return Reason("crashed", session.kernel.span, words)


def describe(session: Session, line: dict[str, Any]) -> str:
    """A difference in words: ``c[17]: 2.5 became 2.0``."""
    name = str(line.get("variable", ""))
    if line.get("void"):
        return "the original wrote outside its memory"
    if line.get("outside"):
        return f"it wrote outside {name}"
    if name == "errno":
        return f"errno: {line['original']} became {line['candidate']}"
    variable = next((v for v in session.codelets.variables if v.name == name), None)
    if variable is None or variable.element is None:
        return f"{name} differs"
    import numpy

    from perfcc.core.types import Storage
    from perfcc.verify.values import dtype

    def shown(text: str) -> str:
        raw = bytes.fromhex(text)
        kind = dtype(variable.element) if variable.element else None
        return repr(numpy.frombuffer(raw, kind)[0].item()) if kind is not None and len(raw) == kind.itemsize else text

    place = name if variable.storage is Storage.SCALAR else f"{name}[{line['index']}]"
    old, new = shown(str(line["original"])), shown(str(line["candidate"]))
    if old == new:
        old, new = f"bytes {line['original']}", f"bytes {line['candidate']}"
    return f"{place}: {old} became {new}"

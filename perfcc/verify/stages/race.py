"""Race: ThreadSanitizer with libomp and Archer, at two optimisation levels, beside a planted race that must be reported."""

from __future__ import annotations

from collections.abc import Sequence

from perfcc.core.candidate import Candidate
from perfcc.core.reason import Reason
from perfcc.verify import tiled
from perfcc.verify.build import first_error
from perfcc.verify.builds import Builds
from perfcc.verify.job import Input, Options
from perfcc.verify.runner import RACE_STATUS, Report
from perfcc.verify.session import Session
from perfcc.verify.stages.result import Result, failed, passed

STAGE = "race"
THREADS = 4


def run(session: Session, candidate: Candidate, builds: Builds) -> Result:
    """Rejects on a report, on a planted race that was missed, on a build or a run that did not come about."""
    span = session.kernel.span
    if not session.toolchain.can_race:
        return failed(STAGE, Reason("tool-missing", span, "ThreadSanitizer, libomp or Archer"))
    # Where threads share blocks of iterations, two of them get some on inputs that are still quick.
    inputs = (*session.essential, *session.blocks(candidate))
    threads = THREADS if tiled.block(candidate.nest) == 1 else 2
    for kind in ("race", "race-planted", "race-plain"):
        built = builds.get(kind)
        if built.path is None:
            return failed(STAGE, Reason("does-not-compile", span, f"with {session.toolchain.clang}: {first_error(built.diagnostics)}"))
        report = _watch(session, builds, kind, inputs, threads)
        reason = _judge(session, kind, report, inputs)
        if reason is not None:
            return failed(STAGE, reason)
    ran = len(inputs)
    return passed(STAGE, f"no race on {ran} inputs at -O0 and -O1; the planted one was reported", ("inputs", ran), ("threads", threads))


def _watch(session: Session, builds: Builds, kind: str, inputs: Sequence[Input], threads: int) -> Report:
    library = builds.get(kind).path
    assert library is not None
    environment = {
        "LD_PRELOAD": session.toolchain.tsan,
        "OMP_TOOL_LIBRARIES": session.toolchain.archer,
        "ARCHER_OPTIONS": "verbose=1",
        "TSAN_OPTIONS": f"ignore_noninstrumented_modules=1 exitcode={RACE_STATUS} symbolize=0 halt_on_error=1",
    }
    return session.runner.run(inputs, Options("run", cpu_seconds=120), library, None, threads, environment, 60.0)


def _judge(session: Session, kind: str, report: Report, inputs: Sequence[Input]) -> Reason | None:
    span = session.kernel.span
    if "Archer detected OpenMP application with TSan" not in report.stderr:
        return Reason("tool-missing", span, "Archer did not load, so ThreadSanitizer knows nothing of OpenMP")
    found = report.status == RACE_STATUS and "ThreadSanitizer: data race" in report.stderr
    if report.timed_out:
        return Reason("crashed", span, f"under ThreadSanitizer: {report.ending()}")
    if kind == "race-planted":
        return None if found else Reason("planted-race-missed", span)
    if found:
        labels = {item.id: item.label for item in (*session.inputs, *inputs)}
        return Reason("data-race", span, f"on input '{labels.get(report.last[0], '')}'")
    if not report.complete or report.status != 0:
        return Reason("crashed", span, f"under ThreadSanitizer: {report.ending()}")
    if not any(int(line.get("fast", 0)) > 0 for line in report.results):
        return Reason("cannot-exercise", span, "the guard never let the rewrite run under ThreadSanitizer")
    return None

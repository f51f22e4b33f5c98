"""Timing: pairs at several sizes, from the largest down, until the rewrite stops winning; that is where the guard's threshold lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perfcc.core.candidate import Candidate
from perfcc.core.decision import Evidence, SizeTiming
from perfcc.core.reason import Reason
from perfcc.verify import machine
from perfcc.verify.builds import Builds
from perfcc.verify.evaluate import Environment, evaluate
from perfcc.verify.inputs import Shape
from perfcc.verify.job import Input, Options
from perfcc.verify.session import Session
from perfcc.verify.stages.differential import describe
from perfcc.verify.stages.result import Result, failed
from perfcc.verify.timing import MOST_PAIRS, SignTest

STAGE = "timing"
PROBE_WORK = 1e5
LEAST_WORK = 1e3
LONGEST_CALL = 40e6  # nanoseconds of the original
STEP = 6.0
MOST_BYTES = 64 << 20
LOCK_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class _Size:
    """An input to time on, and its work."""

    input: Input
    work: float


@dataclass(slots=True)
class _Timer:
    session: Session
    candidate: Candidate
    original: Path
    rewritten: Path
    threads: int
    patience: float
    next_id: int = 50000

    def size(self, work: float) -> _Size | None:
        """The largest input whose work is at most about ``work``."""
        low, high = 1, 1
        while self.work_at(high) is not None and (self.work_at(high) or 0) < work and high < 1 << 28:
            low, high = high, high * 2
        while high - low > max(1, low // 64):
            middle = (low + high) // 2
            at = self.work_at(middle)
            low, high = (middle, high) if at is not None and at <= work else (low, middle)
        self.next_id += 1
        made = self.session.maker.make(self.next_id, Shape("timing", low, 1), MOST_BYTES)
        return None if made is None else _Size(made, self.work_of(made, low))

    def work_at(self, size: int) -> float | None:
        """The work at a size; None when no input of that size can be made."""
        planned = self.session.maker.outline(Shape("timing", size, 1), MOST_BYTES)
        if planned is None:
            return None
        return self._evaluate(Environment(planned.scalars, planned.sizes), size)

    def work_of(self, made: Input, size: int) -> float:
        return self._evaluate(Environment(made.scalars, made.sizes), size)

    def _evaluate(self, env: Environment, size: int) -> float:
        value = None if self.candidate.work is None else evaluate(self.candidate.work, env)
        return float(size) ** self.session.maker.roles.depth if value is None else float(value)

    def lines(self, size: _Size, pairs: int, samples: int, seed: int) -> Iterator[dict[str, Any]]:
        options = Options("time", wall=self.candidate.threads, seed=seed, samples=samples, pairs=pairs, cpu_seconds=120)
        with self.session.runner.stream([size.input], options, self.original, self.rewritten, self.threads) as stream:
            yield from stream

    def test(self, size: _Size, call: float, seed: int) -> tuple[SizeTiming, Reason | None]:
        """The sign test at one size. ``call``: how long the original takes there, about."""
        test = SignTest()
        verdict = None
        for line in self.lines(size, MOST_PAIRS, 1 if call > 8e6 else 3, seed):
            if line.get("equal") is False:
                return _timing(size, test, "different"), Reason(
                    "different-result", self.session.kernel.span, f"{describe(self.session, line)} in a timed run"
                )
            if "pair" in line:
                verdict = test.add(float(line["old"]), float(line["new"]))
                if verdict is not None:
                    break
        if verdict is None:
            return _timing(size, test, "crashed"), Reason("crashed", self.session.kernel.span, f"in a timed run, work {size.work:.0f}")
        return _timing(size, test, verdict), None

    def probe(self) -> float | None:
        """Nanoseconds of the original for a unit of work, from one pair; None when it did not run."""
        size = self.size(PROBE_WORK)
        if size is None:
            return None
        for line in self.lines(size, 1, 1, 1):
            if "pair" in line:
                return float(line["old"]) / max(size.work, 1.0)
        return None


def _timing(size: _Size, test: SignTest, verdict: str) -> SizeTiming:
    low, high = test.interval()
    return SizeTiming(size.work, test.median, low, high, len(test.ratios), verdict)


def run(session: Session, candidate: Candidate, builds: Builds, threads: int) -> Result:
    """Finds the least work from which on the rewrite is at least 1.10 times as fast; times that size again on fresh samples."""
    original, rewritten = session.original.get("time").path, builds.get("time").path
    span = session.kernel.span
    if original is None or rewritten is None:
        return failed(STAGE, Reason("does-not-compile", span, "with the user's own flags"))
    timer = _Timer(session, candidate, original, rewritten, threads if candidate.threads else 1, LOCK_PATIENCE)
    with machine.exclusive(session.builder.lock, LOCK_PATIENCE) as held:
        if not held:
            return _undecided(span_reason(session, "others kept the timing lock"))
        with machine.pressure() as shares:
            result = _scan(timer, candidate)
    busy = shares[0] if shares else 0.0
    figure = ("CPU pressure", f"{busy:.0f} %" if shares else "unknown")
    result = replace(result, evidence=replace(result.evidence, figures=(*result.evidence.figures, figure)))
    if result.reason is not None and result.reason.id == "not-faster" and busy > machine.BUSY_PERCENT:
        return replace(result, undecided=True, reason=span_reason(session, f"tasks waited for a CPU {busy:.0f} % of the time"))
    return result


def span_reason(session: Session, detail: str) -> Reason:
    """Why it can't be told."""
    return Reason("machine-busy", session.kernel.span, detail)


def _undecided(reason: Reason) -> Result:
    return replace(failed(STAGE, reason), undecided=True)


def _scan(timer: _Timer, candidate: Candidate) -> Result:
    span = timer.session.kernel.span
    unit = timer.probe()
    if unit is None:
        return failed(STAGE, Reason("cannot-exercise", span, "no input large enough to time could be made"))
    work = max(LONGEST_CALL / max(unit, 1e-6), LEAST_WORK)
    won: list[SizeTiming] = []
    sizes: list[_Size] = []
    tried: list[SizeTiming] = []
    while work >= LEAST_WORK:
        size = timer.size(work)
        if size is None or (sizes and size.work >= sizes[-1].work):
            break
        timing, reason = timer.test(size, unit * size.work, 11 + len(tried))
        if reason is not None:
            return failed(STAGE, reason)
        tried.append(timing)
        if timing.verdict != "accept":
            break
        won.append(timing)
        sizes.append(size)
        work = size.work / STEP
    if not won or (candidate.work is None and len(won) < len(tried)):
        return _slow(timer, tried)
    # The last winner's neighbour below lost or was not measured: the threshold stays at the winner, and is timed again.
    again, reason = timer.test(sizes[-1], unit * sizes[-1].work, 101)
    if reason is not None:
        return failed(STAGE, reason)
    if again.verdict != "accept":
        won.pop()
        sizes.pop()
        if not won or candidate.work is None:
            return _slow(timer, [*tried, again])
    timings = tuple(sorted(tried, key=lambda timing: timing.work))
    threshold = won[-1].work if candidate.work is not None else 0.0
    best = won[0]
    figures = tuple((f"work {t.work:.0f}", f"{t.ratio:.2f}x [{t.low:.2f}, {t.high:.2f}] {t.verdict}") for t in timings)
    summary = f"{best.ratio:.2f}x [{best.low:.2f}, {best.high:.2f}] at work {best.work:.0f}; wins from work {threshold:.0f} on"
    return Result(Evidence(STAGE, True, summary, figures), speedup=best.ratio, threshold=threshold, timings=timings)


def _slow(timer: _Timer, tried: list[SizeTiming]) -> Result:
    words = ", ".join(f"{t.ratio:.2f}x at work {t.work:.0f}" for t in tried)
    return replace(failed(STAGE, Reason("not-faster", timer.session.kernel.span, words)), timings=tuple(tried))

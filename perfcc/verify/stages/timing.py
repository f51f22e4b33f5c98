"""Timing: pairs at several sizes, from the largest down, until the rewrite stops winning; that is where the guard's threshold lies.

A rejection counts only if our threads did not have to wait for a processor meanwhile, or if it comes again on a quiet machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from perfcc.core.candidate import Candidate
from perfcc.core.decision import Evidence, SizeTiming
from perfcc.core.reason import Reason
from perfcc.verify import machine
from perfcc.verify.builds import Builds
from perfcc.verify.evaluate import Environment, evaluate
from perfcc.verify.job import Options
from perfcc.verify.ladder import Rung
from perfcc.verify.session import Session
from perfcc.verify.stages.differential import describe
from perfcc.verify.stages.result import Result, failed, passed
from perfcc.verify.timing import MOST_PAIRS, SignTest

STAGE = "timing"
GLANCE_STAGE = "first look"
GLANCE_PAIRS = 3
HOPELESS = 1.03
LOCK_PATIENCE = 60.0
ATTEMPTS = 3
LONGEST_WAIT = 3.0
"""Seconds of waiting for a quiet machine before one attempt."""
WAITED_SHARE = 0.03
"""Of the time, that our own threads may wait for a processor before a rejection is in doubt."""
LONGEST_ATTEMPT = 4.0
LONGEST_GLANCE = 1.0


@dataclass(slots=True)
class _Timer:
    session: Session
    candidate: Candidate
    original: Path
    rewritten: Path
    threads: int
    waited: float = 0.0
    attempts: int = 0

    def work(self, rung: Rung) -> float:
        """The value that the guard compares with its threshold; 0 where it compares nothing."""
        value = None
        if self.candidate.work is not None:
            value = evaluate(self.candidate.work, Environment(rung.scalars, rung.sizes))
        return 0.0 if value is None else float(value)

    def measure(self, rung: Rung, pairs: int, seed: int) -> tuple[SizeTiming, Reason | None, float]:
        """The sign test on one input, once; and which share of the time our threads waited for a processor."""
        options = Options(
            "time", wall=self.candidate.threads, seed=seed, samples=1 if rung.call > 8e6 else 3, pairs=pairs,
            limit_seconds=LONGEST_GLANCE if pairs == GLANCE_PAIRS else LONGEST_ATTEMPT, sign_test=True, cpu_seconds=120,
        )  # fmt: skip
        report = self.session.runner.run(rung.stored, options, self.original, self.rewritten, self.threads, timeout=60.0)
        self.attempts += 1
        test, verdict, share = SignTest(), None, 0.0
        for line in report.lines:
            if "old" in line and "new" in line and verdict is None:
                verdict = test.add(float(line["old"]), float(line["new"]))
            elif "waited" in line:
                share = max(float(line["waited"]), 0.0) / max(float(line["wall"]), 1.0)
                self.waited = max(self.waited, share)
        work = self.work(rung)
        if report.timed_out:
            return _timing(work, test, "reject"), None, share
        for line in report.results:
            if line.get("equal") is False:
                words = f"{describe(self.session, line)} in a timed run"
                return _timing(work, test, "different"), Reason("different-result", self.session.kernel.span, words), share
        if not report.complete or not test.ratios:
            words = f"{report.ending()} in a timed run"
            return _timing(work, test, "crashed"), Reason("crashed", self.session.kernel.span, words), share
        return _timing(work, test, verdict or "open"), None, share

    def test(self, rung: Rung, seed: int) -> tuple[SizeTiming, Reason | None]:
        """The sign test on one input, until it is accepted or its rejection is not in doubt; verdict ``busy`` if it stays so."""
        for attempt in range(ATTEMPTS):
            timing, reason, share = self.measure(rung, MOST_PAIRS, seed + 1000 * attempt)
            if reason is not None or timing.verdict == "accept" or share <= WAITED_SHARE:
                return (replace(timing, verdict="reject") if timing.verdict == "open" else timing), reason
            if attempt > 0 and self.session.quiet(0.0):
                # The machine was quiet before and after: our threads are in each other's way.
                return replace(timing, verdict="reject"), None
            if not self.session.quiet(LONGEST_WAIT):
                break
        return replace(timing, verdict="busy"), None


def _timing(work: float, test: SignTest, verdict: str) -> SizeTiming:
    low, high = test.interval()
    return SizeTiming(work, test.median, low, high, len(test.ratios), verdict)


def glance(session: Session, candidate: Candidate, builds: Builds, threads: int) -> Result:
    """A few pairs on the largest input, ahead of the dear checks: rejects what is plainly not faster than original and best."""
    timer = _timer(session, candidate, builds, threads)
    if timer is None:
        return failed(GLANCE_STAGE, Reason("does-not-compile", session.kernel.span, "with the user's own flags"))
    with machine.exclusive(session.builder.lock, LOCK_PATIENCE) as held:
        if not held:
            return passed(GLANCE_STAGE, "others kept the timing lock")
        rung = next(session.ladder.rungs(), None)
        if rung is None:
            return failed(GLANCE_STAGE, Reason("cannot-exercise", session.kernel.span, "no input large enough to time could be made"))
        timing, reason, share = timer.measure(rung, GLANCE_PAIRS, 5)
    if reason is not None:
        return failed(GLANCE_STAGE, reason)
    best = session.best
    words = f"{timing.ratio:.2f}x at work {timing.work:.0f}"
    if share <= WAITED_SHARE and timing.pairs >= 2:
        if timing.high < HOPELESS:
            return failed(GLANCE_STAGE, Reason("not-faster", session.kernel.span, words))
        if best is not None and timing.high < 0.95 * best.low:
            return failed(GLANCE_STAGE, Reason("beaten", session.kernel.span, f"{words}, the best {best.ratio:.2f}x"))
    return passed(GLANCE_STAGE, words)


def run(session: Session, candidate: Candidate, builds: Builds, threads: int) -> Result:
    """Finds the least work from which on the rewrite is at least 1.10 times as fast; times that size again on fresh samples."""
    timer = _timer(session, candidate, builds, threads)
    if timer is None:
        return failed(STAGE, Reason("does-not-compile", session.kernel.span, "with the user's own flags"))
    with machine.exclusive(session.builder.lock, LOCK_PATIENCE) as held:
        result = _scan(timer, candidate) if held else _busy(session, "others kept the timing lock")
    figures = (("threads", str(timer.threads)), ("waited for a processor", f"{100 * timer.waited:.1f} %"), ("runs", str(timer.attempts)))
    return replace(result, evidence=replace(result.evidence, figures=(*result.evidence.figures, *figures)))


def _timer(session: Session, candidate: Candidate, builds: Builds, threads: int) -> _Timer | None:
    original, rewritten = session.original.get("time").path, builds.get("time").path
    if original is None or rewritten is None:
        return None
    return _Timer(session, candidate, original, rewritten, threads if candidate.threads else 1)


def _busy(session: Session, detail: str) -> Result:
    return replace(failed(STAGE, Reason("machine-busy", session.kernel.span, detail)), undecided=True)


def _scan(timer: _Timer, candidate: Candidate) -> Result:
    won: list[tuple[Rung, SizeTiming]] = []
    tried: list[SizeTiming] = []
    best = timer.session.best
    for rung in timer.session.ladder.rungs():
        timing, reason = timer.test(rung, 11 + len(tried))
        if reason is not None:
            return failed(STAGE, reason)
        tried.append(timing)
        if timing.verdict == "busy":
            if not won:
                words = f"our threads waited for a processor {100 * timer.waited:.0f} % of the time"
                return replace(_busy(timer.session, words), timings=tuple(tried))
            break
        if timing.verdict != "accept":
            # Where the guard can't tell the two sizes apart, neither may run.
            won = [(rung, earlier) for rung, earlier in won if earlier.work > timing.work]
            break
        won.append((rung, timing))
        if best is not None and len(won) == 1 and timing.high < best.ratio and timing.ratio < best.low:
            words = f"{timing.ratio:.2f}x at work {timing.work:.0f}, the best {best.ratio:.2f}x"
            return replace(failed(STAGE, Reason("beaten", timer.session.kernel.span, words)), timings=tuple(tried))
    largest = tried[0] if tried else None
    # The last winner's neighbour below lost or was not measured: the threshold stays at the winner, and is timed again.
    while won:
        again, reason = timer.test(won[-1][0], 101)
        if reason is not None:
            return failed(STAGE, reason)
        if again.verdict == "accept":
            break
        if again.verdict == "busy":
            return replace(_busy(timer.session, "while the winner was timed again"), timings=tuple(tried))
        tried.append(again)
        won = [(rung, earlier) for rung, earlier in won[:-1] if earlier.work > again.work]
    if not won or largest is None:
        return _slow(timer, tried)
    timings = tuple(sorted(tried, key=lambda timing: timing.work))
    threshold = won[-1][1].work
    figures = tuple((f"work {t.work:.0f}", f"{t.ratio:.2f}x [{t.low:.2f}, {t.high:.2f}] {t.verdict}") for t in timings)
    summary = f"{largest.ratio:.2f}x [{largest.low:.2f}, {largest.high:.2f}] at work {largest.work:.0f}; wins from work {threshold:.0f} on"
    return Result(Evidence(STAGE, True, summary, figures), speedup=largest.ratio, threshold=threshold, timings=timings)


def _slow(timer: _Timer, tried: list[SizeTiming]) -> Result:
    if not tried:
        return failed(STAGE, Reason("cannot-exercise", timer.session.kernel.span, "no input large enough to time could be made"))
    words = ", ".join(f"{t.ratio:.2f}x at work {t.work:.0f}" for t in tried)
    return replace(failed(STAGE, Reason("not-faster", timer.session.kernel.span, words)), timings=tuple(tried))

"""The search of one kernel: candidates in generations, one verdict each, one decision."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from perfcc.core.candidate import Candidate, Step
from perfcc.core.decision import Accepted, Decision, Rejected, Status, Tried, Undecided, Verdict
from perfcc.core.facts import Facts
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Refusal
from perfcc.core.protocols import Judge, Proposer, Refuses
from perfcc.core.reason import Reason
from perfcc.search.words import fact_pairs

GENERATIONS = 10
_NOT_APPLICABLE = ("no-reduction", "stride-already-best", "no-reuse", "nest-not-perfect")

Clock = Callable[[], float]
Render = Callable[[Accepted], str]


def search(
    kernel: Kernel,
    facts: Facts,
    proposers: Sequence[Proposer],
    judge: Judge,
    budget_seconds: float,
    clock: Clock = time.monotonic,
    render: Render | None = None,
) -> Decision:
    """Judges candidates until a generation brings nothing better, the proposers have no more, or the budget is spent.

    ``render`` makes the replacement text of the winner. The same verdicts give the same decision.
    """
    deadline = clock() + budget_seconds
    verdicts: list[Verdict] = []
    best: Accepted | None = None
    stopped: Reason | None = None
    for generation in range(GENERATIONS):
        batch = list(_batch(kernel, facts, proposers, tuple(verdicts)))
        if not batch:
            break
        if generation == 0 and (unable := judge.prepare()) is not None:
            return _left(kernel, facts, Status.REJECTED, unable, judge, [], _untried(batch, unable))
        before = best
        for candidate in batch:
            if clock() >= deadline:
                stopped = Reason("budget-spent", kernel.span)
                break
            verdict = judge.judge(candidate)
            verdicts.append(verdict)
            if isinstance(verdict, Accepted) and (best is None or _better(verdict, best)):
                best = verdict
        if stopped is not None or (before is not None and best is before):
            break
    if best is not None:
        return _rewritten(kernel, facts, best, judge, verdicts, render)
    if not verdicts:
        if stopped is not None:
            return _left(kernel, facts, Status.UNDECIDED, stopped, judge, [], ())
        return refused(kernel, facts, proposers)
    undecided = [v for v in verdicts if isinstance(v, Undecided)]
    if undecided:
        return _left(kernel, facts, Status.UNDECIDED, undecided[0].reason, judge, verdicts, ())
    rejected = [v for v in verdicts if isinstance(v, Rejected)]
    furthest = max(rejected, key=lambda v: len(v.evidence))
    return _left(kernel, facts, Status.REJECTED, furthest.reason, judge, verdicts, ())


def refused(kernel: Kernel, facts: Facts | None, proposers: Sequence[Proposer] = ()) -> Decision:
    """The decision on a kernel that no rule may touch, or (``facts`` None) that the frontend could not model."""
    if kernel.refusal is not None or kernel.nest is None or facts is None:
        return _decision(kernel, facts, Status.REFUSED, reason=kernel.refusal or Reason("no-rule", kernel.span))
    said = [entry for p in proposers if isinstance(p, Refuses) for entry in p.refusals(kernel, facts)]
    tried = tuple(Tried((Step(refusal.rule, loop),), refusal.reason) for loop, refusal in said if refusal.rule)
    return _decision(kernel, facts, Status.REFUSED, reason=_why(kernel, facts, [refusal for _, refusal in said]), tried=tried)


def _why(kernel: Kernel, facts: Facts, said: Sequence[Refusal]) -> Reason:
    """The first reason that stopped it: the text can't stand twice, what ties the outermost loop's iterations, what rules said."""
    general = [refusal.reason for refusal in said if not refusal.rule]
    blockers = [reason for own in facts.loops for reason in own.blockers]
    specific = [refusal.reason for refusal in said if refusal.rule and refusal.reason.id not in _NOT_APPLICABLE]
    return next(iter((*general, *blockers, *facts.reorder_blockers, *specific)), Reason("no-rule", kernel.span))


def _better(new: Accepted, best: Accepted) -> bool:
    """True when ``new`` is faster; where the intervals can't tell the two apart, when it takes fewer steps."""
    (low, high), (best_low, best_high) = _interval(new), _interval(best)
    if new.speedup > best_high or best.speedup < low:
        return new.speedup > best.speedup
    if best.speedup > high or new.speedup < best_low:
        return False
    return len(new.candidate.steps) < len(best.candidate.steps)


def _interval(verdict: Accepted) -> tuple[float, float]:
    """Of the speed-up, at the largest size."""
    largest = max(verdict.timings, key=lambda timing: timing.work, default=None)
    return (verdict.speedup, verdict.speedup) if largest is None else (largest.low, largest.high)


def _batch(kernel: Kernel, facts: Facts, proposers: Sequence[Proposer], verdicts: tuple[Verdict, ...]) -> Iterator[Candidate]:
    """The proposers' new candidates in turn, each text once."""
    seen = {verdict.candidate.fast for verdict in verdicts}
    for proposer in proposers:
        for candidate in proposer.propose(kernel, facts, verdicts):
            if candidate.fast not in seen:
                seen.add(candidate.fast)
                yield candidate


def _rewritten(
    kernel: Kernel, facts: Facts, best: Accepted, judge: Judge, verdicts: Sequence[Verdict], render: Render | None
) -> Decision:
    winner = best.candidate
    return _decision(
        kernel,
        facts,
        Status.REWRITTEN,
        steps=winner.steps,
        evidence=(*judge.evidence(), *best.evidence),
        speedup=best.speedup,
        threshold=best.threshold,
        timings=best.timings,
        guard=winner.guard,
        replacement="" if render is None else render(best),
        threads=winner.threads,
        tried=_tried(verdicts, best),
    )


def _left(
    kernel: Kernel, facts: Facts, status: Status, reason: Reason, judge: Judge, verdicts: Sequence[Verdict], tried: tuple[Tried, ...]
) -> Decision:
    stages = max((v.evidence for v in verdicts), key=len, default=())
    return _decision(kernel, facts, status, reason=reason, evidence=(*judge.evidence(), *stages), tried=tried or _tried(verdicts, None))


def _tried(verdicts: Sequence[Verdict], best: Accepted | None) -> tuple[Tried, ...]:
    found: list[Tried] = []
    for verdict in verdicts:
        if verdict is best:
            continue
        reason = verdict.reason if not isinstance(verdict, Accepted) else Reason("beaten")
        found.append(Tried(verdict.candidate.steps, reason))
    return tuple(found)


def _untried(batch: Sequence[Candidate], reason: Reason) -> tuple[Tried, ...]:
    return tuple(Tried(candidate.steps, reason) for candidate in batch)


def _decision(kernel: Kernel, facts: Facts | None, status: Status, **more: object) -> Decision:
    known = fact_pairs(kernel.nest, facts) if facts is not None and kernel.nest is not None else ()
    return Decision(
        kernel=kernel.id,
        function=kernel.function,
        span=kernel.span,
        status=status,
        before=kernel.text,
        facts=known,
        hotness=kernel.hotness.score,
        hotness_why=kernel.hotness.why,
        loops=max(1, len(kernel.loop_spans)),
        **more,  # type: ignore[arg-type]
    )

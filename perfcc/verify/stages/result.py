"""A stage's answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from perfcc.core.decision import Evidence, SizeTiming
from perfcc.core.reason import Reason


@dataclass(frozen=True, slots=True)
class Result:
    """``reason`` is set unless the stage passed; ``undecided`` tells that it could not tell. The rest is what timing found."""

    evidence: Evidence
    reason: Reason | None = None
    undecided: bool = False
    speedup: float = 1.0
    threshold: float = 0.0
    timings: tuple[SizeTiming, ...] = ()


def passed(stage: str, summary: str, *figures: tuple[str, object]) -> Result:
    """The stage found nothing against the candidate."""
    return Result(Evidence(stage, True, summary, _text(figures)))


def failed(stage: str, reason: Reason, *figures: tuple[str, object]) -> Result:
    """The stage says no, or could not run."""
    return Result(Evidence(stage, False, reason.detail or reason.kind.sentence, _text(figures)), reason)


def timed(run: Callable[[], Result]) -> Result:
    """``run()`` with the seconds it took in its evidence."""
    start = time.monotonic()
    result = run()
    return replace(result, evidence=replace(result.evidence, seconds=time.monotonic() - start))


def _text(figures: tuple[tuple[str, object], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in figures)

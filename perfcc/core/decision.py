"""What became of each kernel, and of the unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from perfcc.core.candidate import Candidate, Step
from perfcc.core.reason import Reason
from perfcc.core.span import Span


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one stage of the cascade did: ``figures`` are (name, value) pairs a report can print."""

    stage: str
    passed: bool
    summary: str
    figures: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SizeTiming:
    """Old over new at one size.

    ``work`` is the value of the candidate's work expression, ``pairs`` the pairs timed, ``low`` and ``high`` the interval's ends.
    """

    work: float
    ratio: float
    low: float
    high: float
    pairs: int
    verdict: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """The candidate passed every stage.

    ``threshold`` is the least work at which the guard lets it run; ``speedup`` is old over new there and above (median).
    """

    candidate: Candidate
    evidence: tuple[Evidence, ...]
    speedup: float
    threshold: float
    timings: tuple[SizeTiming, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A stage said no, or could not run."""

    candidate: Candidate
    reason: Reason
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Undecided:
    """The machine was too busy to time the candidate: nothing is stored, a later build tries again."""

    candidate: Candidate
    reason: Reason
    evidence: tuple[Evidence, ...] = ()


Verdict = Accepted | Rejected | Undecided


class Status(Enum):
    REWRITTEN = "rewritten"
    REFUSED = "refused"  # legality: no rule may touch it
    REJECTED = "rejected"  # candidates were tried, none passed
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate that did not win, and why."""

    steps: tuple[Step, ...]
    reason: Reason


@dataclass(frozen=True, slots=True)
class Decision:
    """The one decision about one kernel.

    ``reason`` is set unless REWRITTEN. ``replacement`` is the text that takes the kernel's place (guard, fast path and original),
    ``before`` the original.
    """

    kernel: str
    function: str
    span: Span
    status: Status
    reason: Reason | None = None
    steps: tuple[Step, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    speedup: float = 1.0
    threshold: float = 0.0
    timings: tuple[SizeTiming, ...] = ()
    guard: str = ""
    before: str = ""
    replacement: str = ""
    threads: bool = False
    tried: tuple[Tried, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    hotness: float = 0.0
    hotness_why: str = ""
    loops: int = 1
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a unit.

    ``emitted`` tells that the object holds rewrites; ``reason`` why the unit as a whole was left alone, if it was. ``folder`` is the
    directory that relative paths in spans start from.
    """

    source: str
    output: str
    compiler: str
    decisions: tuple[Decision, ...] = ()
    emitted: bool = False
    reason: Reason | None = None
    seconds: float = 0.0
    version: str = ""
    settings: tuple[tuple[str, str], ...] = field(default=())
    folder: str = ""

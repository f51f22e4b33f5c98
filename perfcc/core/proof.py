"""A rule's answer to "may I?": Legal with what has to hold at run time, or a Refusal."""

from __future__ import annotations

from dataclasses import dataclass

from perfcc.core.facts import LoopFacts, Obligation
from perfcc.core.reason import Reason


@dataclass(frozen=True, slots=True)
class Legal:
    """A proof that one rule may be applied to one match. Only ``Rule.legal`` makes one; ``Rule.rewrite`` can't be called without it.

    ``obligations`` become the guard. ``argument`` says in one sentence why it is legal, for the report. ``facts`` are what the proof
    rests on where the rewrite needs them (what to privatise).
    """

    rule: str
    argument: str
    obligations: tuple[Obligation, ...] = ()
    facts: LoopFacts | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The rule may not be applied; ``reason`` is the first thing that stopped it."""

    rule: str
    reason: Reason

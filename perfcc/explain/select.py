"""Which outcomes and decisions a report is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from perfcc.core.decision import Decision, Outcome, Status

Site = tuple[Outcome, Decision]


def unique(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """One outcome for each (source, output), the last given, in the order of first appearance.

    An object, the archive it is in and the program linked from it all carry the same report.
    """
    kept: dict[tuple[str, str], Outcome] = {}
    for outcome in outcomes:
        kept[outcome.source, outcome.output] = outcome
    return tuple(kept.values())


def sites(outcomes: Iterable[Outcome]) -> tuple[Site, ...]:
    """Every decision with the outcome it belongs to, in source order a unit."""
    return tuple((outcome, decision) for outcome in outcomes for decision in sorted(outcome.decisions, key=lambda d: d.span))


def rewritten(all_sites: Iterable[Site]) -> tuple[Site, ...]:
    """The rewritten ones, the greatest speed-up first."""
    return tuple(sorted((s for s in all_sites if s[1].status is Status.REWRITTEN), key=lambda s: -s[1].speedup))


def left_alone(all_sites: Iterable[Site]) -> tuple[Site, ...]:
    """Those that stand as the user wrote them, in the order given."""
    return tuple(s for s in all_sites if s[1].status is not Status.REWRITTEN)


def reasons(all_sites: Iterable[Site]) -> tuple[tuple[str, int], ...]:
    """Reason ids of decisions with how often each occurs, the most frequent first."""
    counted = Counter(decision.reason.id for _, decision in all_sites if decision.reason is not None)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

"""Which outcomes and decisions a report is about."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

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
    """Every decision with the outcome it belongs to, in source order a unit.

    What several units decided alike on one place, a kernel in a header they share, is given once, with the first of them.
    """
    found: list[Site] = []
    told: set[tuple[object, ...]] = set()
    for outcome in outcomes:
        shared = set()
        for decision in sorted(outcome.decisions, key=lambda d: d.span):
            reason = decision.reason and (decision.reason.id, decision.reason.detail)
            key = (file_of(outcome, decision), decision.span.begin, decision.status, reason, decision.replacement)
            if in_header(outcome, decision):
                shared.add(key)
            if key not in told:
                found.append((outcome, decision))
        told |= shared
    return tuple(found)


def file_of(outcome: Outcome, decision: Decision) -> str:
    """The absolute path of the file that the decision is about."""
    return os.path.normpath(os.path.join(outcome.folder, decision.span.file))


def in_header(outcome: Outcome, decision: Decision) -> bool:
    """The decision is about another file than the unit's source."""
    return bool(outcome.folder) and file_of(outcome, decision) != os.path.normpath(outcome.source)


def absolute(site: Site) -> Site:
    """The same with a header's name made absolute: units of several directories include it."""
    outcome, decision = site
    if not in_header(outcome, decision):
        return site
    file, reason = file_of(outcome, decision), decision.reason
    if reason is not None and reason.at is not None and reason.at.file == decision.span.file:
        reason = replace(reason, at=replace(reason.at, file=file))
    return outcome, replace(decision, span=replace(decision.span, file=file), reason=reason)


def within(outcome: Outcome, path: str) -> Outcome | None:
    """The outcome with no decisions but those on the file at real path ``path``; None when there are none."""
    kept = tuple(decision for decision in outcome.decisions if os.path.realpath(file_of(outcome, decision)) == path)
    return replace(outcome, decisions=kept) if kept else None


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

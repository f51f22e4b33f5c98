"""Outcomes as text: first what a person reads in ten seconds, then a block for every loop nest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from perfcc.core.decision import Decision, Outcome, Status
from perfcc.core.reason import REASONS
from perfcc.explain import blocks, select, wording
from perfcc.explain.wording import Catalogue

if TYPE_CHECKING:
    from rich.console import Console

TOP_REASONS = 8


def render_text(outcomes: Iterable[Outcome], console: Console, catalogue: Catalogue | None = None, base: str = "") -> None:
    """Print the report.

    ``catalogue`` gives the rules' titles, categories and general reasons; without it rules go by their ids.
    Paths are shown relative to directory ``base``.
    """
    words = catalogue or {}
    units = select.unique(outcomes)
    all_sites = tuple(map(select.absolute, select.sites(units)))
    page = blocks.Page(console, words, base)
    _summary(units, all_sites, page)
    for _, decision in select.rewritten(all_sites):
        blocks.rewritten(decision, page)
    alone = select.left_alone(all_sites)
    if alone:
        page.heading("Left alone, each with the first reason that stopped it")
        for _, decision in alone:
            blocks.left_alone(decision, page)


def _summary(units: tuple[Outcome, ...], all_sites: tuple[select.Site, ...], page: blocks.Page) -> None:
    changed = select.rewritten(all_sites)
    loops = sum(decision.loops for _, decision in all_sites)
    nests = f"{wording.plural(len(all_sites), 'loop nest')} ({wording.plural(loops, 'loop')}) in {wording.plural(len(units), 'unit')}"
    alone = len(all_sites) - len(changed)
    page.line(f"perfcc looked at {nests}: {wording.count(len(changed))} rewritten, {wording.count(alone)} left alone.", "bold")
    if changed:
        page.line("")
        page.table(
            ("where", "function", "speed-up", "runs from", "what was done"),
            [_row(decision, page) for _, decision in changed],
        )
    counted = select.reasons(all_sites)
    if counted:
        page.line("")
        page.line("Why the rest was left alone:", "bold")
        for id, times in counted[:TOP_REASONS]:
            page.line(f"  {times:4d}  {REASONS[id].sentence} [{id}]")
        if len(counted) > TOP_REASONS:
            others = counted[TOP_REASONS:]
            page.line(f"  {sum(times for _, times in others):4d}  for {wording.plural(len(others), 'other reason')}")
    _unit_reasons(units, page)


def _row(decision: Decision, page: blocks.Page) -> tuple[str, ...]:
    return (
        wording.place(decision.span, page.base),
        decision.function,
        wording.ratio(decision.speedup),
        blocks.runs_from(decision),
        wording.steps(decision.steps, page.words),
    )


def _unit_reasons(units: tuple[Outcome, ...], page: blocks.Page) -> None:
    """Units left alone as a whole, and those whose accepted rewrites did not reach the object."""
    for unit in units:
        name = wording.path(unit.source, page.base)
        if unit.reason is not None:
            page.line("")
            page.line(f"{name}: the whole unit was left alone: {wording.cause(unit.reason)}", "yellow")
            page.lift(unit.reason, "  ")
        elif not unit.emitted and any(decision.status is Status.REWRITTEN for decision in unit.decisions):
            page.line("")
            page.line(f"{name}: rewrites were accepted, but the object does not hold them", "yellow")

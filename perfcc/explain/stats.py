"""Counters as text or JSON.

A counter is named ``group`` or ``group:name``; a group's own figure is its total, and the names under it say how that splits.
Groups that hold seconds end in ``seconds``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfcc.core.reason import REASONS
from perfcc.explain import wording
from perfcc.explain.blocks import Page

if TYPE_CHECKING:
    from rich.console import Console

Counters = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a store holds: ``limit`` and ``size`` in bytes (0: no limit), and how many entries of each kind."""

    store: str
    limit: int
    size: int
    entries: Mapping[str, int]


def stats_text(counters: Counters, holdings: Holdings, console: Console, sentences: Mapping[str, str] | None = None) -> None:
    """The store, then one line a group, in the order given, its parts below it, the greatest first.

    A part that is a reason's id is shown with its sentence; ``sentences`` has those of ids outside the table of reasons
    (why a compile was passed through).
    """
    page = Page(console, {})
    limit = f" of {wording.size(holdings.limit)}" if holdings.limit else ""
    entries = wording.count(sum(holdings.entries.values()))
    page.line(f"{wording.size(holdings.size)}{limit} in {entries} entries of {holdings.store}", "bold")
    if not counters:
        page.line("Nothing has been counted yet.")
        return
    for group, (total, parts) in _grouped(counters).items():
        page.line(f"{_figure(group, total):>10}  {group.replace('-', ' ').replace('_', ' ')}", "bold")
        for name, value in sorted(parts.items(), key=lambda item: (-item[1], item[0])):
            page.line(f"{_figure(group, value):>14}  {_words(name, sentences or {})}")


def stats_json(counters: Counters, holdings: Holdings) -> str:
    """``{"format": "perfcc-stats", "version": 2, "store": {"path", "limit", "size", "entries": {kind: n}}, "counters":
    {group: {"total": n, "parts": {...}}}}`` with a final newline; sizes in bytes."""
    groups = {group: {"total": total, "parts": parts} for group, (total, parts) in _grouped(counters).items()}
    store = {"path": holdings.store, "limit": holdings.limit, "size": holdings.size, "entries": dict(holdings.entries)}
    document = {"format": "perfcc-stats", "version": 2, "store": store, "counters": groups}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _grouped(counters: Counters) -> dict[str, tuple[float, dict[str, float]]]:
    """Group -> (total, parts); a group without a figure of its own totals its parts."""
    totals: dict[str, float] = {}
    parts: dict[str, dict[str, float]] = {}
    for key, value in counters.items():
        group, _, name = key.partition(":")
        parts.setdefault(group, {})
        if name:
            parts[group][name] = value
        else:
            totals[group] = value
    return {group: (totals.get(group, sum(under.values())), under) for group, under in parts.items()}


def _figure(group: str, value: float) -> str:
    return wording.seconds(value) if group.endswith("seconds") else wording.count(value)


def _words(name: str, sentences: Mapping[str, str]) -> str:
    sentence = sentences.get(name) or (REASONS[name].sentence if name in REASONS else "")
    return f"{sentence} [{name}]" if sentence else name

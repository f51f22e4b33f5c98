"""``perfcc --stats [--format text|json]``: the store's counters."""

from __future__ import annotations

import sys

from perfcc._native import pass_reasons
from perfcc.cli.console import UsageError, console, here, split
from perfcc.core.settings import SettingsError
from perfcc.explain.stats import stats_json, stats_text
from perfcc.store.counters import Counters

FORMATS = ("text", "json")


def run(arguments: list[str]) -> int:
    """Prints the counters; 2 for a bad command line."""
    try:
        positional, chosen = split(arguments, FORMATS)
        if positional:
            raise UsageError("takes no file")
        counters = Counters(here().store_path() / "counters").read()
    except (UsageError, SettingsError) as error:
        print(f"perfcc: --stats: {error}", file=sys.stderr)
        return 2
    if chosen == "json":
        sys.stdout.write(stats_json(counters))
    else:
        stats_text(counters, console(), dict(pass_reasons()))
    return 0

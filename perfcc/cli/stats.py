"""``perfcc --stats [--zero] [--format text|json]``: the store's counters, its size and its limit."""

from __future__ import annotations

import sys

from perfcc._native import pass_reasons
from perfcc.cli.console import UsageError, console, here, split
from perfcc.core.settings import SettingsError
from perfcc.explain.stats import Holdings, stats_json, stats_text
from perfcc.store.cleaning import holdings
from perfcc.store.counters import Counters

FORMATS = ("text", "json")
# What became of a unit that was compiled, where the counter's own name doesn't say it.
COMPILED = {
    "from-store": "the store's rewritten object",
    "nothing-to-do": "nothing to rewrite, as the store knows",
    "no-loops": "no loops in its text",
    "no-kernels": "no loops in its text that could be rewritten",
    "no-python": "no Python with perfcc was found, see --doctor",
    "worker-failed": "a wrong setting or an error of perfcc, see 'log' in the store",
    "worker-timed-out": "perfcc took too long and was ended",
}


def run(arguments: list[str]) -> int:
    """Prints the counters, or sets them to zero; 2 for a bad command line."""
    zero = arguments == ["--zero"]
    try:
        positional, chosen = split([] if zero else arguments, FORMATS)
        if positional:
            raise UsageError("takes no file")
        settings = here()
    except (UsageError, SettingsError) as error:
        print(f"perfcc: --stats: {error}", file=sys.stderr)
        return 2
    path = settings.store_path()
    counters = Counters(path / "counters")
    if zero:
        counters.zero()
        return 0
    held = Holdings(str(path), settings.store_size, *holdings(path))
    if chosen == "json":
        sys.stdout.write(stats_json(counters.read(), held))
    else:
        stats_text(counters.read(), held, console(), COMPILED | dict(pass_reasons()))
    return 0

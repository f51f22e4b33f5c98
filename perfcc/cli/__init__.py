"""The verbs: ``perfcc --explain``, ``--doctor``, ``--stats``, ``--clean``, and the worker that the launcher starts.

One module a verb, imported only when it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

VERBS = {"--explain": "explain", "--doctor": "doctor", "--stats": "stats", "--clean": "clean", "worker": "worker"}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb; the exit status is 0, 1 where the verb says so, or 2 for a command line it can't take."""
    words = list(sys.argv[1:] if argv is None else argv)
    name = VERBS.get(words[0]) if words else None
    if name is None:
        given = f"unknown verb '{words[0]}'" if words else "no verb given"
        print(f"perfcc: {given}; the verbs are {', '.join(verb for verb in VERBS if verb.startswith('--'))}", file=sys.stderr)
        return 2
    run: Callable[[list[str]], int] = import_module(f"perfcc.cli.{name}").run
    return run(words[1:])

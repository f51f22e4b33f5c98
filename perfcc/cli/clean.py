"""``perfcc --clean [--all]``: brings the store below its limit now, or empties it."""

from __future__ import annotations

import sys

from perfcc.cli.console import here
from perfcc.core.settings import SettingsError
from perfcc.store.cleaning import clean, clear


def run(arguments: list[str]) -> int:
    """Prints how many files were removed; 2 for a bad command line."""
    try:
        settings = here()
    except SettingsError as error:
        print(f"perfcc: --clean: {error}", file=sys.stderr)
        return 2
    if arguments not in ([], ["--all"]):
        print(f"perfcc: --clean: unknown option '{arguments[0] if arguments[0] != '--all' else arguments[1]}'", file=sys.stderr)
        return 2
    path = settings.store_path()
    removed = clear(path) if arguments else clean(path, settings.store_size)
    print(f"{removed} files removed from {path}")
    return 0

"""The console that the verbs print to, and the few things they have in common."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from perfcc._native import settings
from perfcc.core.settings import Settings, load

if TYPE_CHECKING:
    from rich.console import Console


class UsageError(ValueError):
    """A command line that a verb can't take; one line."""


def console() -> Console:
    """Colours on a terminal, plain text elsewhere (and under NO_COLOR)."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, soft_wrap=not sys.stdout.isatty())


def here() -> Settings:
    """The settings that hold in the current directory, the store as the launcher finds it. Raises SettingsError."""
    return replace(load(Path.cwd(), os.environ), store=settings(os.getcwd())["store"])


def split(arguments: list[str], formats: tuple[str, ...]) -> tuple[list[str], str]:
    """Positional arguments, and the value of ``--format``, the first of ``formats`` by default. Raises UsageError."""
    positional: list[str] = []
    chosen = formats[0]
    words = iter(arguments)
    for word in words:
        if word == "--format":
            chosen = next(words, "")
        elif word.startswith("--format="):
            chosen = word.partition("=")[2]
        elif word.startswith("-"):
            raise UsageError(f"unknown option '{word}'")
        else:
            positional.append(word)
    if chosen not in formats:
        raise UsageError(f"--format must be one of {', '.join(formats)}, not '{chosen}'")
    return positional, chosen

"""What a worker is asked, and what it needs to answer."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from perfcc.cc.emit import OutputState
from perfcc.core.settings import Settings
from perfcc.core.unit import Invocation
from perfcc.store.disk import Store
from perfcc.store.key import tree_digest
from perfcc.store.turns import Turns

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What the launcher asks of the worker: one unit whose original has just been compiled.

    ``key`` is the unit's key in the store (hex), made from ``key_argv`` where that is not the invocation's argv; ``dependencies`` are the
    files the real compiler read, as it named them, for all sources of the command; ``compiled`` is what the output looked like when it
    was done. ``program`` is what a command that also links has made; then the rewritten object goes to ``deliver``, and the launcher
    links again.
    """

    invocation: Invocation
    key: str
    dependencies: tuple[str, ...]
    compiled: OutputState
    key_argv: tuple[str, ...] = ()
    program: str = ""
    deliver: str = ""

    @property
    def output(self) -> Path:
        """The absolute path of the object, or of the program."""
        return Path(self.invocation.cwd, self.program or self.invocation.output)

    @property
    def member(self) -> str:
        """Which part of the output the unit is: its source, of a program; all of it ("") otherwise."""
        return str(Path(self.invocation.cwd, self.invocation.source)) if self.program else ""


@dataclass(frozen=True)
class Context:
    """What every arrow needs beside its input; made once a worker. ``scratch`` is an empty folder of the worker's own."""

    settings: Settings
    store: Store
    scratch: Path
    tell: Progress

    @cached_property
    def rules_digest(self) -> str:
        """Changes when a rule, an analysis or a check does: a decision made by other code is not taken over."""
        package = Path(__file__).parents[1]
        return tree_digest([package / part for part in ("core", "frontend", "analysis", "rules", "propose", "search", "verify", "cc")])

    @cached_property
    def turns(self) -> Turns:
        """Who searches what in this store."""
        return Turns(self.store.path)

    @cached_property
    def lock(self) -> Path:
        """Machine-wide: shared to compile, exclusive to time."""
        return Path(tempfile.gettempdir(), f"perfcc-{os.getuid()}.lock")

"""The files a unit was read from and is written to: unchanged meanwhile, and put in their places."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from perfcc import _native
from perfcc.cc import emit
from perfcc.cc.emit import Beside
from perfcc.core.decision import Decision
from perfcc.core.reason import Reason
from perfcc.pipeline.request import Request

if TYPE_CHECKING:
    from perfcc._native import FileRecord

CLOCK_GRAIN = 20_000_000
"""File times come from a clock that may be some milliseconds behind (nanoseconds)."""


@dataclass(frozen=True, slots=True)
class Start:
    """When the worker began, by the clock that can be set and the one that can't, and the state of the files known to be read by then."""

    wall: int
    steady: int
    seen: frozenset[tuple[int, int, int, int]]

    @classmethod
    def now(cls, request: Request) -> Start:
        wall, steady = time.time_ns(), time.monotonic_ns()
        states = []
        for name in (request.invocation.source, *request.dependencies):
            with contextlib.suppress(OSError):
                status = os.stat(Path(request.invocation.cwd, name))
                states.append((status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
        return cls(wall, steady, frozenset(states))

    def maybe_changed(self, row: FileRecord) -> bool:
        """The file may have changed since. A time to come is no sign of it where the file was the same at the start."""
        jumped = abs(time.time_ns() - self.wall - (time.monotonic_ns() - self.steady))
        first = self.wall - CLOCK_GRAIN - jumped
        same = (row["size"], row["mtime_ns"], row["ctime_ns"], row["inode"]) in self.seen
        last = time.time_ns() + CLOCK_GRAIN + jumped if same else math.inf
        return any(first <= moment <= last for moment in (row["mtime_ns"], row["ctime_ns"]))


def unchanged_files(request: Request, read: tuple[str, ...], start: Start) -> list[FileRecord] | None:
    """The files that the unit was read from, as they are; None when one of them may have changed since ``start``."""
    invocation = request.invocation
    files = _native.record_files(sorted({invocation.source, *read}), invocation.cwd)
    if files is None or any(map(start.maybe_changed, files)):
        return None
    current = _native.unit_key(request.key_argv or invocation.argv, invocation.cwd, invocation.compiler, invocation.source) == request.key
    return files if current else None


def put_in_place(object_path: Path, beside: Sequence[Beside], request: Request) -> Reason | None:
    """Replaces the object and what lies beside it, or hands it to the launcher to link; None, or why that can't be."""
    if not request.program:
        return emit.install(object_path, request.output, request.compiled, beside)
    if not request.deliver:
        return Reason("output-changed", detail="there is no room to link in")
    try:
        shutil.copyfile(object_path, request.deliver)
    except OSError as error:
        Path(request.deliver).unlink(missing_ok=True)
        return Reason("output-changed", detail=str(error))
    return None


def retried(decision: Decision) -> bool:
    """A spent budget is final until the budget changes, which changes the unit's key; a busy machine is not."""
    return decision.reason is None or decision.reason.id != "budget-spent"

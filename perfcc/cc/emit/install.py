"""Puts what was compiled in the place of what the user's command wrote."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perfcc import _native
from perfcc.core.reason import Reason


@dataclass(frozen=True, slots=True)
class OutputState:
    """What an output looked like; a difference means that somebody else wrote it."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, output: Path) -> OutputState:
        status = os.stat(output)
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


@dataclass(frozen=True, slots=True)
class Beside:
    """A file that the command writes beside the object: ``file`` is to take the place of ``path``, which looked like ``expected``."""

    path: Path
    file: Path
    expected: OutputState


def install(object_path: Path, output: Path, expected: OutputState, beside: Sequence[Beside] = ()) -> Reason | None:
    """Puts the object in the output's place, atomically, with its mode and time: what was edited since is newer still, as make must see.

    What lies beside it goes first, and goes back if the object can't follow. None, or why all were left as they are.
    """
    replaced: list[tuple[Path, bytes]] = []
    reason: Reason | None = None
    try:
        items = (*beside, Beside(output, object_path, expected))
        for item in items:
            if item.path.is_symlink() or not item.path.is_file():
                return Reason("output-changed", detail=f"{item.path.name} is not a plain file")
        if any(OutputState.of(item.path) != item.expected for item in items):
            return Reason("output-changed")
        for item in items:
            before = item.path.read_bytes()
            if not _native.replace_file(item.path, item.file.read_bytes()):
                reason = Reason("output-changed", detail="its folder can't be written, or somebody else wrote it just now")
                break
            replaced.append((item.path, before))
    except OSError as error:
        reason = Reason("output-changed", detail=str(error))
    for path, before in replaced if reason is not None else ():
        _native.replace_file(path, before)
    return reason

"""One process at a time searches a kernel that several units hold, such as one in a header.

A turn is a lock on one byte of a file, whose place comes from the kernel's key: there is nothing to clean up, and the system gives back the
turns of a process that is killed. Where the file can't be had, everybody has a turn.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

_NAME = "turns"
_PLACES = 1 << 62


class Turns:
    """The turns of one store. A process holds one object of this kind: POSIX drops all its locks when one descriptor is closed."""

    def __init__(self, store: Path) -> None:
        self._path = store / _NAME
        self._file: int | None = None

    def take(self, key: str) -> bool:
        """False while another process has the turn at ``key`` (hex)."""
        try:
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):
            return self._file is None
        except OSError:
            return True
        return True

    def give_back(self, key: str) -> None:
        """Ends a turn that was taken."""
        if self._file is not None:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(key))
            except OSError:
                return


def _place(key: str) -> int:
    return int(key[:16], 16) % _PLACES

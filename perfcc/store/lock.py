"""A lock that nobody waits for; the system gives it back when its holder dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def alone(path: Path, without_locks: bool) -> Iterator[bool]:
    """Yields whether this process alone holds the lock at ``path``, a file that is made; ``without_locks`` where the file system has none.

    False too where the file can't be had or is something else.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
    except OSError:
        yield False
        return
    try:
        yield _locked(handle, without_locks)
    finally:
        os.close(handle)


def _locked(handle: int, without_locks: bool) -> bool:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return without_locks
    return True

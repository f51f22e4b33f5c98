"""The machine as the timings see it: one lock for all of perfcc (shared to compile, exclusive to time), and how busy others keep it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

BUSY_SHARE = 0.25
"""Of one processor: what others may take while it still counts as quiet."""
GLANCE = 0.1
"""Seconds over which that is measured."""


@contextlib.contextmanager
def shared(path: Path) -> Iterator[None]:
    """Held while something is compiled or run: many may hold it at once. Waits behind one who waits to time something."""
    with _opened(_turn(path)) as turn:
        fcntl.flock(turn, fcntl.LOCK_SH)
        descriptor = _open(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        except BaseException:
            os.close(descriptor)
            raise
    try:
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def exclusive(path: Path, patience: float) -> Iterator[bool]:
    """Held while something is timed. Yields False when others kept it for ``patience`` seconds."""
    deadline = time.monotonic() + patience
    with _opened(_turn(path)) as turn, _opened(path) as descriptor:
        yield _try_until(turn, deadline) and _try_until(descriptor, deadline)


def _turn(path: Path) -> Path:
    """The file that is held by who waits to time something, so that nobody new gets in before."""
    return path.with_name(f"{path.name}.turn")


def _open(path: Path) -> int:
    """A file that nobody else may open: a lock asks for no right to write."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "somebody else's file", str(path))
        if status.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = _open(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _try_until(descriptor: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.01)
        else:
            return True


def busy_seconds(path: str = "/proc/stat") -> float | None:
    """Processor time that was spent since boot, by all and on all processors; None where that can't be told (proc(5))."""
    try:
        with open(path, encoding="ascii") as file:
            fields = file.readline().split()
        # user, nice, system, (idle, iowait,) irq, softirq, steal; the rest is counted in these already
        return sum(int(fields[index]) for index in (1, 2, 3, 6, 7, 8)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def quiet(patience: float) -> bool:
    """Waits, for ``patience`` seconds at most, until others leave the processors alone. True when they do, or when it can't be told."""
    deadline = time.monotonic() + patience
    while True:
        before, start = busy_seconds(), time.monotonic()
        time.sleep(GLANCE)
        after, elapsed = busy_seconds(), time.monotonic() - start
        if before is None or after is None or after - before <= BUSY_SHARE * elapsed:
            return True
        if time.monotonic() >= deadline:
            return False

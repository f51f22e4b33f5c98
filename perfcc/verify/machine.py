"""The machine as the timings see it: one lock for all of perfcc (shared to compile, exclusive to time), and how busy it is."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

BUSY_PERCENT = 25.0


@contextlib.contextmanager
def shared(path: Path) -> Iterator[None]:
    """Held while something is compiled or run: many may hold it at once."""
    with _locked(path, fcntl.LOCK_SH, None):
        yield


@contextlib.contextmanager
def exclusive(path: Path, patience: float) -> Iterator[bool]:
    """Held while something is timed. Yields False when others kept it for ``patience`` seconds."""
    with _locked(path, fcntl.LOCK_EX, patience) as held:
        yield held


@contextlib.contextmanager
def _locked(path: Path, kind: int, patience: float | None) -> Iterator[bool]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if patience is None:
            fcntl.flock(descriptor, kind)
            held = True
        else:
            held = _try_until(descriptor, kind, time.monotonic() + patience)
        yield held
    finally:
        os.close(descriptor)


def _try_until(descriptor: int, kind: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def stalled_microseconds(path: str = "/proc/pressure/cpu") -> int | None:
    """How long some task has waited for a CPU since boot; None where the kernel doesn't tell (Linux, Documentation/accounting/psi.rst)."""
    try:
        with open(path, encoding="ascii") as file:
            for line in file:
                if line.startswith("some "):
                    return int(line.rsplit("total=", 1)[1])
    except (OSError, ValueError, IndexError):
        pass
    return None


@contextlib.contextmanager
def pressure() -> Iterator[list[float]]:
    """The share of the time inside, in percent, that some task waited for a CPU; the list stays empty where that can't be told."""
    shares: list[float] = []
    before, start = stalled_microseconds(), time.monotonic()
    yield shares
    after = stalled_microseconds()
    elapsed = (time.monotonic() - start) * 1e6
    if before is not None and after is not None and elapsed > 0:
        shares.append(100.0 * (after - before) / elapsed)

"""Counters for ``--stats``: lines appended to one file, folded together when it grows.

A line is ``NAME AMOUNT``. Appending a short line is atomic on a local file system, so compilers that run at once lose no counts;
folding is done under a lock.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Mapping
from pathlib import Path

FOLD_AT = 256 << 10
_LINE = re.compile(rb"([A-Za-z0-9_.:+-]{1,80}) (\d{1,15}(?:\.\d{1,9})?)")


class Counters:
    """The counters under ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "log"

    def add(self, amounts: Mapping[str, float]) -> bool:
        """Adds to each counter; amounts are not negative. True when kept. Raises ValueError for a name or amount that no line can hold."""
        lines = b"".join(_line(name, amount) for name, amount in sorted(amounts.items()))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_SH)
                whole = os.write(file, lines) == len(lines)
                large = os.fstat(file).st_size > FOLD_AT
            finally:
                os.close(file)
        except OSError:
            return False
        if large:
            self._fold()
        return whole

    def read(self) -> dict[str, float]:
        """All counters. Lines that are no counters are skipped."""
        try:
            content = self.path.read_bytes()
        except OSError:
            return {}
        if len(content) > FOLD_AT:
            self._fold()
        return _sum(content)

    def _fold(self) -> None:
        """Replaces the lines by their sums, in place: whoever appends holds the same file."""
        try:
            with self.path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                folded = b"".join(_line(name, amount) for name, amount in sorted(_sum(file.read()).items()))
                file.seek(0)
                file.write(folded)
                file.truncate()
        except OSError:
            return


def _line(name: str, amount: float) -> bytes:
    number = f"{amount:.9f}".rstrip("0").rstrip(".")
    line = f"{name} {number}".encode()
    if _LINE.fullmatch(line) is None:
        raise ValueError(f"no counter: {name!r} {amount!r}")
    return line + b"\n"


def _sum(content: bytes) -> dict[str, float]:
    totals: dict[str, float] = {}
    for line in content.splitlines():
        match = _LINE.fullmatch(line)
        if match is not None:
            name = match[1].decode()
            totals[name] = totals.get(name, 0.0) + float(match[2])
    return totals

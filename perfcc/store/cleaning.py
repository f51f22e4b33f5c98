"""Keeping the store below its size: what was used longest ago goes first."""

from __future__ import annotations

import os
import time
from pathlib import Path

from perfcc.store import files
from perfcc.store.disk import SUBDIRECTORIES

LIMIT_BYTES = 2 << 30
# A clean-up goes below the limit, so that the next file doesn't start another one.
_TARGET = 0.8
_INTERVAL_SECONDS = 6 * 3600.0
_STALE_SECONDS = 3600.0


def clean(root: Path, limit: int = LIMIT_BYTES) -> int:
    """Removes what was used longest ago until the store holds at most 0.8 ``limit`` bytes, if it holds more than ``limit``.

    Temporary files that a killed writer left behind go as well. The number of files removed.
    """
    now = time.time()
    entries: list[tuple[float, int, Path]] = []
    removed = 0
    for kind in SUBDIRECTORIES:
        for folder, _, names in os.walk(root / kind):
            for name in names:
                path = Path(folder, name)
                try:
                    status = path.lstat()
                except OSError:
                    continue
                used = max(status.st_atime, status.st_mtime)
                if name.startswith(".new-") and now - status.st_mtime > _STALE_SECONDS:
                    files.forget(path)
                    removed += 1
                else:
                    entries.append((used, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    if total <= limit:
        return removed
    for _, size, path in sorted(entries):
        if total <= limit * _TARGET:
            break
        files.forget(path)
        total -= size
        removed += 1
    return removed


def clean_sometimes(root: Path, limit: int = LIMIT_BYTES) -> int:
    """``clean`` unless that was done in the last six hours."""
    stamp = root / "cleaned"
    try:
        if time.time() - stamp.stat().st_mtime < _INTERVAL_SECONDS:
            return 0
    except OSError:
        pass
    return clean(root, limit) if files.write(stamp, b"") else 0

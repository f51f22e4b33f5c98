"""Keeping the store below its size: what was used longest ago goes first."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from perfcc.store import files, size
from perfcc.store.disk import SUBDIRECTORIES
from perfcc.store.lock import alone

_START = 0.9
"""Of the limit: there a clean-up begins, so that what others write meanwhile stays below the limit as well."""
_TARGET = 0.8
"""Of the limit: what a clean-up leaves, so that the next file doesn't start another one."""
_ALONE = 1.25
"""Of the limit: beyond it nobody cares that another is cleaning already; it may have been stopped."""
_STALE_SECONDS = 3600.0
_DAY = 24 * 3600.0
_WORTH = {"decisions": 30 * _DAY}
"""Seconds by which a kind of entry counts as used later than it was: a decision took a search, the others take a compile."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the store; ``used`` in seconds since the epoch, ``blocks`` on disk."""

    kind: str
    path: str
    used: float
    mtime_ns: int
    blocks: int


def entries(root: Path) -> Iterator[Entry]:
    """Every file below the folders of entries; those of writers that are not finished have the kind ``""``."""
    for kind in SUBDIRECTORIES:
        for file in _files(root / kind):
            try:
                status = file.stat(follow_symlinks=False)
            except OSError:
                continue
            shown = "" if file.name.startswith(files.TEMPORARY) else kind
            yield Entry(shown, file.path, status.st_mtime, status.st_mtime_ns, size.blocks(status.st_size))


def holdings(root: Path) -> tuple[int, dict[str, int]]:
    """The bytes the store takes on disk, and how many entries of each kind it has."""
    found = list(entries(root))
    return sum(entry.blocks for entry in found) * size.BLOCK, {
        kind: sum(1 for entry in found if entry.kind == kind) for kind in SUBDIRECTORIES
    }


def clean_if_grown(root: Path, limit: int) -> int:
    """``clean`` when the store nears its limit, or was not counted for a day. Waits for nobody. The number of files removed."""
    known = size.estimate(root)
    if known is not None and (limit == 0 or known <= limit * _START):
        return 0
    unbounded = known is not None and limit and known > limit * _ALONE
    with alone(root / "lock", without_locks=True) as mine:
        return clean(root, limit) if mine or unbounded else 0


def clean(root: Path, limit: int) -> int:
    """Removes what was used longest ago until the store holds at most 0.8 ``limit`` bytes, if it nears ``limit`` (0: none).

    Temporary files that a killed writer left behind go as well. The number of files removed.
    """
    if not root.is_dir():
        return 0
    try:
        begun = size.begin(root)
    except OSError:
        return 0
    now = time.time()
    kept = []
    removed = 0
    for entry in entries(root):
        if entry.kind or abs(now - entry.used) <= _STALE_SECONDS:
            kept.append(entry)
        else:
            removed += _remove(entry)
    total = sum(entry.blocks for entry in kept)
    if limit and total * size.BLOCK > limit * _START:
        for _, entry in sorted(((_value(entry, now), entry) for entry in kept if entry.kind), key=lambda pair: pair[0]):
            if total * size.BLOCK <= limit * _TARGET:
                break
            if _remove(entry):
                total -= entry.blocks
                removed += 1
    size.finish(root, begun, total)
    return removed


def clear(root: Path) -> int:
    """Removes every entry. The number of files removed."""
    removed = sum(_remove(entry) for entry in list(entries(root)))
    return removed + clean(root, 0)


def _value(entry: Entry, now: float) -> float:
    """When it was used, and later for what is dear. A time to come, after the clock was set back, is worth nothing."""
    used = entry.used if entry.used <= now + _STALE_SECONDS else 0.0
    return used + _WORTH.get(entry.kind, 0.0)


def _remove(entry: Entry) -> bool:
    """False when it was used or written anew meanwhile, or can't be removed."""
    try:
        if os.lstat(entry.path).st_mtime_ns != entry.mtime_ns:
            return False
        os.unlink(entry.path)
    except OSError:
        return False
    return True


def _files(folder: Path | str, depth: int = 0) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            items = list(found)
    except OSError:
        return
    for item in items:
        if not item.is_dir(follow_symlinks=False):
            yield item
        elif depth == 0:
            yield from _files(item.path, depth + 1)

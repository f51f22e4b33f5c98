"""How much the store holds, without a look at every file.

``size`` tells what the last count found, ``grown`` has a byte for each block written since then: a short append is atomic, needs no lock,
and the file's length is the sum. A block is noted before it is written, so that a killed writer makes the estimate too large at worst; the
next count mends that.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from perfcc.core.codec import CodecError, dumps, loads
from perfcc.store import files

BLOCK = 4096
_RECOUNT_SECONDS = 24 * 3600.0
_RENEW_AT = 1 << 20


@dataclass(frozen=True, slots=True)
class Count:
    """``blocks`` were found when ``grown`` was the file ``inode``, ``noted`` bytes long."""

    blocks: int
    inode: int
    noted: int


def blocks(size: int) -> int:
    """What a file of that size takes on disk, at least one."""
    return max(1, -(-size // BLOCK))


def grow(root: Path, size: int) -> None:
    """Notes that a file of ``size`` bytes is about to be written."""
    try:
        file = _open(root)
    except OSError:
        return
    try:
        os.write(file, b"." * blocks(size))
    except OSError:
        return
    finally:
        os.close(file)


def estimate(root: Path) -> int | None:
    """The bytes held, on disk; None when they must be counted: never done, too long ago, or the notes are gone."""
    path = root / "size"
    content = files.read(path, mark=False)
    body = None if content is None else files.unseal(content, "size")
    if body is None:
        return None
    try:
        count = loads(Count, body)
        age = abs(time.time() - path.stat().st_mtime)
        notes = (root / "grown").stat()
    except (OSError, CodecError):
        return None
    if not stat.S_ISREG(notes.st_mode) or notes.st_ino != count.inode or notes.st_size < count.noted or age > _RECOUNT_SECONDS:
        return None
    return (count.blocks + notes.st_size - count.noted) * BLOCK


def begin(root: Path) -> Count:
    """Where the notes stand before a count. Long ones are begun anew. Raises OSError."""
    notes = root / "grown"
    if notes.exists() and notes.stat().st_size > _RENEW_AT:
        notes.unlink()
    file = _open(root)
    try:
        status = os.fstat(file)
        return Count(0, status.st_ino, status.st_size)
    finally:
        os.close(file)


def finish(root: Path, begun: Count, counted: int) -> None:
    """Keeps what was counted, in blocks, since ``begin``. What was written meanwhile counts twice at worst."""
    files.write(root / "size", files.seal(dumps(Count(counted, begun.inode, begun.noted)), "size"))


def _open(root: Path) -> int:
    root.mkdir(parents=True, exist_ok=True)
    return os.open(root / "grown", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)

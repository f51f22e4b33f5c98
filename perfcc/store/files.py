"""Files that appear whole or not at all, and whose damage is noticed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from pathlib import Path

_MAGIC = "perfcc-store 2"
TEMPORARY = (".new-", ".perfcc-")
"""How the names of files begin that a writer has not finished: this module's, and the launcher's."""
MARK_SECONDS = 3600.0
"""A file counts as just used for that long after it was marked: reading it stays cheap."""


def write(path: Path, content: bytes) -> bool:
    """Writes through a temporary file beside ``path`` and a rename, with the mode that the umask leaves. False where that can't be done."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=TEMPORARY[0], dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, 0o666 & ~_umask())
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        if temporary:
            forget(Path(temporary))
        return False
    return True


def read(path: Path, mark: bool = True) -> bytes | None:
    """The content of a regular file, marked as used now and then; None where there is none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read()
        if mark and abs(time.time() - status.st_mtime) > MARK_SECONDS:
            with contextlib.suppress(OSError):
                os.utime(handle)
        return content
    except OSError:
        return None
    finally:
        os.close(handle)


def forget(path: Path) -> None:
    """Removes a file if it is there and may be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return


def seal(body: bytes, place: str) -> bytes:
    """The body under a first line with a checksum of it and of the place it belongs to."""
    return f"{_MAGIC} {_checksum(body, place)}\n".encode() + body


def unseal(content: bytes, place: str) -> bytes | None:
    """The body; None when a bit of it has changed, or it was sealed for another place."""
    head, newline, body = content.partition(b"\n")
    return body if newline and head == f"{_MAGIC} {_checksum(body, place)}".encode() else None


def _checksum(body: bytes, place: str) -> str:
    return hashlib.blake2b(place.encode() + b"\0" + body, digest_size=32).hexdigest()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

"""Files that appear whole or not at all, and whose damage is noticed."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

_MAGIC = "perfcc-store 1"


def write(path: Path, content: bytes) -> bool:
    """Writes through a temporary file beside ``path`` and a rename. False where that can't be done."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError:
        if temporary:
            forget(Path(temporary))
        return False
    return True


def read(path: Path) -> bytes | None:
    """The content, the file marked as just used; None where there is none."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    touch(path)
    return content


def touch(path: Path) -> None:
    """Marks a file as just used."""
    try:
        os.utime(path)
    except OSError:
        return


def forget(path: Path) -> None:
    """Removes a file if it is there and may be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return


def seal(body: bytes) -> bytes:
    """The body under a first line with its checksum."""
    return f"{_MAGIC} {_checksum(body)}\n".encode() + body


def unseal(content: bytes) -> bytes | None:
    """The body, None when a bit of it has changed."""
    head, newline, body = content.partition(b"\n")
    return body if newline and head == f"{_MAGIC} {_checksum(body)}".encode() else None


def _checksum(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=32).hexdigest()

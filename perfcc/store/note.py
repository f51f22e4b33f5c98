"""What the launcher notes of a unit that it compiled without asking for a look at its loops (native/launcher/unexplained.cpp)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perfcc import _native


@dataclass(frozen=True, slots=True)
class Note:
    """``request`` is what the worker would have been asked, ``text`` the source's hash, ``recorded`` the time (ns since the epoch)."""

    request: Mapping[str, Any]
    text: str
    recorded: int

    @property
    def source(self) -> str:
        return self._path("source")

    @property
    def output(self) -> str:
        """The object, or the program that the source was compiled straight into."""
        return str(self.request.get("program") or self._path("output"))

    @property
    def member(self) -> str:
        """Which part of the output the unit is, as ``Store.outcome`` takes it."""
        return self.source if self.request.get("program") else ""

    @property
    def dependencies(self) -> tuple[str, ...]:
        """The files besides the source that the compiler read."""
        return tuple(os.path.join(str(self.request["cwd"]), str(name)) for name in self.request["dependencies"])

    def _path(self, name: str) -> str:
        return os.path.join(str(self.request["cwd"]), str(self.request[name]))

    def holds(self) -> bool:
        """The source and the headers are still what was compiled."""
        try:
            with open(self.source, "rb") as file:
                same = _native.blake2b(file.read()) == self.text
            headers = [os.stat(name) for name in self.dependencies]
        except OSError:
            return False
        return same and all(max(status.st_mtime_ns, status.st_ctime_ns) <= self.recorded for status in headers)


def read_note(body: bytes) -> Note | None:
    """The note in a record's body; None where it holds something else."""
    if not body.startswith(b'{"request": '):
        return None
    try:
        data = json.loads(body)
        note = Note(data["request"], data["text"], data["recorded"])
        known = all(isinstance(note.request[name], str) for name in ("cwd", "source", "output"))
    except (ValueError, KeyError, TypeError):
        return None
    return note if known else None

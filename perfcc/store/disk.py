"""The store: what was decided, kept between builds and shared between machines.

A directory of small files, each written whole (``files``) and checked when read. Whatever can't be read is a miss, whatever can't be
written is not kept: a store that is read-only, full, damaged or being written by others never stops a build.

==============  ===========================================================================================
``decisions/``  one kernel's Decision, by ``key.decision_key``
``objects/``    contents by their BLAKE2b-256, ``ab/cdef...``
``outputs/``    the Outcome of the unit behind each object file, by a digest of its real path; or the launcher's Note in its place
``probes/``     what a compiler answered, by ``probe_key``
``units/``      unit verdicts, written through the launcher's own code
``links/``      what the launcher knows of links
``counters/``   ``--stats``
``size``        how much all this is, with ``grown`` (``size``); ``lock`` is held by who cleans up
``log``         what workers had to say
``turns``       who searches what just now (``turns``)
==============  ===========================================================================================
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from perfcc import _native
from perfcc.core.codec import CodecError, dumps, loads
from perfcc.core.decision import Decision, Outcome, Status
from perfcc.store import files, size
from perfcc.store.key import digest
from perfcc.store.note import Note, read_note

if TYPE_CHECKING:
    from perfcc._native import FileRecord

T = TypeVar("T")

SUBDIRECTORIES = ("decisions", "objects", "outputs", "probes", "units", "links")


class Store:
    """A store at ``path``; nothing is created before something is kept."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # -- kernels

    def decision(self, key: str) -> Decision | None:
        """The decision kept under ``key``."""
        return self._record("decisions", key, Decision)

    def keep_decision(self, key: str, decision: Decision) -> bool:
        """Keeps it, unless it is undecided: a later build tries that again. True when kept."""
        return decision.status is not Status.UNDECIDED and self._keep("decisions", key, decision)

    # -- contents

    def keep_object(self, content: bytes) -> str | None:
        """Keeps the content; its name, or None where it could not be kept."""
        name = hashlib.blake2b(content, digest_size=32).hexdigest()
        path = self.object_path(name)
        return name if files.read(path) == content or self._write(path, content) else None

    def load_object(self, name: str) -> bytes | None:
        """The content of that name; None when it isn't there or is not what its name says."""
        path = self.object_path(name)
        content = files.read(path)
        if content is None:
            return None
        if hashlib.blake2b(content, digest_size=32).hexdigest() != name:
            files.forget(path)
            return None
        return content

    def object_path(self, name: str) -> Path:
        """Where the content of that name lies, there or not. Raises ValueError for what is no name."""
        return self._path("objects", name, "")

    # -- units

    def keep_verdict(
        self, key: str, name: str, original: str, read: Sequence[FileRecord], dependencies: Sequence[str], recorded_ns: int = 0
    ) -> bool:
        """Keeps what the launcher does with the unit ``key`` from now on: puts the object ``name`` in the place of the compiler's if
        that has the digest ``original``; nothing where both are empty. It holds while the files ``read`` are what they were."""
        path = Path(_native.unit_path(self.path, key))
        if not _native.write_manifest(self.path, key, name, original, read, dependencies, recorded_ns):
            return False
        size.grow(self.path, path.stat().st_size if path.exists() else 0)
        return True

    def keep_outcome(self, output: Path, outcome: Outcome, member: str = "") -> bool:
        """Keeps what became of the unit whose object is ``output``, or of the source ``member`` that was compiled straight into it."""
        return self._keep("outputs", output_key(output, member), outcome)

    def outcome(self, output: Path, member: str = "") -> Outcome | None:
        """What became of the unit whose object is ``output``, or of the source ``member`` that was compiled straight into it."""
        return self._record("outputs", output_key(output, member), Outcome)

    def outcomes(self, directory: Path) -> list[Outcome]:
        """What became of the units whose objects lie in ``directory`` or below, by object; objects that are gone are left out.

        ``Outcome.output`` must be absolute for an object to be found here.
        """
        root = os.path.join(os.path.realpath(directory), "")
        return [outcome for outcome in self.all_outcomes() if os.path.realpath(outcome.output).startswith(root)]

    def all_outcomes(self) -> list[Outcome]:
        """What became of every unit whose object still exists, by object."""
        found = {}
        for key in self._keys("outputs"):
            outcome = self._record("outputs", key, Outcome, mark=False)
            if outcome is not None and os.path.isabs(outcome.output) and os.path.exists(outcome.output):
                member = "" if key == output_key(Path(outcome.output)) else outcome.source
                found[os.path.realpath(outcome.output), member] = outcome
        return [found[place] for place in sorted(found)]

    def notes(self) -> list[Note]:
        """The units that were compiled without a look at their loops and whose objects still exist."""
        found = (self._note(key) for key in self._keys("outputs"))
        return [note for note in found if note is not None and os.path.exists(note.output)]

    def note(self, output: Path, member: str = "") -> Note | None:
        """The note in place of what ``outcome`` gives."""
        return self._note(output_key(output, member))

    def _note(self, key: str) -> Note | None:
        content = files.read(self._path("outputs", key, ".json"), mark=False)
        body = None if content is None else files.unseal(content, f"outputs {key}")
        return None if body is None else read_note(body)

    # -- compilers

    def probe(self, key: str, kind: type[T]) -> T | None:
        """A compiler's answer, an instance of ``kind``."""
        return self._record("probes", key, kind)

    def keep_probe(self, key: str, answer: object) -> bool:
        """Keeps a compiler's answer."""
        return self._keep("probes", key, answer)

    # -- files

    def _path(self, kind: str, key: str, suffix: str) -> Path:
        if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
            raise ValueError(f"{key!r} is not a key")
        return self.path / kind / key[:2] / (key[2:] + suffix)

    def _keys(self, kind: str) -> Iterator[str]:
        for path in sorted((self.path / kind).glob("??/*.json")):
            key = path.parent.name + path.stem
            if len(key) == 64:
                yield key

    def _keep(self, kind: str, key: str, value: object) -> bool:
        return self._write(self._path(kind, key, ".json"), files.seal(dumps(value), f"{kind} {key}"))

    def _write(self, path: Path, content: bytes) -> bool:
        size.grow(self.path, len(content))
        return files.write(path, content)

    def _record(self, kind: str, key: str, cls: type[T], mark: bool = True) -> T | None:
        content = files.read(self._path(kind, key, ".json"), mark)
        body = None if content is None else files.unseal(content, f"{kind} {key}")
        if body is None:
            return None
        try:
            return loads(cls, body)
        except CodecError:
            return None


def output_key(output: Path, member: str = "") -> str:
    """The key of an object file, or of a source that was compiled straight into a program: a digest of the real paths."""
    return digest("output", os.path.realpath(output), *((os.path.realpath(member),) if member else ()))

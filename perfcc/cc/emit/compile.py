"""One compile of the user's command over other texts, and what it wrote against what the original wrote."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perfcc.cc.compiler import CompilerInfo
from perfcc.cc.emit import overlay
from perfcc.cc.emit.checksum import ChecksumError, restore
from perfcc.cc.emit.install import Beside, OutputState
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation


class Refused(Exception):
    """The unit can't be compiled anew; ``reason`` says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


def refused(detail: str) -> Refused:
    return Refused(Reason("emit-failed", detail=detail))


@dataclass(frozen=True, slots=True)
class Text:
    """A source under the name the compiler opens it by: as it is, and as it is to be compiled."""

    name: str
    original: bytes
    copy: bytes


@dataclass(frozen=True, slots=True)
class Compiled:
    """``object_path`` lies in the scratch folder; ``differing`` are the other outputs that are not what the original compile left;
    ``reads`` all files read, by the names they were opened by."""

    object_path: Path
    differing: tuple[Beside, ...]
    outputs: tuple[Path, ...]
    reads: tuple[str, ...]


def compile_texts(
    invocation: Invocation, info: CompilerInfo, texts: tuple[Text, ...], added: tuple[str, ...], without: tuple[int, ...], scratch: Path
) -> Compiled:
    """Compiles with the user's argv, without the words ``without`` (positions) and with ``added`` at its end.

    The original's outputs must be in their places. Nothing outside ``scratch`` is written. Raises Refused and OSError.
    """
    argv = [word for index, word in enumerate(invocation.argv) if index not in without]
    done = run([*argv, *added], invocation, info, {text.name: text.copy for text in texts}, scratch)
    if done.code != 0:
        first = next((line for line in done.errors.splitlines() if "error" in line), "")
        failure = "the rewritten unit does not compile"
        raise refused(f"{failure}: {first}" if first else failure)
    if unread := {text.name for text in texts} - set(done.mapped):
        raise refused(f"the compiler did not open {min(unread)} under that name")
    if other := set(done.mapped) - {text.name for text in texts}:
        raise refused(f"the compiler opens a source by another name, {min(other)}")
    target = _located(invocation, invocation.output)
    files = {output.path: output.file for output in done.outputs}
    if target not in files:
        raise refused("the compiler did not write the object where perfcc could follow")
    if info.family == "clang":
        for output in done.outputs:
            _restore(output.file, texts)
    others = {path: file for path, file in files.items() if path != target}
    if invocation.linked:
        # Lists of dependencies apart, what the command wrote beside the program is named after the program.
        if further := [path.name for path in others if path.suffix in (".dwo", ".gcno")]:
            raise refused(f"{further[0]} belongs to the program")
        others = {}
    beside = tuple(found for path, file in others.items() if (found := _beside(path, file)) is not None)
    return Compiled(files[target], beside, tuple(files), done.reads)


def run(argv: list[str], invocation: Invocation, info: CompilerInfo, copies: Mapping[str, bytes], scratch: Path) -> overlay.Run:
    """Runs the compiler under the overlay. Raises Refused where it can't be followed, and OSError."""
    try:
        return overlay.run(argv, info.path, invocation.cwd, copies, scratch)
    except overlay.OverlayError as error:
        raise refused(str(error)) from None


def depfile_of(invocation: Invocation) -> Path | None:
    """Where the command writes its list of dependencies."""
    return None if invocation.depfile is None else _located(invocation, invocation.depfile)


def _located(invocation: Invocation, name: str) -> Path:
    path = Path(invocation.cwd, name)
    return Path(os.path.realpath(path.parent), path.name)


def _restore(file: Path, texts: tuple[Text, ...]) -> None:
    try:
        restore(file, {text.copy: text.original for text in texts})
    except ChecksumError as error:
        raise refused(str(error)) from None


def _beside(path: Path, file: Path) -> Beside | None:
    """The output where it is not what the original compile left."""
    if not path.is_file():
        raise refused(f"the compiler wrote {path.name}, which the original compile did not")
    expected = OutputState.of(path)
    return None if path.read_bytes() == file.read_bytes() else Beside(path, file, expected)

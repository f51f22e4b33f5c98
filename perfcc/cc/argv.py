"""Command lines as values, by the launcher's own code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perfcc import _native
from perfcc.core.unit import Invocation


@dataclass(frozen=True, slots=True)
class PassThrough:
    """Why a command line goes straight to the compiler: a key of ``pass_reasons()``, and the word that decided, if one did."""

    reason_id: str
    word: str = ""

    @property
    def sentence(self) -> str:
        return pass_reasons()[self.reason_id]


@dataclass(frozen=True, slots=True)
class Member:
    """One source of a command that has several units or links what it compiles: its position in argv, language and object's name."""

    source: str
    source_index: int
    language: str
    output: str


@dataclass(frozen=True, slots=True)
class Several:
    """An eligible command with several sources, or one that ``links`` them into ``output`` in the same step."""

    argv: tuple[str, ...]
    members: tuple[Member, ...]
    links: bool
    output: str


def read(argv: Sequence[str], cwd: str, compiler: str = "") -> Invocation | Several | PassThrough:
    """What ``argv`` (``argv[0]`` names the compiler) asks for in ``cwd``; ``compiler`` is its path, by default looked up on PATH.

    The invocation's argv has every @file expanded. Looks at the file system: the source must exist, the output may be no device.
    """
    found = _native.classify(argv, cwd)
    if not found["eligible"]:
        return PassThrough(found["reason"], found["detail"])
    if found["links"] or len(found["sources"]) > 1:
        return Several(tuple(found["argv"]), tuple(Member(*row) for row in found["sources"]), found["links"], found["output"])
    return Invocation(
        argv=tuple(found["argv"]),
        compiler=compiler or _native.find_compiler(argv[0], cwd)["path"],
        cwd=cwd,
        source=found["source"],
        source_index=found["source_index"],
        output=found["output"],
        language=found["language"],
        depfile=found["depfile"] or None,
    )


def pass_reasons() -> dict[str, str]:
    """Id -> sentence of every reason for which the launcher leaves a command line alone."""
    return dict(_native.pass_reasons())

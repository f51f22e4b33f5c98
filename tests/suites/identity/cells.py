"""One cell of the matrix: the bare compiler and perfcc, one after the other in one folder, and all that either of them left."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from perfcc.core.decision import Outcome
from perfcc.store.disk import Store
from tests.suites.identity.nasty_sources import Source

BIN = Path(sys.executable).parent
COMPILERS = {"gcc": ("gcc-12", "g++-12"), "clang": ("clang-19", "clang++-19")}


@dataclass(frozen=True)
class Left:
    """What a command left: exit status, what it printed, and every file in the folder but precompiled headers, which it only reads."""

    code: int
    printed: bytes
    complained: bytes
    files: dict[str, bytes]

    def differing(self, other: Left) -> list[str]:
        names = sorted(name for name in self.files.keys() | other.files.keys() if self.files.get(name) != other.files.get(name))
        streams = ("code", "printed", "complained")
        return [*names, *(f"<{name}>" for name in streams if getattr(self, name) != getattr(other, name))]


@dataclass(frozen=True)
class Cell:
    """A source under a compiler and a set of flags, in a folder of its own."""

    root: Path
    family: str
    source: Source
    flags: tuple[str, ...]
    pch: bool = False

    @property
    def compiler(self) -> str:
        return COMPILERS[self.family][0 if self.source.in_c else 1]

    @property
    def folder(self) -> Path:
        return self.root / "work"

    def prepare(self) -> None:
        for name, content in self.source.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str) and content.startswith("->"):
                path.symlink_to(content[2:])
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if self.pch:
            (self.folder / "before.h").write_text("inline static int before(int a) { return a + __LINE__; }\n")
            language = "c-header" if self.source.in_c else "c++-header"
            output = "before.h.gch" if self.family == "gcc" else "before.pch"
            self.run([self.compiler, *self.own_flags, "-x", language, "before.h", "-o", output])

    @property
    def own_flags(self) -> list[str]:
        return [word.replace("{folder}", str(self.folder)) for word in (*self.source.flags, *self.flags)]

    def command(self) -> list[str]:
        used = (["-include", "before.h"] if self.family == "gcc" else ["-include-pch", "before.pch"]) if self.pch else []
        return [self.compiler, *self.own_flags, *used, "-c", self.source.name, "-o", "out.o"]

    def run(self, command: list[str]) -> Left:
        environ = {key: value for key, value in os.environ.items() if not key.startswith("PERFCC_")}
        environ |= {"PERFCC_STORE": str(self.root / "store"), "PERFCC_MODE": "identity", "TERM": "xterm"}
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, timeout=300, check=False)
        files = {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and path.suffix not in (".gch", ".pch")
        }
        return Left(done.returncode, done.stdout, done.stderr, files)

    def bare(self) -> Left:
        return self.fresh(self.command())

    def by_perfcc(self) -> Left:
        return self.fresh([str(BIN / "perfcc"), *self.command()])

    def fresh(self, command: list[str]) -> Left:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.prepare()
        return self.run(command)

    def outcome(self) -> Outcome | None:
        return Store(self.root / "store").outcome(self.folder / "out.o")

    def counters(self) -> list[str]:
        log = self.root / "store" / "counters" / "log"
        return [line.rpartition(" ")[0] for line in log.read_text().splitlines()] if log.exists() else []


def places(outcome: Outcome) -> int:
    """How many no-ops were compiled in."""
    assert outcome.reason is not None
    found = re.search(r"places: (\d+)", outcome.reason.detail)
    return int(found[1]) if found else 0

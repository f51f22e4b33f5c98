"""A place to build in: the installed launcher, a store of its own, and scripts that stand in for the Python worker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

KERNEL = "int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }\n"
BIN = Path(sys.executable).parent


def newest(name: str) -> str:
    """The compiler of that name, or its newest version on PATH."""
    found = [candidate for candidate in (name, *(f"{name}-{n}" for n in range(25, 13, -1))) if shutil.which(candidate)]
    assert found, f"the tests need {name}"
    return found[0]


@dataclass(frozen=True)
class Result:
    code: int
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]


@dataclass
class Site:
    """A working directory with an environment in which nothing of the caller's perfcc settings is left."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def store(self) -> Path:
        return Path(self.variables.get("PERFCC_STORE", self.root / "store"))

    def environment(self) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PERFCC_")}
        return {**inherited, "PERFCC_STORE": str(self.root / "store"), **self.variables}

    def command(self, *words: str, name: str = "perfcc") -> list[str]:
        return [str(BIN / name), *words]

    def files(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.work)): path.read_bytes() for path in sorted(self.work.rglob("*")) if path.is_file()}

    def run(self, command: Sequence[str], stdin: bytes = b"") -> Result:
        done = subprocess.run(command, cwd=self.work, env=self.environment(), input=stdin, capture_output=True, timeout=120)
        return Result(done.returncode, done.stdout, done.stderr, self.files())

    def fresh(self, files: Mapping[str, str]) -> None:
        """Empties the working directory and writes ``files`` into it."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        for name, text in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def worker(self, body: str) -> Path:
        """Has a script stand in for the worker's interpreter: ``request`` is what it was asked, ``site`` this place's root."""
        script = self.root / "python-double"
        imports = "import json, os, signal, subprocess, sys, time\nfrom pathlib import Path"
        head = f"#!{sys.executable}\n{imports}\nsite = Path({str(self.root)!r})\n"
        script.write_text(f"{head}request = json.load(sys.stdin)\n{body}\n")
        script.chmod(0o755)
        self.variables["PERFCC_PYTHON"] = str(script)
        return script

    def no_worker(self) -> None:
        self.variables["PERFCC_PYTHON"] = str(self.root / "no-such-python")

    def counters(self) -> list[str]:
        log = self.store / "counters" / "log"
        return [line.rpartition(" ")[0] for line in log.read_text().splitlines()] if log.exists() else []


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site(tmp_path)
    made.fresh({"kernel.cpp": KERNEL})
    made.no_worker()
    return made


@pytest.fixture(params=["g++", "clang++"])
def compiler(request: pytest.FixtureRequest) -> str:
    return newest(request.param)


@pytest.fixture
def gcc() -> str:
    return newest("g++")

"""One project built from pristine source by the bare compiler and by perfcc, each time at the same path, its own tests run each time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.real.fetch import unpack
from tests.real.table import Project

BIN = Path(sys.executable).parent
PERFCC = BIN / "perfcc"
JOBS = 2
TIMEOUT = 3600


@dataclass(frozen=True)
class Tested:
    """What the project's own tests said: the exit status of each command, and its tests' outcomes or, where it names none, its lines."""

    status: tuple[int, ...]
    outcomes: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]

    def differences(self, other: Tested) -> list[str]:
        """What only one of both said, for people."""
        mine, others = ({f"{n}: {o}" for n, o in t.outcomes} | set(t.lines) for t in (self, other))
        return [f"- {line}" for line in sorted(mine - others)] + [f"+ {line}" for line in sorted(others - mine)]


@dataclass(frozen=True)
class Built:
    """One build. ``objects`` maps each object's path in the tree to its digest; ``cpu`` is in seconds, all processes together."""

    seconds: float
    cpu: float
    objects: dict[str, str]
    tested: Tested
    counters: dict[str, dict[str, float]] = field(default_factory=dict)
    units: list[dict[str, Any]] = field(default_factory=list)
    log: str = ""

    def parts(self, group: str) -> dict[str, float]:
        return self.counters.get(group, {})

    @property
    def decisions(self) -> list[dict[str, Any]]:
        return [decision for unit in self.units for decision in unit["decisions"]]

    def reasons(self) -> Counter[str]:
        """Why loop nests were left alone, each reason with its number."""
        return Counter(decision["reason"]["id"] for decision in self.decisions if decision["reason"])

    def rewritten(self) -> list[dict[str, Any]]:
        return [decision for decision in self.decisions if decision["status"] == "rewritten"]


@dataclass
class Trial:
    """A project under one compiler (``gcc`` or ``clang-19``); builds are made when they are first asked for, one after the other."""

    project: Project
    compiler: str
    folder: Path
    budget: str

    def __post_init__(self) -> None:
        self.made: dict[str, Built] = {}
        self.tools = self.folder / "bin"
        self.tools.mkdir(parents=True, exist_ok=True)
        for name in (self.compiler, self.plus):
            (self.tools / f"{self.prefix}{name}").symlink_to(PERFCC)

    @property
    def prefix(self) -> str:
        """What is put before the compiler's name to call perfcc in its place."""
        return "" if self.project.masquerade else "perfcc-"

    @property
    def plus(self) -> str:
        """The C++ compiler that goes with the C one."""
        return "g++" if self.compiler == "gcc" else self.compiler.replace("clang", "clang++")

    @property
    def tree(self) -> Path:
        return self.folder / "source"

    def bare(self) -> Built:
        return self._once("bare", {}, "")

    def search(self) -> Built:
        return self._once("search", {"PERFCC_MODE": "search", "PERFCC_BUDGET": self.budget}, "search")

    def again(self) -> Built:
        """The same build from the store that ``search`` left."""
        self.search()
        return self._once("again", {"PERFCC_MODE": "search", "PERFCC_BUDGET": self.budget}, "search")

    def identity(self) -> Built:
        return self._once("identity", {"PERFCC_MODE": "identity"}, "identity")

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- one build

    def _once(self, name: str, settings: dict[str, str], store: str) -> Built:
        if name not in self.made:
            shutil.rmtree(self.tree, ignore_errors=True)
            unpack(self.project, self.tree)
            self.made[name] = self._build(self._environment(settings, store))
        return self.made[name]

    def _environment(self, settings: dict[str, str], store: str) -> dict[str, str]:
        """The user's environment without anything that would reach into the build, then the compilers."""
        ours = re.compile(r"PERFCC_|MAKE|MFLAGS|PYTEST|(C|CPP|CXX|LD)FLAGS$|CC$|CXX$|CMAKE_|GTEST_|CTEST_|LC_|LANG")
        environ = {key: value for key, value in os.environ.items() if not ours.match(key)}
        prefix = self.prefix if store else ""
        environ |= {
            "CC": f"{prefix}{self.compiler}",
            "CXX": f"{prefix}{self.plus}",
            "CFLAGS": self.project.flags,
            "CXXFLAGS": self.project.flags,
            "JOBS": str(JOBS),
            "PYTHON": sys.executable,
            "LC_ALL": "C.UTF-8",
            "SOURCE_DATE_EPOCH": "1700000000",
        }
        if store:
            environ |= settings | {"PERFCC_STORE": str(self.folder / f"store-{store}")}
            environ["PATH"] = f"{self.tools}{os.pathsep}{environ['PATH']}"
        return environ

    def _build(self, environ: dict[str, str]) -> Built:
        begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        for command in self.project.build:
            done = self._run(command, environ)
            assert done.returncode == 0, f"{self.project.name}: {command}: exit status {done.returncode}\n{done.stdout[-8000:]}"
        seconds, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        objects = self._objects()
        tested = self._test(environ)
        store = environ.get("PERFCC_STORE", "")
        if not store:
            return Built(seconds, cpu, objects, tested)
        log = Path(store, "log")
        return Built(
            seconds,
            cpu,
            objects,
            tested,
            counters={group: row["parts"] for group, row in self._ask(environ, "--stats")["counters"].items()},
            units=self._ask(environ, "--explain", str(self.tree))["units"],
            log=log.read_text("utf-8", "replace") if log.is_file() else "",
        )

    def _objects(self) -> dict[str, str]:
        found = sorted(path for pattern in ("*.o", "*.lo", "*.sho") for path in self.tree.rglob(pattern))
        elf = ((path, path.read_bytes()) for path in found if path.is_file())
        return {str(path.relative_to(self.tree)): hashlib.sha256(data).hexdigest() for path, data in elf if data.startswith(b"\x7fELF")}

    def _test(self, environ: dict[str, str]) -> Tested:
        status: list[int] = []
        text = ""
        for command in self.project.test:
            done = self._run(command, environ)
            status.append(done.returncode)
            text += done.stdout
        text = text.replace("perfcc-", "")  # echoed commands name the compiler
        results, ignore = self.project.results, self.project.ignore
        if results:
            return Tested(tuple(status), tuple(sorted((m["name"], m["outcome"]) for m in results.finditer(text))), ())
        lines = tuple(line for line in text.splitlines() if not (ignore and ignore.search(line)))
        return Tested(tuple(status), (), lines)

    def _run(self, command: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command],
            cwd=self.tree / self.project.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )

    def _ask(self, environ: dict[str, str], *words: str) -> Any:
        done = subprocess.run(
            [str(PERFCC), *words, "--format", "json"], env=environ, capture_output=True, text=True, timeout=300, check=True
        )
        return json.loads(done.stdout)

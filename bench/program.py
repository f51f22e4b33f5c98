"""The legacy program, bench/legacy: the ways to build it, and its runs."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from expectations import LEGACY
from rich.console import Console

PROGRAM = "fieldlab"
PERFCC = Path(sys.executable).with_name("perfcc")
STORE = LEGACY / "build-store"


@dataclass(frozen=True, slots=True)
class Build:
    """One way to build the program; ``directory`` lies in the program's own tree."""

    name: str
    directory: str
    compiler: str
    flags: str

    @property
    def path(self) -> Path:
        return LEGACY / self.directory

    @property
    def program(self) -> Path:
        return self.path / PROGRAM


PLAIN = Build("g++ -O2", "build-o2", "g++", "-O2")
NATIVE = Build("g++ -O3 -march=native", "build-native", "g++", "-O3 -march=native")
OURS = Build("perfcc -O2", "build", str(PERFCC), "-O2")
UNFUSED = Build("g++ -O3 -march=native -ffp-contract=off", "build-unfused", "g++", "-O3 -march=native -ffp-contract=off")
RACED = (PLAIN, NATIVE, OURS)


@dataclass(frozen=True, slots=True)
class Run:
    """One run: wall seconds of the process, its result lines by name, and the seconds a step."""

    seconds: float
    results: dict[str, str]
    steps: dict[str, float]


class Failed(Exception):
    """A build or a run failed; the message holds what it said."""


def environment(**more: str) -> dict[str, str]:
    """The caller's environment, without what `make demo` or the caller's own perfcc settings would do to the builds."""
    ours = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
    kept = {key: value for key, value in os.environ.items() if key not in ours and not key.startswith("PERFCC_")}
    return {**kept, **more}


# -- building ----------------------------------------------------------------------------------------------------


def make(build: Build, target: str, jobs: int) -> Iterator[str]:
    """Runs make; yields each source's name as its compile starts. Raises Failed."""
    variables = [f"BUILD={build.directory}", f"CXX={build.compiler}", f"CXXFLAGS={build.flags}"]
    command = ["make", f"-j{jobs}", "-C", str(LEGACY), *variables, target]
    said: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(PERFCC_STORE=str(STORE))
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if " -c " in line:
                yield Path(line.split()[-1]).name
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{''.join(said[-30:])}")


def build_program(console: Console, build: Build, jobs: int, note: str = "") -> float:
    """A whole build from nothing, with its progress (off a terminal: only if there is a note); wall seconds."""
    shutil.rmtree(build.path, ignore_errors=True)
    label = f"building with {build.name}"
    total = len(list((LEGACY / "src").glob("*.cpp")))
    if note:
        console.print(f"{label}: {note}")
    started = time.perf_counter()
    with console.status(label) as status:
        for number, source in enumerate(make(build, "all", jobs), 1):
            progress = f"{number} of {total}: {source}, after {time.perf_counter() - started:.0f} s"
            if console.is_terminal:
                status.update(f"{label}, {progress}")
            elif note:
                console.print(f"  {progress}")
    seconds = time.perf_counter() - started
    console.print(f"{label}: {seconds:.1f} s")
    return seconds


def digests(build: Build) -> dict[str, str]:
    """The bytes of each object, digested."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(build.path.glob("*.o"))}


# -- running -----------------------------------------------------------------------------------------------------


def run_program(build: Build, cores: frozenset[int]) -> Run:
    """One run on those cores. Raises Failed."""
    command = [str(build.program), "--data", "data", "--times"]
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=LEGACY, capture_output=True, text=True, env=environment(), preexec_fn=lambda: os.sched_setaffinity(0, cores)
    )
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    results, steps = {}, {}
    for line in done.stdout.splitlines():
        kind, _, rest = line.partition(" ")
        name, _, value = rest.strip().rpartition(" ")
        if kind == "time":
            steps[name.strip()] = float(value)
        else:
            results[f"{kind} {name.strip()}"] = value
    return Run(seconds, results, steps)


def differing(left: Run, right: Run) -> list[str]:
    """The results that are not the same to the last bit."""
    return [name for name in sorted({*left.results, *right.results}) if left.results.get(name) != right.results.get(name)]

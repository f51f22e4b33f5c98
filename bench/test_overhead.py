"""What perfcc costs a build, beside ccache. Run by ``python -m pytest bench/test_overhead.py -s``, which prints the table.

Medians of interleaved runs of the plain compiler, of perfcc and of ccache on the same command; ``PERFCC_BENCH_RUNS`` sets how many (50).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.costs import Command, Prepare, Runs, Table, interleaved
from perfcc import _native

PERFCC = str(Path(sys.executable).parent / "perfcc")
LEGACY = Path(__file__).parent / "legacy"
UNITS = Path(__file__).parent / "units"
RUNS = int(os.environ.get("PERFCC_BENCH_RUNS", "50"))
BUILDS = min(5, RUNS)
WARM_UPS = 6

HEADERS = 300
KERNEL = "int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }\n"

# What both hand on. ccache keeps results of -S and -c, so these say nothing about handing on.
HANDED_ON = {
    "link": ["main.o", "-o", "app"],
    "link a library": ["-shared", "-fPIC", "shared.o", "-o", "libshared.so"],
    "-E": ["-E", "main.cpp"],
    "-MM": ["-MM", "main.cpp"],
    "--version": ["--version"],
    "-print-search-dirs": ["-print-search-dirs"],
}


@dataclass(frozen=True)
class Place:
    """A folder to work in, a store and a cache of its own, and an environment without anybody's settings."""

    root: Path
    environment: dict[str, str]

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def store(self) -> Path:
        return Path(self.environment["PERFCC_STORE"])

    def trio(self, compiler: str, words: list[str], environments: dict[str, Prepare] | None = None) -> dict[str, Command]:
        """The same command for the compiler, for perfcc and for ccache."""
        own = environments or {}
        heads = {compiler: [compiler], "perfcc": [PERFCC, compiler], "ccache": ["ccache", compiler]}
        return {name: Command([*head, *words], self.work, own.get(name, self.environment)) for name, head in heads.items()}

    def counters(self) -> list[str]:
        text = (self.store / "counters" / "log").read_text()
        return [line.rpartition(" ")[0] for line in text.splitlines()]

    def fresh(self, number: int) -> dict[str, str]:
        """An empty store and an empty cache for each run."""
        return {**self.environment, "PERFCC_STORE": str(self.root / f"store-{number}"), "CCACHE_DIR": str(self.root / f"ccache-{number}")}


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    made = Table()
    yield made
    print("\n" + made.text())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    prefixes = ("PERFCC_", "CCACHE_", "MAKE")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(prefixes)}
    own = {"PERFCC_STORE": str(tmp_path / "store"), "CCACHE_DIR": str(tmp_path / "ccache"), "CCACHE_CONFIGPATH": str(tmp_path / "none")}
    made = Place(tmp_path, {**inherited, **own})
    made.work.mkdir()
    return made


@pytest.mark.parametrize("what", HANDED_ON)
def test_what_is_handed_on(table: Table, place: Place, what: str) -> None:
    (place.work / "main.cpp").write_text("int main() { return 0; }\n")
    (place.work / "shared.cpp").write_text("int one() { return 1; }\n")
    subprocess.run(["g++", "-O2", "-fPIC", "-c", "main.cpp", "shared.cpp"], cwd=place.work, check=True)
    measured = interleaved(place.trio("g++", HANDED_ON[what]), RUNS)
    table.add(f"handed on: {what}", measured, "g++", "1.0x ccache")
    assert all(counter.startswith("passed:") for counter in place.counters())
    assert measured["perfcc"].more_cpu(measured["ccache"]) <= 0
    assert measured["perfcc"].more_wall(measured["ccache"]) <= 0


@pytest.mark.parametrize("verdict", ["nothing to do", "a stored object"])
def test_a_decided_unit(table: Table, place: Place, verdict: str) -> None:
    """The headers are many but small: what the compiler itself takes would drown what perfcc adds. ccache finds its result.

    Nobody has touched them for the two seconds after which their states alone tell that they are unchanged.
    """
    for number in range(HEADERS):
        (place.work / f"part{number}.h").write_text(f"extern int value{number};\n")
    (place.work / "many.cpp").write_text("".join(f'#include "part{number}.h"\n' for number in range(HEADERS)) + KERNEL)
    arguments = ["-O2", "-c", "many.cpp"]
    time.sleep(2.1)
    decide(place, arguments, verdict == "a stored object")
    measured = interleaved(place.trio("g++", arguments), RUNS)
    table.add(f"decided, 300 headers: {verdict}", measured, "g++", "+5 wall")
    expected = "compiled:from-store" if verdict == "a stored object" else "compiled:nothing-to-do"
    assert place.counters()[-RUNS:] == [expected] * RUNS
    assert measured["perfcc"].more_wall(measured["g++"]) <= 5


@pytest.mark.parametrize("source", ["greeting.cpp", "inventory.cpp", "words.cpp", "options.c"])
def test_a_cold_unit_without_kernels(table: Table, place: Place, source: str) -> None:
    """No loop, or loops that can't be kernels. ccache misses."""
    measured = cold(place, source)
    table.add(f"cold, no kernel: {source}", measured, compiler_of(source), "1.4x")
    assert measured["perfcc"].ratios(measured[compiler_of(source)])[1] <= 1.4


def test_a_cold_unit_that_is_looked_at(table: Table, place: Place) -> None:
    """For comparison: a loop that has to be parsed before it is left alone."""
    table.add("cold, one loop left alone", cold(place, "smoothing.cpp", min(RUNS, 10)), "g++")


def test_a_whole_build_from_a_warm_store(table: Table, place: Place) -> None:
    """Warm is a store in which every kernel is decided: what a busy machine left undecided is searched again by the next build."""
    folders = {name: place.root / name for name in ("g++", "perfcc")}
    for folder in folders.values():
        shutil.copytree(LEGACY, folder, ignore=shutil.ignore_patterns("build*", "*.o"))
    compilers = {"g++": "g++", "perfcc": PERFCC}
    builds = {name: Command(["make", "-j2", "-B", f"CXX={compilers[name]}"], folder, place.environment) for name, folder in folders.items()}
    for _ in range(WARM_UPS):
        before = place.counters().count("compiled:searched") if place.store.exists() else -1
        builds["perfcc"].run(0)
        if place.counters().count("compiled:searched") == before:
            break
    measured = interleaved(builds, BUILDS)
    table.add("legacy program, warm store", measured, "g++", "1.3x")
    assert measured["perfcc"].ratios(measured["g++"])[1] <= 1.3


def compiler_of(source: str) -> str:
    return "gcc" if source.endswith(".c") else "g++"


def cold(place: Place, source: str, runs: int = RUNS) -> dict[str, Runs]:
    shutil.copy(UNITS / source, place.work)
    return interleaved(place.trio(compiler_of(source), ["-O2", "-c", source], {"perfcc": place.fresh, "ccache": place.fresh}), runs)


def decide(place: Place, arguments: list[str], rewritten: bool) -> None:
    """Stores a verdict on the unit, as the worker would: nothing to do, or an object to put in the place of the compiler's."""
    listed = subprocess.run(["g++", "-M", *arguments], cwd=place.work, check=True, capture_output=True).stdout
    names = [name for name in _native.parse_make_rule(listed) if name != arguments[-1]]
    files = _native.record_files(names, place.work)
    assert files is not None
    ask = "import sys; from perfcc import _native; print(_native.unit_key(sys.argv[2:], sys.argv[1], 'g++', sys.argv[-1]))"
    command = [sys.executable, "-c", ask, str(place.work), "g++", *arguments]
    key = subprocess.run(command, env=place.environment, check=True, capture_output=True, text=True).stdout.strip()
    name = original = ""
    if rewritten:
        subprocess.run(["g++", *arguments], cwd=place.work, check=True)
        original = _native.blake2b((place.work / "many.o").read_bytes())
        subprocess.run(["g++", "-O3", *arguments[1:]], cwd=place.work, check=True)
        content = (place.work / "many.o").read_bytes()
        name = _native.blake2b(content)
        path = Path(_native.object_path(place.store, name))
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    assert _native.write_manifest(place.store, key, name, original, files, names)

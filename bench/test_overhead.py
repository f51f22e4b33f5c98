"""What perfcc costs a build. Run by ``pytest bench/test_overhead.py -s``, which prints the table.

Medians of interleaved runs of the plain compiler and of perfcc on the same command; CPU is the user and system time of the process and
all it waited for.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

PERFCC = str(Path(sys.executable).parent / "perfcc")
LEGACY = Path(__file__).parent / "legacy"
RUNS = 50
BUILDS = 5
WARM_UPS = 6

HEADERS = 300
INCLUDES = "".join(f"#include <{name}>\n" for name in ("algorithm", "iostream", "map", "string", "vector"))
KERNEL = "int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }\n"


@dataclass(frozen=True)
class Cost:
    """Seconds."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Comparison:
    """Medians over interleaved runs; ``extra_cpu`` and ``extra_wall`` are medians of the differences of neighbouring runs, in ms."""

    plain: Cost
    perfcc: Cost
    extra_cpu: float
    extra_wall: float


def cost(command: list[str], folder: Path, environment: Mapping[str, str]) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return Cost(usage.ru_utime + usage.ru_stime, wall)


def compare(plain: list[str], perfcc: list[str], folder: Path, environment: Mapping[str, str], runs: int = RUNS) -> Comparison:
    return summary([(cost(plain, folder, environment), cost(perfcc, folder, environment)) for _ in range(runs)])


def compare_cold(source: str, folder: Path, environment: Mapping[str, str]) -> Comparison:
    """Each run of perfcc has an empty store."""
    arguments = ["-O2", "-c", source]
    pairs = []
    for run in range(BUILDS):
        cold = {**environment, "PERFCC_STORE": f"{environment['PERFCC_STORE']}-{source}-{run}"}
        pairs.append((cost(["g++", *arguments], folder, cold), cost([PERFCC, *arguments], folder, cold)))
    return summary(pairs)


def summary(pairs: list[tuple[Cost, Cost]]) -> Comparison:
    return Comparison(
        Cost(statistics.median(p.cpu for p, _ in pairs), statistics.median(p.wall for p, _ in pairs)),
        Cost(statistics.median(q.cpu for _, q in pairs), statistics.median(q.wall for _, q in pairs)),
        statistics.median(q.cpu - p.cpu for p, q in pairs) * 1e3,
        statistics.median(q.wall - p.wall for p, q in pairs) * 1e3,
    )


class Table:
    def __init__(self) -> None:
        self.rows: list[str] = []

    def add(self, what: str, measured: Comparison, limit: str) -> None:
        plain, perfcc = measured.plain, measured.perfcc
        self.rows.append(
            f"{what:<34}{plain.cpu * 1e3:>10.2f}{perfcc.cpu * 1e3:>10.2f}{measured.extra_cpu:>+9.2f}"
            f"{plain.wall * 1e3:>11.2f}{perfcc.wall * 1e3:>10.2f}{measured.extra_wall:>+9.2f}{perfcc.wall / plain.wall:>7.2f}x  {limit}"
        )


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    made = Table()
    yield made
    head = f"{'milliseconds':<34}{'CPU':>10}{'perfcc':>10}{'more':>9}{'wall':>11}{'perfcc':>10}{'more':>9}{'ratio':>8}  limit"
    print("\n" + "\n".join([head, *made.rows]))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PERFCC_", "MAKE"))}
    return {**inherited, "PERFCC_STORE": str(tmp_path / "store")}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "main.cpp").write_text("int main() { return 0; }\n")
    subprocess.run(["g++", "-O2", "-c", "main.cpp"], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(
    ("what", "arguments"),
    [("link", ["main.o", "-o", "app"]), ("preprocess", ["-E", "main.cpp"]), ("version", ["--version"])],
)
def test_pass_through(table: Table, work: Path, environment: dict[str, str], what: str, arguments: list[str]) -> None:
    measured = compare(["g++", *arguments], [PERFCC, *arguments], work, environment)
    table.add(f"pass-through: {what}", measured, "+1.5 CPU")
    assert measured.extra_cpu <= 1.5


def test_a_unit_decided_to_have_nothing_to_do(table: Table, work: Path, environment: dict[str, str]) -> None:
    """The headers are many but small: what the compiler itself takes would drown what perfcc adds."""
    for number in range(HEADERS):
        (work / f"part{number}.h").write_text(f"extern int value{number};\n")
    (work / "many.cpp").write_text("".join(f'#include "part{number}.h"\n' for number in range(HEADERS)) + KERNEL)
    arguments = ["-O2", "-c", "many.cpp"]
    decide_nothing(work, environment, arguments)
    measured = compare(["g++", *arguments], [PERFCC, *arguments], work, environment)
    table.add("decided unit, 300 headers", measured, "+5 wall")
    assert counters(environment)[-RUNS:] == ["compiled:nothing-to-do"] * RUNS
    assert measured.extra_wall <= 5


def test_a_cold_unit_without_kernels(table: Table, work: Path, environment: dict[str, str]) -> None:
    """No loop in the file, as in most files of a program; and, for comparison, one that the worker has to look at and leaves alone."""
    (work / "none.cpp").write_text(INCLUDES + "std::string greet(const std::string &name) { return name; }\n")
    (work / "loop.cpp").write_text(INCLUDES + "void wait(const volatile int &stop) { while (!stop) {} }\n")
    measured = compare_cold("none.cpp", work, environment)
    table.add("cold unit without kernels", measured, "1.6x")
    table.add("cold unit, one loop left alone", compare_cold("loop.cpp", work, environment), "")
    assert measured.perfcc.wall <= 1.6 * measured.plain.wall


def test_a_whole_build_from_a_warm_store(table: Table, tmp_path: Path, environment: dict[str, str]) -> None:
    """Warm is a store in which every kernel is decided: what a busy machine left undecided is searched again by the next build."""
    plain, perfcc = tmp_path / "plain", tmp_path / "perfcc"
    for folder in (plain, perfcc):
        shutil.copytree(LEGACY, folder, ignore=shutil.ignore_patterns("build*", "*.o"))
    make = ["make", "-j2", "-B"]
    for _ in range(WARM_UPS):
        before = counters(environment).count("compiled:searched") if Path(environment["PERFCC_STORE"]).exists() else -1
        cost([*make, f"CXX={PERFCC}"], perfcc, environment)
        if counters(environment).count("compiled:searched") == before:
            break
    pairs = []
    for _ in range(BUILDS):
        pairs.append((cost([*make, "CXX=g++"], plain, environment), cost([*make, f"CXX={PERFCC}"], perfcc, environment)))
    measured = summary(pairs)
    table.add("legacy program, warm store", measured, "1.3x")
    assert measured.perfcc.wall <= 1.3 * measured.plain.wall


def decide_nothing(work: Path, environment: dict[str, str], arguments: list[str]) -> None:
    """Stores the verdict that this unit holds nothing to be done, as the worker would."""
    from perfcc import _native

    listed = subprocess.run(["g++", "-M", *arguments], cwd=work, check=True, capture_output=True).stdout
    names = [name for name in _native.parse_make_rule(listed) if name != arguments[-1]]
    files = _native.record_files(names, work)
    assert files is not None
    ask = "import sys; from perfcc import _native; print(_native.unit_key(sys.argv[2:], sys.argv[1], 'g++', sys.argv[-1]))"
    command = [sys.executable, "-c", ask, str(work), "g++", *arguments]
    key = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()
    assert _native.write_manifest(environment["PERFCC_STORE"], key, "", "", files, names)


def counters(environment: dict[str, str]) -> list[str]:
    text = Path(environment["PERFCC_STORE"], "counters", "log").read_text()
    return [line.rpartition(" ")[0] for line in text.splitlines()]

"""The legacy program built with the installed perfcc: same results, one decision for every loop nest, traps refused, kernels not."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import expectations
import pytest
from jsonschema import Draft202012Validator

import perfcc.explain

pytestmark = pytest.mark.quiet

SOURCES = sorted((expectations.LEGACY / "src").glob("*.cpp"))
TRAPS = expectations.traps()
KERNELS = expectations.kernels()
# A busy machine may leave a kernel untimed, and a slow one may not gain from it: neither says anything about legality.
TIMING = {"not-faster", "machine-busy", "budget-spent"}

NOISE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')


def name(place: expectations.Trap | expectations.Kernel) -> str:
    return f"{place.function}-{place.nest}"


def loop_lines(path: Path) -> Iterator[int]:
    """Lines that hold a loop keyword, found without any parser of perfcc's."""
    text = NOISE.sub(lambda found: " " * len(found.group()), path.read_text("utf-8"))
    starts = [found.start() for found in re.finditer(r"^", text, re.MULTILINE)]
    for found in re.finditer(r"\b(?:for|while)\s*\(", text):
        yield bisect.bisect_right(starts, found.start())


def decisions(report: dict[str, Any], path: Path) -> list[expectations.Decision]:
    return [decision for unit in report["units"] if Path(unit["source"]).name == path.name for decision in unit["decisions"]]


def test_results_are_those_of_the_plain_build(built: Any, expected: str) -> None:
    assert built.program.run(built.executable) == expected


def test_results_do_not_depend_on_the_number_of_threads(built: Any, expected: str) -> None:
    for threads in ("1", "3"):
        assert built.program.run(built.executable, OMP_NUM_THREADS=threads) == expected


def test_the_report_is_valid(built: Any) -> None:
    schema = json.loads((Path(perfcc.explain.__file__).parent / "explain.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(built.report)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_every_loop_is_in_exactly_one_decision(built: Any, path: Path) -> None:
    spans = sorted((found["at"]["begin"], found["at"]["end"]) for found in decisions(built.report, path))
    lines = [(found["at"]["line"], found["at"]["end_line"]) for found in decisions(built.report, path)]
    assert all(any(first <= line <= last for first, last in lines) for line in loop_lines(path))
    assert len(spans) == len(set(spans))
    assert sum(found["loops"] for found in decisions(built.report, path)) >= len(list(loop_lines(path)))


@pytest.mark.parametrize("trap", TRAPS, ids=name)
def test_a_trap_is_refused_with_its_reason_and_line(built: Any, trap: expectations.Trap) -> None:
    assert expectations.judge_trap(trap, expectations.find(built.report, trap)) == ""


@pytest.mark.parametrize("kernel", KERNELS, ids=name)
def test_a_kernel_is_rewritten_unless_timing_forbids(built: Any, kernel: expectations.Kernel) -> None:
    decision = expectations.find(built.report, kernel)
    assert decision is not None
    if decision["status"] == "rewritten":
        assert expectations.judge_kernel(kernel, decision) == ""
    else:
        assert decision["status"] != "refused"
        assert decision["reason"]["id"] in TIMING


def test_the_same_store_gives_the_same_objects(built: Any, tmp_path: Path) -> None:
    """Undecided kernels are searched again, so the comparison is between two builds that decide nothing."""
    for directory in ("one", "two"):
        built.program.make(tmp_path / directory, built.compiler, "-O2", PERFCC_MODE="apply")
    objects = sorted(path.name for path in (tmp_path / "one").glob("*.o"))
    assert len(objects) == len(SOURCES)
    assert [item for item in objects if (tmp_path / "one" / item).read_bytes() != (tmp_path / "two" / item).read_bytes()] == []


def test_cmake_builds_with_perfcc(built: Any, expected: str, tmp_path: Path) -> None:
    executable = built.program.cmake(tmp_path / "build", built.compiler, "-O2")
    assert built.program.run(executable) == expected

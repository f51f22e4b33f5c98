"""The inputs that kernels are timed on, and the runner's timing of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from perfcc.analysis import analyse
from perfcc.cc import argv, compiler
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation
from perfcc.frontend import parse
from perfcc.verify import codelet, ladder
from perfcc.verify.inputs import maker
from perfcc.verify.job import Options
from perfcc.verify.ladder import Ladder
from perfcc.verify.runner import Runner

COPY = "void f(const double *a, double *b, int n) {\n  for (int i = 0; i < n; ++i)\n    b[i] = a[i] * 2;\n}\n"
CUBE = """
void f(int n, int *c) {
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        c[i * n + j] = c[i * n + j] / 3 + c[k * n + j];
}
"""
SQUARE = "void f(double *a, int n) {\n  for (int i = 0; i < n * n; ++i)\n    a[i] = a[i] * 2;\n}\n"
FIXED = """
double a[40][40];
void f(void) {
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 40; ++j)
      a[i][j] = a[i][j] / 3.0 + j;
}
"""
Made = Callable[[str], tuple[Ladder, Path]]


@pytest.fixture
def made(runner: Path, tmp_path: Path) -> Made:
    def make(text: str) -> tuple[Ladder, Path]:
        source = tmp_path / "unit.cpp"
        source.write_text(text, "utf-8")
        invocation = argv.read(["g++", "-O2", "-c", str(source)], str(tmp_path), "g++")
        assert isinstance(invocation, Invocation)
        unit = compiler.translation_unit(invocation, compiler.probe("g++", invocation))
        (kernel,) = parse(unit).kernels
        assert kernel.nest is not None
        shared = codelet.build(kernel)
        assert not isinstance(shared, Reason)
        original = tmp_path / "original.cpp"
        original.write_text(shared.original(), "utf-8")
        library = original.with_suffix(".so")
        subprocess.run(["g++", "-O2", "-w", "-shared", "-fPIC", "-o", str(library), str(original)], check=True)
        made = maker(kernel, analyse(kernel, kernel.nest, unit.semantics), shared.variables, shared.compared)
        timer = Runner(str(runner), tmp_path, shared.variables, tmp_path / "lock")
        return Ladder(made, timer, tmp_path, library), library

    return make


@pytest.mark.parametrize("text", [COPY, CUBE, SQUARE])
def test_rungs_fall_from_a_largest_that_is_affordable(made: Made, text: str) -> None:
    rungs = list(made(text)[0].rungs())
    assert len(rungs) >= 4
    assert [rung.size for rung in rungs] == sorted({rung.size for rung in rungs}, reverse=True)
    assert rungs[0].stored.data.stat().st_size <= ladder.MOST_BYTES + 4096
    assert rungs[0].call <= 1.1 * ladder.LONGEST_CALL
    assert rungs[-1].call >= ladder.SHORTEST_CALL


def test_inputs_are_made_once(made: Made) -> None:
    steps, _ = made(CUBE)
    assert [id(rung) for rung in steps.rungs()] == [id(rung) for rung in steps.rungs()]


def test_a_kernel_of_fixed_size_has_one_input(made: Made) -> None:
    assert len(list(made(FIXED)[0].rungs())) == 1


def test_the_sign_test_ends_the_pairs_and_the_report_tells_who_waited(made: Made) -> None:
    steps, library = made(CUBE)
    rung = list(steps.rungs())[-1]
    report = steps.runner.run(rung.stored, Options("time", sign_test=True), library, library)
    assert report.complete
    assert [line["equal"] for line in report.results] == [True]
    pairs = [line for line in report.lines if "old" in line]
    assert 2 <= len(pairs) < 60
    assert all(line["old"] > 0 and line["new"] > 0 for line in pairs)
    (whole,) = [line for line in report.lines if "waited" in line]
    assert whole["wall"] > 0


def test_without_it_there_are_as_many_pairs_as_asked_for(made: Made) -> None:
    steps, library = made(CUBE)
    rung = list(steps.rungs())[-1]
    report = steps.runner.run(rung.stored, Options("time", pairs=5, samples=1), library, library)
    assert sum(1 for line in report.lines if "old" in line) == 5

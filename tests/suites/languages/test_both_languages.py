"""What is valid in both languages is found, proved, refused and written in C just as in C++."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from perfcc.cc.emit import Emitted
from perfcc.core.reason import Reason
from tests.suites.languages.rewriting import Source

ROOMS = Path(__file__).parents[3] / "rules"
HEADERS = {"cstdio": "stdio.h", "cmath": "math.h", "cstddef": "stddef.h", "cstdint": "stdint.h", "cerrno": "errno.h"}


def as_c(text: str) -> str:
    """The text with C's headers in place of C++'s."""
    text = re.sub(r"#include <(\w+)>", lambda m: f"#include <{HEADERS.get(m[1], m[1])}>", text)
    return text.replace("std::", "").replace("nullptr", "0")


def cases() -> list[Path]:
    """The C++ cases whose text, so changed, is C."""
    found = shutil.which("gcc")
    assert found is not None
    good = []
    for path in sorted(ROOMS.glob("*/cases/*.cpp")):
        done = subprocess.run(
            [found, "-x", "c", "-std=gnu11", "-fsyntax-only", "-w", "-"], input=as_c(path.read_text()), capture_output=True, text=True
        )
        if done.returncode == 0:
            good.append(path)
    return good


CASES = cases()


def test_most_cases_are_valid_in_both() -> None:
    assert len(CASES) >= 20


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_rule_cases(path: Path, tmp_path: Path) -> None:
    texts = {}
    for suffix, real in ((".cpp", "g++"), (".c", "gcc")):
        folder = tmp_path / suffix[1:]
        folder.mkdir()
        text = folder / f"case{suffix}"
        text.write_text(as_c(path.read_text()))
        work = folder / "work"
        work.mkdir()
        source = Source(text, ("-O2", "-w"), real, work)
        texts[suffix] = [
            (kernel.text, kernel.refusal.id if kernel.refusal else [(c.name, c.guard, c.fast) for c in source.candidates(kernel)])
            for kernel in source.parsed.kernels
        ]
    assert texts[".c"] == texts[".cpp"]


SERIAL = """#include <stdio.h>
static double a[90 * 90], b[80 * 80];
static void fill(double *x, int n) { int i, j; for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[j * n + i] = i * 3 + j; }
int main(void) { fill(a, 90); fill(b, 80); printf("%g %g\\n", a[7], b[799]); return 0; }
"""


@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-std=c89", "-pedantic-errors", "-Werror"), ("-O3", "-std=c11", "-g")])
def test_serial_rewrites_with_clang(flags: tuple[str, ...], tmp_path: Path) -> None:
    real = next(name for name in ("clang", *(f"clang-{n}" for n in range(25, 13, -1))) if shutil.which(name))
    path, work = tmp_path / "fill.c", tmp_path / "work"
    work.mkdir()
    path.write_text(SERIAL)
    source = Source(path, flags, real, work)
    before, _ = source.output("unit.o")
    emitted = source.emit(list(source.chosen(threads=False)))
    assert isinstance(emitted, Emitted), emitted
    assert source.output(emitted.object_path) == (before, 2)


@pytest.mark.parametrize(
    "text",
    [
        "int f(int n) { int inner(int x) { return x * n; } int i, s = 0; for (i = 0; i < n; i++) s += inner(i); return s; }",
        "int f(int n) { struct { int a[n]; } s; int i; for (i = 0; i < n; i++) s.a[i] = i; return s.a[n - 1]; }",
    ],
    ids=["nested function", "array of variable length in a structure"],
)
def test_what_only_gcc_can_parse_is_left_alone(text: str, tmp_path: Path) -> None:
    path, work = tmp_path / "gnu.c", tmp_path / "work"
    work.mkdir()
    path.write_text(text)
    source = Source(path, ("-O2",), "gcc", work)
    assert isinstance(source.parsed.refusal, Reason)
    assert source.parsed.refusal.id == "parse-error"

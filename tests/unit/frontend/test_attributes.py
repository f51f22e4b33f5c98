"""Attributes, pragmas and look-alikes that change what the same loop means."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfcc.frontend import parse
from tests.unit.frontend.snippets import kernel, kernels, unit_of

LOOP = "void f(int *a, const int *b, int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }"

STRICTER = [
    '#pragma GCC optimize("wrapv")\n',
    '#pragma GCC optimize "no-strict-aliasing"\n',
    '#pragma GCC optimize ("O1")\n',
    "#pragma GCC optimize (0)\n",
    '__attribute__((optimize("O3", "no-strict-aliasing")))\n',
    '[[gnu::optimize("trapv")]]\n',
    '#pragma GCC target("fma")\n',
    '__attribute__((target("avx2,fma")))\n',
    '[[gnu::target_clones("default", "arch=haswell")]]\n',
    "#pragma STDC FP_CONTRACT ON\n",
    "#define LEVEL wrapv\n#pragma GCC optimize (LEVEL)\n",
]


@pytest.mark.parametrize("before", STRICTER)
def test_options_set_in_the_source_stop_every_loop(before: str) -> None:
    (only,) = kernels(before + LOOP)
    assert only.refusal is not None
    assert only.refusal.id == "unmodelled-statement"


HARMLESS = [
    '#pragma GCC optimize("O3,unroll-loops")\n',
    '__attribute__((optimize("O3")))\n',
    "void optimize(int);\nint target(const char *);\n",
]


@pytest.mark.parametrize("before", HARMLESS)
def test_options_that_leave_the_meaning_alone(before: str) -> None:
    assert kernel(before + LOOP).nest is not None


def test_options_set_in_a_header(tmp_path: Path) -> None:
    (tmp_path / "fast.h").write_text('#pragma GCC optimize("wrapv")\n')
    (only,) = kernels('#include "fast.h"\n' + LOOP, extra=(f"-I{tmp_path}",))
    assert only.refusal is not None
    assert only.refusal.id == "unmodelled-statement"


def test_a_header_gives_a_variable_to_each_thread(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("extern int own;\n#pragma omp threadprivate(own)\n")
    (only,) = kernels('#include "own.h"\n' + LOOP.replace("b[i]", "b[i] + own"), extra=(f"-I{tmp_path}",))
    assert only.refusal is not None
    assert only.refusal.id == "thread-local-access"


def test_a_libraries_log_is_not_the_logarithm(tmp_path: Path) -> None:
    (tmp_path / "lib.h").write_text("int log(int level);\nint min(int a, int b);\n")
    text = '#include "lib.h"\n' + LOOP.replace("b[i]", "CALL")
    for call in ("log(b[i])", "min(b[i], 1)"):
        (only,) = kernels(text.replace("CALL", call), extra=("-isystem", str(tmp_path)))
        assert only.refusal is not None
        assert only.refusal.id == "unknown-call"


def test_without_built_in_functions_names_mean_nothing() -> None:
    text = "#include <math.h>\nvoid f(double *a, int n) { for (int i = 0; i < n; i++) a[i] = sqrt(a[i]); }"
    assert kernel(text, "c").nest is not None
    (only,) = kernels(text, "c", extra=("-fno-builtin",))
    assert only.refusal is not None
    assert only.refusal.id == "unknown-call"


def test_pragma_weak() -> None:
    text = "int g(int x) { return x; }\n#pragma weak g\n" + LOOP.replace("b[i]", "g(b[i])")
    (only,) = kernels(text)
    assert only.refusal is not None
    assert only.refusal.id == "unknown-effects"


def test_attributes_behind_macros() -> None:
    text = "#define PUN __attribute__((__may_alias__))\ntypedef int PUN pun;\ntypedef pun *where;\n" + LOOP.replace("int *a", "where a")
    (only,) = kernels(text)
    assert only.refusal is not None
    assert only.refusal.id == "unmodelled-type"


def test_harmless_attributes() -> None:
    text = "static inline __attribute__((always_inline, unused)) int g(int x) { return x; }\n" + LOOP.replace("b[i]", "g(b[i])")
    assert kernel(text).nest is not None


@pytest.mark.parametrize("target", ["i686-linux-gnu", "x86_64-linux-gnux32", "x86_64-w64-windows-gnu", "armv7-linux-gnueabihf"])
def test_only_targets_with_a_64_bit_long(target: str) -> None:
    unit = parse(unit_of(LOOP, extra=(f"--target={target}",)))
    assert unit.refusal is not None
    assert unit.kernels == ()

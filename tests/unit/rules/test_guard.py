"""Guards: what they decide, checked by running the C they are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from nests import INT, SIZE, UINT, pointer, scalar, size_of, vector

from perfcc.cc import compiler
from perfcc.core.facts import Holds, NoOverlap, NoWrap, Obligation, Untouched
from perfcc.core.ir import Access, Binary, Call, Cast, IntConst, VarRef
from perfcc.core.types import ScalarType, Storage, TypeKind, Variable
from perfcc.rules.guard import at_least, guard, wide

HEADER = Path(compiler.__file__).parent / "runtime" / "perfcc_guard.h"
N, M, U, S = scalar("n"), scalar("m"), scalar("u", UINT), scalar("s", SIZE)
X, Y, V = pointer("x"), pointer("y"), vector("v")
n, m, u, s = VarRef(N, INT), VarRef(M, INT), VarRef(U, UINT), VarRef(S, SIZE)


def decide(obligations: list[Obligation], tmp_path: Path, declarations: str, *, language: str = "c++") -> int:
    """What the guard says with these variables, under UndefinedBehaviorSanitizer."""
    condition = guard(obligations)
    assert condition is not None
    return execute(condition, tmp_path, declarations, language)


def execute(condition: str, tmp_path: Path, declarations: str, language: str = "c++") -> int:
    source, program = tmp_path / "guard.cpp", tmp_path / "guard"
    vectors = "#include <vector>\n" if language == "c++" else ""
    source.write_text(f"{HEADER.read_text()}\n{vectors}int main(void) {{ {declarations}\nreturn ({condition}) ? 1 : 0; }}\n", "utf-8")
    standard = ["-xc++", "-std=c++98"] if language == "c++" else ["-xc", "-std=c89"]
    real = "g++" if language == "c++" else "gcc"
    flags = ["-fopenmp", "-Wall", "-Werror", "-Wno-long-long", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run([real, *standard, *flags, str(source), "-o", str(program)], check=True)
    return subprocess.run([str(program)], check=False).returncode


def test_nothing_to_test_is_1_and_equal_obligations_are_tested_once() -> None:
    assert guard([]) == "1"
    assert guard([Holds(IntConst(1), "<", IntConst(2)), NoWrap(IntConst(5), 32, True)]) == "1"
    once = guard([Holds(n, "<", m)])
    assert guard([Holds(n, "<", m), Holds(m, ">", n)]) == once
    assert guard([NoOverlap(X, Y, n, n), NoOverlap(Y, X, n, n)]) == guard([NoOverlap(X, Y, n, n)])


def test_what_can_never_hold_or_cant_be_computed_gives_no_guard() -> None:
    assert guard([Holds(IntConst(2), "<", IntConst(1))]) is None
    assert guard([NoWrap(IntConst(2**31), 32, True)]) is None
    assert guard([Holds(Access(X, (IntConst(0),)), "<", n)]) is None
    assert guard([Holds(Call("f", ()), "<", n)]) is None
    assert guard([NoOverlap(X, Y, None, n)]) is None
    assert wide(VarRef(scalar("d", ScalarType("double", TypeKind.FLOAT, 64)))) is None


@pytest.mark.parametrize(
    ("obligation", "declarations", "holds"),
    [
        (Holds(Binary("*", n, m), "<=", s), "int n = 65536, m = 65536; unsigned long s = 4294967296ul;", True),
        (Holds(Binary("*", n, m), "<", s), "int n = 65536, m = 65536; unsigned long s = 4294967296ul;", False),
        (NoWrap(Binary("*", n, m), 32, True), "int n = 65536, m = 65536;", False),
        (NoWrap(Binary("*", n, m), 32, True), "int n = 46340, m = 46340;", True),
        (NoWrap(Binary("*", Binary("*", s, s), s), 64, True), "unsigned long s = 4000000000ul;", False),
        (NoWrap(s, 64, False), "unsigned long s = ~0ul;", False),
        (Holds(n, "<", IntConst(2**40)), "int n = 2147483647;", True),
        (Holds(Binary("-", u, IntConst(1), UINT), ">", IntConst(5)), "unsigned u = 0;", False),
        (Holds(Cast(n, SIZE), ">=", IntConst(0)), "int n = -1;", False),
        (Holds(Cast(n, SIZE), ">=", IntConst(0)), "int n = 7;", True),
        (Holds(Binary("max", IntConst(0), n), "==", IntConst(0)), "int n = -2147483647 - 1;", True),
        (Holds(Binary("min", n, m), "!=", IntConst(3)), "int n = 4, m = 3;", False),
        (Holds(Binary("/", n, IntConst(2)), "==", IntConst(-3)), "int n = -7;", True),
        (Holds(size_of(V), "==", IntConst(3)), "std::vector<double> v(3);", True),
        (NoWrap(size_of(V), 32, True), "std::vector<double> v(3);", True),
    ],
)
def test_arithmetic_is_that_of_unbounded_integers(obligation: Obligation, declarations: str, holds: bool, tmp_path: Path) -> None:
    assert decide([obligation], tmp_path, declarations) == int(holds)


@pytest.mark.parametrize(
    ("obligation", "declarations", "holds"),
    [
        (NoOverlap(X, Y, n, n), "double a[8]; double *x = a, *y = a + 4; int n = 4;", True),
        (NoOverlap(X, Y, n, n), "double a[8]; double *x = a, *y = a + 3; int n = 4;", False),
        (NoOverlap(X, Y, n, n), "double a[8]; double *x = a + 3, *y = a; int n = 4;", False),
        (NoOverlap(X, Y, n, n), "double *x = 0, *y = 0; int n = 0;", True),
        (NoOverlap(X, Y, n, n), "double a[8]; double *x = a, *y = a; int n = -3;", True),
        (NoOverlap(X, Y, n, m), "double a[8]; double *x = a, *y = a + 4; int n = 5, m = 0;", True),
        (NoOverlap(X, Y, n, n, IntConst(-1), IntConst(-1)), "double a[9]; double *x = a + 1, *y = a + 5; int n = 4;", False),
        (NoOverlap(X, V, n), "std::vector<double> v(4); double a[4]; double *x = a; int n = 4;", True),
        (NoOverlap(X, V, n), "std::vector<double> v(4); double *x = &v[2]; int n = 1;", False),
        (NoOverlap(X, V, n), "std::vector<double> v; double a[4]; double *x = a; int n = 4;", True),
        (NoOverlap(X, Y, Binary("*", s, s), n), "double a[8]; double *x = a, *y = a + 4; int n = 4; unsigned long s = 1ul << 62;", False),
        (Untouched(X, V, n), "std::vector<double> v(4); double *x = &v[0]; int n = 4;", True),
        (Untouched(X, V, n), "std::vector<double> v(4); double *x = (double *)&v; int n = 1;", False),
    ],
)
def test_overlap(obligation: Obligation, declarations: str, holds: bool, tmp_path: Path) -> None:
    assert decide([obligation], tmp_path, declarations) == int(holds)


def test_arrays_are_tested_whole_or_by_extent(tmp_path: Path) -> None:
    table = Variable("t", "t", "double[4]", Storage.ARRAY, X.element, N.scope, dims=(4,))
    inside = "double t[4]; double *x = t + 3; int n = 1;"
    assert decide([NoOverlap(table, X, None, n)], tmp_path, inside) == 0
    assert decide([NoOverlap(table, X, IntConst(3), n)], tmp_path, inside) == 1


def test_guards_are_c_as_well(tmp_path: Path) -> None:
    obligations = [NoOverlap(X, Y, n, n), NoWrap(Binary("*", n, n), 32, True)]
    assert decide(obligations, tmp_path, "double a[8], *x = a, *y = a + 4; int n = 4;", language="c") == 1


@pytest.mark.parametrize(("value", "enough"), [(999, 0), (1000, 1), (-(2**31) + 1, 0)])
def test_work_is_compared_with_the_threshold(value: int, enough: int, tmp_path: Path) -> None:
    condition = at_least(Binary("max", IntConst(0), n), 1000)
    assert condition is not None
    assert execute(condition, tmp_path, f"int n = {value};") == enough


def test_threads_are_refused_inside_a_region_in_a_child_and_under_traps(tmp_path: Path) -> None:
    source, program = tmp_path / "ok.c", tmp_path / "ok"
    source.write_text(
        HEADER.read_text()
        + """
#define _GNU_SOURCE
#include <fenv.h>
#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int nested = 1, status = 0, plain, trapped, alone;
  omp_set_num_threads(2);
  plain = perfcc_rt_parallel_ok();
#pragma omp parallel reduction(& : nested)
  nested = perfcc_rt_parallel_ok();
  pid_t child = fork();
  if (child == 0)
    _exit(perfcc_rt_parallel_ok());
  waitpid(child, &status, 0);
  feenableexcept(FE_DIVBYZERO);
  trapped = perfcc_rt_parallel_ok();
  fedisableexcept(FE_DIVBYZERO);
  omp_set_num_threads(1);
  alone = perfcc_rt_parallel_ok();
  printf("%d %d %d %d %d\\n", plain, nested, WEXITSTATUS(status), trapped, alone);
  return 0;
}
""",
        "utf-8",
    )
    subprocess.run(["gcc", "-std=gnu99", "-O1", "-fopenmp", "-D_GNU_SOURCE", str(source), "-o", str(program), "-lm"], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    assert done.stdout == "1 0 0 0 0\n"

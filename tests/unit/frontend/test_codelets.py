"""Prelude, headers, live-ins and the kernel's own text make a function that compiles on its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from perfcc.core.kernel import Kernel
from perfcc.core.types import Storage, Variable
from tests.unit.frontend.snippets import kernel, kernels


def codelet(kernel: Kernel) -> str:
    """A function of the values that enter or leave the kernel, with its text as body."""
    wanted = dict.fromkeys((*kernel.live_in, *kernel.live_out))
    parameters = ", ".join(parameter(kernel.variable(id), kernel.language) for id in wanted)
    lines = [*(f"#include {header}" for header in kernel.headers), *kernel.prelude, *(call.definition for call in kernel.calls)]
    return "\n".join([*lines, f"void codelet({parameters})", "{", kernel.text, "}", ""])


def parameter(variable: Variable, language: str) -> str:
    assert variable.element is not None
    element = ("const " if variable.is_const else "") + variable.element.spelling
    match variable.storage:
        case Storage.SCALAR:
            return f"{element} {variable.name}"
        case Storage.VECTOR:
            const = "const " if variable.is_const else ""
            return f"{const}std::vector<{variable.element.spelling}>& {variable.name}"
        case Storage.POINTER if not variable.dims:
            return f"{element} *{variable.name}"
        case _:
            return f"{element} {variable.name}" + "".join(f"[{'' if n is None else n}]" for n in variable.dims)


def compiles(kernel: Kernel, tmp_path: Path) -> None:
    source = tmp_path / ("codelet.c" if kernel.language == "c" else "codelet.cpp")
    source.write_text(codelet(kernel))
    command = ["g++" if kernel.language != "c" else "gcc", "-Wall", "-Werror", "-Wno-unused", "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{source.read_text()}\n{done.stderr}"


TOPS = """
#include <cmath>
#include <vector>
#include <algorithm>
#include <cstdint>
#include <climits>
#define N (1 << LOG)
#define LOG 5
#define REAL double
#define CLAMP(x) ((x) < LO ? LO : (x))
#define LO 0.25
#define IDX(i, \\
            j) ((i) * N + (j)) /* row, column */
typedef float real_t;
typedef real_t weight_t;
typedef double row_t[N];
using index_t = long;
enum Colour { RED, GREEN = 5 };
enum class Mode : unsigned char { off, on };
typedef enum { LEFT = -1, RIGHT = 1 } side_t;
static const int W = 7, H = W * 2;
constexpr double G = 1.0 / 3;
namespace deep {
  static const unsigned MASK = 0x80000000u; static const long BIG = -9223372036854775807L - 1; typedef short small;
  static inline small half(small x) { return x / 2; }
  void f(int* a, int n) { for (small i = 0; i < 3; i++) {}
    for (int i = 0; i < n; i++) { small t = half((small)a[i]); a[i] = (t & MASK) + (BIG != 0); } }
}
static double sq(double x) { return x * x; }
static double norm(double x, double y) { const double k = G; return std::sqrt(sq(x) + sq(y)) * k + W; }
static real_t scaled(weight_t x) { real_t t[2] = {1, 2}; for (int i = 0; i < 2; i++) t[0] += t[i] * x; return t[0]; }
extern double A[N][N];
void g(double *a, int n, std::vector<weight_t>& v, const std::vector<index_t>& ix, row_t* rows, const double (*m)[N]) {
"""
BODIES = [
    "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = a[IDX(i, j)];",
    "for (int i = 0; i < n; i++) { REAL t = CLAMP(a[i]); a[i] = t; }",
    "for (int i = 0; i < n; i++) { weight_t t = (weight_t)a[i]; v[i] = t; }",
    "for (std::size_t i = 0; i < v.size(); i++) v[i] = v[ix[i]];",
    "for (std::vector<weight_t>::size_type i = 0; i < v.size(); i++) v[i] = 1;",
    "for (index_t i = 0; i < n; i++) a[i] = W * H + GREEN;",
    "for (int i = 0; i < n; i++) { Colour c = RED; side_t s = a[i] > 0 ? RIGHT : LEFT; a[i] = c + s; }",
    "for (int i = 0; i < n; i++) { Mode m = Mode::on; a[i] = (int)m; }",
    "for (int i = 0; i < n; i++) a[i] = norm(a[i], G);",
    "for (int i = 0; i < n; i++) a[i] = scaled(a[i]) + std::max(a[i], 1.0);",
    "for (uint32_t i = 0; i < UINT_MAX / 2; i++) a[i] = std::fabs(a[i]) * M_PI;",
    "for (int i = 0; i < n; i++) rows[i][0] = m[i][1];",
    "int i, s; for (i = 0; i < n; i++) { double *p = a + i; p[0] = i; s = i; } n = i + s;",
    "for (int i = 0; i < n; i++) { std::int64_t k = i; a[i] = k * sizeof(real_t); }",
]


@pytest.fixture(scope="module")
def found() -> tuple[Kernel, ...]:
    return kernels(TOPS + "\n".join(f"{{ {body} }}" for body in BODIES) + "\n}\n")[3:]


@pytest.mark.parametrize("row", range(len(BODIES)), ids=[body[:50] for body in BODIES])
def test_codelet_compiles(found: tuple[Kernel, ...], row: int, tmp_path: Path) -> None:
    assert len(found) == len(BODIES)
    assert found[row].refusal is None, found[row].refusal
    compiles(found[row], tmp_path)


def test_names_of_a_namespace_used_from_inside_it(tmp_path: Path) -> None:
    narrow, inside, _ = kernels(TOPS + "}\n")
    assert narrow.refusal is not None
    assert inside.refusal is None, inside.refusal
    compiles(inside, tmp_path)
    assert "static const unsigned int MASK = 2147483648u;" in inside.prelude


def test_c_codelet(tmp_path: Path) -> None:
    text = """
    #include <math.h>
    #include <stdint.h>
    #include <stddef.h>
    #include <stdbool.h>
    typedef enum { UP, DOWN } way; static const int K = 3;
    static int twice(int x) { return 2 * x; }
    void f(double *a, uint8_t *b, int n, bool flag) {
        size_t i;
        for (i = 0; i < (size_t)n; i++) {
            way w = UP; bool c = flag;
            b[i] = (uint8_t)(w + twice(K)) + (c == true); a[i] = pow(a[i], 2.0);
        }
    }
    """
    compiles(kernel(text, language="c"), tmp_path)


def test_callees_come_before_their_callers() -> None:
    text = (
        "static int a(int x) { return x; } static int b(int x) { return a(x); } void f(int *p) { for (int i = 0; i < 3; i++) p[i] = b(i); }"
    )
    (call,) = kernel(text).calls
    assert call.pure
    assert call.definition.index("int a(") < call.definition.index("int b(")


def test_errno_comes_through_callees() -> None:
    text = "#include <cmath>\nstatic double r(double x) { return std::pow(x, 0.5); }\n"
    text += "void f(double *p) { for (int i = 0; i < 3; i++) p[i] = r(p[i]); }"
    (call,) = kernel(text).calls
    assert set(call.errno_values) == {"EDOM", "ERANGE"}

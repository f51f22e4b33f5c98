"""Source text to nests, as text."""

from __future__ import annotations

import pytest

from tests.unit.frontend.snippets import kernel, kernels, nest_text

PLAIN = [
    ("double *a, int n", "for (int i = 0; i < n; i++) a[i] = 0;", "for i=0 < n +1 {a[i] = <double>0;}"),
    ("double *a, int n", "for (int i = 0; i < n; ++i) { a[i] += 1.5; }", "for i=0 < n +1 {a[i] += 1.5;}"),
    ("int *a, int n", "for (int i = n - 1; i >= 0; i--) a[i] = i;", "for i=(n - 1) >= 0 -1 {a[i] = i;}"),
    ("int *a, int n", "for (int i = 0; n > i; i += 2) a[i] = i;", "for i=0 < n +2 {a[i] = i;}"),
    ("int *a, int n", "for (int i = 0; i <= n; i = i + 3) a[i]++;", "for i=0 <= n +3 {a[i] += 1;}"),
    ("int *a, int n", "for (int i = n; i > 0; i -= 2) --a[i];", "for i=n > 0 -2 {a[i] -= 1;}"),
    ("int *a, int n", "for (int i = 0; i != n; i = 1 + i) a[i] = 1;", "for i=0 != n +1 {a[i] = 1;}"),
    ("int *a, int n", "int i; for (i = 0; i < n; i++) a[i] = 1;", "for outer i=0 < n +1 {a[i] = 1;}"),
    ("int *a, long n", "for (int i = 0; i < n; i++) a[i] = 1;", "for i=0 < n +1 {a[i] = 1;}"),
    ("int *a, int n", "for (long i = 0; i < n; i++) a[i] = 1;", "for i=0 < <long>n +1 {a[i] = 1;}"),
    ("int *a, unsigned n", "for (unsigned i = 0; i < n; i++) a[i] = i;", "for i=0 < n +1 {a[i] = <int>i;}"),
    ("int *a, unsigned n", "for (int i = 0; i < n; i++) a[i] = i;", "for i=0 < n +1 {a[i] = i;}"),
    ("float *a, double x, int n", "for (int i = 0; i < n; i++) a[i] = a[i] * x;", "for i=0 < n +1 {a[i] = <float>(<double>a[i] * x);}"),
    ("char *a, int n", "for (int i = 0; i < n; i++) a[i] = (char)(a[i] ^ 'x');", "for i=0 < n +1 {a[i] = <char>(<int>a[i] ^ 120);}"),
    ("int *a, int n", "for (int i = 0; i < n; i++) *(a + i) = *a;", "for i=0 < n +1 {a[i] = a[0];}"),
    ("int *a, int n", "for (int i = 0; i < n; i++) (a + n)[i] = i[a];", "for i=0 < n +1 {a[(<long>n + <long>i)] = a[i];}"),
    ("int *a, int n", "for (int i = 0; i < n; i++) *(a - i) = 0;", "for i=0 < n +1 {a[-<long>i] = 0;}"),
    (
        "double (*a)[100], int n",
        "for (int i = 0; i < n; i++) for (int j = 0; j < 100; j++) a[i][j] = 1;",
        "for i=0 < n +1 {for j=0 < 100 +1 {a[i][j] = <double>1;}}",
    ),
    (
        "double *a, int n",
        "for (int i = 0; i < n; i++) { double *row = a + i * n; for (int j = 0; j < n; j++) row[j] = row[0]; }",
        "for i=0 < n +1 {row; for j=0 < n +1 {a[(<long>(i * n) + <long>j)] = a[(<long>(i * n) + 0)];}}",
    ),
    (
        "double *a, int n",
        "for (int i = 0; i < n; i++) { double &x = a[i]; x += 1.0; if (x > 2.0) x = a[0]; }",
        "for i=0 < n +1 {x; a[i] += 1.0; if (a[i] > 2.0) {a[i] = a[0];}}",
    ),
    (
        "double *a, int n",
        "for (int i = 0; i < n; i++) { double x, y; float z; x = y = z = 0; a[i] = x; }",
        "for i=0 < n +1 {x; y; z; z = <float>0; y = <double><float>0; x = <double><float>0; a[i] = x;}",
    ),
    ("int *a, int n", "for (int i{0}; i < n; i++) { int k(i); a[i] = k; }", "for i=0 < n +1 {k := i; a[i] = k;}"),
    (
        "const double *a, double *b, int n",
        "for (int i = 0; i < n; i++) { const double *p = &a[i * n]; b[i] = p[1]; }",
        "for i=0 < n +1 {p; b[i] = a[(<long>(i * n) + 1)];}",
    ),
    (
        "double *a, int n",
        "for (int i = 0; i < n; i++) { if (a[i] < 0) { a[i] = 0; continue; } else a[i] = -a[i]; }",
        "for i=0 < n +1 {if (a[i] < <double>0) {a[i] = <double>0; continue/0;} else {a[i] = -a[i];}}",
    ),
    (
        "double *a, int n",
        "for (int i = 0; i < n; i++) { double t[3] = {0}; int k; t[0] = a[i]; k = n > 2 ? 1 : 2; a[i] = t[k]; ; }",
        "for i=0 < n +1 {t; k; t[0] = a[i]; k = ((n > 2) ? 1 : 2); a[i] = t[k];}",
    ),
    ("int *a, bool b, int n", "for (int i = 0; i < n; i++) if (!b && a[i]) a[i] = ~a[i];",
     "for i=0 < n +1 {if (!b && <bool>a[i]) {a[i] = ~a[i];}}"),
    ("int *a, int n", "for (int i = 0; i < (int)(sizeof(int) * 4); i++) a[i] = +n;", "for i=0 < <int>(4 * 4) +1 {a[i] = +n;}"),
    ("int *a, const int *p, int n", "for (int i = 0; i < n; i++) for (int k = p[i]; k < p[i + 1]; k++) a[i] += k;",
     "for i=0 < n +1 {for k=p[i] < p[(i + 1)] +1 {a[i] += k;}}"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "body", "expected"), PLAIN, ids=[body[:40] for _, body, _ in PLAIN])
def test_nest(parameters: str, body: str, expected: str) -> None:
    assert nest_text(kernel(f"void f({parameters}) {{ {body} }}")) == expected


WITH_HEADERS = [
    ("vector", "std::vector<float>& v", "for (std::size_t i = 0; i < v.size(); ++i) v[i] *= 2;",
     "for i=0 < v.size() +1 {v[i] *= <float>2;}"),
    ("vector", "const std::vector<int>& v, int* a", "for (int i = 0; i < (int)v.size(); ++i) a[i] = v[i];",
     "for i=0 < <int>v.size() +1 {a[i] = v[<unsigned long>i];}"),
    ("cmath", "double* a, int n", "for (int i = 0; i < n; ++i) a[i] = std::sqrt(a[i]) + fabs(a[i]);",
     "for i=0 < n +1 {a[i] = (sqrt(a[i]) + fabs(a[i]));}"),
    ("cmath", "double* a, int n", "for (int i = 0; i < n; ++i) a[i] = M_PI * a[i];", "for i=0 < n +1 {a[i] = (3.141592653589793 * a[i]);}"),
    ("cmath", "float* a, int n", "for (int i = 0; i < n; ++i) a[i] = std::exp(a[i]);", "for i=0 < n +1 {a[i] = exp(a[i]);}"),
    ("algorithm", "int* a, int n", "int m = 0; for (int i = 0; i < n; ++i) m = std::max(m, a[i]);",
     "for i=0 < n +1 {m = ((m < a[i]) ? a[i] : m);}"),
    ("algorithm", "int* a, int n", "int m = 0; for (int i = 0; i < n; ++i) m = std::min(m, a[i]);",
     "for i=0 < n +1 {m = ((a[i] < m) ? a[i] : m);}"),
    ("climits", "int* a, int n", "for (int i = 0; i < n; ++i) a[i] = INT_MAX;", "for i=0 < n +1 {a[i] = 2147483647;}"),
    ("cassert", "int* a, int n", "for (int i = 0; i < n; ++i) { (void)n; a[i] = 1; }", "for i=0 < n +1 {a[i] = 1;}"),
]  # fmt: skip


@pytest.mark.parametrize(("header", "parameters", "body", "expected"), WITH_HEADERS, ids=[row[2][:40] for row in WITH_HEADERS])
def test_nest_with_library(header: str, parameters: str, body: str, expected: str) -> None:
    assert nest_text(kernel(f"#include <{header}>\nvoid f({parameters}) {{ {body} }}")) == expected


TOPS = """
#define N 512
#define REAL double
#define SQR(x) ((x)*(x))
#define IDX(i,j) i*N+j
#define AT(i) a[(i) + 1]
#define NEG (-1)
typedef float real_t;
static const int W = 7;
static const double G = 0.5;
enum Colour { RED, GREEN = 5 };
double A[N][N];
static double twice(double x) { return x * 2; }
"""
WITH_TOPS = [
    ("for (int i = 0; i < N; i++) A[i][i] = 0;", "for i=0 < 512 +1 {A[i][i] = <double>0;}"),
    ("for (int i = 0; i < n; i++) a[IDX(i, 1)] = SQR(a[i]);", "for i=0 < n +1 {a[((i * 512) + 1)] = (a[i] * a[i]);}"),
    ("for (int i = 0; i < n; i++) AT(i) = W + GREEN;", "for i=0 < n +1 {a[(i + 1)] = <double>(7 + 5);}"),
    ("for (int i = 0; i < n; i++) { REAL t = a[i]; a[i] = (real_t)t; }", "for i=0 < n +1 {t := a[i]; a[i] = <double><float>t;}"),
    ("for (int i = 0; i < n; i++) a[i] = twice(a[i]) * G;", "for i=0 < n +1 {a[i] = (twice(a[i]) * 0.5);}"),
    ("for (int i = n; i > NEG; i--) a[i] = 1.0;", "for i=n > -1 -1 {a[i] = 1.0;}"),
    ("for (int i = SQR(2); i < SQR(n); i++) a[i] = 1.0;", "for i=4 < (n * n) +1 {a[i] = 1.0;}"),
]


@pytest.mark.parametrize(("body", "expected"), WITH_TOPS, ids=[row[0][:40] for row in WITH_TOPS])
def test_nest_with_macros_and_constants(body: str, expected: str) -> None:
    assert nest_text(kernel(f"{TOPS}void f(double *a, int n) {{ {body} }}")) == expected


def test_a_macro_is_one_node_with_the_span_of_its_use() -> None:
    text = f"{TOPS}void f(double *a, int n) {{ for (int i = 0; i < N; i++) a[i] = SQR(a[i]); }}"
    found = kernel(text)
    assert found.nest is not None
    bound = found.nest.bound
    assert bound.span is not None
    assert bound.span.text(text.encode()) == "N"
    store = found.nest.body.items[0]
    assert store.value.span.text(text.encode()) == "SQR(a[i])"
    assert store.value.left.span is None


def test_methods_and_lambdas() -> None:
    text = """
    struct M { double* d; int n; void run() { for (int i = 0; i < n; i++) d[i] += 1; } };
    void g(double* a, int n) { auto f = [&](double k) { for (int i = 0; i < n; i++) a[i] = k; }; f(1); }
    """
    method, inner = kernels(text)
    assert nest_text(method) == "for i=0 < n +1 {d[i] += <double>1;}"
    assert {v.name: v.scope.value for v in method.variables} == {"i": "local", "n": "member", "d": "member"}
    assert method.function == "M::run"
    assert nest_text(inner) == "for i=0 < n +1 {a[i] = k;}"
    assert {v.name for v in inner.variables if v.is_reference} == {"a", "n"}


def test_c_language() -> None:
    text = "#include <math.h>\nvoid f(double *restrict a, int n) { int i; for (i = 0; i < n; i++) a[i] = sqrt(a[i]); }"
    found = kernel(text, language="c")
    assert nest_text(found) == "for outer i=0 < n +1 {a[i] = sqrt(a[i]);}"
    assert found.headers == ("<math.h>",)
    assert [v.name for v in found.variables if v.is_restrict] == ["a"]


def test_a_nest_that_fails_leaves_its_inner_loops_their_chance() -> None:
    text = "void g(int); void f(int *a, int n) { for (int i = 0; i < n; i++) { g(i); for (int j = 0; j < n; j++) a[j] = j; } }"
    outer, inner = kernels(text)
    assert outer.refusal is not None
    assert outer.refusal.id == "unknown-call"
    assert nest_text(inner) == "for j=0 < n +1 {a[j] = j;}"
    assert len(outer.loop_spans) == 1
    assert inner.hotness.score > outer.hotness.score / 1e6


def test_every_loop_is_in_exactly_one_kernel() -> None:
    text = """
    void f(int *a, int n) {
        for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) a[j] = i; for (int k = 0; k < n; k++) { a[k]++; } }
        while (n > 0) { do n--; while (n > 7); for (int i = 0; i < n; i++) a[i] = 1; }
        int v[2] = {1, 2}; for (int x : v) n += x;
    }
    """
    spans = [span for found in kernels(text) for span in found.loop_spans]
    words = [text.encode()[span.begin :].split(b" ")[0].split(b"(")[0] for span in spans]
    assert len(set(spans)) == len(spans) == 7
    assert sorted(words) == [b"do", b"for", b"for", b"for", b"for", b"for", b"while"]


def test_a_parameter_written_as_an_array_is_a_pointer() -> None:
    text = """
    void f(double a[10], const double b[][20], double (&c)[5], int n) {
        double *p = a;
        for (int i = 0; i < n; i++) a[i] = b[i][1] + c[i] + *(a + i) + p[i];
    }
    """
    found = kernel(text)
    assert nest_text(found) == "for i=0 < n +1 {a[i] = (((b[i][1] + c[i]) + a[i]) + p[i]);}"
    shapes = {v.name: (v.storage.value, v.dims, v.type_spelling, v.address_taken) for v in found.variables if v.name in "abc"}
    assert shapes == {
        "a": ("pointer", (), "double *", False),
        "b": ("pointer", (None, 20), "const double (*)[20]", False),
        "c": ("array", (5,), "double (&)[5]", False),
    }

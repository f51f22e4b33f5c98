"""Loops that must be left alone, each with its reason and the line that causes it."""

from __future__ import annotations

import pytest

from perfcc.core.reason import REASONS
from tests.unit.frontend.snippets import kernels

TOPS = """
typedef double (*Function)(double);
struct Point { double x, y; virtual double area(int); double plain(int); };
volatile int flag; thread_local int mine; int counter; double ext(double); extern double table[];
static int bump(int x) { counter++; return x; }
static int through(int* p) { return *p; }
static int forever(int x) { while (x != 1) x = x % 2 ? 3 * x + 1 : x / 2; return x; }
static int thrower(int x) { if (x) throw 1; return x; }
static int recursive(int x) { return x ? recursive(x - 1) : 0; }
static int once(int x) { static int k = 0; return k += x; }
template <class T> T both(T x) { return x; }
#define HALF 1 +
#define SET(i) a[i] = 0
#define STATEMENT do { a[0] = 1; } while (0)
#define WHOLE 1 + 2
#define FOR(n) for (int i = 0; i < n; i++)
"""
ARGUMENTS = "int n, double *a, int *b, int& r, Point* p, Function fn, double** rows, Point obj, bool* done"

ROWS = [
    # the header
    ("while (n > 0) n--;", "not-counted"),
    ("do n--; while (n > 0);", "not-counted"),
    ("for (;;) n++;", "not-counted"),
    ("int i = 0; for (; i < n; i++) a[i] = 0;", "not-counted"),
    ("for (int i = 0; ; i++) a[i] = 0;", "not-counted"),
    ("for (int i = 0; i < n; ) a[i++] = 0;", "not-counted"),
    ("for (int i = 0, j = 0; i < n; i++) a[i] = j;", "not-counted"),
    ("for (int i = 0; i < n; i++, n--) a[i] = 0;", "not-counted"),
    ("for (int i = 0; i < n && a[i] > 0; i++) a[i] = 0;", "not-counted"),
    ("for (int i = 1; i < n; i *= 2) a[i] = 0;", "not-counted"),
    ("for (int i = 0; i < n; i += r) a[i] = 0;", "not-counted"),
    ("for (int i = 0; i < n; i--) a[i] = 0;", "not-counted"),
    ("for (int i = 0; i != n; i += 2) a[i] = 0;", "not-counted"),
    ("for (int i = 0; n > 1; i++) a[i] = 0;", "not-counted"),
    ("for (double* q = a; q != a + n; ++q) *q = 0;", "not-counted"),
    ("for (float x = 0; x < n; x++) a[0] += x;", "not-counted"),
    ("for (short i = 0; i < n; i++) a[i] = 0;", "not-counted"),
    ("for (int i = 0; i < a[0]; i++) b[i] = 0;", "not-counted"),
    ("int v[4]; for (int x : v) n += x;", "not-counted"),
    ("for (int i = 0; i < n; i++) { n--; a[i] = 0; }", "bound-written"),
    ("for (int i = 0; i < b[0]; i++) b[i] = 0;", "bound-written"),
    ("for (int i = 0; i < i + n; i++) a[i] = 0;", "bound-written"),
    ("for (int i = 0; i < n; i++) { i++; a[i] = 0; }", "loop-variable-written"),
    ("int i; for (i = 0; i < n; i++) for (i = 0; i < 3; i++) a[i] = 0;", "loop-variable-written"),
    ("int i; int* q = &i; for (i = 0; i < n; i++) a[i] = *q;", "address-escapes"),
    ("for (counter = 0; counter < n; counter++) a[counter] = 0;", "address-escapes"),
    ("for (r = 0; r < n; r++) a[r] = 0;", "address-escapes"),
    # ways out
    ("for (int i = 0; i < n; i++) if (a[i] < 0) break;", "early-exit"),
    ("for (int i = 0; i < n; i++) if (a[i] < 0) return;", "early-exit"),
    ("for (int i = 0; i < n; i++) if (a[i] < 0) goto out; out:;", "early-exit"),
    ("for (int i = 0; i < n; i++) if (a[i] < 0) throw 1;", "may-throw"),
    ("for (int i = 0; i < n; i++) b[i] = thrower(i);", "may-throw"),
    # calls
    ("for (int i = 0; i < n; i++) a[i] = ext(a[i]);", "unknown-call"),
    ("for (int i = 0; i < n; i++) a[i] = fn(a[i]);", "callback"),
    ("for (int i = 0; i < n; i++) a[i] = (*fn)(a[i]);", "callback"),
    ("for (int i = 0; i < n; i++) a[i] = p->area(i);", "callback"),
    ("auto f = [](double x) { return x; }; for (int i = 0; i < n; i++) a[i] = f(a[i]);", "callback"),
    ("for (int i = 0; i < n; i++) a[i] = p->plain(i);", "unknown-effects"),
    ("for (int i = 0; i < n; i++) b[i] = bump(i);", "unknown-effects"),
    ("for (int i = 0; i < n; i++) b[i] = through(b);", "unknown-effects"),
    ("for (int i = 0; i < n; i++) b[i] = forever(i);", "unknown-effects"),
    ("for (int i = 0; i < n; i++) b[i] = recursive(i);", "unknown-effects"),
    ("for (int i = 0; i < n; i++) b[i] = once(i);", "unknown-effects"),
    ("for (int i = 0; i < n; i++) b[i] = both(i);", "unknown-effects"),
    ("for (int i = 0; i < n; i++) { int* q = new int(i); b[i] = *q; }", "allocation-in-loop"),
    ("for (int i = 0; i < n; i++) delete p;", "allocation-in-loop"),
    # objects
    ("for (int i = 0; i < n; i++) a[i] = flag;", "volatile-access"),
    ("for (int i = 0; i < n; i++) a[i] = *(volatile int*)b;", "volatile-access"),
    ("for (int i = 0; i < n; i++) a[i] = mine;", "thread-local-access"),
    ("for (int i = 0; i < n; i++) a[i] = p[i].x;", "unmodelled-type"),
    ("for (int i = 0; i < n; i++) obj.x += a[i];", "unmodelled-type"),
    ("for (int i = 0; i < n; i++) a[i] = rows[i][0];", "unmodelled-type"),
    ("for (int i = 0; i < n; i++) { double& x = r > 0 ? a[i] : a[0]; x = 0; }", "unmodelled-type"),
    ("for (int i = 0; i < n; i++) { double& x = a[r]; r++; x = 0; }", "unmodelled-expression"),
    ("for (int i = 0; i < n; i++) { double& x = a[b[0]]; b[0] = i; x = 0; }", "unmodelled-expression"),
    ("for (int i = 0; i < n; i++) { const double& x = b[i]; a[i] = x; }", "unmodelled-type"),
    ("for (int i = 0; i < n; i++) a[0] = a[1] = 0;", "unmodelled-expression"),
    ("int s, t; for (int i = 0; i < n; i++) s = t = b[i];", "unmodelled-expression"),
    ("union { int i; float f; } u; for (int i = 0; i < n; i++) a[i] = u.f;", "unmodelled-type"),
    # statements and expressions
    ('for (int i = 0; i < n; i++) asm volatile("nop");', "inline-assembly"),
    ("for (int i = 0; i < n; i++) switch (b[i]) { case 1: b[i] = 2; }", "unmodelled-statement"),
    ("for (int i = 0; i < n; i++) { static int k; b[i] = k; }", "unmodelled-statement"),
    ("for (int i = 0; i < n; i++) try { b[i] = 1; } catch (...) {}", "unmodelled-statement"),
    ("int j = 0; for (int i = 0; i < n; i++) a[j++] = 0;", "unmodelled-expression"),
    ("for (int i = 0; i < n; i++) { double* q = a + r; r = 3; *q = i; }", "unmodelled-expression"),
    ("double* q = a; for (int i = 0; i < n; i++) { *q = 0; q++; }", "unmodelled-expression"),
    ("for (int i = 0; i < n; i++) a[i] = *(float*)b;", "unmodelled-expression"),
    ("for (int i = 0; i < n; i++) a[i] = ({ int k = i; k; });", "unmodelled-expression"),
    ("for (int i = 0; i < n; i++) a[i] = [i] { return i; }();", "callback"),
    # macros
    ("for (int i = 0; i < n; i++) a[i] = HALF 2;", "macro-in-kernel"),
    ("for (int i = 0; i < n; i++) a[i] = WHOLE * 3;", "macro-in-kernel"),
    ("for (int i = 0; i < n; i++) SET(i);", "macro-in-kernel"),
    ("for (int i = 0; i < n; i++) STATEMENT;", "macro-in-kernel"),
    ("FOR(n) a[i] = 0;", "macro-in-kernel"),
    ("for (int i = 0; i < n; i++) a[i] = __LINE__;", "macro-in-kernel"),
    ("for (int i = 0; i < n; i++) {\n#ifdef N\na[i] = 0;\n#endif\n}", "macro-in-kernel"),
    # OpenMP
    ("\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = 0;", "user-openmp"),
    ("\n#pragma omp simd\nfor (int i = 0; i < n; i++) a[i] = 0;", "user-openmp"),
    ("\n_Pragma(\"omp parallel for\")\nfor (int i = 0; i < n; i++) a[i] = 0;", "user-openmp"),
    ("\n#pragma omp parallel\n{ for (int i = 0; i < n; i++) a[i] = 0; }", "inside-parallel-region"),
    ("\n#pragma omp parallel\nif (n) for (int i = 0; i < n; i++) a[i] = 0;", "inside-parallel-region"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), ROWS, ids=[f"{reason}: {body[:50]!r}" for body, reason in ROWS])
@pytest.mark.parametrize("flags", [(), ("-fopenmp",)], ids=["plain", "openmp"])
def test_refused(body: str, reason: str, flags: tuple[str, ...]) -> None:
    if flags and "omp" not in body:
        flags = ("-O2",)
    found = next(k for k in kernels(f"{TOPS}void f({ARGUMENTS}) {{ {body} }}", extra=flags) if k.function == "f")
    assert found.refusal is not None
    assert found.refusal.id == reason, found.refusal
    assert found.nest is None
    assert found.refusal.at is not None
    assert found.refusal.at.line >= TOPS.count("\n")


LIBRARY = [
    ("iostream", "std::cout << a[i];", "io-in-loop"),
    ("iostream", 'std::cerr << "x" << i << std::endl;', "io-in-loop"),
    ("iostream", "std::cin >> a[i];", "io-in-loop"),
    ("cstdio", 'printf("%g", a[i]);', "io-in-loop"),
    ("cstdio", 'std::fprintf(stderr, "x");', "io-in-loop"),
    ("cstdio", "putchar('x');", "io-in-loop"),
    ("cstdio", "a[i] = fgetc(stdin);", "io-in-loop"),
    ("cstdlib", "a[i] = rand();", "unknown-call"),
    ("cstdlib", "free(a);", "allocation-in-loop"),
    ("cstdlib", "double* t = (double*)malloc(8); a[i] = *t;", "allocation-in-loop"),
    ("vector", "static std::vector<int> v; v.push_back(i);", "unmodelled-statement"),
    ("vector", "std::vector<int> v(3); a[i] = v[0];", "allocation-in-loop"),
    ("string", "std::string s = \"x\"; a[i] = s[0];", "unmodelled-type"),
    ("cmath", "a[i] = std::lgamma(a[i]);", "unknown-call"),
    ("cassert", "assert(a[i] > 0);", "macro-in-kernel"),
]  # fmt: skip


@pytest.mark.parametrize(("header", "body", "reason"), LIBRARY, ids=[row[1][:40] for row in LIBRARY])
def test_refused_for_a_library_call(header: str, body: str, reason: str) -> None:
    text = f"#include <{header}>\nvoid f(double* a, int n) {{\nfor (int i = 0; i < n; i++) {{\n{body}\n}} }}"
    (found,) = kernels(text)
    assert found.refusal is not None
    assert found.refusal.id == reason, found.refusal
    assert found.refusal.at is not None
    assert found.refusal.at.line == 4


CONTAINERS = [
    ("v.push_back(i);", "container-modified"),
    ("v.resize(i);", "container-modified"),
    ("v[i] = v.at(i);", "may-throw"),
    ("v[0] = m[i];", "container-modified"),
    ("v[0] += s[i];", "unmodelled-type"),
    ("s += 'x';", "container-modified"),
    ("v[i] = vv[i][0];", "unmodelled-type"),
    ("v[i] = bits[i];", "unmodelled-type"),
    ("v[i] = fn(i);", "callback"),
    ("v[i] = at;", "atomic-access"),
    ("at += i;", "atomic-access"),
    ("v[i] = v.front();", "unmodelled-type"),
]


@pytest.fixture(scope="module")
def container_reasons() -> list[str]:
    bodies = "\n".join(f"for (int i = 0; i < n; i++) {{ {body} }}" for body, _ in CONTAINERS)
    text = (
        "#include <vector>\n#include <map>\n#include <string>\n#include <functional>\n#include <atomic>\n"
        "void f(int n, std::vector<int>& v, std::map<int, int>& m, std::string s, std::vector<std::vector<int>>& vv,"
        f" std::vector<bool>& bits, std::function<int(int)> fn, std::atomic<int>& at) {{\n{bodies}\n}}"
    )
    return [found.refusal.id if found.refusal else "modelled" for found in kernels(text)]


@pytest.mark.parametrize("row", range(len(CONTAINERS)), ids=[body for body, _ in CONTAINERS])
def test_refused_for_a_container(container_reasons: list[str], row: int) -> None:
    assert container_reasons[row] == CONTAINERS[row][1]


def test_members_that_share_memory() -> None:
    text = """
    struct S { int low : 4; union { int i; float f; }; int n; void m(int* a) {
        for (int j = 0; j < n; j++) low = a[j];
        for (int j = 0; j < n; j++) i = a[j];
        for (int j = 0; j < n; j++) n = a[j];
    } };
    """
    found = [(k.refusal.id, k.refusal.detail) for k in kernels(text) if k.refusal]
    assert found == [
        ("unmodelled-type", "bit-field low"),
        ("unmodelled-type", "member i of an object"),
        ("bound-written", "n"),
    ]


def test_volatile_elements_of_arrays() -> None:
    text = """
    volatile int t[3][3];
    void f(double *a, volatile double b[][20], volatile double c[5], volatile double (*d)[7]) {
        for (int i = 0; i < 3; i++) a[i] = t[i][1];
        for (int i = 0; i < 3; i++) a[i] = b[i][1];
        for (int i = 0; i < 3; i++) a[i] = c[i];
        for (int i = 0; i < 3; i++) a[i] = d[i][1];
    }
    """
    assert [k.refusal.id for k in kernels(text) if k.refusal] == ["volatile-access"] * 4


def test_constant_expressions_stay_as_they_are() -> None:
    text = """
    #define PURE constexpr
    constexpr int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
    PURE int g(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
    static_assert(f(3) + g(3) == 6, "");
    """
    assert [k.refusal.detail for k in kernels(text) if k.refusal] == ["in a constexpr function"] * 2


def test_lambdas_that_may_be_constants() -> None:
    text = """
    int sum = [](int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }(4);
    struct S { int v = [](int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }(4); };
    auto maker() { return [](int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }; }
    int held = [k = 3](int n) { int s = 0; for (int i = 0; i < n; i++) s += k; return s; }(4);
    int inside(int n) { int s = 0; [&] { for (int i = 0; i < n; i++) s += i; }(); return s; }
    """
    found = [(k.function, k.refusal and k.refusal.detail) for k in kernels(text, extra=("-std=c++20",))]
    why = "in a lambda that may be evaluated while compiling"
    assert found == [*((name, why) for name in ("sum", "S::v", "maker", "held")), ("inside", None)]


def test_pragmas_for_one_loop() -> None:
    """No block can stand between such a pragma and its loop."""
    text = """
    #define HINT _Pragma("GCC ivdep")
    #define TOLD(words) _Pragma(#words)
    #pragma GCC diagnostic push
    void f(int* a, int n) {
        #pragma GCC ivdep
        for (int i = 0; i < n; i++) a[i] = 1;
        #pragma GCC unroll 4
        // so it is
        for (int i = 0; i < n; i++) a[i] = 2;
        #pragma clang loop unroll(disable)
        for (int i = 0; i < n; i++) a[i] = 3;
        _Pragma("GCC unroll 4") for (int i = 0; i < n; i++) a[i] = 4;
        HINT for (int i = 0; i < n; i++) a[i] = 5;
        TOLD(GCC unroll 2) for (int i = 0; i < n; i++) a[i] = 6;
        #pragma GCC diagnostic pop
        for (int i = 0; i < n; i++) a[i] = 7;
    }
    """
    found = [k.refusal and k.refusal.detail for k in kernels(text)]
    assert found == [*(["a pragma for the loop that follows"] * 6), None]


def test_a_class_declared_with_a_variable_is_looked_at_once() -> None:
    text = """
    struct P { void f(int* a, int n) { for (int i = 0; i < n; i++) a[i] = 1; } } p;
    struct Q { struct { void f(int* a, int n) { for (int i = 0; i < n; i++) a[i] = 2; } } inner; } q;
    """
    assert len([k.function for k in kernels(text)]) == 2


def test_thread_private_variables() -> None:
    text = "int t;\n#pragma omp threadprivate(t)\nvoid f(int* a) { for (int i = 0; i < 3; i++) a[i] = t; }"
    for flags in ((), ("-fopenmp",)):
        (found,) = kernels(text, extra=flags)
        assert found.refusal is not None
        assert found.refusal.id == "thread-local-access"


def test_input_in_a_condition_tells_more_than_not_counted() -> None:
    text = "#include <cstdio>\nint f(char* s) { int n = 0; while (fgets(s, 10, stdin)) n++; for (; getchar() != 1;) n++; return n; }"
    assert [k.refusal.id for k in kernels(text) if k.refusal] == ["io-in-loop", "io-in-loop"]


def test_c_refusals() -> None:
    text = """
    _Atomic int at; int n_;
    void f(int n, int m, double a[n][m], int *b, _Complex double *z) {
        m++;
        for (int i = 0; i < n; i++) a[i][0] = 0;
        for (int i = 0; i < n; i++) b[i] = at;
        for (int i = 0; i < n; i++) z[i] = 0;
        for (int i = 0; i < n; i++) b[i] = undeclared_before(i);
    }
    """
    found = [k.refusal.id for k in kernels(text, language="c", extra=("-Wno-implicit-function-declaration",)) if k.refusal]
    assert found == ["unmodelled-type", "atomic-access", "unmodelled-type", "unknown-call"]


def test_every_reason_used_here_is_in_the_table() -> None:
    assert {row[-1] for table in (ROWS, LIBRARY, CONTAINERS) for row in table} <= set(REASONS)

"""Loops in templates: what depends on no parameter is a kernel like any other."""

from __future__ import annotations

import pytest

from tests.unit.frontend.snippets import kernels, nest_text

CLASS = """
#include <vector>
struct Base { int m; };
double plain(double);
static double twice(double x) { return 2 * x; }
template <class U> U same(U x) { return x; }
template <class T, int N> struct S : T {
  double* v; int n; T t; T* pt; std::vector<double> vec; double rows[4][4]; double wide[N];
  struct Inner { typedef int index; int k; };
  typedef int idx; typedef T other; typedef typename Inner::index hidden; hidden h;
  static const int K = 4; static int count; enum { E = 3 };
  static double g(double x) { return x; }
  void f(double x, T y, double* a, int m) {
    const int size = sizeof(T);
    double w = T(); auto z = y + 1;
    LOOP
  }
};
"""

INDEPENDENT = [
    "for (int i = 0; i < n; ++i) v[i] += x;",
    "for (idx i = 0; i < m; ++i) a[i] = v[i] * w;",
    "for (int i = 0; i < m; ++i) for (int j = 0; j < 4; ++j) rows[j][i % 4] += x;",
    "for (int i = 0; i < m; ++i) a[i] = twice(x);",
    "for (int i = 0; i < m; ++i) vec[i] = x;",
    "for (int i = 0; i < size; ++i) a[i] = x;",
]
DEPENDENT = [
    ("for (int i = 0; i < N; ++i) v[i] += x;", "N"),
    ("for (int i = 0; i < n; ++i) v[i] += y;", ""),
    ("for (int i = 0; i < n; ++i) this->v[i] += x;", ""),
    ("for (int i = 0; i < n; ++i) v[i] += t;", ""),
    ("for (int i = 0; i < n; ++i) v[i] += z;", ""),
    ("for (int i = 0; i < n; ++i) v[i] += g(x);", "g"),
    ("for (int i = 0; i < n; ++i) v[i] += sizeof(T);", "T"),
    ("for (int i = 0; i < K; ++i) v[i] += x;", "K"),
    ("for (int i = 0; i < count; ++i) v[i] += x;", "count"),
    ("for (int i = 0; i < E; ++i) v[i] += x;", "E"),
    ("for (other i = 0; i < n; ++i) v[i] += x;", ""),
    ("for (hidden i = 0; i < n; ++i) v[i] += x;", ""),
    ("for (int i = 0; i < h; ++i) v[i] += x;", "h"),
    ("for (int i = 0; i < n; ++i) wide[i] += x;", ""),
    ("for (int i = 0; i < n; ++i) v[i] = same(y);", ""),
    ("for (int i = 0; i < n; ++i) v[i] = unknown(y, x);", ""),
    ("for (int i = 0; i < n; ++i) { if constexpr (N > 3) v[i] = x; }", "N"),
    ("for (int i = 0; i < n; ++i) pt[i] = x;", ""),
]


def in_class(loop: str) -> str:
    return CLASS.replace("LOOP", loop)


@pytest.mark.parametrize("loop", INDEPENDENT)
def test_independent_loops_are_kernels(loop: str) -> None:
    inside = [kernel for kernel in kernels(in_class(loop)) if kernel.function == "S::f"]
    outside = kernels(
        f"#include <vector>\ntypedef int idx; static double twice(double x) {{ return 2 * x; }}\n"
        f"struct S {{ double* v; int n; std::vector<double> vec; double rows[4][4];\n"
        f"void f(double x, double* a, int m) {{ int q = 8; const int size = q; double w = x; {loop} }} }};"
    )
    assert [kernel.refusal for kernel in (*inside, *outside)] == [None, None]
    assert nest_text(inside[0]) == nest_text(outside[0])
    assert inside[0].text == loop


@pytest.mark.parametrize(("loop", "what"), DEPENDENT)
def test_dependent_loops_are_refused_at_the_place_that_depends(loop: str, what: str) -> None:
    text = in_class("\n" + loop)
    (found,) = kernels(text)
    assert found.refusal is not None
    assert found.refusal.id == "dependent-type"
    assert found.refusal.at is not None
    assert found.refusal.at.line == text[: text.index(loop)].count("\n") + 1
    assert what in found.refusal.detail


def test_one_loop_of_a_nest_may_depend() -> None:
    text = """
    template <class T> void f(T* p, double* a, int n) {
      for (int k = 0; k < n; ++k) {
        p[k] = T();
        for (int i = 0; i < n; ++i) a[i] += k;
      }
    }
    """
    outer, inner = kernels(text)
    assert outer.refusal is not None
    assert outer.refusal.id == "dependent-type"
    assert inner.refusal is None
    assert inner.text == "for (int i = 0; i < n; ++i) a[i] += k;"


def test_methods_defined_outside_their_class_template() -> None:
    text = """
    template <class T> struct S { double* v; void m(int n) const; template <class U> void k(double* a, U u) const; };
    template <class T> void S<T>::m(int n) const { for (int i = 0; i < n; ++i) v[i] = 1; }
    template <class T> template <class U> void S<T>::k(double* a, U u) const { for (int i = 0; i < 9; ++i) a[i] = v[i]; }
    """
    m, k = kernels(text)
    assert (m.function, m.refusal, k.refusal) == ("S::m", None, None)
    (pointer,) = [variable for variable in k.variables if variable.name == "v"]
    assert pointer.is_const


@pytest.mark.parametrize(
    "later",
    [
        "use(T(), s);",
        "T::use(s);",
        "T obj(s);",
        "T obj{s};",
        "p->take(s);",
        "(void)sizeof(T); p[s] = T();",
        "auto r = [=](T t) { return t + s; };",
    ],
)
def test_a_scalar_that_dependent_code_reads_is_not_dead(later: str) -> None:
    text = f"template <class T> void f(T* p, double* a, int n) {{ int s = 0;\nfor (int i = 0; i < n; ++i) s += i;\n{later} }}"
    (found,) = kernels(text)
    assert found.refusal is None
    assert found.dead_after == ()


def test_a_scalar_that_nobody_reads_is_dead_in_a_template_too() -> None:
    (found,) = kernels("template <class T> void f(T* p, int n) { int s; for (s = 0; s < n; ++s) {} p[n] = T(); }")
    assert found.dead_after == ("s",)


def test_generic_lambdas_are_dependent() -> None:
    (found,) = kernels("void g(int* a) { auto f = [=](auto k) { for (int i = 0; i < 3; i++) a[i] = 1; }; f(1); }")
    assert found.refusal is not None
    assert found.refusal.id == "dependent-type"


def test_explicit_specialisations_are_functions_like_any_other() -> None:
    text = """
    template <class T> struct S { static const int K = 4; void f(double* a); };
    template <> void S<int>::f(double* a) { for (int i = 0; i < K; ++i) a[i] = 1; }
    template <class T> void g(double* a) {}
    template <> void g<int>(double* a) { for (int i = 0; i < 3; ++i) a[i] = 1; }
    """
    assert [kernel.refusal for kernel in kernels(text)] == [None, None]

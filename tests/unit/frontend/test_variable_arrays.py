"""Arrays of variable length: one subscript that counts elements, with the extents that the type had when it was computed."""

from __future__ import annotations

import pytest

from perfcc.core.types import Storage
from tests.unit.frontend.snippets import kernel, kernels, nest_text

LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] += 1;"


@pytest.mark.parametrize(
    "head",
    [
        "int n, int m, double a[n][m]",
        "int n, int m, double a[][m]",
        "int n, int m, double (*a)[m]",
        "int n, int m, double a[restrict static n][m]",
    ],
)
def test_rows_of_a_parameter(head: str) -> None:
    found = kernel(f"void f({head}) {{ {LOOPS} }}", "c")
    (a,) = (v for v in found.variables if v.name == "a")
    assert (a.storage, a.dims, a.extents, a.type_spelling) == (Storage.POINTER, (), ("m",), "double (*)[m]")
    assert "a[((<long>i * <long>m) + <long>j)] += " in nest_text(found)
    assert "m" in {v.name for v in found.variables}


@pytest.mark.parametrize(
    ("body", "subscript"),
    [
        ("for (int i = 0; i < n; i++) { double *r = a[i]; r[3] = 0; }", "((<long>i * <long>m) + 3)"),
        ("for (int i = 0; i < n; i++) { double *r = &a[i][1]; r[i] = 0; }", "(((<long>i * <long>m) + 1) + <long>i)"),
        ("for (int i = 0; i < n; i++) *(*(a + i) + 2) = 0;", "((<long>i * <long>m) + 2)"),
        ("for (int i = 0; i < n; i++) **(a + i) = 0;", "((<long>i * <long>m) + 0)"),
    ],
)
def test_ways_to_name_an_element(body: str, subscript: str) -> None:
    assert f"a[{subscript}] = " in nest_text(kernel(f"void f(int n, int m, double a[n][m]) {{ {body} }}", "c"))


def test_three_dimensions_and_computed_extents() -> None:
    text = "void f(int n, unsigned m, float a[n][m + 1][2 * n]) { for (int i = 0; i < n; i++) a[i][1][i] = 0; }"
    (a,) = (v for v in kernel(text, "c").variables if v.name == "a")
    assert a.extents == ("(m + 1u)", "(2 * n)")


def test_local_and_one_dimensional_arrays() -> None:
    text = "double f(const int n, int b[n]) { double t[n]; for (int i = 0; i < n; i++) t[i] = b[i]; return t[n - 1]; }"
    found = {v.name: v for v in kernel(text, "c").variables}
    assert [found[name].type_spelling for name in ("t", "b")] == ["double *", "int *"]
    assert all(found[name].storage is Storage.POINTER and not found[name].extents for name in ("t", "b"))


@pytest.mark.parametrize(
    "text",
    [
        f"void f(int n, int m, double a[n][m]) {{ m--; {LOOPS} }}",
        f"void g(int *); void f(int n, int m, double a[n][m]) {{ g(&m); {LOOPS} }}",
        f"int m; void f(int n, double a[n][m]) {{ {LOOPS} }}",
        f"void f(int n, int m) {{ typedef double row[m]; row a[n]; {LOOPS} }}",
        f"int h(void); void f(int n, int m, double a[n][h()]) {{ {LOOPS} }}",
        f"void f(int n, int m, double a[n][m]) {{\n#pragma omp parallel for linear(m : 1)\nfor (int l = 0; l < n; l++) ;\n{LOOPS} }}",
        "void f(int n, int m) { for (int i = 0; i < n; i++) { double a[m]; a[0] = i; } }",
        "void f(int n, int m, double *p) { for (int i = 0; i < n; i++) { double (*a)[m] = (double (*)[m])p; a[i][0] = i; } }",
    ],
    ids=["changed", "escapes", "global", "typedef", "call", "clause", "inside", "pointer-inside"],
)
def test_extents_that_may_change_or_are_not_shown(text: str) -> None:
    refusals = [found.refusal.id for found in kernels(text, "c") if found.refusal and found.refusal.id != "user-openmp"]
    assert refusals
    assert set(refusals) <= {"unmodelled-type", "unmodelled-expression", "unknown-call"}
    assert not any(found.nest is not None and any(v.extents for v in found.variables) for found in kernels(text, "c"))

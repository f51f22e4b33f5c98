"""Kernel ids: the same for the same kernel wherever it stands, another for any change that matters."""

from __future__ import annotations

import pickle

import pytest

from perfcc.core.kernel import Kernel
from tests.unit.frontend.snippets import kernel, kernels

BASE = """static double k(double x) { return x; }
#define N 9
typedef double real;
void f(double* a, int n) { for (int i = 0; i < N; i++) { real t = k(a[i]); a[i] = t; } }"""


def test_lines_and_neighbours_do_not_count() -> None:
    moved = f"// a comment\n\n\nvoid other(int) {{ }}\n{BASE}\nvoid later() {{ }}"
    assert kernel(moved).id == kernel(BASE).id
    assert kernel(moved).span != kernel(BASE).span


def test_the_functions_name_does_not_count() -> None:
    assert kernel(BASE.replace("void f(", "void renamed(")).id == kernel(BASE).id


CHANGES = [
    ("return x;", "return x + 1;"),
    ("#define N 9", "#define N 10"),
    ("typedef double real;", "typedef float real;"),
    ("double* a, int n", "float* a, int n"),
    ("double* a, int n", "double* __restrict a, int n"),
    ("a[i] = t;", "a[i] = t; "),
    ("int i = 0", "int i = 1"),
]


@pytest.mark.parametrize(("old", "new"), CHANGES, ids=[new for _, new in CHANGES])
def test_what_counts(old: str, new: str) -> None:
    assert old in BASE
    assert kernel(BASE.replace(old, new)).id != kernel(BASE).id


def test_language_counts() -> None:
    text = "void f(double* a, int n) { for (int i = 0; i < n; i++) a[i] = 0; }"
    assert kernel(text).id != kernel(text, language="c").id


def test_equal_kernels_get_ordinals() -> None:
    body = "for (int i = 0; i < n; i++) a[i] = 0;"
    found = kernels(f"void f(int* a, int n) {{ {body} {body} }} void g(int* a, int n) {{ {body} }}")
    first = found[0].id
    assert [k.id for k in found] == [first, f"{first}-2", f"{first}-3"]


def test_kernels_travel_between_processes() -> None:
    found = kernel(BASE)
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, Kernel)
    assert again == found


def test_variable_ids_tell_equal_names_apart() -> None:
    text = "void f(int* a, int n) { for (int i = 0; i < n; i++) { { int t = a[i]; a[i] = t; } { int t = 2; a[i] += t; } } }"
    ids = [v.id for v in kernel(text).variables if v.name == "t"]
    assert len(set(ids)) == 2


def test_overloads_count() -> None:
    """The same words call ``int abs(int)`` with one header and ``double abs(double)`` with the other."""
    text = "int f(const double *x, int s, int n) { for (int i = 0; i < n; i++) s += abs(x[i]); return s; }"
    integer, floating = kernel("#include <cstdlib>\n" + text), kernel("#include <stdlib.h>\n" + text)
    assert integer.text == floating.text
    assert integer.id != floating.id

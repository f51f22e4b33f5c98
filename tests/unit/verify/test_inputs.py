"""Inputs by role: extents, row pointers, index arrays, aliases; and codelets of what can't be exercised are refused."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from perfcc.analysis import analyse
from perfcc.cc import argv, compiler
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation
from perfcc.frontend import parse
from perfcc.verify import codelet
from perfcc.verify.inputs import Maker, Shape, maker, shapes
from perfcc.verify.job import Input

ROWS = """
void f(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
  for (int i = 0; i < n; ++i) {
    double s = 0;
    for (int k = start[i]; k < start[i + 1]; ++k)
      s += value[k] * x[column[k]];
    y[i] = s;
  }
}
"""
WINDOW = """
void f(const float *in, float *out, int n, int r) {
  for (int i = r; i < n - r; ++i)
    for (int d = 0; d < 3; ++d)
      out[i] += in[i + d - r];
}
"""
COPY = "void f(const double *a, double *b, int n) {\n  for (int i = 0; i < n; ++i)\n    b[i] = a[i] * 2;\n}\n"


def prepared(tmp_path: Path, text: str) -> tuple[Kernel, Maker]:
    source = tmp_path / "unit.cpp"
    source.write_text(text, "utf-8")
    invocation = argv.read(["g++", "-O2", "-c", str(source)], str(tmp_path), "g++")
    assert isinstance(invocation, Invocation)
    unit = compiler.translation_unit(invocation, compiler.probe("g++", invocation))
    (kernel,) = parse(unit).kernels
    assert kernel.nest is not None
    shared = codelet.build(kernel)
    assert not isinstance(shared, Reason)
    return kernel, maker(kernel, analyse(kernel, kernel.nest, unit.semantics), shared.variables, shared.compared)


def values(made: Maker, item: Input, name: str, dtype: str) -> numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]:
    index = next(i for i, v in enumerate(made.variables) if v.name == name)
    block, offset = item.arguments[index]
    return numpy.frombuffer(item.blocks[block].content[offset:], dtype)


@pytest.mark.parametrize("kind", ["random", "integers", "equal", "wide", "special"])
@pytest.mark.parametrize("size", [1, 2, 17, 100])
def test_row_pointers_rise_and_indexes_are_in_range(tmp_path: Path, kind: str, size: int) -> None:
    _, made = prepared(tmp_path, ROWS)
    item = made.make(3, Shape("x", size, 0, kind))
    assert item is not None
    start, column = values(made, item, "start", "i4"), values(made, item, "column", "i4")
    x, value = values(made, item, "x", "f8"), values(made, item, "value", "f8")
    assert len(start) == size + 1
    assert (numpy.diff(start) >= 0).all()
    assert 0 <= start[0] <= start[-1] <= len(column) == len(value)
    assert ((column >= 0) & (column < len(x))).all()
    assert len(column) <= 2 or len(set(column.tolist())) < len(column)


def test_a_scalar_that_starts_a_loop_stays_small(tmp_path: Path) -> None:
    _, made = prepared(tmp_path, WINDOW)
    item = made.make(1, Shape("x", 50, 2))
    assert item is not None
    assert item.scalars["r"] == 2
    assert len(values(made, item, "in", "f4")) == 50 - 2 * 2 + 3 - 1


def test_overlaps_are_made_wherever_the_guard_claims_to_see_them(tmp_path: Path) -> None:
    _, made = prepared(tmp_path, COPY)
    overlapping = [shape for shape in shapes(made, (1, 2)) if shape.alias is not None]
    assert len(overlapping) >= 3
    items = [item for item in (made.make(i, shape) for i, shape in enumerate(overlapping)) if item is not None]
    assert len(items) == len(overlapping)
    distances = set()
    for item in items:
        places = {v.name: place for v, place in zip(made.variables, item.arguments, strict=True)}
        assert places["a"][0] == places["b"][0]
        distances.add((places["a"][1] - places["b"][1]) // 8)
    assert {0, 1, -1} <= distances


def test_arrays_are_as_large_as_the_nest_touches(tmp_path: Path) -> None:
    _, made = prepared(tmp_path, COPY)
    for size in (0, 1, 13):
        item = made.make(size, Shape("x", size))
        assert item is not None
        assert len(values(made, item, "a", "f8")) == size


def test_the_special_values_are_there(tmp_path: Path) -> None:
    _, made = prepared(tmp_path, COPY)
    item = made.make(1, Shape("x", 2000, 0, "special"))
    assert item is not None
    a = values(made, item, "a", "f8")
    assert numpy.isnan(a).any()
    assert numpy.isposinf(a).any()
    assert ((a == 0) & numpy.signbit(a)).any()
    assert ((a != 0) & (numpy.abs(a) < 2.3e-308)).any()


def test_too_much_memory_is_no_input(tmp_path: Path) -> None:
    _, made = prepared(tmp_path, COPY)
    assert made.make(1, Shape("x", 1 << 20), cap=1 << 20) is None


def test_elements_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "unit.cpp"
    source.write_text("void f(long double *v, int n) {\n  for (int i = 0; i < n; ++i)\n    v[i] *= 2;\n}\n", "utf-8")
    invocation = argv.read(["g++", "-O2", "-c", str(source)], str(tmp_path), "g++")
    assert isinstance(invocation, Invocation)
    (kernel,) = parse(compiler.translation_unit(invocation, compiler.probe("g++", invocation))).kernels
    assert kernel.nest is not None
    found = codelet.build(kernel)
    assert isinstance(found, Reason)
    assert found.id == "live-in-unsupported"
    assert "long double" in found.detail

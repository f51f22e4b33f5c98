"""Fused multiply-add and excess precision: what the compiler decides stays where it is."""

from __future__ import annotations

import pytest

from perfcc.analysis.rounding import unstable
from perfcc.core.unit import Semantics
from tests.unit.frontend.snippets import kernel

FUSING = Semantics(contracts=True)


def reason(body: str, semantics: Semantics, before: str = "") -> str:
    found = kernel(f"#include <cmath>\n{before}void f(double *y, const double *x, int *k, int n) {{ for (int i = 0; i < n; i++) {body} }}")
    assert found.nest is not None
    refused = unstable(found, found.nest, semantics)
    return "" if refused is None else refused.id


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = x[i] * x[i] + y[i];",
        "{ double t = x[i] * 2.0; y[i] -= t; }",
        "{ y[i] *= 3.0; y[i] = y[i] + 1.0; }",
        "y[i] += x[i] * 0.5;",
        "y[i] = std::sqrt(x[i] * x[i] - 1.0);",
    ],
)
def test_a_product_and_a_sum_in_one_nest(body: str) -> None:
    assert reason(body, FUSING) == "fp-contraction"
    assert reason(body, Semantics()) == ""
    assert reason(body, Semantics(contracts=True, reassociate=True)) == ""


@pytest.mark.parametrize("body", ["y[i] = x[i] + y[i];", "y[i] = x[i] * 2.0;", "k[i] = k[i] * 3 + i;", "y[i] = x[i + 1 * 2] / 3.0;"])
def test_nothing_to_fuse(body: str) -> None:
    assert reason(body, FUSING) == ""


def test_a_function_of_the_unit_may_hold_the_other_half() -> None:
    twice = "static double twice(double v) { return v * 2.0; }\n"
    assert reason("y[i] = twice(x[i]) + 1.0;", FUSING, twice) == "fp-contraction"


def test_excess_precision_rounds_wherever_a_register_is_spilled() -> None:
    assert reason("y[i] = x[i] + y[i];", Semantics(excess_precision=True)) == "fp-contraction"
    assert reason("k[i] = k[i] + 1;", Semantics(excess_precision=True)) == ""

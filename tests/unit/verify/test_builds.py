"""The two ways the race builds change a text."""

from __future__ import annotations

import pytest

from perfcc.verify.builds import force_interleaving, plant_race, statement_end

ENTRY = "void perfcc_codelet_run(void **args) {\n"


def test_every_parallel_loop_is_interleaved() -> None:
    region = "#pragma omp parallel\n{\n#pragma omp for\nfor (;;) {}\n}\n"
    text = "#pragma omp parallel for schedule(dynamic, 4) private(t)\nfor (;;) {}\n" + region
    made = force_interleaving(text)
    assert made.count("schedule(static, 1)") == 2
    assert "dynamic" not in made
    assert "#pragma omp parallel\n" in made


def test_the_race_goes_into_the_innermost_collapsed_body() -> None:
    text = ENTRY + "#pragma omp parallel for collapse(2)\nfor (int i = 0; i < n; ++i)\nfor (int j = 0; j < n; ++j)\n{ a[i] = j; }\n}\n"
    made = plant_race(text)
    assert made is not None
    assert "++j)\n{ ++perfcc_codelet_planted; { a[i] = j; } }" in made
    assert made.index("int perfcc_codelet_planted;") < made.index("perfcc_codelet_run")


def test_a_body_without_braces() -> None:
    loop = "#pragma omp parallel for\nfor (int i = 0; i < n; ++i)\n  if (v[i]) { x = 1; } else x = f(1, 2);\n"
    made = plant_race(ENTRY + loop + "}\n")
    assert made is not None
    assert "{ ++perfcc_codelet_planted; if (v[i]) { x = 1; } else x = f(1, 2); }" in made


def test_no_parallel_loop_no_plant() -> None:
    assert plant_race(ENTRY + "for (;;) {}\n}\n") is None


STATEMENTS = ["a = 1;", "{ a; b; }", "for (int i = 0; i < 3; ++i) { a; }", "if (a) b; else { c; }", "x[f(1)] = {1, 2};"]


@pytest.mark.parametrize("text", STATEMENTS)
def test_where_a_statement_ends(text: str) -> None:
    assert statement_end(text + " rest;", 0) == len(text)

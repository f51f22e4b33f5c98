"""The text that takes a kernel's place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from nests import saxpy

from perfcc.core.facts import NoOverlap
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Refusal
from perfcc.rules import engine
from perfcc.rules.replacement import duplicable, parts, replacement


def candidate() -> tuple[Kernel, engine.Candidate]:
    _, kernel, facts = saxpy()
    x, y, n = (kernel.variable(name) for name in ("x", "y", "n"))
    bound = facts.loops[0].work
    facts = replace(facts, loops=(replace(facts.loops[0], obligations=(NoOverlap(x, y, bound, bound),)),))
    assert n.id == "n"
    state = engine.start(kernel, facts)
    assert isinstance(state, engine.State)
    after = engine.apply(state, engine.matches(state, "parallel-loop")[0], (("schedule", "static"),), lambda k, nest: facts)
    assert isinstance(after, engine.State)
    return kernel, engine.candidate(after)


def test_the_original_stands_verbatim_in_the_else_branch() -> None:
    kernel, made = candidate()
    cut = parts(kernel, made, 1000)
    assert cut.text == replacement(kernel, made, 1000) == cut.head + kernel.text + cut.tail
    assert cut.original == kernel.text
    assert cut.head.endswith("else {\n")
    assert cut.text.startswith("{ if (perfcc_rt_at_most(1000L, ")
    assert cut.text.endswith("} }")


def test_the_cheapest_test_comes_first() -> None:
    kernel, made = candidate()
    head = parts(kernel, made, 250.4).head
    assert head.index("250L") < head.index("perfcc_rt_parallel_ok()") < head.index("perfcc_rt_disjoint(")


def test_work_is_at_least_one_iteration() -> None:
    kernel, made = candidate()
    assert "perfcc_rt_at_most(1L, " in parts(kernel, made, 0.0).head


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{ static int calls; y[i] = ++calls; }", "not-duplicable"),
        ("{ again: y[i] = 0; }", "not-duplicable"),
        ("{ y[i] = [&] { return x[i]; }(); }", "not-duplicable"),
        ("{ y[i] = apply([=](double t) { return t; }, x[i]); }", "not-duplicable"),
        ("{ y[i] = __COUNTER__; }", "not-duplicable"),
        ("{\n#ifdef FAST\n y[i] = 0;\n#endif\n}", "macro-in-kernel"),
        ("{ switch (k) { case 1: y[i] = 0; break; default: y[i] = 1; } }", None),
        ("{ y[i] = std::abs(x[i]) > 0 ? a : b; /* static again: # */ }", None),
        ("{ y[i] = x[i ? 0 : 1]; s = \"; label: [] {\"; }", None),
        ("{ y[i] = static_cast<int>(x[i]); }", None),
    ],
)
def test_text_that_cant_stand_twice_is_refused(body: str, reason: str | None) -> None:
    _, kernel, facts = saxpy()
    kernel = replace(kernel, text=f"for (int i = 0; i < n; i++) {body}")
    found = duplicable(kernel)
    assert (found.id if found else None) == reason
    assert isinstance(engine.start(kernel, facts), Refusal) is (reason is not None)

"""The proposer of rule sequences, on kernels read by the real frontend and analysed by the real analysis."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfcc.analysis import analyse
from perfcc.cc import compiler
from perfcc.core.decision import Accepted, Rejected, Verdict
from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation
from perfcc.frontend import parse
from perfcc.propose.from_rules import FIRST, FromRules

PRODUCT = """
void multiply(int n, const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}
"""
STEPS = """
double now[200][200], next[200][200];
void step(int steps) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 199; i++)
            for (int j = 1; j < 199; j++)
                next[i][j] = 0.5 * (now[i - 1][j] + now[i + 1][j]);
        for (int i = 1; i < 199; i++)
            for (int j = 1; j < 199; j++)
                now[i][j] = next[i][j];
    }
}
"""


class Case:
    """The first kernel of a source, its facts, and a proposer for it."""

    def __init__(self, source: str, directory: Path, rules_off: tuple[str, ...] = ()) -> None:
        path = directory / "case.cpp"
        path.write_text(source, "utf-8")
        invocation = Invocation(("g++", "-O2", "-c", str(path)), "g++", str(directory), str(path), 3, "case.o", "c++")
        unit = compiler.translation_unit(invocation, compiler.probe("g++", invocation))
        self.semantics = unit.semantics
        self.kernel = parse(unit).kernels[0]
        assert self.kernel.nest is not None
        self.analyses = 0
        self.facts = self.analyse(self.kernel, self.kernel.nest)
        self.proposer = FromRules(self.analyse, rules_off, threads=4)

    def analyse(self, kernel: Kernel, nest: Loop) -> Facts:
        self.analyses += 1
        return analyse(kernel, nest, self.semantics)

    def names(self, *tried: Verdict) -> list[str]:
        return [c.name for c in self.proposer.propose(self.kernel, self.facts, tried)]


@pytest.fixture
def product(tmp_path: Path) -> Case:
    return Case(PRODUCT, tmp_path)


def test_the_best_sequences_come_first(product: Case) -> None:
    names = product.names()
    assert names[0].startswith("loop-interchange(order=i,k,j) > ")
    assert names[0].endswith("parallel-loop(schedule=static)")
    assert len(names) == len(set(names)) <= FIRST
    assert any("loop-tiling" in name for name in names)


def test_the_same_kernel_gives_the_same_proposals(product: Case, tmp_path: Path) -> None:
    assert product.names() == Case(PRODUCT, tmp_path).names()


def test_serial_sequences_are_offered_too(tmp_path: Path) -> None:
    serial = Case(PRODUCT, tmp_path, ("parallel-loop", "integer-reduction"))
    names = serial.names()
    assert "loop-interchange(order=i,k,j)" in names
    assert not any("parallel" in name for name in names)


def test_rules_that_are_off_are_not_used(tmp_path: Path) -> None:
    names = Case(PRODUCT, tmp_path, ("loop-interchange", "loop-tiling")).names()
    assert all(name.startswith("parallel-loop") for name in names)


def test_the_next_generation_varies_the_fastest(product: Case) -> None:
    first = list(product.proposer.propose(product.kernel, product.facts, ()))
    verdicts = tuple(
        Accepted(c, (), 3.0, 1.0) if position == 1 else Rejected(c, Reason("not-faster")) for position, c in enumerate(first)
    )
    second = list(product.proposer.propose(product.kernel, product.facts, verdicts))
    assert second
    assert not {c.fast for c in first} & {c.fast for c in second}
    winner = [step.rule for step in first[1].steps]
    assert [step.rule for step in second[0].steps] == winner


def test_other_parameters_are_tried_where_the_first_are_too_slow(tmp_path: Path) -> None:
    case = Case(PRODUCT, tmp_path, ("loop-interchange", "loop-tiling"))
    (first,) = case.proposer.propose(case.kernel, case.facts, ())
    assert any(name.startswith("parallel-loop(") for name in case.names(Rejected(first, Reason("not-faster"))))
    assert case.names(Rejected(first, Reason("data-race"))) == []


def test_generations_end(product: Case) -> None:
    tried: tuple[Verdict, ...] = ()
    for _ in range(40):
        batch = tuple(product.proposer.propose(product.kernel, product.facts, tried))
        if not batch:
            break
        tried += tuple(Rejected(c, Reason("not-faster")) for c in batch)
    assert batch == ()
    assert len({v.candidate.fast for v in tried}) == len(tried)


def test_loops_beside_each_other_all_go_to_threads(tmp_path: Path) -> None:
    case = Case(STEPS, tmp_path)
    first = next(iter(case.proposer.propose(case.kernel, case.facts, ())))
    assert [step.rule for step in first.steps] == ["parallel-loop", "parallel-loop"]
    assert first.fast.count("#pragma omp for") == 2


def test_refusals_name_every_rule_that_said_no(tmp_path: Path) -> None:
    case = Case("void prefix(int n, int *a) { for (int i = 1; i < n; i++) a[i] += a[i - 1]; }", tmp_path)
    assert case.names() == []
    said = {(refusal.rule, refusal.reason.id) for _, refusal in case.proposer.refusals(case.kernel, case.facts)}
    assert ("parallel-loop", "carried-dependence") in said


def test_what_the_model_finds_far_dearer_than_a_winner_is_not_tried(product: Case) -> None:
    first = list(product.proposer.propose(product.kernel, product.facts, ()))
    verdicts: tuple[Verdict, ...] = tuple(Rejected(c, Reason("not-faster")) for c in first)
    unbeaten = product.names(*verdicts)
    assert "loop-interchange(order=i,k,j)" in unbeaten
    fastest = (Accepted(first[0], (), 3.0, 1.0), *verdicts[1:])
    assert "loop-interchange(order=i,k,j)" not in product.names(*fastest)


def test_a_loop_that_does_next_to_nothing_is_refused_for_that(tmp_path: Path) -> None:
    loops = "for (int i = 0; i < 10; i++)\n    for (int j = 0; j < 10; j++)\n      a[i][j] = x;"
    small = Case(f"int a[10][10];\nvoid f(int x) {{\n  {loops}\n}}\n", tmp_path)
    assert small.names() == []
    assert [refusal.reason.id for _, refusal in small.proposer.refusals(small.kernel, small.facts)] == ["too-little-work"]

"""Every wrong rewrite must be rejected for one of its reasons, every right one must pass all stages but timing.

A plain run takes the quick ones, PERFCC_MUTANTS=all all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from perfcc.analysis import analyse
from perfcc.cc import argv, compiler
from perfcc.core.candidate import Candidate
from perfcc.core.decision import Accepted, Rejected
from perfcc.core.unit import Invocation
from perfcc.frontend import parse
from perfcc.verify.toolchain import Toolchain
from perfcc.verify.verifier import Verifier
from tests.mutants.cases import CASES, Case, Rewrite

ALL = os.environ.get("PERFCC_MUTANTS") == "all"
CHOSEN = [case for case in CASES if ALL or any(rewrite.quick for rewrite in case.rewrites)]


@pytest.fixture(scope="module", params=CHOSEN, ids=lambda case: case.name)
def prepared(
    request: pytest.FixtureRequest, toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Case, Verifier]]:
    case: Case = request.param
    folder = tmp_path_factory.mktemp(case.name)
    source = folder / ("unit.c" if case.language == "c" else "unit.cpp")
    source.write_text(case.source, "utf-8")
    name = "gcc" if case.language == "c" else "g++"
    invocation = argv.read([name, "-O2", "-c", str(source)], str(folder), name)
    assert isinstance(invocation, Invocation)
    unit = compiler.translation_unit(invocation, compiler.probe(name, invocation))
    (kernel,) = parse(unit).kernels
    assert kernel.nest is not None, kernel.refusal
    facts = analyse(kernel, kernel.nest, unit.semantics)
    with Verifier(kernel, facts, unit, folder / "scratch", toolchain, 2, folder / "lock", with_timing=False) as verifier:
        reason = verifier.prepare()
        assert reason is None, str(reason)
        yield case, verifier


def judge(verifier: Verifier, rewrite: Rewrite) -> str:
    """"" when it passed, else the reason's id."""
    kernel = verifier.kernel
    assert kernel.nest is not None
    candidate = Candidate(kernel.id, (), kernel.nest, rewrite.fast, rewrite.guard, None, (), rewrite.threads)
    verdict = verifier.judge(candidate)
    assert isinstance(verdict, Accepted | Rejected)
    return verdict.reason.id if isinstance(verdict, Rejected) else ""


def test_wrong_rewrites_are_rejected_and_right_ones_pass(prepared: tuple[Case, Verifier]) -> None:
    case, verifier = prepared
    wrong_verdicts = []
    for rewrite in case.rewrites:
        if not (ALL or rewrite.quick):
            continue
        found = judge(verifier, rewrite)
        if found not in (rewrite.reasons or ("",)):
            wrong_verdicts.append((rewrite.name, found or "accepted", rewrite.reasons))
    assert not wrong_verdicts


def test_every_rewrite_has_a_verdict_to_meet() -> None:
    wrong = [rewrite for case in CASES for rewrite in case.rewrites if rewrite.reasons]
    assert len(wrong) >= 15
    assert all(Path(case.name).name == case.name for case in CASES)

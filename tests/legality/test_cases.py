"""Small loops with labels, through the real frontend and the analysis."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from perfcc.analysis import analyse
from perfcc.cc import compiler
from perfcc.core.facts import LoopFacts
from perfcc.core.kernel import Kernel
from perfcc.core.unit import Invocation, Semantics
from perfcc.frontend import parse

SOURCE = Path(__file__).parent / "cases.cpp"
CASES: list[tuple[str, str]] = re.findall(r"^// expect: (.*)\n[^\n]*?(\w+)\(", SOURCE.read_text(), re.MULTILINE)


@cache
def kernels() -> dict[str, list[Kernel]]:
    found = shutil.which("g++")
    assert found is not None
    argv = (found, "-std=c++17", "-O2", "-c", str(SOURCE))
    invocation = Invocation(argv, found, str(SOURCE.parent), str(SOURCE), 4, "cases.o", "c++")
    unit = parse(compiler.translation_unit(invocation, compiler.probe(found, invocation)))
    assert unit.refusal is None, unit.refusal
    result: dict[str, list[Kernel]] = {}
    for kernel in unit.kernels:
        result.setdefault(kernel.function.split("(")[0].split("::")[-1], []).append(kernel)
    return result


def labels(kernel: Kernel, semantics: Semantics) -> list[set[str]]:
    if kernel.nest is None:
        assert kernel.refusal is not None
        return [{kernel.refusal.id}]
    return [_label(loop) for loop in analyse(kernel, kernel.nest, semantics).loops]


def _label(loop: LoopFacts) -> set[str]:
    if loop.blockers:
        return {reason.id for reason in loop.blockers}
    return {"guarded" if loop.obligations else "parallel"}


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 40
    assert len({name for _, name in CASES}) == len(CASES)


@pytest.mark.parametrize(("expected", "name"), CASES, ids=[name for _, name in CASES])
def test_label(expected: str, name: str) -> None:
    (kernel,) = kernels()[name]
    actual = labels(kernel, Semantics())
    wanted = expected.split()
    assert len(actual) == len(wanted), actual
    for given, one in zip(actual, wanted, strict=True):
        assert one in given, actual


@pytest.mark.parametrize(("expected", "name"), CASES, ids=[name for _, name in CASES])
def test_every_blocker_has_a_place(expected: str, name: str) -> None:
    (kernel,) = kernels()[name]
    if kernel.nest is None:
        return
    facts = analyse(kernel, kernel.nest, Semantics())
    for loop in facts.loops:
        for reason in loop.blockers:
            assert reason.at is not None, reason
            assert kernel.span.line <= reason.at.line <= kernel.span.end_line

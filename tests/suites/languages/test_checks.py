"""C kernels through the checks that run them: the codelets compile as C, and right rewrites pass in every stage but timing."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfcc.core.decision import Accepted
from perfcc.rules.replacement import replacement
from perfcc.verify.toolchain import find
from perfcc.verify.verifier import Verifier
from tests.suites.languages.rewriting import Source

SOURCES = Path(__file__).parent / "sources"
# source, flags, function, threads
CASES = [
    ("variable_arrays.c", ("-O2", "-std=c99"), "product", False),
    ("variable_arrays.c", ("-O2", "-std=gnu17"), "cube", True),
    ("modern.c", ("-O2", "-std=c11"), "booleans", True),
    ("old_style.c", ("-O2", "-w"), "total", True),
    ("strict.c", ("-O2", "-std=c89", "-pedantic-errors"), "rows", True),
]


@pytest.mark.parametrize(("name", "flags", "function", "threads"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_right_rewrite_passes(name: str, flags: tuple[str, ...], function: str, threads: bool, tmp_path: Path) -> None:
    source = Source(SOURCES / name, flags, "gcc", tmp_path)
    ((kernel, candidate),) = [pair for pair in source.chosen(threads) if pair[0].function.partition("(")[0] == function]
    assert candidate.threads == threads
    assert kernel.nest is not None
    facts = source.facts(kernel, kernel.nest)
    with Verifier(
        kernel, facts, source.unit, tmp_path / "checks", find(), 2, tmp_path / "lock", splice=replacement, with_timing=False
    ) as verifier:
        reason = verifier.prepare()
        assert reason is None, str(reason)
        verdict = verifier.judge(candidate)
    assert isinstance(verdict, Accepted), verdict
    assert [item.stage for item in verdict.evidence][:4] == ["scope", "compiles", "differential", "sanitize"]

"""GCC's headers of vector intrinsics are beyond any Clang; the unit's own loops are looked at all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
SOURCE = """#include <{header}>
#include <stdio.h>
void scale(int *p, int n) {{ for (int i = 0; i < n; ++i) p[i] = 3 * p[i]; }}
void store(int *p, int n) {{ for (int i = 0; i < n; i += 4) _mm_storeu_si128((__m128i *)(p + i), _mm_set1_epi32(3)); }}
"""


@pytest.mark.parametrize("header", ["emmintrin.h", "immintrin.h"])
@pytest.mark.parametrize(("driver", "name"), [("perfcc-gcc", "unit.c"), ("perfcc-g++", "unit.cpp")])
def test_loops_beside_intrinsics(tmp_path: Path, header: str, driver: str, name: str) -> None:
    (tmp_path / name).write_text(SOURCE.format(header=header))
    environ = {**os.environ, "PERFCC_STORE": str(tmp_path / "store"), "PERFCC_MODE": "apply"}

    def run(*words: str) -> str:
        return subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=300, check=True).stdout

    run(str(BIN / driver), "-O2", "-c", name, "-o", "unit.o")
    (unit,) = json.loads(run(str(BIN / "perfcc"), "--explain", "unit.o", "--format", "json"))["units"]
    assert unit["reason"] is None
    reasons = {decision["function"]: decision["reason"]["id"] for decision in unit["decisions"]}
    assert reasons["scale"] == "search-off"  # a rule would be tried
    assert reasons["store"] in ("unknown-call", "unknown-effects")  # an intrinsic's effects are not known

"""Flags to legality: the last one wins, and a doubt counts against the rewrite."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfcc.cc.semantics import optimisation, semantics
from perfcc.core.unit import Semantics

STRICT = Semantics(strict_aliasing=True)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-O2", STRICT),
        ("-O3", STRICT),
        ("-Os", STRICT),
        ("-O1", Semantics(strict_aliasing=False)),
        ("-O", Semantics(strict_aliasing=False)),
        ("-Og", Semantics(strict_aliasing=False)),
        ("-O3 -O1", Semantics(strict_aliasing=False)),
        ("-O1 -fstrict-aliasing", STRICT),
        ("-fno-strict-aliasing -O2", Semantics(strict_aliasing=False)),
        ("-fno-strict-aliasing -fstrict-aliasing -O2", STRICT),
        ("-Ofast", Semantics(reassociate=True, math_errno=False)),
        ("-Ofast -O2", STRICT),
        ("-fno-fast-math -Ofast", STRICT),
        ("-Ofast -fno-associative-math", Semantics(math_errno=False)),
        ("-O2 -ffast-math", Semantics(reassociate=True, math_errno=False)),
        ("-O2 -ffast-math -fno-fast-math", STRICT),
        ("-O2 -ffast-math -fmath-errno", Semantics(reassociate=True)),
        ("-O2 -ffast-math -fsigned-zeros", Semantics(math_errno=False)),
        ("-O2 -funsafe-math-optimizations", Semantics(reassociate=True)),
        ("-O2 -fassociative-math", STRICT),
        ("-O2 -fassociative-math -fno-signed-zeros", STRICT),
        ("-O2 -fassociative-math -fno-signed-zeros -fno-trapping-math", Semantics(reassociate=True)),
        ("-O2 -ffast-math -frounding-math", Semantics(math_errno=False)),
        ("-O2 -fno-math-errno", Semantics(math_errno=False)),
        ("-O2 -fwrapv", Semantics(wrapv=True)),
        ("-O2 -fno-strict-overflow", Semantics(wrapv=True)),
        ("-O2 -fwrapv -fno-wrapv", STRICT),
        ("-O2 -ftrapv", Semantics(trapping=True)),
        ("-O2 -ftrapv -fwrapv", Semantics(wrapv=True)),
        ("-O2 -fwrapv -ftrapv", Semantics(trapping=True)),
        ("-O2 -fsanitize=undefined", Semantics(trapping=True)),
        ("-O2 -fopenmp", Semantics(openmp=True)),
        ("-O2 -fopenmp -fno-openmp", STRICT),
        ("-O2 -fopenmp=libomp", Semantics(openmp=True)),
        ("-O2 -fopenmp-simd", STRICT),
    ],
)
def test_flags(flags: str, expected: Semantics) -> None:
    assert replace(semantics(("g++", *flags.split(), "-c", "a.cpp")), contracts=False) == expected


@pytest.mark.parametrize(("flags", "level"), [("", "0"), ("-O", "1"), ("-O9", "3"), ("-O2 -Os", "s"), ("-Ofast", "fast"), ("-Og -O0", "0")])
def test_level(flags: str, level: str) -> None:
    assert optimisation(("g++", *flags.split())) == level


@pytest.mark.parametrize(
    ("words", "contracts", "excess"),
    [
        ((), True, False),
        (("-ffp-contract=off",), False, False),
        (("-ffp-contract=off", "-ffp-contract=fast"), True, False),
        (("-mfpmath=387",), True, True),
        (("-mfpmath=387", "-mfpmath=sse"), True, False),
    ],
)
def test_roundings_that_the_compiler_decides(words: tuple[str, ...], contracts: bool, excess: bool) -> None:
    found = semantics(("g++", "-O2", *words, "-c", "a.cpp"))
    assert (found.contracts, found.excess_precision) == (contracts, excess)

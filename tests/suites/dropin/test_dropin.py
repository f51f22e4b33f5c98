"""Whatever the command line, perfcc leaves what the bare compiler leaves: exit status, both outputs, and every file."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.suites.dropin.dropin_cases import PERFCC, Case, cases, play

CASES = cases()


def newest(name: str) -> str:
    """The compiler of that name, or its newest version on PATH."""
    return next(found for found in (name, *(f"{name}-{n}" for n in range(25, 13, -1))) if shutil.which(found))


@pytest.fixture(params=["gcc", "clang"])
def compilers(request: pytest.FixtureRequest) -> tuple[str, str]:
    return (newest("g++"), newest("gcc")) if request.param == "gcc" else (newest("clang++"), newest("clang"))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_nothing_differs(case: Case, compilers: tuple[str, str], tmp_path: Path) -> None:
    cxx, cc = compilers
    store = tmp_path / "store"
    expected = play(case, tmp_path / "work", cxx, cc, {})
    variables = {"PERFCC_STORE": str(store), "PERFCC_PYTHON": "/no/python"}
    got = play(case, tmp_path / "work", f"{PERFCC} {cxx}", f"{PERFCC} {cc}", variables)
    assert got.code == expected.code
    assert got.stdout == expected.stdout
    assert got.stderr == expected.stderr
    assert list(got.files) == list(expected.files)
    for name, state in expected.files.items():
        assert got.files[name] == state, name
    log = store / "counters" / "log"
    counted = [line.rpartition(" ")[0] for line in log.read_text().splitlines()] if log.exists() else []
    assert case.counters is None or counted == case.counters


def test_there_are_enough_cases_and_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 120


# With a real worker, which looks at the kernel and may look nothing up: nothing of it may show.
SEARCHED = [
    "outputs-output-named", "outputs-umask", "dependencies-through-the-preprocessor-and-with-target", "options-hardening",
    "options-response-file", "sources-spaces-and-quotes", "sources-names-not-utf-8", "sources-source-is-a-symlink",
    "surroundings-standard-input-closed", "surroundings-jobserver-by-pipe", "surroundings-home-unset",
]  # fmt: skip


@pytest.mark.parametrize("name", SEARCHED)
def test_nothing_differs_when_the_worker_has_looked(name: str, compilers: tuple[str, str], tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == name)
    cxx, cc = compilers
    expected = play(case, tmp_path / "work", cxx, cc, {})
    variables = {"PERFCC_STORE": str(tmp_path / "store"), "PERFCC_MODE": "apply", "PERFCC_PYTHON": sys.executable}
    got = play(case, tmp_path / "work", f"{PERFCC} {cxx}", f"{PERFCC} {cc}", variables)
    assert got == expected
    assert "compiled:searched" in (tmp_path / "store" / "counters" / "log").read_text() or "closed" in name


# The linker names its temporary files in what it says; the locks on turns stay in the temporary folder.
TOLD_APART = ["surroundings-one-step", "surroundings-temporary-directory-of-its-own"]
IDENTITY = [case.name for case in CASES if case.name not in TOLD_APART] if os.environ.get("PERFCC_DROPIN") == "all" else SEARCHED


@pytest.mark.parametrize("name", IDENTITY)
def test_nothing_differs_with_a_no_op_in_every_unit(name: str, compilers: tuple[str, str], tmp_path: Path) -> None:
    """PERFCC_DROPIN=all takes every case."""
    case = next(case for case in CASES if case.name == name)
    cxx, cc = compilers
    expected = play(case, tmp_path / "work", cxx, cc, {})
    variables = {"PERFCC_STORE": str(tmp_path / "store"), "PERFCC_MODE": "identity", "PERFCC_PYTHON": sys.executable}
    assert play(case, tmp_path / "work", f"{PERFCC} {cxx}", f"{PERFCC} {cc}", variables) == expected

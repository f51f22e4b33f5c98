"""The legacy program itself: the same results from every compiler, standard and build system, no warning, no word of perfcc."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.quiet

LEGACY = Path(__file__).resolve().parents[3] / "bench" / "legacy"
SOURCES = sorted([*LEGACY.glob("src/*"), *LEGACY.glob("tools/*")])


@pytest.mark.parametrize(
    ("system", "compiler", "flags"),
    [
        ("make", "g++", "-O2 -Werror"),
        ("make", "clang++-19", "-O2 -Werror -std=c++98"),
        ("cmake", "g++", "-O2 -Werror -std=c++98"),
        ("cmake", "clang++-19", "-O2 -Werror"),
    ],
)
def test_results_are_the_same_everywhere(legacy: Any, expected: str, tmp_path: Path, system: str, compiler: str, flags: str) -> None:
    executable = getattr(legacy, system)(tmp_path / "build", compiler, flags)
    assert legacy.run(executable) == expected


def test_its_own_check_target_compares(legacy: Any, tmp_path: Path) -> None:
    """`make check` passes, and fails as soon as one setting changes a result."""
    changed = tmp_path / "changed"
    changed.mkdir()
    for path in LEGACY.iterdir():
        if path.name in ("src", "tools", "Makefile", "expected.txt"):
            (changed / path.name).symlink_to(path)
    settings = (LEGACY / "fieldlab.conf").read_text("utf-8")
    command = ["make", "-j2", "-C", str(changed), f"DATA={legacy.data}", "check"]

    (changed / "fieldlab.conf").write_text(settings)
    assert subprocess.run(command, capture_output=True, env=legacy.environment).returncode == 0
    (changed / "fieldlab.conf").write_text(settings.replace("alpha = 0.05", "alpha = 0.050000001"))
    assert subprocess.run(command, capture_output=True, env=legacy.environment).returncode != 0


def test_bad_settings_and_files_end_in_a_message(legacy: Any, tmp_path: Path) -> None:
    executable = legacy.make(tmp_path / "build", "g++", "-O1")
    (tmp_path / "transfer.dat").write_bytes(b"FL d 4 4\n\0\0")
    for options, message in [
        (["--data", str(tmp_path), "matrix"], "transfer.dat: file is too short"),
        (["--data", str(tmp_path / "none"), "heat"], "plate.dat: cannot open"),
        (["--set", "heat.steps=many", "heat"], "setting 'heat.steps': whole number from 0 to 100000 expected, not 'many'"),
        (["nothing"], "unknown stage 'nothing'"),
        (["--no-such-option"], "unknown option --no-such-option"),
    ]:
        command = [str(executable), "--data", str(legacy.data), *options]
        done = subprocess.run(command, cwd=LEGACY, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr


def test_it_knows_nothing_of_perfcc() -> None:
    assert len([path for path in SOURCES if path.suffix == ".cpp"]) >= 12
    for path in (*SOURCES, *LEGACY.glob("[A-Z]*"), LEGACY / "fieldlab.conf"):
        assert "perfcc" not in path.read_text("utf-8").lower()

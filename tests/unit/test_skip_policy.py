"""The rule that CI skips nothing holds for tests, for whole modules, and knows its one excuse."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"


def run(tmp_path: Path, body: str, ci: str) -> tuple[int, str]:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "test_it.py").write_text(f"import pytest\n{body}\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(tmp_path), str(tmp_path)]
    environment = {**os.environ, "CI": ci, "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    return done.returncode, done.stdout


SKIPS = [
    "@pytest.mark.skip(reason='later')\ndef test_a(): pass",
    "def test_a(): pytest.skip('later')",
    "pytest.importorskip('no_such_module_anywhere')\ndef test_a(): pass",
]


@pytest.mark.parametrize("body", SKIPS)
def test_a_skip_fails_in_ci(tmp_path: Path, body: str) -> None:
    code, output = run(tmp_path, f"{body}\ndef test_b(): pass", "true")
    assert code != 0
    assert "only 'no accelerator' excuses it" in output


@pytest.mark.parametrize("body", SKIPS)
def test_elsewhere_a_skip_is_a_skip(tmp_path: Path, body: str) -> None:
    _, output = run(tmp_path, body, "")
    assert "1 skipped" in output


def test_a_missing_accelerator_is_an_excuse(tmp_path: Path) -> None:
    code, output = run(tmp_path, "def test_a(): pytest.skip('no accelerator here')", "true")
    assert code == 0
    assert "1 skipped" in output


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    code, output = run(tmp_path, "@pytest.mark.xfail(strict=True)\ndef test_a(): assert False", "true")
    assert code == 0
    assert "1 xfailed" in output

"""The runner, built once from its sources."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

RUNNER = Path(__file__).parents[3] / "native" / "runner"


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runner")
    for words in (["cmake", "-S", str(RUNNER), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release"], ["cmake", "--build", str(folder), "-j2"]):
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "perfcc-runner"

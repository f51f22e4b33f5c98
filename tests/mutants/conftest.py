"""The runner is built once, by its own build file, when the package holds none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from perfcc.verify import toolchain as tools
from perfcc.verify.toolchain import Toolchain

RUNNER = Path(__file__).parents[2] / "native" / "runner"


@pytest.fixture(scope="session")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    """All that the checks need. The runner is always that of the checkout."""
    folder = tmp_path_factory.mktemp("runner")
    for words in (["cmake", "-S", str(RUNNER), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release"], ["cmake", "--build", str(folder), "-j2"]):
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    found = tools.find(folder / "perfcc-runner")
    assert not [item for item in found.missing if item.name != "llvm-symbolizer"]
    return found

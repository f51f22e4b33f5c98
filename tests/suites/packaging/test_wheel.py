"""A wheel in an empty virtual environment, far from the checkout: rules, schema, runner and headers travel inside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCE = """
void scale(double *a, const double *b, int n) {
  for (int i = 0; i < n; ++i)
    a[i] = 2.0 * b[i];
}
"""


def run(*command: str | Path, cwd: Path, check: bool = True, **environ: str) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV", "PERFCC_"))}
    return subprocess.run(command, cwd=cwd, env={**inherited, **environ}, capture_output=True, text=True, timeout=500, check=check)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin directory of the new environment."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT, cwd=folder)
    venv.create(folder / "empty", with_pip=False)
    (wheel,) = folder.glob("perfcc-*.whl")
    run(*pip, "--python", folder / "empty" / "bin" / "python", "install", wheel, cwd=folder)
    return folder / "empty" / "bin"


def test_the_light_install_has_no_models_or_test_tools(installed: Path, tmp_path: Path) -> None:
    listed = run(sys.executable, "-m", "pip", "--python", installed / "python", "list", "--format", "json", cwd=tmp_path).stdout
    names = {row["name"].lower() for row in json.loads(listed)}
    assert {"perfcc", "libclang", "islpy", "numpy", "pyelftools", "rich"} <= names
    assert not names & {"torch", "transformers", "numba", "dask", "pytest", "z3-solver"}


def test_doctor_finds_its_own_parts(installed: Path, tmp_path: Path) -> None:
    done = run(installed / "perfcc", "--doctor", "--format", "json", cwd=tmp_path, check=False, PERFCC_STORE=str(tmp_path / "store"))
    found = {check["name"]: check["found"] for check in json.loads(done.stdout)["checks"]}
    for name in ("perfcc", "libclang", "islpy", "numpy", "pyelftools", "perfcc-runner"):
        assert found[name] is not None, done.stdout
        assert str(ROOT) not in found[name]


def test_a_kernel_is_searched_and_explained(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "scale.cpp").write_text(SOURCE)
    store = str(tmp_path / "store")
    run(installed / "perfcc", "-O2", "-c", "scale.cpp", cwd=tmp_path, PERFCC_STORE=store)
    report = run(installed / "perfcc", "--explain", "scale.o", "--format", "json", cwd=tmp_path, PERFCC_STORE=store).stdout
    (unit,) = json.loads(report)["units"]
    (decision,) = unit["decisions"]
    stages = [evidence["stage"] for evidence in decision["evidence"]]
    assert {"scope", "compiles", "differential", "sanitize"} <= set(stages), decision
    assert decision["function"].startswith("scale")
    text = run(installed / "perfcc", "--explain", "scale.o", cwd=tmp_path, PERFCC_STORE=store).stdout
    assert "parallel loop" in text

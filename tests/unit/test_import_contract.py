"""Imports run downwards only: the contract holds on the tree, and breaks as soon as a lower layer looks up or a sibling aside."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint_imports(directory: Path) -> subprocess.CompletedProcess[str]:
    """import-linter's verdict on the package in ``directory``, by the configuration in its pyproject.toml."""
    program = "import sys; sys.path.insert(0, ''); from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    return subprocess.run([sys.executable, "-S", "-c", _isolated(program)], cwd=directory, capture_output=True, text=True)


def _isolated(program: str) -> str:
    """Reach site-packages without running .pth files, so that an editable install can't stand in for the copy under test."""
    paths = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return f"import sys; sys.path.extend({paths!r}); {program}"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "perfcc", tmp_path / "perfcc", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def plant(copy: Path, module: str, line: str) -> None:
    path = copy / "perfcc" / module
    path.write_text(path.read_text("utf-8") + f"\n{line}\n", "utf-8")


def test_the_tree_keeps_the_contract() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_copy_is_what_is_judged(copy: Path) -> None:
    assert lint_imports(copy).returncode == 0


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("core/span.py", "import perfcc.pipeline"),
        ("core/reason.py", "from perfcc.explain import text"),
        ("store/__init__.py", "import perfcc.verify"),
        ("frontend/__init__.py", "from perfcc import rules"),
        ("rules/__init__.py", "import perfcc.cli"),
        ("explain/text.py", "import perfcc.search"),
        ("analysis/__init__.py", "import perfcc.frontend"),
        ("search/__init__.py", "import perfcc.verify"),
        ("analysis/__init__.py", "from clang import cindex"),
        ("explain/json.py", "def late() -> None:\n    import perfcc.store"),
    ],
)
def test_a_planted_import_breaks_it(copy: Path, module: str, line: str) -> None:
    plant(copy, module, line)
    done = lint_imports(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout

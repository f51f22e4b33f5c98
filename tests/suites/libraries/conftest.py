"""A directory to build libraries in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.libraries.library_builds import Yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    root = tmp_path / "project"
    root.mkdir()
    return Yard(root)

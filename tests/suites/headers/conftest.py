from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.headers.headers_site import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root)

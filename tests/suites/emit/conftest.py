"""The emission suite's fixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.emit.emit_workshop import Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    root = tmp_path / "project"
    root.mkdir()
    return Workshop(root)

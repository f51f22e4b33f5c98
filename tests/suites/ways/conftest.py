"""A place to build in with the installed perfcc."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.ways.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path)

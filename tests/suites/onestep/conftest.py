from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.suites.onestep.onestep_site import Site, newest


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    made.work.mkdir()
    yield made
    assert made.leftovers() == []


@pytest.fixture(params=["g++", "clang++"])
def compiler(request: pytest.FixtureRequest) -> str:
    return newest(request.param)


@pytest.fixture
def gcc() -> str:
    return newest("g++")

"""The launcher suite's place to build in, and a unit with a stored verdict. One compiler will do: the store is the same for all."""

from __future__ import annotations

import pytest

from tests.suites.builds.conftest import plain
from tests.suites.launcher.conftest import gcc, newest, site
from tests.suites.launcher.test_stored import decided

__all__ = ["decided", "gcc", "plain", "site"]


@pytest.fixture
def compiler() -> str:
    return newest("g++")

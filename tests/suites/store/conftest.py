"""The launcher suite's place to build in, and a unit with a stored verdict."""

from __future__ import annotations

from tests.suites.builds.conftest import plain
from tests.suites.launcher.conftest import compiler, gcc, site
from tests.suites.launcher.test_stored import decided

__all__ = ["compiler", "decided", "gcc", "plain", "site"]

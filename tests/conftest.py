"""In CI a skipped test is a failed one: a check that did not run proves nothing. Only a missing accelerator excuses it."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

EXCUSE = "no accelerator"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not hasattr(report, "wasxfail"):
        _judge(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _judge(report)
    return report


def _judge(report: Any) -> None:
    """Turn a skip into a failure when CI=true, unless its reason names the missing accelerator."""
    if not report.skipped or os.environ.get("CI") != "true":
        return
    reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
    if EXCUSE not in reason:
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where only '{EXCUSE}' excuses it: {reason}"

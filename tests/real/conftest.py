"""One trial of each project at a time; what they gave is printed at the end of the session.

``PERFCC_REAL=all`` takes every project of the table, else those that run with all other tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.real.report import summary
from tests.real.table import load
from tests.real.trial import Trial

EVERYTHING = os.environ.get("PERFCC_REAL") == "all"
BUDGET = "5" if EVERYTHING else "2"
CHOSEN = [(project, compiler) for project in load() for compiler in (project.compilers if EVERYTHING else project.ci)]

done: list[Trial] = []


@pytest.fixture(scope="module", params=CHOSEN, ids=[f"{project.name}-{compiler}" for project, compiler in CHOSEN])
def trial(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    project, compiler = request.param
    trial = Trial(project, compiler, tmp_path_factory.mktemp(project.name), BUDGET)
    yield trial
    done.append(trial)
    trial.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if done:
        terminalreporter.section("real projects")
        for line in summary(done):
            terminalreporter.write_line(line)

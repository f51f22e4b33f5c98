"""The project built once by the bare compiler and once, cold, by perfcc."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.builds.project_builds import Tree, rewritten

ATTEMPTS = 5


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree.copy(tmp_path_factory.mktemp("plain") / "project")
    tree.make("g++")
    return tree


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Searched from an empty store; the folder name is the same as the plain tree's.

    On a noisy machine the timing may go against a rewrite, rightly or for want of quiet: then it is searched anew.
    """
    for attempt in range(ATTEMPTS):
        tree = Tree.copy(tmp_path_factory.mktemp(f"built{attempt}") / "project")
        tree.make()
        if "smooth" in rewritten(tree.explain()):
            break
    return tree


@pytest.fixture
def fresh(tmp_path: Path) -> Tree:
    return Tree.copy(tmp_path / "project")

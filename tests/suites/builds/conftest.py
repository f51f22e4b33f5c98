"""The project built once by the bare compiler and once, cold, by perfcc."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.builds.project_builds import Tree


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree.copy(tmp_path_factory.mktemp("plain") / "project")
    tree.make("g++")
    return tree


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Searched from an empty store; the folder name is the same as the plain tree's."""
    tree = Tree.copy(tmp_path_factory.mktemp("built") / "project")
    tree.make()
    return tree


@pytest.fixture
def fresh(tmp_path: Path) -> Tree:
    return Tree.copy(tmp_path / "project")

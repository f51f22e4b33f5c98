"""The table of real projects, ``projects.toml``, as values."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("projects.toml")
FLAGS = "-O2"


@dataclass(frozen=True, slots=True)
class Project:
    """One row.

    ``debian`` is ``SOURCE=VERSION`` of a Debian source package, ``pypi`` ``NAME==VERSION`` of a source distribution; a row has one of them.
    ``folder`` is where in the source the commands run. ``build`` and ``test`` are shell commands, run in turn; every one of ``test`` runs,
    whatever the ones before gave. ``results`` finds one test's name and outcome in their output (groups ``name`` and ``outcome``); without
    it their lines are compared, except those that ``ignore`` matches: timings, mostly. ``flags`` go into CFLAGS and CXXFLAGS.
    ``masquerade``: perfcc goes by the compiler's own name, for builds in which a compiler's name leaves traces.
    ``compilers`` are those it is built with, ``ci`` those it is built with among all other tests.
    """

    name: str
    build: tuple[str, ...]
    test: tuple[str, ...]
    debian: str = ""
    pypi: str = ""
    folder: str = "."
    flags: str = FLAGS
    compilers: tuple[str, ...] = ("gcc",)
    results: re.Pattern[str] | None = None
    ignore: re.Pattern[str] | None = None
    masquerade: bool = False
    ci: tuple[str, ...] = ()


def load() -> tuple[Project, ...]:
    """All rows, in the table's order. Raises ValueError for a row that is not understood."""
    rows = tomllib.loads(TABLE.read_text("utf-8"))
    return tuple(_project(name, row) for name, row in rows.items())


def _project(name: str, row: dict[str, Any]) -> Project:
    lists: dict[str, Any] = {key: tuple(row[key]) for key in ("build", "test", "compilers", "ci") if key in row}
    patterns: dict[str, Any] = {key: re.compile(row[key], re.MULTILINE) for key in ("results", "ignore") if key in row}
    values: dict[str, Any] = {"name": name, **row, **lists, **patterns}
    try:
        project = Project(**values)
    except TypeError as error:
        raise ValueError(f"{TABLE.name}: {name}: {error}") from None
    if bool(project.debian) == bool(project.pypi):
        raise ValueError(f"{TABLE.name}: {name} needs either 'debian' or 'pypi'")
    return project

"""Where the files live that travel with perfcc: rules' rooms, models, the runner.

A wheel holds ``rules/`` and ``models/`` as ``perfcc/_rules`` and ``perfcc/_models``; a checkout has them beside the package, and its
editable installation keeps in site-packages only what was compiled.
"""

from __future__ import annotations

from pathlib import Path

import perfcc


def directory(name: str) -> Path:
    """The folder ``rules`` or ``models``, in a checkout or in an installed package. Raises FileNotFoundError."""
    package = Path(perfcc.__file__).parent
    beside, inside = package.parent / name, package / f"_{name}"
    if inside.is_dir():
        return inside
    if beside.is_dir() and (package.parent / "pyproject.toml").is_file():
        return beside
    raise FileNotFoundError(f"perfcc's folder '{name}' is neither at {inside} nor at {beside}")


def executable(name: str) -> Path:
    """A program or library built with the package, such as ``perfcc-runner``. Raises FileNotFoundError."""
    for part in perfcc.__path__:
        candidate = Path(part) / "_bin" / name
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"'{name}' was not built; install perfcc again")

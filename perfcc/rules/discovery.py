"""Rules are found by name: a module of ``perfcc.rules.catalogue`` is the code, the room ``rules/<id>/`` its description and cases."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from perfcc.core.protocols import Rule
from perfcc.core.resources import directory
from perfcc.rules import catalogue

THREADS = 90
"""The phase of rules that hand loops to threads."""

SAFETY = ("exact", "guarded", "reassociates-fp")


class RoomError(ValueError):
    """A room that lacks its ``rule.toml``, or one with a bad field; the message names the file."""


@dataclass(frozen=True, slots=True)
class Room:
    """What ``rule.toml`` says. ``refuses`` are ids of Reasons; ``cases`` is the directory of ``fires_*`` and ``refuses_*`` sources."""

    id: str
    title: str
    category: str
    what: str
    why: str
    safety: str
    references: tuple[str, ...]
    refuses: tuple[str, ...]
    cases: Path


@cache
def rules() -> dict[str, Rule]:
    """Every rule's code by id, in the order the rules are to be applied (the module's ``PHASE``, then the id). Reads no TOML."""
    found = {m.name.replace("_", "-"): _load(m.name) for m in pkgutil.iter_modules(catalogue.__path__) if not m.name.startswith("_")}
    return dict(sorted(found.items(), key=lambda item: (phase(item[1]), item[0])))


def phase(rule: Rule) -> int:
    """Steps of a sequence are in ascending phase: 10 exchanges loops, 20 blocks them, THREADS hands them to threads, which ends it."""
    return int(getattr(rule, "PHASE", 50))


def _load(name: str) -> Any:
    module: ModuleType = importlib.import_module(f"{catalogue.__name__}.{name}")
    missing = [f for f in ("match", "parameters", "legal", "rewrite") if not callable(getattr(module, f, None))]
    if missing:
        raise TypeError(f"{module.__name__} lacks {', '.join(missing)}")
    return module


@cache
def room(id: str) -> Room:
    """The room of rule ``id``. Raises RoomError."""
    try:
        path = directory("rules") / id / "rule.toml"
    except FileNotFoundError as error:
        raise RoomError(str(error)) from None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        found = Room(
            id=id,
            title=str(table["title"]),
            category=str(table["category"]),
            what=str(table["what"]).strip(),
            why=str(table["why"]).strip(),
            safety=str(table["safety"]),
            references=tuple(str(r) for r in table["references"]),
            refuses=tuple(str(r) for r in table["refuses"]),
            cases=path.parent / "cases",
        )
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RoomError(f"{path}: {error}") from None
    except KeyError as error:
        raise RoomError(f"{path}: {error.args[0]} is missing") from None
    if found.safety not in SAFETY:
        raise RoomError(f"{path}: safety must be one of {', '.join(SAFETY)}, not {found.safety!r}")
    return found


def category(id: str) -> str:
    """The rule's PerfCoder category; "" when its room can't be read, which costs the report a word and nothing else."""
    try:
        return room(id).category
    except RoomError:
        return ""

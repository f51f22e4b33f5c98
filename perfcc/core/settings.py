"""Settings: defaults < ``perfcc.toml`` found upwards from the source < ``PERFCC_*`` in the environment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from perfcc.core.resources import directory

MODES = ("search", "apply", "off", "identity")
FP_MODES = ("strict", "reassociate")


class SettingsError(ValueError):
    """A bad key or value; the message names file, key and nearest name, in one line."""


@dataclass(frozen=True, slots=True)
class Settings:
    """``budget`` is seconds of search a unit; ``threads`` 0 means all the machine has; ``rules_off`` are the rules switched off;
    ``store_size`` is bytes, 0 for no limit."""

    mode: str = "search"
    budget: float = 120.0
    fp: str = "strict"
    threads: int = 0
    rules_off: tuple[str, ...] = ()
    store: str = ""
    store_size: int = 2_000_000_000

    def store_path(self) -> Path:
        """Where decisions are kept: ``store``, or the user's cache directory (XDG Base Directory specification)."""
        if self.store:
            return Path(self.store).expanduser()
        cache, home = (os.environ.get(name, "") for name in ("XDG_CACHE_HOME", "HOME"))
        if cache.startswith("/"):
            return Path(cache) / "perfcc"
        return Path(home if home.startswith("/") else "/", ".cache", "perfcc")


def load(start: Path, environ: Mapping[str, str]) -> Settings:
    """The settings that hold for a source in directory ``start``. Raises SettingsError."""
    settings = Settings()
    path = find_file(start)
    if path is not None:
        settings = _from_table(settings, _read(path), str(path))
    overrides = {
        key[len("PERFCC_") :].lower(): value
        for key, value in environ.items()
        if key.startswith("PERFCC_") and key[len("PERFCC_") :].lower() in _KEYS
    }
    return _from_table(settings, overrides, "environment")


def find_file(start: Path) -> Path | None:
    """The nearest ``perfcc.toml`` in ``start`` or above it."""
    start = start.absolute()
    for folder in (start, *start.parents):
        candidate = folder / "perfcc.toml"
        if candidate.is_file():
            return candidate
    return None


_KEYS = (*(f.name for f in fields(Settings) if f.name != "rules_off"), "rules")


def _read(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None
    return table


def _from_table(settings: Settings, table: Mapping[str, Any], where: str) -> Settings:
    for key, value in table.items():
        settings = _set(settings, key, value, where)
    return settings


def _set(settings: Settings, key: str, value: Any, where: str) -> Settings:
    if key not in _KEYS:
        raise SettingsError(f"{where}: unknown key {key!r}{_hint(key, _KEYS, 'keys')}")
    match key:
        case "mode":
            return replace(settings, mode=_choice(value, MODES, key, where))
        case "fp":
            return replace(settings, fp=_choice(value, FP_MODES, key, where))
        case "budget":
            return replace(settings, budget=_number(value, key, where))
        case "threads":
            threads = _number(value, key, where)
            if threads != int(threads):
                raise SettingsError(f"{where}: threads must be a whole number, not {value!r}")
            return replace(settings, threads=int(threads))
        case "store_size":
            return replace(settings, store_size=_size(value, key, where))
        case "rules":
            return replace(settings, rules_off=_rules_off(value, where))
        case _:
            return replace(settings, store=_string(value, key, where))


def _string(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str):
        raise SettingsError(f"{where}: {key} must be a string, not {value!r}")
    return value


def _choice(value: Any, allowed: tuple[str, ...], key: str, where: str) -> str:
    if value not in allowed:
        raise SettingsError(f"{where}: {key} must be one of {', '.join(allowed)}, not {value!r}")
    return str(value)


def _number(value: Any, key: str, where: str) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError, OverflowError):
        raise SettingsError(f"{where}: {key} must be a number, not {value!r}") from None
    if not 0 <= number < float("inf"):
        raise SettingsError(f"{where}: {key} must be a finite number of at least 0, not {value!r}")
    return number


_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?(?:([kmgt])(i?))?b?", re.I)


def _size(value: Any, key: str, where: str) -> int:
    """Bytes: ``50M``, ``1.5 GiB``, ``2g``; without a unit the number of bytes."""
    match = _SIZE.fullmatch(str(value).strip()) if isinstance(value, (str, int)) and not isinstance(value, bool) else None
    if match is None:
        raise SettingsError(f"{where}: {key} must be a size such as 500M or 2GiB, or 0 for no limit, not {value!r}")
    exponent = " kmgt".index((match[2] or " ").lower())
    return int(float(match[1]) * (1024 if match[3] else 1000) ** exponent)


def _rules_off(value: Any, where: str) -> tuple[str, ...]:
    """``rules = { "loop-tiling" = false }`` in the file, ``PERFCC_RULES=-loop-tiling,-parallel-loop`` in the environment."""
    if isinstance(value, str):
        words = [word.strip() for word in value.split(",") if word.strip()]
        if any(not word.startswith("-") for word in words):
            raise SettingsError(f"{where}: rules must be rule ids with a minus, as in -loop-tiling, not {value!r}")
        value = {word[1:]: False for word in words}
    if not isinstance(value, dict) or not all(isinstance(on, bool) for on in value.values()):
        raise SettingsError(f"{where}: rules must map rule ids to true or false, not {value!r}")
    known = _rules() if value else ()
    for rule in value:
        if known and rule not in known:
            raise SettingsError(f"{where}: unknown rule {rule!r}{_hint(rule, known, 'rules')}")
    return tuple(sorted(rule for rule, on in value.items() if not on))


def _rules() -> tuple[str, ...]:
    """The ids that there are: the rooms' names. None where the rooms aren't installed."""
    try:
        return tuple(sorted(path.parent.name for path in directory("rules").glob("*/rule.toml")))
    except FileNotFoundError:
        return ()


def _hint(name: str, known: Sequence[str], kind: str) -> str:
    near = get_close_matches(name, known, 1)
    return f"; did you mean '{near[0]}'?" if near else f"; the {kind} are {', '.join(known)}"

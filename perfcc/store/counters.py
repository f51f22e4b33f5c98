"""Counters for ``--stats``: the launcher appends lines ``NAME AMOUNT`` to a log, which is put aside as ``log-TIME`` when it is long.

Appending a short line is atomic on a local file system, so compilers that run at once lose no counts. Logs put aside are added to
``totals`` some time later, when nobody holds them open any more. ``totals`` names the logs that are in it: whoever is killed between
writing it and removing them leaves nothing that would count twice.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from perfcc.core.codec import CodecError, dumps, loads
from perfcc.store import files
from perfcc.store.lock import alone

SETTLED_SECONDS = 30.0
_LINE = re.compile(rb"([A-Za-z0-9_.:+-]{1,80}) (\d{1,15}(?:\.\d{1,9})?)")
_ASIDE = re.compile(r"log-(\d{1,19})")
_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class Totals:
    """The counters of the logs ``folded``, and of others that are gone."""

    counters: tuple[tuple[str, float], ...] = ()
    folded: tuple[str, ...] = ()


class Counters:
    """The counters under ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self) -> dict[str, float]:
        """All counters. Lines that are no counters are skipped."""
        self.fold()
        for _ in range(_ATTEMPTS):
            names = self._logs()
            totals = self._totals()
            parts = [dict(totals.counters), *(_sum(files.read(self.folder / name, False) or b"") for name in names - {*totals.folded})]
            if names == self._logs() and totals == self._totals():
                break
        return _added(parts)

    def fold(self) -> None:
        """Adds logs that were put aside to ``totals``, unless another does."""
        if not any(map(self._settled, self._logs())):
            return
        with alone(self.folder / "lock", without_locks=False) as mine:
            if not mine:
                return
            totals = self._totals()
            names = self._logs()
            fresh = sorted(name for name in names - {*totals.folded} if self._settled(name))
            parts = [dict(totals.counters), *(_sum(files.read(self.folder / name, False) or b"") for name in fresh)]
            folded = (*(name for name in totals.folded if name in names), *fresh)
            if self._keep(Totals(tuple(sorted(_added(parts).items())), folded)):
                for name in folded:
                    files.forget(self.folder / name)

    def zero(self) -> None:
        """Forgets all counts."""
        with alone(self.folder / "lock", without_locks=False):
            for name in (*self._logs(), "totals"):
                files.forget(self.folder / name)

    def _logs(self) -> set[str]:
        try:
            return {name for name in os.listdir(self.folder) if name == "log" or _ASIDE.fullmatch(name)}
        except OSError:
            return set()

    def _settled(self, name: str) -> bool:
        """It was put aside long enough ago for nobody to be about to append to it."""
        aside = _ASIDE.fullmatch(name)
        return aside is not None and abs(time.time() - int(aside[1]) / 1e9) > SETTLED_SECONDS

    def _totals(self) -> Totals:
        content = files.read(self.folder / "totals", False)
        body = None if content is None else files.unseal(content, "totals")
        try:
            return Totals() if body is None else loads(Totals, body)
        except CodecError:
            return Totals()

    def _keep(self, totals: Totals) -> bool:
        return files.write(self.folder / "totals", files.seal(dumps(totals), "totals"))


def _added(parts: Iterable[dict[str, float]]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for part in parts:
        for name, amount in part.items():
            totals[name] = totals.get(name, 0.0) + amount
    return totals


def _sum(content: bytes) -> dict[str, float]:
    matches = (_LINE.fullmatch(line) for line in content.splitlines())
    return _added({match[1].decode(): float(match[2])} for match in matches if match is not None)

"""What commands cost: interleaved runs, their medians, and a table of them."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Prepare = Callable[[int], Mapping[str, str]]
"""The environment of the run of that number; what it does beforehand is not measured."""


@dataclass(frozen=True)
class Cost:
    """Seconds. CPU is the user and system time of the process and of all it waited for."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Command:
    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str] | Prepare

    def run(self, number: int) -> Cost:
        environment = self.environment(number) if callable(self.environment) else self.environment
        started = time.perf_counter()
        process = subprocess.Popen(self.words, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, self.words
        return Cost(usage.ru_utime + usage.ru_stime, wall)


@dataclass(frozen=True)
class Runs:
    """The costs of one command, in the order in which the commands took turns."""

    costs: tuple[Cost, ...]

    @property
    def cpu(self) -> float:
        """The median, in milliseconds."""
        return statistics.median(cost.cpu for cost in self.costs) * 1e3

    @property
    def wall(self) -> float:
        """The median, in milliseconds."""
        return statistics.median(cost.wall for cost in self.costs) * 1e3

    def more_cpu(self, other: Runs) -> float:
        """The median difference of neighbouring runs, in milliseconds."""
        return statistics.median(a.cpu - b.cpu for a, b in zip(self.costs, other.costs, strict=True)) * 1e3

    def more_wall(self, other: Runs) -> float:
        """The median difference of neighbouring runs, in milliseconds."""
        return statistics.median(a.wall - b.wall for a, b in zip(self.costs, other.costs, strict=True)) * 1e3

    def ratios(self, other: Runs) -> tuple[float, float, float]:
        """Quartiles of the wall time over that of the neighbouring run."""
        ratios = [a.wall / b.wall for a, b in zip(self.costs, other.costs, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
        return low, middle, high


def interleaved(commands: Mapping[str, Command], runs: int) -> dict[str, Runs]:
    """Every command once before any is run again, each time beginning with another one; a first round doesn't count."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    names = list(commands)
    for name in names:
        commands[name].run(-1)
    for number in range(runs):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            costs[name].append(commands[name].run(number))
    return {name: Runs(tuple(found)) for name, found in costs.items()}


class Table:
    """Rows of medians; a ratio is given with its quartiles."""

    def __init__(self) -> None:
        self.rows = [
            f"{'milliseconds':<34}{'':>9}{'CPU':>9}{'more':>8}{'wall':>10}{'more':>8}{'x plain':>9}{'quartiles':>14}  limit",
        ]

    def add(self, what: str, measured: Mapping[str, Runs], plain: str, limit: str = "") -> None:
        """One row for each command of the row, the ``plain`` one first."""
        base = measured[plain]
        for name, runs in measured.items():
            low, middle, high = runs.ratios(base)
            self.rows.append(
                f"{what:<34}{name:>9}{runs.cpu:>9.2f}{runs.more_cpu(base):>+8.2f}{runs.wall:>10.2f}{runs.more_wall(base):>+8.2f}"
                f"{middle:>8.2f}x{low:>7.2f}-{high:.2f}  {limit if name == 'perfcc' else ''}".rstrip()
            )
            what = ""

    def text(self) -> str:
        return "\n".join(self.rows)

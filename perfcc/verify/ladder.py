"""The inputs that a kernel is timed on: made once, kept on disk, the same for all its candidates, so that these can be compared."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from perfcc.verify import job
from perfcc.verify.evaluate import Number
from perfcc.verify.inputs import Maker, Shape
from perfcc.verify.job import Input, Options, Stored
from perfcc.verify.runner import Runner

LONGEST_CALL = 30e6
"""Nanoseconds of the original on the largest input."""
SHORTEST_CALL = 3e3
STEP = 6.0
"""By which factor the time falls from one rung to the next."""
MOST_BYTES = 32 << 20
PROBED = 3e5
"""Innermost iterations of the largest input that is probed, were all loops of one length."""
_FIRST_ID = 50000


@dataclass(frozen=True, slots=True)
class Rung:
    """An input to time on. ``call``: nanoseconds that the original takes there, about."""

    stored: Stored
    scalars: dict[str, Number]
    sizes: dict[str, int]
    size: int
    call: float


@dataclass(slots=True)
class Ladder:
    """From the largest input down. ``original`` is the build that is timed."""

    maker: Maker
    runner: Runner
    directory: Path
    original: Path
    _planned: list[tuple[int, float]] | None = None
    _rungs: list[Rung | None] = field(default_factory=list)

    def rungs(self) -> Iterator[Rung]:
        """The inputs, each made when it is first asked for; none where the original could not be timed."""
        if self._planned is None:
            self._planned = list(self._plan())
        for index, (size, call) in enumerate(self._planned):
            if index == len(self._rungs):
                self._rungs.append(self._make(index, size, call))
            rung = self._rungs[index]
            if rung is not None:
                yield rung

    def _make(self, index: int, size: int, call: float) -> Rung | None:
        made = self.maker.make(_FIRST_ID + index, Shape("timing", size, 1), MOST_BYTES)
        if made is None:
            return None
        stored = job.store(self.directory / f"timing{index}.data", [made])
        return Rung(stored, made.scalars, made.sizes, size, call)

    def _plan(self) -> Iterator[tuple[int, float]]:
        """Sizes, falling, with what a call of the original takes there, from how its time grows."""
        times = self._probe()
        if not times:
            return
        size, call = times[-1]
        power = self._power(times)
        if power is None:
            yield size, call
            return
        largest = self._fitting(size, int(size * (LONGEST_CALL / call) ** (1 / power)))
        step = STEP ** (1 / power)
        at = float(largest)
        while at >= 1:
            chosen = _round(int(at))
            estimate = call * (chosen / size) ** power
            if estimate < SHORTEST_CALL:
                return
            yield chosen, estimate
            at = min(at / step, chosen - 1)

    def _probe(self) -> list[tuple[int, float]]:
        """A few small sizes, rising, and nanoseconds of the original at each."""
        top = max(4, round(PROBED ** (1 / max(self.maker.roles.depth, 1))))
        top = self._fitting(1, top)
        inputs: list[Input] = []
        sizes: list[int] = []
        for index, size in enumerate(sorted({top // 4, top // 2, top} - {0})):
            made = self.maker.make(_FIRST_ID + 100 + index, Shape("timing", size, 1), MOST_BYTES)
            if made is not None:
                inputs.append(made)
                sizes.append(size)
        report = self.runner.run(inputs, Options("probe", wall=False, cpu_seconds=20), self.original, timeout=30.0)
        found = {int(line["input"]): float(line["ns"]) for line in report.results}
        return [(size, found[item.id]) for item, size in zip(inputs, sizes, strict=True) if item.id in found]

    def _power(self, times: list[tuple[int, float]]) -> float | None:
        """How the time grows with the size; None when the inputs do not."""
        size, call = times[-1]
        small, less = times[0]
        if small == size or self._alike(small, size):
            return None
        return min(max(math.log(call / max(less, 1.0)) / math.log(size / small), 0.5), 4.0)

    def _alike(self, small: int, large: int) -> bool:
        a, b = (self.maker.outline(Shape("timing", size, 1), MOST_BYTES) for size in (small, large))
        return a is not None and b is not None and (a.scalars, a.sizes, a.counts) == (b.scalars, b.sizes, b.counts)

    def _fitting(self, low: int, high: int) -> int:
        """The largest size up to ``high`` that takes no more memory than it may; ``low`` does not."""
        if high <= low or self._fits(high):
            return max(high, 1)
        while high - low > max(1, low // 32):
            middle = (low + high) // 2
            low, high = (middle, high) if self._fits(middle) else (low, middle)
        return low

    def _fits(self, size: int) -> bool:
        return self.maker.outline(Shape("timing", size, 1), MOST_BYTES) is not None


def _round(size: int) -> int:
    """Near ``size``, the same for sizes close to each other, and no power of two, on which caches are at their worst."""
    if size < 24:
        return size
    unit = max(8, 1 << (size.bit_length() - 4))
    return size // unit * unit - 8 + 2

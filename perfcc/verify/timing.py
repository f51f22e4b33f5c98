"""The sequential sign test over timed pairs, and intervals by order statistics.

A pair is a win when old/new > 1.10. Steps and bounds are those of Wald's sequential test of a win's probability, 0.5 against 0.9 (A. Wald,
"Sequential tests of statistical hypotheses", 1945), with an error of 1 % for accepting and 5 % for rejecting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb
from statistics import median

WIN = 0.588
LOSS = -1.609
ACCEPT = 4.55
REJECT = -2.99
MOST_PAIRS = 60
LEAST_RATIO = 1.10
CONFIDENCE = 0.99


@dataclass(slots=True)
class SignTest:
    """Pairs so far, as old/new."""

    ratios: list[float] = field(default_factory=list)
    score: float = 0.0

    def add(self, old: float, new: float) -> str | None:
        """Takes a pair in nanoseconds; ``accept`` or ``reject`` once it is decided."""
        ratio = old / max(new, 1e-9)
        self.ratios.append(ratio)
        self.score += WIN if ratio > LEAST_RATIO else LOSS
        if self.score >= ACCEPT:
            return "accept"
        if self.score <= REJECT or len(self.ratios) >= MOST_PAIRS:
            return "reject"
        return None

    @property
    def median(self) -> float:
        return median(self.ratios) if self.ratios else 1.0

    def interval(self) -> tuple[float, float]:
        """Around the median, at 99 % confidence where there are pairs enough (8), else the range."""
        ordered = sorted(self.ratios)
        if not ordered:
            return 1.0, 1.0
        n = len(ordered)
        outside, k = 0.0, 0
        while k < n // 2:
            outside += 2 * comb(n, k) / 2**n
            if outside > 1 - CONFIDENCE:
                break
            k += 1
        k = max(k, 1)
        return ordered[k - 1], ordered[n - k]

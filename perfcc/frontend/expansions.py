"""Where a file uses macros."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expansion:
    """A use of a macro in a file: ``[begin, end)`` holds its name and its arguments."""

    name: str
    begin: int
    end: int


class Expansions:
    """One file's uses of macros, filled by ``add`` from the preprocessing record, then asked.

    ``outermost`` holds, by their first bytes, the uses that are not an argument or the inside of another use; ``ending_at`` the same ones
    by where they end.
    """

    def __init__(self) -> None:
        self._all: list[Expansion] = []
        self._begins: list[int] = []
        self.outermost: dict[int, Expansion] = {}
        self._ends: list[Expansion] = []
        self.ending_at: dict[int, Expansion] = {}

    def add(self, use: Expansion) -> None:
        self._all.append(use)

    def finish(self) -> None:
        """Sorts what was added; once, before anything is asked."""
        reached = -1
        self._all.sort(key=lambda use: (use.begin, -use.end))
        self._begins = [use.begin for use in self._all]
        for use in self._all:
            if use.begin >= reached:
                self.outermost[use.begin] = use
                self._ends.append(use)
                self.ending_at[use.end] = use
                reached = use.end

    def __iter__(self) -> Iterator[Expansion]:
        return iter(self._ends)

    def uses_in(self, begin: int, end: int) -> list[Expansion]:
        """The outermost uses that begin in a byte range, in order."""
        return [use for use in self._ends if begin <= use.begin < end]

    def names_in(self, begin: int, end: int) -> set[str]:
        """The macros expanded in a byte range, inside others' arguments too."""
        return {use.name for use in self._all[bisect_left(self._begins, begin) : bisect_left(self._begins, end)]}

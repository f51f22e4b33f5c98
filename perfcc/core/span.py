"""Places in source text: byte spans for rewriting, line and column for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open byte range ``[begin, end)`` of one file.

    ``line`` and ``column`` (both from 1, column in bytes) belong to ``begin``; ``end_line`` to the last byte.
    """

    file: str
    begin: int
    end: int
    line: int
    column: int
    end_line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def contains(self, other: Span) -> bool:
        """True when ``other`` lies wholly inside this span of the same file."""
        return self.file == other.file and self.begin <= other.begin and other.end <= self.end

    def text(self, source: bytes) -> str:
        """The spanned text of ``source``, the whole content of ``file``."""
        return source[self.begin : self.end].decode("utf-8", "surrogateescape")

"""The user's own OpenMP pragmas, found in the text whether the compiler heeds them or not."""

from __future__ import annotations

import re
from bisect import bisect_right

from perfcc.frontend.source import SourceFile

_WORKSHARING = re.compile(r"\b(for|simd|taskloop|distribute|loop)\b")
_HEADER_PRAGMA = re.compile(rb'^[ \t]*#[ \t]*pragma[ \t]+omp\b|_Pragma[ \t]*\([ \t]*"[ \t]*omp\b', re.MULTILINE)


class OpenMP:
    """Where the pragmas act.

    ``directive_before`` maps the offset of a loop's keyword to the offset of the pragma that governs it; ``regions`` are the byte
    ranges under a parallel pragma; ``threadprivate`` the names that such a pragma gives to each thread.
    """

    def __init__(self, source: SourceFile) -> None:
        self.directive_before: dict[int, int] = {}
        self.regions: list[tuple[int, int]] = []
        self.threadprivate: set[str] = set()
        pragmas = [d for d in source.directives if d.name == "pragma" and d.rest.split(None, 1)[:1] == ["omp"]]
        for pragma in pragmas:
            private = re.match(r"omp\s+threadprivate\s*\(([^)]*)\)", pragma.rest)
            if private:
                self.threadprivate.update(name.strip() for name in private.group(1).split(","))
                continue
            words = re.sub(r"\([^()]*\)", " ", pragma.rest)
            index = source.token_index(pragma.end)
            if index >= len(source.tokens):
                continue
            begin = source.tokens[index].begin
            if source.tokens[index].text in ("for", "while", "do"):
                self.directive_before[begin] = pragma.begin
            if re.search(r"\b(parallel|task|teams|target)\b", words) and "declare" not in words:
                self.regions.append((begin, _statement_end(source, index)))
        for use in _operators(source):
            index = source.token_index(use)
            if index < len(source.tokens) and source.tokens[index].text in ("for", "while", "do"):
                self.directive_before[source.tokens[index].begin] = use
        self._pragmas = sorted(d.begin for d in pragmas)
        self.regions.sort()
        self._begins = [begin for begin, _ in self.regions]

    def directives_in(self, begin: int, end: int) -> list[int]:
        """The offsets of OpenMP pragmas in a byte range."""
        return [offset for offset in self._pragmas if begin <= offset < end]

    def inside(self, offset: int) -> bool:
        """True when ``offset`` lies in a statement under a parallel pragma, past that statement's first byte."""
        reach = bisect_right(self._begins, offset)
        return any(begin < offset < end for begin, end in self.regions[:reach])


def _operators(source: SourceFile) -> list[int]:
    """The ends of ``_Pragma("omp ...")`` operators."""
    found = []
    for index, token in enumerate(source.tokens[:-3]):
        if token.text == "_Pragma" and source.tokens[index + 2].text.lstrip('"').lstrip().startswith("omp"):
            found.append(source.tokens[index + 3].end)
    return found


def _statement_end(source: SourceFile, index: int) -> int:
    """Where the statement that begins at token ``index`` ends, going by brackets and semicolons alone."""
    tokens = source.tokens
    while index < len(tokens):
        text = tokens[index].text
        if text == "{":
            close = source.close_of(index)
            return tokens[close].end if close >= 0 else len(source.text)
        if text in ("for", "while", "if", "switch") and index + 1 < len(tokens) and tokens[index + 1].text == "(":
            close = source.close_of(index + 1)
            if close < 0:
                return len(source.text)
            index = close + 1
            continue
        if text in ("(", "["):
            close = source.close_of(index)
            if close < 0:
                return len(source.text)
            index = close + 1
            continue
        if text == ";":
            return tokens[index].end
        index += 1
    return len(source.text)


def in_header(text: bytes) -> bool:
    """True when a header's text holds an OpenMP pragma."""
    return b"omp" in text and _HEADER_PRAGMA.search(text) is not None

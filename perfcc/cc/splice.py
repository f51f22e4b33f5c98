"""Rewritten text: replacements at byte spans, with every other line keeping its number.

``#line`` is given the number alone: the file keeps its name, and Clang keeps it in mind as a file with a text of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perfcc.core.span import Span

_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(
    rb"""
    (?P<comment> // (?: [^\n\\] | \\. | \\\n )* | /\* .*? \*/ )
  | (?P<raw> \b (?:u8|[uUL])? R"(?P<delimiter>[^()\\\s"]{0,16}) \( .*? \) (?P=delimiter) " )
  | (?P<string> " (?: [^"\\\n] | \\. )* " )
  | (?P<char> (?<![0-9A-Za-z_]) (?:u8|[uUL])? ' (?: [^'\\\n] | \\. )* ' )
  | (?P<pragma> ^ [ \t]* (?: \# | %: | \?\?= ) (?: [ \t] | /\*.*?\*/ | \\\n )* pragma \b (?: [ \t] | /\*.*?\*/ | \\\n )* (?P<omp> omp ) \b )
  | (?P<operator> \b _Pragma \s* \( \s* (?:u8|[uUL])? " \s* (?P<word> omp ) \b )
  | (?P<number> \b [0-9] (?: [0-9A-Za-z_.] | '[0-9A-Za-z_] )* )
  | (?P<name> [A-Za-z_] \w* )
    """,
    re.X | re.S | re.M,
)
_LINE_DIRECTIVE = re.compile(rb"^(?:[ \t\f\v]|/\*[^\n]*?\*/|\\\r?\n)*(?:#|%:|\?\?=)(?:[ \t]|/\*[^\n]*?\*/|\\\r?\n)*(?:line\b|[0-9])", re.M)
_HEADER_NAME = re.compile(rb"^[ \t]*\#[ \t]*include[ \t]*<[^>\n]*>", re.M)
# A backslash and a line break are one piece: the line goes on.
_BREAK = re.compile(rb"\\[ \t]*\r?\n|[()\n]")


@dataclass(frozen=True, slots=True)
class Replacement:
    """``text`` takes the place of the bytes of ``span``; ``threads``: it holds OpenMP pragmas."""

    span: Span
    text: str
    threads: bool


def splice(source: bytes, replacements: Sequence[Replacement], head: str, mask_openmp: bool) -> bytes:
    """The rewritten text. ``head`` goes to the top at file scope.

    With ``mask_openmp`` the source's own OpenMP pragmas stay asleep although the text is compiled with -fopenmp. Raises ValueError when
    replacements overlap or lie outside the source, or where the source numbers its lines itself.
    """
    parts: list[bytes] = []
    if head:
        parts += [_line(1), _on_one_line(head.encode("utf-8"), _line(1)), b"\n"]
    at = len(_BOM) if source.startswith(_BOM) else 0
    if head:
        parts.append(_line(1))
    numbered = own_numbers(source)
    for item in sorted(replacements, key=lambda replacement: replacement.span.begin):
        begin, end = item.span.begin, item.span.end
        if begin < at or end < begin or end > len(source):
            raise ValueError(f"replacement at {item.span} overlaps another or lies outside the source")
        if end > numbered:
            raise ValueError("the source numbers its lines itself, by #line")
        parts.append(_masked(source[at:begin], mask_openmp))
        parts.append(_numbered(item, source))
        parts.append(_resumed(source, end))
        at = end
    parts.append(_masked(source[at:], mask_openmp))
    return b"".join(parts)


def untouched(source: bytes, spans: Iterable[Span], top: bool = True) -> bytes:
    """The source with a line more at its top, and a line break before and after each of ``spans``; no line's number changes.

    Spans inside others, and those after a ``#line`` of the source's own, are left out.
    """
    at = len(_BOM) if source.startswith(_BOM) else 0
    parts = [source[:at], *((b"/* perfcc */\n", _line(1)) if top else ())]
    numbered = own_numbers(source)
    for span in sorted(spans, key=lambda span: (span.begin, -span.end)):
        if at <= span.begin <= span.end <= numbered:
            parts += [source[at : span.begin], _resumed(source, span.begin), source[span.begin : span.end], _resumed(source, span.end)]
            at = span.end
    return b"".join((*parts, source[at:]))


def lengthened(source: bytes) -> bytes:
    """The source with something at its end, where it moves nothing: not even lines as they are counted without ``#line``."""
    return source + b"/* perfcc */"


def own_numbers(source: bytes) -> int:
    """Where the source's first ``#line`` stands, or what looks like one; the source's length where there is none."""
    match = _LINE_DIRECTIVE.search(source)
    return match.start() if match else len(source)


def _resumed(source: bytes, at: int) -> bytes:
    """A line break after which the text from ``at`` has its old line and column."""
    return b"\n" + _line(source.count(b"\n", 0, at) + 1) + b" " * (at - source.rfind(b"\n", 0, at) - 1)


def _numbered(item: Replacement, source: bytes) -> bytes:
    """The replacement: what repeats the original verbatim has the original's line numbers, all else that of the original's first line."""
    text = item.text.encode("utf-8", "surrogateescape")
    original = source[item.span.begin : item.span.end]
    before, after = around_original(text, original)
    if text == original:
        return text
    column = item.span.begin - source.rfind(b"\n", 0, item.span.begin) - 1
    line = _line(source.count(b"\n", 0, item.span.begin) + 1)
    if text == before:
        return _on_one_line(text, line)
    return _on_one_line(before, line) + b"\n" + line + b" " * column + original + after


def _on_one_line(text: bytes, line: bytes) -> bytes:
    """The text with ``line`` after every line break that stands between tokens and outside parentheses, where a directive may stand."""
    inside = [match.span() for match in _TOKEN.finditer(text)]
    parts: list[bytes] = []
    at = depth = token = 0
    for match in _BREAK.finditer(text):
        begin, end = match.span()
        while token < len(inside) and inside[token][1] <= begin:
            token += 1
        if token < len(inside) and inside[token][0] <= begin:
            continue
        depth += {b"(": 1, b")": -1}.get(match.group(), 0)
        if match.group() == b"\n" and depth == 0 and end < len(text):
            parts += [text[at:end], line]
            at = end
    return b"".join((*parts, text[at:]))


def around_original(text: bytes, original: bytes) -> tuple[bytes, bytes]:
    """What a replacement has before and after the original that it repeats last; all of it and nothing when it repeats none."""
    at = text.rfind(original) if original else -1
    return (text, b"") if at < 0 else (text[:at], text[at + len(original) :])


def _line(number: int) -> bytes:
    return b"#line %d\n" % number


def _masked(text: bytes, mask: bool) -> bytes:
    """The same text with the word ``omp`` of every OpenMP pragma replaced by one that no compiler knows; no byte moves."""
    if not mask or b"omp" not in text:
        return text
    out = bytearray(text)
    for match in _TOKEN.finditer(text):
        for group in ("omp", "word"):
            begin, end = match.span(group)
            if begin >= 0:
                out[begin:end] = b"xmp"
    return bytes(out)


def names(text: bytes) -> Iterable[bytes]:
    """The identifiers of the text, in order; no comments, literals or header names. Lines that end in a backslash are joined first."""
    joined = _HEADER_NAME.sub(b"", re.sub(rb"\\[ \t]*\r?\n", b"", text))
    return (match["name"] for match in _TOKEN.finditer(joined) if match["name"] is not None)

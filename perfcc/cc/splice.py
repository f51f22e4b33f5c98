"""Rewritten text: replacements at byte spans, with every other line keeping its number."""

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
_HEADER_NAME = re.compile(rb"^[ \t]*\#[ \t]*include[ \t]*<[^>\n]*>", re.M)
# A backslash and a line break are one piece: the line goes on.
_BREAK = re.compile(rb"\\[ \t]*\r?\n|[()\n]")


@dataclass(frozen=True, slots=True)
class Replacement:
    """``text`` takes the place of the bytes of ``span``; ``threads``: it holds OpenMP pragmas."""

    span: Span
    text: str
    threads: bool


def splice(source: bytes, replacements: Sequence[Replacement], head: str, file: str, mask_openmp: bool) -> bytes:
    """The rewritten text. ``head`` goes to the top at file scope; ``file`` is the source's name as the compiler was given it.

    With ``mask_openmp`` the source's own OpenMP pragmas stay asleep although the text is compiled with -fopenmp. Raises ValueError when
    replacements overlap or lie outside the source.
    """
    parts: list[bytes] = []
    if head:
        # A file name of its own would be the first in the line table, where binutils expects the source.
        parts += [_line(1, file), _on_one_line(head.encode("utf-8"), _line(1, file)), b"\n"]
    at = len(_BOM) if source.startswith(_BOM) else 0
    if head:
        parts.append(_line(1, file))
    for item in sorted(replacements, key=lambda replacement: replacement.span.begin):
        begin, end = item.span.begin, item.span.end
        if begin < at or end < begin or end > len(source):
            raise ValueError(f"replacement at {item.span} overlaps another or lies outside the source")
        parts.append(_masked(source[at:begin], mask_openmp))
        parts.append(_numbered(item, source, file))
        parts.append(b"\n" + _line(source.count(b"\n", 0, end) + 1, file))
        parts.append(b" " * (end - source.rfind(b"\n", 0, end) - 1))
        at = end
    parts.append(_masked(source[at:], mask_openmp))
    return b"".join(parts)


def _numbered(item: Replacement, source: bytes, file: str) -> bytes:
    """The replacement: what repeats the original verbatim has the original's line numbers, all else that of the original's first line."""
    text = item.text.encode("utf-8", "surrogateescape")
    original = source[item.span.begin : item.span.end]
    before, after = around_original(text, original)
    if text == original:
        return text
    column = item.span.begin - source.rfind(b"\n", 0, item.span.begin) - 1
    line = _line(source.count(b"\n", 0, item.span.begin) + 1, file)
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


def _line(number: int, file: str) -> bytes:
    quoted = file.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {number} "{quoted}"\n'.encode("utf-8", "surrogateescape")


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

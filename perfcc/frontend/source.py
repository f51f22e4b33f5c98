"""The main file's bytes: spans, tokens, directives. Offsets are bytes throughout, as libclang's are."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from perfcc.core.span import Span

_TOKEN = re.compile(
    rb"""
      (?P<skip> [ \t\r\f\v\n]+ | //(?:\\\r?\n|[^\n])*  | /\*.*?\*/ | \\\r?\n )
    | (?P<raw> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)" )
    | (?P<string> (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | (?:u8|[uUL])?'(?:\\.|[^'\\\n])*' )
    | (?P<number> \.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_.])* )
    | (?P<word> [A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]* )
    | (?P<punct> <<= | >>= | \.\.\. | ->\* | -> | \+\+ | -- | << | >> | <= | >= | == | != | && | \|\| | [-+*/%&|^]= | \#\# | :: | . )
    """,
    re.VERBOSE | re.DOTALL,
)
# What a directive's line has to be looked at for.
_STOP = re.compile(rb"[\n\\\"'/]")
_NAME = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is ``word``, ``number``, ``string``, ``raw`` or ``punct``."""

    kind: str
    text: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessing directive: its name (``define``, ``pragma``, ...), the rest of its line, and its byte range."""

    name: str
    rest: str
    begin: int
    end: int


def scan(text: bytes) -> tuple[list[Token], list[Directive]]:
    """The preprocessing tokens of ``text`` outside directives, and the directives. Conditional groups are not evaluated."""
    tokens: list[Token] = []
    directives: list[Directive] = []
    position, size, line_start = 0, len(text), True
    match_at = _TOKEN.match
    if text.startswith(b"\xef\xbb\xbf"):
        position = 3
    while position < size:
        found = match_at(text, position)
        if found is None:  # cannot happen: the last alternative takes any byte
            position += 1
            continue
        kind = found.lastgroup or ""
        end = found.end()
        if kind == "mark":
            kind = "raw"
        if kind == "skip":
            line_start = line_start or b"\n" in found.group()
        elif line_start and found.group() == b"#":
            end = _directive_end(text, position)
            line = _uncomment(text[position + 1 : end]).strip()
            name = line.split(None, 1)[0] if line else ""
            parts = _NAME.match(name)
            head = parts.group() if parts else name
            rest = line[len(head) :].strip()
            directives.append(Directive(head, rest, position, end))
        else:
            tokens.append(Token(kind, found.group().decode("utf-8", "surrogateescape"), position, end))
            line_start = False
        position = end
    return tokens, directives


def _directive_end(text: bytes, begin: int) -> int:
    """The end of the directive's logical line: continuation lines and block comments belong to it."""
    position, size = begin, len(text)
    while stop := _STOP.search(text, position):
        position = stop.start()
        byte = text[position]
        if byte == 0x0A:
            return position
        if byte == 0x5C:
            position += 3 if text[position + 1 : position + 3] == b"\r\n" else 2
        elif text.startswith(b"/*", position):
            close = text.find(b"*/", position + 2)
            position = size if close < 0 else close + 2
        elif byte in b"\"'":
            found = _TOKEN.match(text, position)
            position = found.end() if found and found.lastgroup == "string" else position + 1
        elif text.startswith(b"//", position):
            found = _TOKEN.match(text, position)
            return found.end() if found else size
        else:
            position += 1
    return size


def _uncomment(line: bytes) -> str:
    if b"/" not in line and b"\\" not in line:
        return line.decode("utf-8", "surrogateescape")
    line = re.sub(rb"\\\r?\n", b"", line)
    line = re.sub(rb"/\*.*?\*/", b" ", line, flags=re.DOTALL)
    return re.sub(rb"//.*", b"", line).decode("utf-8", "surrogateescape")


class SourceFile:
    """One file's text with its tokens, looked up by offset."""

    def __init__(self, name: str, text: bytes) -> None:
        self.name = name
        self.text = text
        self.tokens, self.directives = scan(text)
        self._begins = [token.begin for token in self.tokens]
        self._lines = [0, *(found.end() for found in re.finditer(rb"\n", text))]
        self._directive_begins = [directive.begin for directive in self.directives]

    def line(self, offset: int) -> int:
        return bisect_right(self._lines, offset)

    def span(self, begin: int, end: int) -> Span:
        line = self.line(begin)
        return Span(self.name, begin, end, line, begin - self._lines[line - 1] + 1, self.line(max(begin, end - 1)))

    def slice(self, begin: int, end: int) -> str:
        return self.text[begin:end].decode("utf-8", "surrogateescape")

    def token_index(self, offset: int) -> int:
        """The index of the first token that begins at or after ``offset``."""
        return bisect_left(self._begins, offset)

    def tokens_in(self, begin: int, end: int) -> list[Token]:
        return self.tokens[self.token_index(begin) : self.token_index(end)]

    def directives_in(self, begin: int, end: int) -> list[Directive]:
        return self.directives[bisect_left(self._directive_begins, begin) : bisect_left(self._directive_begins, end)]

    def close_of(self, index: int) -> int:
        """The index of the token that closes the bracket at token ``index``; -1 when there is none."""
        pairs = {"(": ")", "[": "]", "{": "}"}
        depth = 0
        for position in range(index, len(self.tokens)):
            text = self.tokens[position].text
            if self.tokens[position].kind != "punct":
                continue
            if text in pairs:
                depth += 1
            elif text in (")", "]", "}"):
                depth -= 1
                if depth == 0:
                    return position
        return -1

"""The unit's macros: what their replacements look like, and the definitions a codelet needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perfcc.frontend.libclang import Ast, Cursor
from perfcc.frontend.source import Token, scan

_TYPE_WORD_LIST = """
char short int long float double signed unsigned bool _Bool const inline static register constexpr __inline __inline__ __restrict
__restrict__ restrict
"""
_TYPE_WORDS = frozenset(_TYPE_WORD_LIST.split())
_STATEMENT_WORD_LIST = """
if else for while do switch case default break continue return goto throw try catch new delete asm __asm__ struct class union enum
typedef template operator sizeof
"""
_STATEMENT_WORDS = frozenset(_STATEMENT_WORD_LIST.split())
_OPERATOR_LIST = """
+ - * / % < > <= >= == != && || & | ^ << >> ? : .
"""
_OPERATORS = frozenset(_OPERATOR_LIST.split())


@dataclass(frozen=True, slots=True)
class Macro:
    """A definition: ``text`` is what follows ``#define``, on one line; ``given`` tells that the compiler or its command line defines it."""

    name: str
    text: str
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]
    given: bool = False


class Macros:
    """The definitions of the whole unit, filled by ``add`` from the preprocessing record, then asked. ``read`` gives a file's text."""

    def __init__(self, ast: Ast, args: Sequence[str], read: Callable[[str], bytes]) -> None:
        self._ast = ast
        self._command_line = _command_line(args)
        self._read = read
        self._definitions: dict[str, list[Cursor]] = {}
        self._parsed: dict[str, Macro | None] = {}

    def add(self, cursor: Cursor) -> None:
        self._definitions.setdefault(self._ast.spelling(cursor), []).append(cursor)

    def has_loop(self, name: str, depth: int = 0) -> bool:
        """The replacement holds a loop's keyword, at any depth."""
        macro = self.get(name)
        if macro is None or depth > 20:
            return False
        return any(
            token.text in ("for", "while", "do") or (token.text != name and self.has_loop(token.text, depth + 1))
            for token in macro.body
            if token.kind == "word"
        )

    def get(self, name: str) -> Macro | None:
        """The definition of ``name``; ``None`` if it is none, built in, or has several different definitions."""
        if name not in self._parsed:
            self._parsed[name] = self._parse(name)
        return self._parsed[name]

    def defined(self, name: str) -> bool:
        return name in self._definitions

    def all_texts(self, name: str) -> str:
        """Every definition of ``name``, as written, one a line."""
        return "\n".join(sorted(self._written(name)))

    def _written(self, name: str) -> set[str]:
        found: set[str] = set()
        for cursor in self._definitions.get(name, ()):
            place = self._ast.place(cursor)
            if place.file is None:
                found.add(self._command_line.get(name, f"{name} 0"))
                continue
            begin, end = self._ast.extent(cursor)
            found.add(self._read(place.file)[begin:end].decode("utf-8", "surrogateescape"))
        return found

    def _parse(self, name: str) -> Macro | None:
        found = self._written(name)
        if len(found) != 1:
            return None
        text = re.sub(r"[ \t]*\\\r?\n[ \t]*", " ", found.pop()).strip()
        text = re.sub(r"/\*.*?\*/|//.*", " ", text, flags=re.DOTALL).strip()
        rest = text[len(name) :]
        parameters: tuple[str, ...] | None = None
        if rest.startswith("("):
            close = rest.index(")")
            parameters = tuple(part.strip() for part in rest[1:close].split(",") if part.strip())
            rest = rest[close + 1 :]
        body, _ = scan(b" " + rest.encode("utf-8", "surrogateescape"))
        given = all(self._ast.place(cursor).file is None for cursor in self._definitions[name])
        if given and name not in self._command_line and not name.startswith("__"):
            return None
        return Macro(name, text, parameters, tuple(body), given)

    # -- forms ---------------------------------------------------------------------------------------------------

    def is_type_like(self, name: str, depth: int = 0) -> bool:
        """The replacement is made of type names and specifiers only (or is empty), so it can't hide an expression."""
        macro = self.get(name)
        if macro is None or macro.parameters is not None or depth > 20:
            return False
        for token in macro.body:
            if token.kind == "word":
                if token.text in _STATEMENT_WORDS:
                    return False
                if self.defined(token.text) and not self.is_type_like(token.text, depth + 1):
                    return False
            elif token.text not in ("::", "*"):
                return False
        return all(token.text != "*" for token in macro.body) or any(token.text in _TYPE_WORDS for token in macro.body)

    def is_expression_like(self, name: str, depth: int = 0) -> bool:
        """The replacement has the outer form of one expression without side effects: balanced, from an operand to an operand."""
        macro = self.get(name)
        if macro is None or depth > 20 or not macro.body:
            return False
        body = macro.body
        level = 0
        for token in body:
            if token.kind == "punct":
                if token.text in ("(", "["):
                    level += 1
                elif token.text in (")", "]"):
                    level -= 1
                    if level < 0:
                        return False
                elif token.text == ",":
                    if level == 0:
                        return False
                elif token.text not in _OPERATORS and token.text not in ("!", "~", "::"):
                    return False
            elif token.kind == "word":
                if token.text in _STATEMENT_WORDS and token.text != "sizeof":
                    return False
                if token.text == name or token.text in (macro.parameters or ()):
                    continue
                if self.defined(token.text) and not (self.is_expression_like(token.text, depth + 1) or self.is_type_like(token.text)):
                    return False
            elif token.kind in ("string", "raw") and not token.text.startswith("'"):
                return False
        first, last = body[0], body[-1]
        starts = first.kind in ("word", "number", "string") or first.text in ("(", "-", "+", "!", "~")
        ends = last.kind in ("word", "number", "string") or last.text in (")", "]")
        return level == 0 and starts and ends

    def begins_with_operator(self, name: str, depth: int = 0) -> bool:
        """The replacement's first token may be a unary operator, and so could bind to what stands before the use."""
        macro = self.get(name)
        if macro is None or not macro.body or depth > 20:
            return True
        first = macro.body[0]
        if first.kind == "word" and self.defined(first.text):
            return self.begins_with_operator(first.text, depth + 1)
        return first.text in ("-", "+", "!", "~", "*", "&")

    def needed_by(self, words: set[str]) -> list[str]:
        """``#define`` lines for the macros among ``words``, those they use first. Built-in macros need none."""
        lines: list[str] = []
        done: set[str] = set()

        def need(name: str) -> None:
            if name in done or not self.defined(name):
                return
            done.add(name)
            macro = self.get(name)
            if macro is None:
                return
            for token in macro.body:
                if token.kind == "word":
                    need(token.text)
            if not macro.given:
                lines.append(f"#define {macro.text}")

        for word in sorted(words):
            need(word)
        return lines

    def words_behind(self, words: set[str]) -> set[str]:
        """``words`` and every word of the replacements they lead to."""
        found = set(words)
        pending = [word for word in words if self.defined(word)]
        while pending:
            macro = self.get(pending.pop())
            for token in macro.body if macro else ():
                if token.kind == "word" and token.text not in found:
                    found.add(token.text)
                    if self.defined(token.text):
                        pending.append(token.text)
        return found


def _command_line(args: Sequence[str]) -> dict[str, str]:
    """``NAME VALUE`` by name, from ``-DNAME``, ``-DNAME=VALUE`` and their two-word forms."""
    found: dict[str, str] = {}
    following = [*args[1:], ""]
    for arg, after in zip(args, following, strict=True):
        text = after if arg == "-D" else arg[2:] if arg.startswith("-D") else ""
        if text:
            head, equals, value = text.partition("=")
            name = head.partition("(")[0]
            found[name] = f"{head} {value if equals else '1'}"
    return found

"""Which functions of the project's headers a unit can reach: for the others it holds no code.

Told by names alone, so that templates and overloads need no resolving: a function counts as reached when its name stands anywhere in
the main file or in something else that is reached. That is too many at times, which costs a look, and hardly ever too few, which costs a
rewrite.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from perfcc.frontend import kinds as k
from perfcc.frontend.collect import Definition
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.source import Token
from perfcc.frontend.unit import Whole

_WORD = re.compile(r"[^\W\d]\w*")
_EXTERNAL_LINKAGE = 4
# Called without being named: range-based for loops, structured bindings, swap.
# Every method of a class: an explicit instantiation names none of them.
_ALL = "::*"
_UNNAMED = frozenset({"begin", "end", "get", "swap"})


class Reach:
    """Told of every declaration of the project's headers, then asked about the functions among them."""

    def __init__(self, whole: Whole) -> None:
        self._whole = whole
        self._ast = whole.ast
        self._parts: dict[str, list[int]] = {}
        self._texts: list[tuple[str, list[tuple[int, int]]]] = []
        self._functions: dict[int, Definition] = {}
        self._always: list[int] = []
        self._reached: set[int] = set()

    def declaration(self, file: str, cursor: Cursor, owner: Cursor | None) -> None:
        """A class, a typedef or anything else that is no function."""
        name = self._ast.spelling(cursor)
        if not name or file == self._whole.main:
            return
        begin, end = self._ast.extent(cursor)
        spans = [(begin, end)]
        if cursor.kind in k.RECORDS or cursor.kind in k.TEMPLATES:
            spans = self._around_functions(file, cursor, begin, end)
        self._part({_plain(name)}, file, spans)

    def function(self, found: Definition) -> None:
        """A function or a variable."""
        part = self._part(self._keys(found), found.file, [(found.begin, found.end)])
        self._functions[part] = found

    def close(self) -> None:
        """Follows the names from the main file on."""
        main = self._whole.source_of(self._whole.main)
        words = {token.text for token in main.tokens if token.kind == "word"}
        words |= _instantiated(main.tokens)
        words |= {word for directive in main.directives if directive.name == "define" for word in _WORD.findall(directive.rest)}
        known: set[str] = set()
        pending = [words, *(self._take(part) for part in self._always)]
        while pending:
            new = pending.pop() - known
            known |= new
            for word in new:
                pending += [self._take(part) for part in self._parts.get(word, ()) if part not in self._reached]
                if self._whole.macros.defined(word):
                    pending.append(set(_WORD.findall(self._whole.macros.all_texts(word))))

    def functions(self) -> list[Definition]:
        """The reached ones, in the order they were told."""
        return [self._functions[part] for part in sorted(self._reached) if part in self._functions]

    # -- inside --------------------------------------------------------------------------------------------------

    def _part(self, keys: set[str], file: str, spans: list[tuple[int, int]]) -> int:
        part = len(self._texts)
        self._texts.append((file, spans))
        for key in keys:
            self._parts.setdefault(key, []).append(part)
        if not keys:
            self._always.append(part)
        return part

    def _take(self, part: int) -> set[str]:
        self._reached.add(part)
        file, spans = self._texts[part]
        text = self._whole.text_of(file)
        return {word for begin, end in spans for word in _WORD.findall(text[begin:end].decode("utf-8", "surrogateescape"))}

    def _keys(self, found: Definition) -> set[str]:
        """The names by which it is reached, any of them; none: always."""
        ast, cursor = self._ast, found.cursor
        name = _plain(ast.spelling(cursor))
        owner = found.owner or self._class_of(cursor)
        special = cursor.kind in (k.CONSTRUCTOR, k.DESTRUCTOR, k.CONVERSION_FUNCTION) or not name.isidentifier()
        if owner is None:
            inline = bool(ast.lib.clang_Cursor_isFunctionInlined(cursor))
            emitted = cursor.kind == k.FUNCTION_DECL and not inline and ast.lib.clang_getCursorLinkage(cursor) == _EXTERNAL_LINKAGE
            return set() if special or emitted or cursor.kind == k.VAR_DECL else {name}
        holder = _plain(ast.spelling(owner))
        if special or name in _UNNAMED:
            return {holder}
        if ast.lib.clang_CXXMethod_isVirtual(cursor) or cursor.kind in (k.VAR_DECL, k.FIELD_DECL):
            return {name, holder}
        return {name, holder + _ALL}

    def _class_of(self, cursor: Cursor) -> Cursor | None:
        """The class of a method that is defined outside it."""
        parent = self._ast.parent(cursor)
        return parent if parent is not None and (parent.kind in k.RECORDS or parent.kind in k.TEMPLATES) else None

    def _around_functions(self, file: str, cursor: Cursor, begin: int, end: int) -> list[tuple[int, int]]:
        """A class's bytes without its methods and inner classes, which are parts of their own."""
        spans = []
        at = begin
        for child in self._ast.children(cursor):
            own = child.kind in k.FUNCTIONS or child.kind in k.RECORDS or child.kind in k.TEMPLATES
            first, last = self._ast.extent(child)
            if own and first >= at and self._ast.file_of(child) == file:
                spans.append((at, first))
                at = last
        return [*spans, (at, end)]


def _instantiated(tokens: Sequence[Token]) -> set[str]:
    """What ``template class X<...>;`` reaches, for every word of such declarations."""
    found: set[str] = set()
    inside = False
    for token, after in pairwise(tokens):
        if token.text == "template":
            inside = after.text != "<"
        elif token.text == ";":
            inside = False
        elif inside and token.kind == "word":
            found.add(token.text + _ALL)
    return found


def _plain(name: str) -> str:
    """A name without template arguments; constructors of class templates are spelled with them."""
    return name if name.startswith("operator") else name.partition("<")[0]

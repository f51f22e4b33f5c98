"""One parsed unit with the tables that building kernels needs: what belongs to the whole, and what to each file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.frontend import attributes, openmp
from perfcc.frontend.expansions import Expansions
from perfcc.frontend.libclang import Ast, Cursor
from perfcc.frontend.macros import Macros
from perfcc.frontend.refusal import Refused
from perfcc.frontend.scalars import Types
from perfcc.frontend.source import SourceFile
from perfcc.frontend.tree import Node


class Whole:
    """The AST, the texts it was read from, the macros' definitions and the types.

    ``main`` is the main file's name, ``cwd`` the directory that names of files are relative to, ``language`` ``c`` or ``c++``.
    ``hosted``: functions named like the C library's are the C library's. ``weak`` are names that pragmas leave to the linker,
    ``threadprivate`` those that pragmas give to each thread; ``options_changed`` is where the source sets optimisation options of its
    own; ``expansions`` are the uses of macros in the files that may hold kernels.
    """

    def __init__(self, ast: Ast, main: SourceFile, args: Sequence[str], language: str, cwd: str) -> None:
        self.ast = ast
        self.main = main.name
        self.language = language
        self.types = Types(ast, language)
        self.macros = Macros(ast, args, self.text_of)
        self.hosted = not any(arg.startswith("-fno-builtin") or arg == "-ffreestanding" for arg in args)
        self.weak: set[str] = set()
        self.threadprivate: set[str] = set()
        self.options_changed: Span | None = None
        self.expansions: dict[str, Expansions] = {}
        self._cwd = cwd
        self._texts: dict[str, bytes] = {main.name: main.text}
        self._sources: dict[str, SourceFile] = {main.name: main}
        self._take(main)

    def look_through(self, file: str) -> None:
        """Takes in the pragmas and attributes of a header that act on what other files do with its names."""
        if attributes.worth_a_look(self.text_of(file)):
            self._take(self.source_of(file))

    def _take(self, source: SourceFile) -> None:
        self.weak |= attributes.weak_names(source.directives)
        self.threadprivate |= attributes.threadprivate_names(source.directives)
        at = attributes.changes_options(source.tokens, source.directives)
        if self.options_changed is None and at is not None:
            self.options_changed = source.span(at, at + 1)

    def text_of(self, file: str) -> bytes:
        """The bytes of a file the unit was read from; empty when it can't be read any more."""
        if file not in self._texts:
            try:
                with open(os.path.join(self._cwd, file), "rb") as handle:
                    self._texts[file] = handle.read()
            except OSError:
                self._texts[file] = b""
        return self._texts[file]

    def source_of(self, file: str) -> SourceFile:
        """A file the unit was read from, cut into tokens."""
        if file not in self._sources:
            self._sources[file] = SourceFile(file, self.text_of(file))
        return self._sources[file]

    def openmp_in(self, file: str) -> bool:
        """The file holds an OpenMP pragma."""
        return openmp.in_header(self.text_of(file))

    def qualified_name(self, cursor: Cursor) -> str:
        """``ns::Class::name`` of a declaration."""
        parts: list[str] = []
        current: Cursor | None = cursor
        while current is not None and current.kind != 350 and len(parts) < 20:
            name = self.ast.spelling(current)
            if name and current.kind != 23:
                parts.append(name)
            current = self.ast.parent(current)
        return "::".join(reversed(parts))


class Unit:
    """One file's text and its uses of macros, beside what belongs to the ``whole``; offsets are that file's."""

    def __init__(self, whole: Whole, file: str) -> None:
        self.whole = whole
        self.ast = whole.ast
        self.language = whole.language
        self.types = whole.types
        self.macros = whole.macros
        self.source = whole.source_of(file)
        self.path = file
        self.expansions = whole.expansions[file]

    @cached_property
    def pragma_words(self) -> set[str]:
        """The words of the file's pragmas: their clauses read variables without a trace in the tree."""
        return self.macros.words_behind(attributes.pragma_words(self.source.tokens, self.source.directives))

    def source_at(self, node: Node) -> SourceFile:
        """The file that the node stands in: another one for what a callee's body mentions."""
        file = self.ast.place(node.cursor).file
        return self.source if file is None or file == self.path else self.whole.source_of(file)

    def end_of(self, node: Node) -> int:
        """The node's end; where its last token is an argument of a macro, the end of the macro's use."""
        use = self.expansions.outermost.get(node.end)
        if use is not None and node.begin <= use.begin:
            return use.end
        return node.end

    def span(self, node: Node) -> Span:
        return self.source.span(node.begin, max(self.end_of(node), node.begin + 1))

    def refuse(self, reason: str, node: Node, detail: str = "") -> Refused:
        return Refused(Reason(reason, self.span(node), detail))

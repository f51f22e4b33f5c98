"""One parsed unit with the tables that building kernels needs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.frontend import attributes
from perfcc.frontend.libclang import Ast, Cursor
from perfcc.frontend.macros import Macros
from perfcc.frontend.refusal import Refused
from perfcc.frontend.scalars import Types
from perfcc.frontend.source import SourceFile, scan
from perfcc.frontend.tree import Node


class Unit:
    """The AST, the main file's text, its macros and types.

    ``path`` is the main file as libclang names it, ``language`` ``c`` or ``c++``. ``hosted``: functions named like the C library's are
    the C library's. ``weak`` are names that pragmas leave to the linker, ``threadprivate`` those that a header's
    pragmas give to each thread; ``options_changed`` is where the source sets optimisation options of its own.
    """

    def __init__(self, ast: Ast, source: SourceFile, path: str, args: Sequence[str], language: str) -> None:
        self.ast = ast
        self.source = source
        self.path = path
        self.language = language
        self.types = Types(ast, language)
        self.macros = Macros(ast, path, source, args)
        self.texts: dict[str, bytes] = {path: source.text}
        self.hosted = not any(arg.startswith("-fno-builtin") or arg == "-ffreestanding" for arg in args)
        self.weak: set[str] = attributes.weak_names(source.directives)
        self.threadprivate: set[str] = set()
        self.options_changed: int | None = attributes.changes_options(source.tokens, source.directives)

    @cached_property
    def pragma_words(self) -> set[str]:
        """The words of the main file's pragmas: their clauses read variables without a trace in the tree."""
        return self.macros.words_behind(attributes.pragma_words(self.source.tokens, self.source.directives))

    def look_through(self, file: str) -> None:
        """Takes in the pragmas and attributes of a header that act on what the main file does with its names."""
        text = self.text_of(file)
        if attributes.worth_a_look(text):
            tokens, directives = scan(text)
            self.weak |= attributes.weak_names(directives)
            self.threadprivate |= attributes.threadprivate_names(directives)
            if self.options_changed is None and attributes.changes_options(tokens, directives) is not None:
                self.options_changed = 0

    def end_of(self, node: Node) -> int:
        """The node's end; where its last token is an argument of a macro, the end of the macro's use."""
        use = self.macros.outermost.get(node.end)
        if use is not None and node.begin <= use.begin:
            return use.end
        return node.end

    def span(self, node: Node) -> Span:
        return self.source.span(node.begin, max(self.end_of(node), node.begin + 1))

    def refuse(self, reason: str, node: Node, detail: str = "") -> Refused:
        return Refused(Reason(reason, self.span(node), detail))

    def text_of(self, file: str) -> bytes:
        """The bytes of a file the unit was read from; empty when it can't be read any more."""
        if file not in self.texts:
            try:
                with open(file, "rb") as handle:
                    self.texts[file] = handle.read()
            except OSError:
                self.texts[file] = b""
        return self.texts[file]

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

"""Cursors as a tree that can be walked upwards too, built once a function."""

from __future__ import annotations

from collections.abc import Iterator

from perfcc.frontend import kinds as k
from perfcc.frontend.libclang import Ast, Cursor


class Node:
    """A cursor of a function's body with its parent and children.

    Offsets are bytes of the file it stands in, macros expanded at their use.
    """

    __slots__ = ("_children", "_extent", "ast", "cursor", "kind", "parent")

    def __init__(self, ast: Ast, cursor: Cursor, parent: Node | None) -> None:
        self.ast = ast
        self.cursor = cursor
        self.kind: int = cursor.kind
        self.parent = parent
        self._children: list[Node] | None = None
        self._extent: tuple[int, int] | None = None

    @property
    def children(self) -> list[Node]:
        if self._children is None:
            self._children = [Node(self.ast, child, self) for child in self.ast.children(self.cursor)]
        return self._children

    @property
    def begin(self) -> int:
        return self._range()[0]

    @property
    def end(self) -> int:
        return self._range()[1]

    def _range(self) -> tuple[int, int]:
        if self._extent is None:
            self._extent = self.ast.extent(self.cursor)
        return self._extent

    @property
    def spelling(self) -> str:
        return self.ast.spelling(self.cursor)

    @property
    def expressions(self) -> list[Node]:
        """The children that are expressions: references to types and namespaces left out."""
        return [child for child in self.children if k.UNEXPOSED_EXPR <= child.kind <= k.LAST_EXPR]

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in libclang's order, without recursion."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def ancestors(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


def strip(node: Node) -> Node:
    """The node below parentheses and implicit conversions."""
    while node.kind in (k.PAREN_EXPR, k.UNEXPOSED_EXPR):
        inner = node.expressions
        if len(inner) != 1:
            return node
        node = inner[0]
    return node

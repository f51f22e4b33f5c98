"""Finding the main file's loops and the functions that hold them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from perfcc.frontend import kinds as k
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.tree import Node
from perfcc.frontend.unit import Unit

_CONTAINERS = frozenset({k.NAMESPACE, k.LINKAGE_SPEC, k.CLASS_TEMPLATE, k.CLASS_TEMPLATE_PARTIAL, *k.RECORDS})
_CONSTANT = frozenset({"constexpr", "consteval"})
LOOP_WORDS = frozenset({"for", "while", "do"})


@dataclass(slots=True)
class LoopSite:
    """A loop statement, the loops directly inside it (in this function or in lambdas and local classes within), and its surroundings."""

    node: Node
    inner: list[LoopSite] = field(default_factory=list)
    depth: int = 0


@dataclass(slots=True)
class FunctionSite:
    """A function with at least one loop.

    ``dependent`` tells that it depends on template parameters, ``constant`` that it is constexpr, where a rewrite couldn't be evaluated.
    """

    name: str
    node: Node
    dependent: bool
    constant: bool
    loops: list[LoopSite] = field(default_factory=list)


def loop_offsets(unit: Unit) -> list[int]:
    """Where loops may stand: the keywords, and the uses of macros that hold one."""
    offsets = [token.begin for token in unit.source.tokens if token.kind == "word" and token.text in LOOP_WORDS]
    names = unit.macros.names_with_loops()
    if names:
        offsets += [use.begin for use in unit.macros.uses_in(0, len(unit.source.text)) if use.name in names]
    return sorted(offsets)


def functions(unit: Unit, tops: list[Cursor], offsets: list[int]) -> Iterator[FunctionSite]:
    """Every function of the main file that holds a loop, in source order."""

    def holds_loop(begin: int, end: int) -> bool:
        position = bisect_left(offsets, begin)
        return position < len(offsets) and offsets[position] < end

    stack = [(cursor, False) for cursor in reversed(tops)]
    while stack:
        cursor, dependent = stack.pop()
        begin, end = unit.ast.extent(cursor)
        if not holds_loop(begin, max(end, begin + 1)):
            continue
        if cursor.kind in _CONTAINERS:
            inside = dependent or cursor.kind in k.TEMPLATES
            stack.extend((child, inside) for child in reversed(unit.ast.children(cursor)))
        elif cursor.kind in k.FUNCTIONS or cursor.kind in (k.FUNCTION_TEMPLATE, k.VAR_DECL, k.FIELD_DECL):
            depends = dependent or cursor.kind == k.FUNCTION_TEMPLATE or _in_template(unit, cursor)
            constant = _is_constexpr(unit, begin, end)
            site = FunctionSite(unit.qualified_name(cursor), Node(unit.ast, cursor, None), depends, constant)
            _find_loops(unit, site, holds_loop)
            if site.loops:
                yield site


def _in_template(unit: Unit, cursor: Cursor) -> bool:
    """A method defined outside its class template."""
    parent = unit.ast.parent(cursor)
    while parent is not None and parent.kind != 350:
        if parent.kind in k.TEMPLATES:
            return True
        parent = unit.ast.parent(parent)
    return False


def _is_constexpr(unit: Unit, begin: int, end: int) -> bool:
    """The words before the function's body say ``constexpr`` or ``consteval``, in a macro's replacement too."""
    words: set[str] = set()
    for token in unit.source.tokens_in(begin, end):
        if token.text == "{":
            break
        words.add(token.text)
    return not _CONSTANT.isdisjoint(unit.macros.words_behind(words))


def _find_loops(unit: Unit, site: FunctionSite, holds_loop: Callable[[int, int], bool]) -> None:
    stack: list[tuple[Node, LoopSite | None]] = [(site.node, None)]
    while stack:
        node, outer = stack.pop()
        if node.kind in k.LOOPS and unit.ast.in_main_file(node.cursor):
            found = LoopSite(node, depth=outer.depth + 1 if outer else 0)
            (outer.inner if outer else site.loops).append(found)
            outer = found
        for child in reversed(node.children):
            if child.kind >= k.UNEXPOSED_EXPR or child.kind in (k.VAR_DECL, *_CONTAINERS, *k.FUNCTIONS):
                begin, end = child.begin, child.end
                # an OpenMP directive's own range is its pragma's
                if k.is_openmp_directive(child.kind) or holds_loop(begin, max(end, begin + 1)):
                    stack.append((child, outer))


def is_generic_lambda(unit: Unit, node: Node) -> bool:
    """``node`` lies in a lambda with ``auto`` parameters, so its types depend on the call."""
    for above in node.ancestors():
        if above.kind == k.LAMBDA_EXPR:
            for child in above.children:
                if child.kind == k.PARM_DECL and "auto" in unit.ast.type_spelling(unit.ast.type(child.cursor)).split():
                    return True
                if child.kind in (27, 28, 29):
                    return True
    return False

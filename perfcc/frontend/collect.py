"""Finding loops and the functions that hold them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from perfcc.frontend import kinds as k
from perfcc.frontend.dependent import in_template
from perfcc.frontend.libclang import Ast, Cursor
from perfcc.frontend.tree import Node
from perfcc.frontend.unit import Unit

_CONTAINERS = frozenset({k.NAMESPACE, k.LINKAGE_SPEC, k.CLASS_TEMPLATE, k.CLASS_TEMPLATE_PARTIAL, k.FRIEND_DECL, *k.RECORDS})
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


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or variable at namespace or class scope: its bytes in ``file``, and the class it is written in (``None``: in none)."""

    cursor: Cursor
    file: str
    begin: int
    end: int
    dependent: bool
    owner: Cursor | None


def definitions(
    ast: Ast, tops: Sequence[tuple[str, Cursor]], skip: Callable[[str, int, int], bool], seen: Callable[[str, Cursor, Cursor | None], None]
) -> Iterator[Definition]:
    """What may hold loops among ``tops`` (file and cursor) and below, in source order.

    Namespaces and classes for whose file and bytes ``skip`` is true are not entered. ``seen`` is told of all other declarations met,
    classes included: file, cursor, and the class around.
    """
    stack: list[tuple[str, Cursor, bool, Cursor | None]] = []
    stack.extend((file, cursor, False, None) for file, cursor in reversed(tops))
    while stack:
        file, cursor, dependent, owner = stack.pop()
        begin, end = ast.extent(cursor)
        if cursor.kind in _CONTAINERS:
            if skip(file, begin, max(end, begin + 1)):
                continue
            inside = dependent or cursor.kind in k.TEMPLATES
            around = owner
            if cursor.kind in k.RECORDS or cursor.kind in k.TEMPLATES:
                seen(file, cursor, owner)
                around = cursor
            children = ast.children(cursor)
            stack.extend((ast.file_of(child) or file, child, inside, around) for child in reversed(children))
        elif cursor.kind in k.FUNCTIONS or cursor.kind in (k.FUNCTION_TEMPLATE, k.VAR_DECL, k.FIELD_DECL):
            yield Definition(cursor, file, begin, max(end, begin + 1), dependent, owner)
        else:
            seen(file, cursor, owner)


def loop_offsets(unit: Unit) -> list[int]:
    """Where loops may stand: the keywords, and the uses of macros that hold one."""
    offsets = [token.begin for token in unit.source.tokens if token.kind == "word" and token.text in LOOP_WORDS]
    names = {use.name for use in unit.expansions if unit.macros.has_loop(use.name)}
    if names:
        offsets += [use.begin for use in unit.expansions if use.name in names]
    return sorted(offsets)


def holds_one(offsets: list[int], begin: int, end: int) -> bool:
    """Some of the sorted ``offsets`` lies in a byte range."""
    position = bisect_left(offsets, begin)
    return position < len(offsets) and offsets[position] < end


def function(unit: Unit, found: Definition, offsets: list[int]) -> FunctionSite | None:
    """The function with its loops; None when it has none in its own file. ``offsets`` are the file's ``loop_offsets``."""
    if not holds_one(offsets, found.begin, found.end):
        return None
    cursor = found.cursor
    depends = found.dependent or cursor.kind == k.FUNCTION_TEMPLATE or in_template(unit.ast, cursor)
    constant = _is_constexpr(unit, found.begin, found.end)
    site = FunctionSite(unit.whole.qualified_name(cursor), Node(unit.ast, cursor, None), depends, constant)
    _find_loops(unit, site, lambda begin, end: holds_one(offsets, begin, end))
    return site if site.loops else None


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
        if node.kind in k.LOOPS and unit.ast.file_of(node.cursor) == unit.path:
            found = LoopSite(node, depth=outer.depth + 1 if outer else 0)
            (outer.inner if outer else site.loops).append(found)
            outer = found
        for child in reversed(node.children):
            if child.kind in _CONTAINERS and node is site.node:
                continue  # a class that is declared with the variable has sites of its own
            if child.kind >= k.UNEXPOSED_EXPR or child.kind in (k.VAR_DECL, *_CONTAINERS, *k.FUNCTIONS):
                begin, end = child.begin, child.end
                # an OpenMP directive's own range is its pragma's
                if k.is_openmp_directive(child.kind) or holds_loop(begin, max(end, begin + 1)):
                    stack.append((child, outer))


def is_constant_lambda(unit: Unit, node: Node) -> bool:
    """``node`` lies in a lambda that may be evaluated while compiling, where the compiler may go on without if it can't be.

    Lambdas are constexpr where they can be (C++17). A variable outside functions, or a member, that one initialises is there before any
    code runs, or else not; one without captures can be used so outside of its function too, by its type (C++20).
    """
    inside = False
    for above in node.ancestors():
        if above.kind == k.LAMBDA_EXPR:
            at = unit.source.token_index(above.begin)
            if [token.text for token in unit.source.tokens[at : at + 2]] == ["[", "]"]:
                return True
            inside = True
        elif inside and above.parent is None:
            return above.kind in (k.VAR_DECL, k.FIELD_DECL)
    return False


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

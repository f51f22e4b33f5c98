"""Attributes that change what a declaration means: what may alias what, which body or value counts, which options hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from perfcc.frontend import kinds as k
from perfcc.frontend.libclang import Cursor, Type
from perfcc.frontend.source import Directive, Token, scan

if TYPE_CHECKING:
    from perfcc.frontend.unit import Unit

_FIRST, _LAST = 400, 499
_ASM_LABEL = 407
# Attributes of functions that change neither what a call does nor whose body it runs.
_HARMLESS_LIST = """
always_inline noinline inline gnu_inline const pure hot cold nothrow leaf unused used maybe_unused nodiscard flatten artificial
warn_unused_result visibility default hidden noclone noipa no_instrument_function nonnull returns_nonnull deprecated final override
attribute gnu clang noexcept static constexpr extern
"""
_HARMLESS = frozenset(_HARMLESS_LIST.split())
# What may stand in the way of a variable's name standing for an object of its own, which nobody reads but by that name.
_ELSEWHERE = frozenset({"alias", "weakref", "asm", "weak", "ifunc", "selectany", "cleanup"})
# Options under which more programs are defined, or less is known, than under those of the command line.
_STRICTER = re.compile(r"alias|wrap|trap|overflow|exception|rounding|finite|contract|^-?O?[01g]?$|^-?Og$", re.IGNORECASE)
_WORDS = re.compile(rb"threadprivate|optnone|optimize|target|FP_CONTRACT|clang[ \t]+fp|pragma[ \t]+(?:weak|redefine_extname)")
_STRINGS = re.compile(r'"([^"]*)"|\b(\d+)\b|\b(\w+)\b')


def words(unit: Unit, declared: Cursor) -> set[str]:
    """The words of a declaration's attributes, those of macros' replacements included, without their underscores."""
    ast, found = unit.ast, set()
    for child in ast.children(declared):
        if not _FIRST <= child.kind <= _LAST:
            continue
        if child.kind == _ASM_LABEL:
            found.add("asm")
            continue
        place = ast.place(child)
        begin, end = ast.extent(child)
        tokens, _ = scan(unit.whole.text_of(place.file or "")[begin:end])
        own = {token.text for token in tokens if token.kind == "word"}
        found |= unit.macros.words_behind(own) if own else {"?"}
    return {word.strip("_") for word in found}


def elsewhere(unit: Unit, declared: Cursor) -> str:
    """The attribute by which a variable may be another object than its declaration says, or have another value; "" for none."""
    given = words(unit, declared)
    definition = unit.ast.definition(declared)
    if definition is not None:
        given |= words(unit, definition)
    if unit.ast.spelling(declared) in unit.whole.weak:
        given.add("weak")
    return min(given & _ELSEWHERE, default="")


def replaceable(unit: Unit, function: Cursor) -> str:
    """The attribute by which another body than the one seen may run; "" for none."""
    if unit.ast.spelling(function) in unit.whole.weak:
        return "weak"
    return min((word for word in words(unit, function) if word not in _HARMLESS and not word.isdigit()), default="")


def aliases_anything(unit: Unit, type: Type) -> bool:
    """True when the type, or what it points to, is a typedef or a class with ``__attribute__((may_alias))``."""
    return any("may_alias" in words(unit, declared) for declared in _named(unit, type))


def _named(unit: Unit, type: Type) -> Iterator[Cursor]:
    """The typedefs and classes that a type is written with, below pointers, references and arrays."""
    ast, lib = unit.ast, unit.ast.lib
    for _ in range(40):
        declared = lib.clang_getTypeDeclaration(type)
        if declared.kind in (k.TYPEDEF_DECL, k.TYPE_ALIAS_DECL):
            yield declared
            type = lib.clang_getTypedefDeclUnderlyingType(declared)
            continue
        kind = ast.canonical_type(type).kind
        if kind in (k.T_POINTER, k.T_LVALUE_REFERENCE, k.T_RVALUE_REFERENCE):
            type = lib.clang_getPointeeType(type)
        elif kind in (k.T_CONSTANT_ARRAY, k.T_INCOMPLETE_ARRAY, k.T_VARIABLE_ARRAY):
            type = lib.clang_getArrayElementType(type)
        else:
            if declared.kind in k.RECORDS:
                yield declared
            return


def weak_names(directives: Iterable[Directive]) -> set[str]:
    """The names in ``#pragma weak`` and ``#pragma redefine_extname``: what they stand for is the linker's affair."""
    found: set[str] = set()
    for directive in directives:
        parts = re.findall(r"\w+", directive.rest)
        if directive.name == "pragma" and parts[:1] and parts[0] in ("weak", "redefine_extname"):
            found.update(parts[1:])
    return found


def pragma_words(tokens: list[Token], directives: Iterable[Directive]) -> set[str]:
    """Every word in a pragma, written as a directive or as an operator."""
    texts = [directive.rest for directive in directives if directive.name == "pragma" or "_Pragma" in directive.rest]
    texts += [tokens[at + 2].text for at, token in enumerate(tokens[:-2]) if token.text == "_Pragma"]
    return {word for text in texts for word in re.findall(r"\w+", text)}


def threadprivate_names(directives: Iterable[Directive]) -> set[str]:
    """The names in ``#pragma omp threadprivate``."""
    found: set[str] = set()
    for directive in directives:
        parts = re.findall(r"\w+", directive.rest)
        if directive.name == "pragma" and parts[:2] == ["omp", "threadprivate"]:
            found.update(parts[2:])
    return found


def worth_a_look(text: bytes) -> bool:
    """A quick test whether any of the pragmas and attributes here can stand in a header's text."""
    return _WORDS.search(text) is not None


def changes_options(tokens: list[Token], directives: Iterable[Directive]) -> int | None:
    """Where the source asks for options under which more is defined or roundings change; None: nowhere.

    ``#pragma GCC optimize`` and ``target``, their attributes, and pragmas that switch contraction.
    """
    for directive in directives:
        if directive.name == "pragma" and re.match(r"(GCC\s+target|STDC\s+FP_CONTRACT|clang\s+fp)\b", directive.rest):
            return directive.begin
        found = re.match(r"GCC\s+optimize\b(.*)", directive.rest, re.DOTALL) if directive.name == "pragma" else None
        if found and _stricter(found.group(1)):
            return directive.begin
    for position, token in enumerate(tokens[:-1]):
        if token.text in ("optimize", "__optimize__", "optnone", "__optnone__") and tokens[position - 1].text in ("(", ",", "::"):
            arguments = "".join(f"{following.text} " for following in tokens[position + 1 : position + 12])
            if token.text.strip("_") == "optnone" or (arguments.startswith("(") and _stricter(arguments.partition(")")[0])):
                return token.begin
        if token.text.strip("_") in ("target", "target_clones") and tokens[position + 1].text == "(" and _is_string(tokens, position + 2):
            return token.begin
    return None


def _is_string(tokens: list[Token], position: int) -> bool:
    return position < len(tokens) and tokens[position].text.startswith('"')


def _stricter(arguments: str) -> bool:
    """Anything but options that leave semantics alone; what is no string or number can't be told."""
    for text, number, word in _STRINGS.findall(arguments):
        if word or (number and int(number) < 2):
            return True
        if text and any(_STRICTER.search(part.strip()) for part in text.split(",")):
            return True
    return False

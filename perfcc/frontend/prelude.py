"""The text that a codelet must carry so that the kernel's text compiles on its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from perfcc.core.kernel import CallEffect
from perfcc.core.reason import Reason
from perfcc.core.types import Storage
from perfcc.frontend import kinds as k
from perfcc.frontend.context import Context
from perfcc.frontend.expressions import float_text
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.purity import Purity
from perfcc.frontend.refusal import Refused
from perfcc.frontend.source import scan
from perfcc.frontend.tree import Node
from perfcc.frontend.unit import Unit


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``prelude`` in an order that compiles, after ``headers``; ``calls`` with complete definitions."""

    prelude: tuple[str, ...]
    headers: tuple[str, ...]
    calls: tuple[CallEffect, ...]


def surroundings(context: Context, node: Node, purity: Purity) -> Surroundings:
    """What the kernel at ``node`` needs, callees' needs included."""
    unit = context.unit
    used = unit.expansions.names_in(context.begin, context.end)
    headers = set(context.headers)
    calls = []
    for call in context.calls.effects.values():
        if call.header:
            headers.add(call.header)
        if not call.definition:
            calls.append(call)
            continue
        chain = _chain(context.calls.cursor_of(call.callee), context, purity)
        texts = []
        for cursor in chain:
            effect = purity.effect(cursor)
            texts.append(effect.definition)
            tokens, _ = scan(effect.definition.encode("utf-8", "surrogateescape"))
            used |= _macros_in(unit, cursor, {token.text for token in tokens if token.kind == "word"})
            headers |= _needs_of_body(context, purity.bodies[unit.ast.key(cursor)], node)
        calls.append(replace(call, definition="\n".join(texts)))
    if any(variable.storage is Storage.VECTOR for variable in context.variables.all):
        headers.add("<vector>")
    headers |= context.needs.headers
    macros = unit.macros.needed_by(used)
    return Surroundings((*context.needs.definitions, *macros), tuple(sorted(headers)), tuple(calls))


def _macros_in(unit: Unit, function: Cursor, words: set[str]) -> set[str]:
    """The macros that a callee uses: a name may become one further down only. All ``words`` of its text where uses were not recorded."""
    expansions = unit.whole.expansions.get(unit.ast.place(function).file or "")
    return words if expansions is None else expansions.names_in(*unit.ast.extent(function))


def _chain(cursor: Cursor, context: Context, purity: Purity) -> list[Cursor]:
    """``cursor`` and the functions it calls, callees first."""
    ordered: list[Cursor] = []
    done: set[int] = set()

    def add(function: Cursor) -> None:
        key = context.unit.ast.key(function)
        if key in done:
            return
        done.add(key)
        purity.effect(function)
        for callee in purity.callees[key]:
            add(callee)
        ordered.append(function)

    add(cursor)
    return ordered


def _needs_of_body(context: Context, body: Node, node: Node) -> set[str]:
    """Types and constants that a callee's body names go to the kernel's needs; the headers its library calls need are returned."""
    from perfcc.frontend import library

    unit, ast, headers = context.unit, context.unit.ast, set()
    for below in body.walk():
        try:
            if below.kind == k.TYPE_REF:
                context.needs.reference(below)
            elif below.kind == k.CALL_EXPR:
                callee = ast.referenced(below.cursor)
                effect = library.effect(ast.spelling(callee), unit.language) if callee is not None else None
                if effect is not None and effect.header:
                    headers.add(effect.header)
            elif below.kind == k.DECL_REF_EXPR:
                _constant(context, below, node)
        except Refused as refused:  # at a place that may lie in another file
            raise Refused(replace(refused.reason, at=unit.span(node))) from None
    return headers


def _constant(context: Context, reference: Node, node: Node) -> None:
    unit, ast = context.unit, context.unit.ast
    declared = ast.referenced(reference.cursor)
    if declared is None:
        return
    if declared.kind == k.ENUM_CONSTANT_DECL:
        context.needs.enumerator(declared, reference)
        return
    if declared.kind != k.VAR_DECL:
        return
    parent = ast.parent(declared)
    if parent is not None and parent.kind in k.FUNCTIONS:
        return
    scalar = unit.types.scalar(ast.type(declared))
    value = ast.evaluate(ast.definition(declared) or declared)
    if scalar is None or value is None:
        raise Refused(Reason("unknown-effects", unit.span(node), ast.spelling(declared)))
    context.needs.constant(declared, scalar, float_text(value, scalar) if isinstance(value, float) else str(value), reference)

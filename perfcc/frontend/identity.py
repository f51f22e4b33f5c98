"""A kernel's identity: a digest of all that decides what it computes, and nothing that depends on where it stands."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields

from perfcc.core.ir import Loop
from perfcc.core.kernel import CallEffect
from perfcc.core.types import ScalarType, Variable


def digest(
    language: str,
    text: str,
    variables: Iterable[Variable] = (),
    prelude: Iterable[str] = (),
    headers: Iterable[str] = (),
    calls: Iterable[CallEffect] = (),
    live: Iterable[tuple[str, ...]] = (),
    refusal: str = "",
    nest: Loop | None = None,
) -> str:
    """24 hexadecimal digits. Line ends and trailing blanks of ``text`` don't count.

    ``nest`` tells apart texts whose words mean different things in different units: overloads, typedefs, promotions.
    """
    hasher = hashlib.blake2b(digest_size=12)

    def add(*parts: object) -> None:
        for part in parts:
            hasher.update(str(part).encode("utf-8", "surrogateescape"))
            hasher.update(b"\0")
        hasher.update(b"\1")

    add(language, re.sub(r"[ \t\r]*\n", "\n", text), refusal)
    for v in sorted(variables, key=lambda v: v.id):
        add(v.id, v.type_spelling, v.storage.value, v.scope.value, v.dims, v.element)
        add(v.is_reference, v.is_const, v.is_restrict, v.address_taken, v.declared_in_kernel, *v.extents)
    add(*prelude)
    add(*headers)
    for call in calls:
        add(call.callee, call.pure, call.errno_values, call.may_throw, call.definition, call.header)
    for ids in live:
        add(*ids)
    if nest is not None:
        add(*_structure(nest))
    return hasher.hexdigest()


def _structure(node: object) -> Iterator[str]:
    """The tree in words, places in the source left out; variables by their ids."""
    if isinstance(node, Variable):
        yield node.id
    elif isinstance(node, ScalarType):
        yield f"{node.spelling}:{node.bits}"
    elif isinstance(node, tuple):
        yield "("
        for item in node:
            yield from _structure(item)
        yield ")"
    elif hasattr(node, "__dataclass_fields__"):
        yield type(node).__name__
        for field in fields(node):  # type: ignore[arg-type]
            if field.name != "span":
                yield from _structure(getattr(node, field.name))
    else:
        yield repr(node)

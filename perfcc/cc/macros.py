"""The macros of a unit, as its compiler lists them, and what they would do to text that perfcc adds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from perfcc.cc.splice import names

# Words of generated text that mean the language's own, whatever the kernel's text does with them.
_WORDS = frozenset(
    b"""
    auto break case char const continue default do double else extern float for goto if int long register restrict return short signed
    sizeof static struct switch typedef union unsigned void volatile while inline asm class enum private public protected template this
    pragma omp parallel simd schedule dynamic guided runtime reduction collapse lastprivate firstprivate shared nowait max min barrier
    single critical atomic num_threads ordered monotonic nonmonotonic
    """.split()
)
_BUILT_IN = b"<built-in>"
_COMMAND_LINE = (b"<command-line>", b"<command line>")  # GCC, Clang
_LINE = re.compile(rb'^\#(?: [ ](?P<number>\d+)[ ]"(?P<file>(?:[^"\\]|\\.)*)" | [ ]?define[ ]+(?P<name>\w+)(?P<body>.*) )', re.M | re.X)
# Text that stands in two places must not say where it stands, or count how often it stood there.
_PLACE = frozenset((b"__LINE__", b"__COUNTER__", b"__builtin_LINE", b"__builtin_COLUMN"))
_OURS = (b"perfcc_", b"PERFCC_")


@dataclass(frozen=True, slots=True)
class Macros:
    """``early``: defined before the source's first line, by the command line or a file it includes. ``bodies``: every definition that
    is not the compiler's own, also those undefined again: the names in it, by name."""

    early: frozenset[bytes]
    bodies: dict[bytes, frozenset[bytes]]


def macros(preprocessed: bytes, source: str) -> Macros:
    """Reads the output of ``-E -dD``. Raises ValueError when it doesn't show where the source begins."""
    early: set[bytes] = set()
    bodies: dict[bytes, frozenset[bytes]] = {}
    quoted = source.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "surrogateescape")
    file = b""
    started = commanded = False
    for match in _LINE.finditer(preprocessed):
        if match["name"] is None:
            file = match["file"]
            commanded = commanded or file in _COMMAND_LINE
            started = started or (commanded and file == quoted)
            continue
        if file == _BUILT_IN and not started:
            continue
        name = match["name"]
        bodies[name] = bodies.get(name, frozenset()) | frozenset(names(match["body"]))
        if not started:
            early.add(name)
    if not started:
        raise ValueError("the compiler's list of macros does not show where the source begins")
    return Macros(frozenset(early), bodies)


def clash_before(head: str, found: Macros) -> str:
    """A word of text for the unit's top that would mean something else there; "" if there is none."""
    return _first(found.early.intersection(names(head.encode())))


def clash_inside(generated: bytes, original: bytes, found: Macros) -> str:
    """A word that perfcc added to a kernel and that a macro of the unit, wherever it is defined, would change; "" if there is none."""
    added = set(names(generated))
    return _first((added & _WORDS | added - set(names(original))) & found.bodies.keys())


def tells_place(generated: bytes, found: Macros) -> str:
    """A word of repeated text that leads to ``__LINE__`` or ``__COUNTER__``; "" if there is none."""
    for word in sorted(set(names(generated))):
        seen: set[bytes] = set()
        pending = [word]
        while pending:
            name = pending.pop()
            if name in _PLACE:
                return word.decode()
            if name not in seen:
                seen.add(name)
                pending += found.bodies.get(name, frozenset())
    return ""


def reserved(text: bytes, found: Macros) -> str:
    """A name of the source or of a macro that only perfcc may use; "" if there is none."""
    return _first(name for name in (*names(text), *found.bodies) if name.startswith(_OURS))


def _first(found: Iterable[bytes]) -> str:
    return min(found, default=b"").decode()

"""How places, numbers, steps and text of unknown encoding are put into words."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from perfcc.core.candidate import Step
from perfcc.core.reason import Reason
from perfcc.core.span import Span


@dataclass(frozen=True, slots=True)
class RuleWords:
    """What a rule's own page says of it: ``title`` (a noun phrase), PerfCoder ``category`` and ``why`` it helps in general (a sentence)."""

    title: str
    category: str = ""
    why: str = ""


Catalogue = Mapping[str, RuleWords]


def valid(text: str) -> str:
    """``text`` without lone surrogates, which stand for bytes that were not UTF-8: each becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def printable(text: str, encoding: str = "utf-8") -> str:
    """``text`` as a terminal of that encoding can take it: control characters, and what it has no code for, become ``?``."""
    shown = "".join(c if c.isprintable() or c in "\t\n" else "?" for c in valid(text))
    return shown.encode(encoding, "replace").decode(encoding)


def path(name: str, base: str = "") -> str:
    """``name`` relative to directory ``base`` where it lies in it, else as it is."""
    if not base or not os.path.isabs(name):
        return os.path.normpath(name)
    relative = os.path.relpath(name, base)
    return name if relative.startswith("..") else relative


def place(span: Span, base: str = "") -> str:
    """``file:line``."""
    return f"{path(span.file, base)}:{span.line}"


def count(number: float) -> str:
    """A count a person can read: thousands apart, whole where it is whole."""
    if abs(number) >= 1e15 or number != number:
        return f"{number:.3g}"
    return f"{number:,.0f}" if number == int(number) or abs(number) >= 1000 else f"{number:.3g}"


def size(number: float) -> str:
    """Bytes in decimal units: ``50 MB``, ``1.2 GB``."""
    unit = 0
    while abs(number) >= 1000 and unit < 4:
        number, unit = number / 1000, unit + 1
    return f"{number:.3g} {('bytes', 'kB', 'MB', 'GB', 'TB')[unit]}"


def plural(number: int, noun: str, many: str = "") -> str:
    """``1 loop``, ``2 loops``."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def ratio(value: float) -> str:
    """A speed-up: ``2.31x``."""
    return f"{value:.2f}x"


def seconds(value: float) -> str:
    """A duration in the unit that suits it."""
    if value < 0.0995:
        return f"{value * 1000:.1f} ms"
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.1f} min"


def title(rule: str, catalogue: Catalogue) -> str:
    """The rule's name in words, as within a sentence; its id with spaces where nothing else is known."""
    words = catalogue.get(rule)
    name = words.title if words and words.title else rule.replace("-", " ")
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def step(taken: Step, catalogue: Catalogue) -> str:
    """One step in words: ``loop tiling (tile 64)``."""
    inner = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in taken.parameters)
    return title(taken.rule, catalogue) + (f" ({inner})" if inner else "")


def steps(taken: tuple[Step, ...], catalogue: Catalogue) -> str:
    """A sequence of steps in words; a decision without steps changed nothing."""
    return ", then ".join(step(each, catalogue) for each in taken) or "nothing"


def category(taken: Step, catalogue: Catalogue) -> str:
    """The strategy category of a step ("" where it isn't known)."""
    words = catalogue.get(taken.rule)
    return taken.category or (words.category if words else "")


def cause(reason: Reason) -> str:
    """The reason's sentence with its particulars and id, without the place."""
    detail = f" ({reason.detail})" if reason.detail else ""
    return f"{reason.kind.sentence}{detail} [{reason.id}]"

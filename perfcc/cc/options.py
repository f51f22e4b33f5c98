"""The launcher's option table, and command lines read by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from perfcc import _native


class Argument(Enum):
    """How an option takes its argument."""

    NONE = "none"
    JOINED = "joined"
    SEPARATE = "separate"
    JOINED_OR_SEPARATE = "joined-or-separate"


class Effect(Enum):
    """What an option means to perfcc; native/launcher/options.def says more."""

    NEUTRAL = "neutral"
    PREPROCESS = "preprocess"
    SEMANTICS = "semantics"
    PASS = "pass"
    COMPILE = "compile"
    OUTPUT = "output"
    LANGUAGE = "language"
    OPTIMISE = "optimise"
    DEPEND = "depend"
    DEPEND_ALL = "depend-all"
    DEPEND_FILE = "depend-file"
    DEPEND_TARGET = "depend-target"
    FORWARD = "forward"


@dataclass(frozen=True, slots=True)
class Option:
    """A row: ``spelling`` is the whole word, or its beginning where an argument is joined; ``reason`` is set for Effect.PASS alone."""

    spelling: str
    argument: Argument
    effect: Effect
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """One option or input of a command line: its position, how many words it takes, and its row, None for an input or an unknown option."""

    index: int
    length: int
    text: str
    value: str
    option: Option | None


def table() -> tuple[Option, ...]:
    """Every row, sorted by spelling."""
    return tuple(_row(row) for row in _native.option_table())


def find(word: str) -> Option | None:
    """The row that fits ``word``; None for an option nobody knows."""
    row = _native.find_option(word)
    return None if row is None else _row(row)


def words(argv: Sequence[str]) -> Iterator[Word]:
    """The options and inputs after ``argv[0]``, in order. Raises ValueError where the last option lacks its argument."""
    index = 1
    while index < len(argv):
        text = argv[index]
        option = find(text) if text.startswith("-") and text != "-" else None
        value = text[len(option.spelling) :] if option is not None else ""
        length = 1
        if option is not None and (option.argument is Argument.SEPARATE or (option.argument is Argument.JOINED_OR_SEPARATE and not value)):
            if index + 1 == len(argv):
                raise ValueError(f"{text} lacks its argument")
            value, length = argv[index + 1], 2
        yield Word(index, length, text, value, option)
        index += length


def _row(row: tuple[str, str, str, str]) -> Option:
    spelling, argument, effect, reason = row
    return Option(spelling, Argument(argument), Effect(effect), reason)

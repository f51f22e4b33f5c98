"""A compiler's command line as a sequence of flags with their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perfcc.cc.options import Argument, words

_VALUED = (Argument.SEPARATE, Argument.JOINED_OR_SEPARATE)
# Flags that change neither what a loop means nor how fast it runs: diagnostics, debug information, dependency files, where things are.
_SILENT = ("-W", "-w", "-M", "-I", "-i", "-o", "-c", "-g", "-pedantic", "-fdiagnostics", "-fmessage", "-fno-diagnostics", "-x")


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag: ``name`` without its value (a word that is no flag has the name ""), ``value``, and the ``words`` it was written as."""

    name: str
    value: str
    words: tuple[str, ...]
    index: int


def flags(argv: Sequence[str]) -> Iterator[Flag]:
    """The flags of ``argv`` after ``argv[0]``, in order, cut as the option table says. Raises ValueError where a value is missing."""
    for word in words(argv):
        pieces = tuple(argv[word.index : word.index + word.length])
        if word.option is None and (not word.text.startswith("-") or word.text == "-"):
            yield Flag("", word.text, pieces, word.index)
        elif word.option is not None and word.option.argument in _VALUED:
            yield Flag(word.option.spelling, word.value, pieces, word.index)
        else:
            name, equals, value = word.text.partition("=")
            yield Flag(name + equals, value, pieces, word.index)


def decisive(argv: Sequence[str]) -> tuple[str, ...]:
    """The words of ``argv`` that can change a kernel's code, in order; what headers say shows in the kernel itself."""
    chosen = (flag for flag in flags(argv) if flag.name and (not flag.name.startswith(_SILENT) or forwarded_macro(flag)))
    return tuple(word for flag in chosen for word in flag.words)


def forwarded_macro(flag: Flag) -> str:
    """The -D or -U that ``-Wp,-DNAME`` hands to the preprocessor, after all others; empty for any other flag."""
    word = flag.words[0].removeprefix("-Wp,")
    return word if word != flag.words[0] and word.startswith(("-D", "-U")) else ""

"""A compiler's command line as a sequence of flags with their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Flags whose value may be in the same word or in the next one.
_EITHER = (
    "-include", "-imacros", "-iquote", "-isystem", "-idirafter", "-iprefix", "-isysroot", "-MF", "-MT", "-MQ", "-MJ",
    "-o", "-I", "-D", "-U", "-L", "-l", "-x", "-B", "-A", "-T", "-u", "-z",
)  # fmt: skip
# Flags whose value is the next word.
_NEXT = (
    "-e", "-G", "-iwithprefix", "-iwithprefixbefore", "-imultilib", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang",
    "-aux-info", "-dumpbase", "-dumpbase-ext", "-dumpdir", "--param", "-target", "--sysroot", "-arch", "-wrapper", "-mllvm",
    "-resource-dir", "-ivfsoverlay",
)  # fmt: skip
_SEPARATE = frozenset(_EITHER + _NEXT)

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
    """The flags of ``argv`` after ``argv[0]``, in order."""
    index = 1
    while index < len(argv):
        flag = _flag(argv, index)
        yield flag
        index += len(flag.words)


def _flag(argv: Sequence[str], index: int) -> Flag:
    word = argv[index]
    if not word.startswith("-") or word == "-":
        return Flag("", word, (word,), index)
    if word in _SEPARATE:
        following = argv[index + 1 : index + 2]
        return Flag(word, following[0] if following else "", (word, *following), index)
    for name in _EITHER:
        if word.startswith(name):
            return Flag(name, word[len(name) :], (word,), index)
    name, equals, value = word.partition("=")
    return Flag(name + equals, value, (word,), index)


def decisive(argv: Sequence[str]) -> tuple[str, ...]:
    """The words of ``argv`` that can change a kernel's code, in order; what headers say shows in the kernel itself."""
    return tuple(word for flag in flags(argv) if flag.name and not flag.name.startswith(_SILENT) for word in flag.words)

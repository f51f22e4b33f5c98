"""The files a unit is read from: which belong to the project, and which of them have one meaning."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from perfcc.core.reason import Reason
from perfcc.frontend.libclang import Ast, Entry
from perfcc.frontend.source import SourceFile

_COMPILERS_OWN = re.compile(r"/(c\+\+/[0-9v]|lib(32|64|x32)?/(gcc|clang|llvm-[0-9]+)/)|/include/([a-z0-9_]+-linux-[a-z0-9]+/)?bits/")
# A word that a loop begins with, or a macro whose replacement may hold one.
_LOOP_WORD = re.compile(rb"\b(?:for|while|do)\b")


def is_compilers_own(name: str) -> bool:
    """True for the headers of the compiler and of its C and C++ libraries."""
    return _COMPILERS_OWN.search(name) is not None


def may_hold_loop(text: bytes) -> bool:
    """A quick test: comments and literals count too."""
    return _LOOP_WORD.search(text) is not None


class SystemFolders:
    """The directories of system headers that a unit's flags for libclang name, those below them included."""

    def __init__(self, args: Sequence[str], cwd: str) -> None:
        folders = [after for arg, after in pairwise(args) if arg in ("-isystem", "-idirafter")]
        self._cwd = cwd
        self._known: dict[str, str] = {}
        self._prefixes = tuple({os.path.join(self._real(folder), "") for folder in folders if folder != "/"})

    def hold(self, name: str) -> bool:
        """True when the file lies in one of them."""
        return is_compilers_own(name) or os.path.join(self._real(os.path.dirname(name)), "").startswith(self._prefixes)

    def _real(self, folder: str) -> str:
        if folder not in self._known:
            self._known[folder] = os.path.realpath(os.path.join(self._cwd, folder))
        return self._known[folder]


class Files:
    """What the preprocessor entered, under the names by which it opened the files.

    ``includes`` are all but the main file; ``project`` those of them that are not the system's; ``forced`` the files that flags have
    read before the main file's first line, and what these include; ``repeated`` the files with several texts in this unit.
    """

    def __init__(self, ast: Ast, main: str, args: Sequence[str], cwd: str) -> None:
        entries = ast.entries()
        counted = Counter(entry.file for entry in entries)
        system = SystemFolders(args, cwd)
        self.main = main
        self.includes: tuple[str, ...] = tuple(dict.fromkeys(entry.file for entry in entries if entry.depth))
        self.project = tuple(name for name in self.includes if name != main and not system.hold(name) and not ast.is_system_header(name))
        self.forced = frozenset(entry.file for entry in entries if _is_forced(entry))
        self.repeated = frozenset(name for name, times in counted.items() if times > 1)

    def refusal(self, source: SourceFile) -> Reason | None:
        """Why nothing in the file can be rewritten, if so."""
        if source.name in self.repeated:
            return Reason("included-again", source.span(0, 1))
        if source.name in self.forced:
            return Reason("forced-include", source.span(0, 1))
        return None


def _is_forced(entry: Entry) -> bool:
    return entry.depth > 0 and entry.root is None


def could_hold_kernels(names: Iterable[str], args: Sequence[str], cwd: str) -> bool:
    """Some file of the project among ``names`` may hold a loop, going by its text alone; one that can't be read doesn't count."""
    system = SystemFolders(args, cwd)
    for name in names:
        if system.hold(name):
            continue
        try:
            with open(os.path.join(cwd, name), "rb") as handle:
                if may_hold_loop(handle.read()):
                    return True
        except OSError:
            continue
    return False

"""Compiles codelets: with the user's own compiler and flags, and with clang's instrumentation."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perfcc.core.disturbance import heed
from perfcc.core.unit import Invocation
from perfcc.verify import machine
from perfcc.verify.toolchain import Toolchain

_DROPPED = re.compile(
    r"-f(pic|pie|PIC|PIE|lto.*|no-lto|profile.*|sanitize.*|no-sanitize.*|diagnostics.*|no-diagnostics.*|plugin.*|dump.*|syntax-only|whole-program|"
    r"openmp.*|no-openmp|openacc|stack-usage|test-coverage|instrument.*|debug.*|file-prefix-map.*|macro-prefix-map.*|visibility=.*|use-ld=.*|"
    r"message-length.*|max-errors.*|trivial-auto-var-init.*|callgraph-info.*|save-optimization-record.*|"
    r"dwarf.*|no-plt|color-diagnostics|modules.*)|-m(d|dynamic-no-pic)"
)
_FOR_CLANG = re.compile(
    r"-std=.*|-m.*|-f(no-)?(wrapv|wrapv-pointer|fast-math|associative-math|signed-zeros|finite-math-only|math-errno|trapping-math|reciprocal-math|"
    r"unsafe-math-optimizations|strict-aliasing|unsigned-char|signed-char|short-enums|exceptions|rtti|char8_t|permissive|delete-null-pointer-checks|"
    r"strict-overflow|gnu89-inline|short-wchar|ms-extensions)|-funsigned-char"
)
_MACROS = re.compile(r"-[DU](NDEBUG|_GLIBCXX_\w+|_GNU_SOURCE|_ISOC\w+|__STDC_\w+)(=.*)?")


@dataclass(frozen=True, slots=True)
class Built:
    """What became of one compile: the library's path, or None and the diagnostics; ``warnings`` counts the compiler's."""

    path: Path | None
    diagnostics: str
    warnings: int


@dataclass(frozen=True, slots=True)
class Builder:
    """Compiles the codelets of one unit. ``flags`` are the user's that bear on meaning or speed."""

    compiler: str
    flags: tuple[str, ...]
    language: str
    cwd: str
    toolchain: Toolchain
    lock: Path

    def native(self, source: Path, output: Path, extra: Sequence[str] = ()) -> Built:
        """With the user's compiler and flags."""
        return self._run([self.compiler, *self.flags, *extra, *self._tail(source, output)], output)

    def clang(self, source: Path, output: Path, extra: Sequence[str]) -> Built:
        """With clang and those of the user's flags that bear on meaning."""
        kept = [flag for flag in self.flags if _FOR_CLANG.fullmatch(flag) or _MACROS.fullmatch(flag)]
        words = [self.toolchain.clang, *kept, "-w", "-Wno-everything", "-Qunused-arguments", "-fopenmp", *extra]
        if "-fopenmp-simd" in extra:
            words.remove("-fopenmp")
        return self._run([*words, *self._tail(source, output)], output)

    def _tail(self, source: Path, output: Path) -> list[str]:
        return ["-x", self.language, "-fPIC", "-shared", str(source), "-o", str(output)]

    def _run(self, words: list[str], output: Path) -> Built:
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            with machine.shared(self.lock):
                done = subprocess.run(words, cwd=self.cwd, capture_output=True, text=True, errors="replace", timeout=60, env=environment)
        except (OSError, subprocess.SubprocessError) as error:
            return Built(None, str(error), 0)
        heed(done.returncode, done.stderr)
        warnings = len(re.findall(r"\bwarning: ", done.stderr))
        return Built(output if done.returncode == 0 and output.is_file() else None, done.stderr, warnings)


def flags_of(invocation: Invocation) -> tuple[str, ...]:
    """The words of the command line that a codelet needs: standard, optimisation, machine and language flags, a few macros."""
    kept: list[str] = []
    words = invocation.argv[1:]
    for word in words:
        if word.startswith(("-std=", "-O", "-m", "-f", "-ansi")):
            if not _DROPPED.fullmatch(word):
                kept.append(word)
        elif word == "-pthread" or _MACROS.fullmatch(word):
            kept.append(word)
    return tuple(kept)


def first_error(diagnostics: str) -> str:
    """The first error line, without its place in a scratch file."""
    for line in diagnostics.splitlines():
        found = re.search(r"error: (.*)", line)
        if found:
            return found.group(1)[:200]
    return diagnostics.strip().splitlines()[0][:200] if diagnostics.strip() else "the compiler gave no reason"

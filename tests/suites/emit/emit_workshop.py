"""Helpers of the emission suite: real compilers, real links, real runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perfcc.cc.compiler import probe, translation_unit
from perfcc.cc.emit import Emitted, emit
from perfcc.cc.runtime import GUARD, text
from perfcc.cc.splice import Replacement
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.core.unit import Invocation


def span_of(source: bytes, kernel: bytes, file: str) -> Span:
    """The span of the one occurrence of ``kernel``."""
    begin = source.index(kernel)
    assert source.count(kernel) == 1
    end = begin + len(kernel)
    line = source.count(b"\n", 0, begin) + 1
    column = begin - source.rfind(b"\n", 0, begin)
    return Span(file, begin, end, line, column, source.count(b"\n", 0, end) + 1)


def guarded(kernel: str, fast: str) -> str:
    """A replacement as the rules print it."""
    return "{ if (perfcc_rt_parallel_ok()) {\n" + fast + "\n} else {\n" + kernel + "\n} }"


@dataclass
class Workshop:
    """A directory with sources; compiles, emits, links and runs in it."""

    root: Path
    number: int = 0

    def run(self, *command: str, environ: dict[str, str] | None = None, expect: int = 0, timeout: float = 60) -> str:
        env = {**os.environ, **(environ or {})}
        done = subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, timeout=timeout, check=False)
        assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def write(self, name: str, content: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def invocation(self, source: str, *flags: str, compiler: str = "g++", output: str = "") -> Invocation:
        output = output or Path(source).stem + ".o"
        argv = (compiler, *flags, "-c", source, "-o", output)
        language = "c" if source.endswith(".c") else "c++"
        return Invocation(argv, compiler, str(self.root), source, len(flags) + 2, output, language)

    def emit(
        self,
        invocation: Invocation,
        rewrites: Sequence[tuple[str, str]] = (),
        threads: bool = True,
        guard: bool = True,
        openmp_in_headers: bool = False,
    ) -> Emitted | Reason:
        """Compiles the original, then emits with each (kernel, replacement)."""
        self.run(*invocation.argv)
        unit = translation_unit(invocation, probe(invocation.compiler, invocation))
        self.number += 1
        scratch = self.root.parent / f"{self.root.name}-scratch-{self.number}"
        scratch.mkdir()
        replacements = [
            Replacement(span_of(unit.text, kernel.encode(), invocation.source), replacement, threads) for kernel, replacement in rewrites
        ]
        info = probe(invocation.compiler, invocation)
        return emit(unit, info, replacements, text(GUARD) if guard else "", scratch, openmp_in_headers)

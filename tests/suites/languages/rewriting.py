"""What the front half would do to a source, all of it at once, without the checks that time decides."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perfcc.analysis import analyse
from perfcc.cc import compiler, runtime
from perfcc.cc.emit import Emitted, emit
from perfcc.cc.splice import Replacement
from perfcc.core.candidate import Candidate
from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel, ParsedUnit
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation, TranslationUnit
from perfcc.frontend import parse
from perfcc.propose.from_rules import FromRules
from perfcc.rules.replacement import replacement


@dataclass
class Source:
    """One source under one compiler and its flags, read as perfcc reads it. ``folder`` gets the objects and programs."""

    path: Path
    flags: tuple[str, ...]
    real: str
    folder: Path

    def __post_init__(self) -> None:
        shutil.copy(self.path, self.folder)
        found = shutil.which(self.real)
        assert found is not None
        language = "c" if self.path.suffix == ".c" else "c++"
        name = self.path.name
        argv = (found, *self.flags, "-c", name, "-o", "unit.o")
        self.invocation = Invocation(argv, found, str(self.folder), name, len(self.flags) + 2, "unit.o", language)
        self.run(*argv)
        self.info = compiler.probe(found, self.invocation)
        self.unit: TranslationUnit = compiler.translation_unit(self.invocation, self.info)
        self.parsed: ParsedUnit = parse(self.unit)

    def run(self, *command: str, **environ: str) -> str:
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, env=environ or None, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def facts(self, kernel: Kernel, nest: Loop) -> Facts:
        return analyse(kernel, nest, self.unit.semantics)

    def candidates(self, kernel: Kernel, threads: bool = True) -> tuple[Candidate, ...]:
        assert kernel.nest is not None
        rules = FromRules(self.facts) if threads else FromRules(self.facts, ("parallel-loop", "integer-reduction"))
        return tuple(rules.propose(kernel, self.facts(kernel, kernel.nest), ()))

    def chosen(self, threads: bool) -> Iterator[tuple[Kernel, Candidate]]:
        """Each kernel with its first candidate; with the first that needs no threads if ``threads`` is False."""
        for kernel in self.parsed.kernels:
            found = self.candidates(kernel, threads) if kernel.nest is not None else ()
            if found:
                yield kernel, found[0]

    def emit(self, pairs: Sequence[tuple[Kernel, Candidate]]) -> Emitted | Reason:
        """The object with the replacements, each of which counts in ``perfcc_taken`` how often its fast path ran."""
        made = []
        for kernel, candidate in pairs:
            text = replacement(kernel, candidate, 1).replace(") {\n", " && ++perfcc_taken) {\n", 1)
            assert "++perfcc_taken" in text
            made.append(Replacement(kernel.span, text, candidate.threads))
        scratch = self.folder / "scratch"
        scratch.mkdir()
        count = "\nint perfcc_taken;\n"
        return emit(self.unit, self.info, made, runtime.text(runtime.GUARD) + count, scratch)

    def output(self, object_path: Path | str) -> tuple[str, int]:
        """What the program prints, and how many fast paths were taken in it."""
        counter = self.folder / "counter.c"
        counter.write_text(
            "#include <stdio.h>\nextern int perfcc_taken __attribute__((weak));\n"
            "__attribute__((destructor)) static void tell(void) {\n"
            '  FILE *f = fopen("taken", "w"); fprintf(f, "%d", &perfcc_taken ? perfcc_taken : 0); fclose(f); }\n'
        )
        self.run(self.invocation.compiler, str(object_path), "counter.c", "-o", "program", "-lm")
        shown = self.run("./program", OMP_NUM_THREADS="3")
        return shown, int((self.folder / "taken").read_text())

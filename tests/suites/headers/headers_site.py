"""Small projects with kernels in headers: rewritten by the real rules without the checks that time decides, or built by the command."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfcc.analysis import analyse
from perfcc.cc import compiler, runtime
from perfcc.cc.emit import Emitted, emit
from perfcc.cc.splice import Replacement
from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation
from perfcc.frontend import parse
from perfcc.propose.from_rules import FromRules
from perfcc.rules.replacement import replacement

PERFCC = Path(sys.executable).parent / "perfcc"
THREADED = ("parallel-loop", "integer-reduction")
_WORKSHARING = re.compile(r"num_threads\([^)]*\)")


@dataclass
class Project:
    """A directory of sources. ``rewrite`` compiles a unit and puts the object with its rewrites in the original's place."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)
    _scratches: int = 0

    def write(self, **files: str) -> None:
        """Files by their names, with ``__`` for ``.`` and ``___`` for ``/``."""
        for name, content in files.items():
            self.put(name.replace("___", "/").replace("__", "."), content)

    def put(self, name: str, content: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def run(self, *command: str, expect: int = 0) -> str:
        environ = {**os.environ, **self.environ}
        done = subprocess.run(command, cwd=self.root, env=environ, capture_output=True, text=True, timeout=400, check=False)
        assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def rewrite(self, source: str, *flags: str, real: str = "g++", output: str = "", threads: bool = False) -> Emitted | Reason:
        """Every kernel for which a rule has something, each with ``++fast`` at the head of its fast path."""
        found = shutil.which(real)
        assert found is not None
        output = output or Path(source).stem + ".o"
        argv = (found, *flags, "-c", source, "-o", output)
        language = "c" if source.endswith(".c") else "c++"
        invocation = Invocation(argv, found, str(self.root), source, len(flags) + 2, output, language)
        self.run(*argv)
        info = compiler.probe(found, invocation)
        unit = compiler.translation_unit(invocation, info)
        parsed = parse(unit)
        assert parsed.refusal is None, parsed.refusal
        self.kernels = parsed.kernels

        def facts(kernel: Kernel, nest: Loop) -> Facts:
            return analyse(kernel, nest, unit.semantics)

        rules = FromRules(facts) if threads else FromRules(facts, THREADED)
        replacements = []
        for kernel in parsed.kernels:
            if kernel.nest is None:
                continue
            for candidate in rules.propose(kernel, facts(kernel, kernel.nest), ()):
                if candidate.threads == threads:
                    text = replacement(kernel, candidate, 0).replace(") {\n", ") {\n++fast;\n", 1)
                    replacements.append(Replacement(kernel.span, text, threads))
                    break
        assert replacements
        self._scratches += 1
        scratch = self.root.parent / f"{self.root.name}-scratch-{self._scratches}"
        scratch.mkdir()
        emitted = emit(unit, info, replacements, runtime.text(runtime.GUARD), scratch, parsed.openmp_in_headers, dict(parsed.texts))
        if isinstance(emitted, Emitted):
            shutil.copyfile(emitted.object_path, self.root / output)
        return emitted

    def explain(self, target: str = ".") -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.run(str(PERFCC), "--explain", target, "--format", "json"))
        return document

    def counted(self, counter: str) -> float:
        """How often something was compiled in that way, by the store's counters."""
        counters = json.loads(self.run(str(PERFCC), "--stats", "--format", "json"))["counters"]
        return float(counters.get("compiled", {"parts": {}})["parts"].get(counter, 0))

"""Every rule's cases, through the real frontend and analysis: what fires becomes the expected text and still gives the program's output;
what is refused is refused for the noted reason at the noted line."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from perfcc.analysis import analyse
from perfcc.cc import compiler
from perfcc.core.candidate import Candidate
from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Refusal
from perfcc.core.unit import Invocation, TranslationUnit
from perfcc.frontend import parse
from perfcc.rules import discovery, engine
from perfcc.rules.replacement import replacement

GUARD = Path(compiler.__file__).parent / "runtime" / "perfcc_guard.h"
ROOMS = [discovery.room(id) for id in discovery.rules()]
FIRES = [(room.id, path) for room in ROOMS for path in sorted(room.cases.glob("fires_*.c*"))]
REFUSES = [(room.id, path) for room in ROOMS for path in sorted(room.cases.glob("refuses_*.c*"))]
SHOWS_THAT_IT_RAN = (
    '#include <stdio.h>\nstatic int perfcc_case_ran;\n__attribute__((destructor)) static void perfcc_case_tell(void)'
    ' { fprintf(stderr, "fast %d\\n", perfcc_case_ran); }\n'
)


@cache
def unit_of(path: Path) -> TranslationUnit:
    language = "c" if path.suffix == ".c" else "c++"
    real = "gcc" if language == "c" else "g++"
    invocation = Invocation((real, "-O2", "-c", str(path)), real, str(path.parent), str(path), 3, "case.o", language)
    return compiler.translation_unit(invocation, compiler.probe(real, invocation))


def first_kernel(path: Path) -> Kernel:
    parsed = parse(unit_of(path))
    assert parsed.refusal is None, parsed.refusal
    return parsed.kernels[0]


def facts_of(path: Path, kernel: Kernel, nest: Loop) -> Facts:
    return analyse(kernel, nest, unit_of(path).semantics)


def outcomes(id: str, path: Path, kernel: Kernel) -> list[engine.State | Refusal]:
    """What the rule says at each of its places, first parameters."""
    assert kernel.nest is not None, kernel.refusal
    state = engine.start(kernel, facts_of(path, kernel, kernel.nest))
    assert isinstance(state, engine.State), state
    found: list[engine.State | Refusal] = []
    for match in engine.matches(state, id):
        parameters = next(iter(discovery.rules()[id].parameters(match, state.facts)))
        found.append(engine.apply(state, match, parameters, lambda k, n: facts_of(path, k, n)))
    return found


def run(source: str, path: Path, scratch: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    text, program = scratch / path.name, scratch / "program"
    text.write_text(source, "utf-8")
    real = "gcc" if path.suffix == ".c" else "g++"
    built = subprocess.run([real, "-O2", "-w", *flags, str(text), "-o", str(program), "-lm"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    environ = {**os.environ, "OMP_NUM_THREADS": "3"}
    return subprocess.run([str(program)], capture_output=True, text=True, check=True, env=environ, timeout=60)


def rewritten(kernel: Kernel, candidate: Candidate, source: str) -> str:
    text = replacement(kernel, candidate, 1).replace(") {\n", ") {\nperfcc_case_ran = 1;\n", 1)
    assert "perfcc_case_ran" in text
    at = kernel.span
    data = source.encode()
    body = (data[: at.begin] + text.encode() + data[at.end :]).decode()
    return SHOWS_THAT_IT_RAN + GUARD.read_text("utf-8") + body


@pytest.mark.parametrize(("id", "path"), FIRES, ids=lambda v: v.name if isinstance(v, Path) else v)
def test_what_fires_becomes_the_expected_text_and_gives_the_same_output(id: str, path: Path, tmp_path: Path) -> None:
    kernel = first_kernel(path)
    states = [state for state in outcomes(id, path, kernel) if isinstance(state, engine.State)]
    assert states, outcomes(id, path, kernel)
    candidate = engine.candidate(states[0])
    source = path.read_text("utf-8")
    before = run(source, path, tmp_path)
    after = run(rewritten(kernel, candidate, source), path, tmp_path, "-fopenmp")
    assert after.stdout == before.stdout
    assert after.stderr == "fast 1\n"
    expected = path.with_suffix(".expected")
    shown = f"// guard: {candidate.guard}\n{candidate.fast}\n"
    if os.environ.get("PERFCC_WRITE_EXPECTED"):
        expected.write_text(shown, "utf-8")
    assert shown == expected.read_text("utf-8")


@pytest.mark.parametrize(("id", "path"), REFUSES, ids=lambda v: v.name if isinstance(v, Path) else v)
def test_what_is_refused_names_reason_and_line(id: str, path: Path) -> None:
    noted = [(m.group(1), number) for number, line in enumerate(path.read_text("utf-8").split("\n"), 1) if (m := _NOTE.search(line))]
    assert len(noted) == 1
    said = outcomes(id, path, first_kernel(path))
    refusals = [entry for entry in said if isinstance(entry, Refusal)]
    assert refusals
    reasons = [(r.reason.id, r.reason.at.line if r.reason.at else 0) for r in refusals]
    assert noted[0] in reasons, [str(r.reason) for r in refusals]
    assert len(refusals) == len(said) or noted[0] == reasons[0]


_NOTE = re.compile(r"// reason: ([a-z-]+)")


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.id)
def test_every_reason_a_rule_refuses_with_has_its_case(room: discovery.Room) -> None:
    noted = {m for path in room.cases.glob("refuses_*.c*") for m in _NOTE.findall(path.read_text("utf-8"))}
    assert noted == set(room.refuses)
    assert list(room.cases.glob("fires_*.c*"))

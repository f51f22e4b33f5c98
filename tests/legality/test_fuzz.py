"""Random kernels through the front half: what the analysis and the rules allow must give the same bytes, whatever the threads' order.

Every other kernel stands in a header, every third one in a template; what runs is its plain text with the nest replaced.
No dynamic check of perfcc's stands in the way here. Originals that have undefined behaviour on an input (by the sanitizers) void it.
``PERFCC_FUZZ_ROUNDS`` and ``PERFCC_FUZZ_SEED`` make it a long run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from perfcc.analysis import analyse
from perfcc.cc import compiler
from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel
from perfcc.core.unit import Invocation
from perfcc.frontend import parse
from perfcc.propose.from_rules import FromRules
from perfcc.rules.catalogue import loop_tiling
from perfcc.rules.replacement import replacement
from tests.legality.kernels import C_PRELUDE, C_SHARED, PRELUDE, Generator
from tests.legality.kernels import Kernel as Drawn

GUARD = Path(compiler.__file__).parent / "runtime" / "perfcc_guard.h"
DRIVER = Path(__file__).parent / "driver.h"
ROUNDS = int(os.environ.get("PERFCC_FUZZ_ROUNDS", "1"))
SEED = int(os.environ.get("PERFCC_FUZZ_SEED", "1"))
KERNELS = int(os.environ.get("PERFCC_FUZZ_KERNELS", "40"))
CANDIDATES = 2
C_INCLUDES = "#include <stdbool.h>\n#include <stddef.h>\n"
C_DIALECTS = ("gnu11", "c99", "gnu17", "c11")
INCLUDES = "#include <algorithm>\n#include <cstddef>\n#include <vector>\n"
# threads that run alone and to the end can't wait for one another, so every schedule is as good as this one
_SCHEDULE = re.compile(r"schedule\([^)]*\)")


def variants(drawn: list[Drawn], path: Path, dialect: str) -> Iterator[tuple[int, str, str]]:
    """(number of the kernel, what was done, the function's text with one nest replaced) for everything that would be tried."""
    names = [f"f{number}" for number in range(len(drawn))]
    c = path.suffix == ".c"
    linkage = "long" if c else "static __attribute__((noinline)) long"
    texts = [one.text.replace("NAME", name).replace("static long", linkage, 1) for one, name in zip(drawn, names, strict=True)]
    written = [text if c or number % 3 else f"template <class Unused> {text}" for number, text in enumerate(texts)]
    header = (C_INCLUDES + C_PRELUDE if c else INCLUDES + PRELUDE) + "".join(written[::2])
    main = f'#include "fuzz.h"\n#define CALLED {" ".join(names)}\n' + "".join(written[1::2])
    (path.parent / "fuzz.h").write_text(header, "utf-8")
    path.write_text(main, "utf-8")
    found = shutil.which("gcc" if c else "g++")
    assert found is not None
    argv = (found, f"-std={dialect}", "-O2", "-c", str(path))
    invocation = Invocation(argv, found, str(path.parent), str(path), 4, "fuzz.o", "c" if c else "c++")
    unit = compiler.translation_unit(invocation, compiler.probe(found, invocation))
    parsed = parse(unit)
    assert parsed.refusal is None, parsed.refusal

    def facts(kernel: Kernel, nest: Loop) -> Facts:
        return analyse(kernel, nest, unit.semantics)

    for number, (name, text) in enumerate(zip(names, texts, strict=True)):
        yield number, "original", text
        begin = (main if number % 2 else header).index(text)
        for kernel in parsed.kernels:
            if kernel.function.split("(")[0] != name or kernel.nest is None:
                continue
            assert os.path.basename(kernel.span.file) == (path.name if number % 2 else "fuzz.h")
            own = facts(kernel, kernel.nest)
            threaded = tuple(FromRules(facts).propose(kernel, own, ()))[:CANDIDATES]
            reordered = tuple(FromRules(facts, ("parallel-loop", "integer-reduction")).propose(kernel, own, ()))[:CANDIDATES]
            for candidate in (*threaded, *reordered):
                new = _SCHEDULE.sub("schedule(static)", replacement(kernel, candidate, 0)).replace(") {\n", ") {\nfast++;\n", 1)
                at = kernel.span
                yield number, candidate.name, text[: at.begin - begin] + new + text[at.end - begin :]


def program(drawn: list[Drawn], made: list[tuple[int, str, str]], c: bool) -> tuple[str, str]:
    """All of them as C text ("" for kernels in C++), and the driver as C++ text, with the kernels in it if they are C++."""
    functions, steps, declared = [], [], []
    for position, (number, _, text) in enumerate(made):
        functions.append(text.replace(f" f{number}(", f" g{position}(", 1))
        declared.append(f"long g{position}(void);")
        callee = f"((long (*)({drawn[number].types}))g{position})" if c else f"g{position}"
        call = f"[](const Input &in) -> long {{ return {callee}({drawn[number].call}); }}"
        steps.append(f"{{{number}, {position}, {str(drawn[number].disjoint).lower()}, {call}}}")
    driver = DRIVER.read_text("utf-8").replace("{STEPS}", "{" + ", ".join(steps) + "}")
    guard, kernels = GUARD.read_text("utf-8"), "".join(functions)
    if not c:
        return "", guard + INCLUDES + "static long fast;\n" + PRELUDE + kernels + driver
    own = "long fast;\nvoid born(int id) { perfcc_rt_pid = id; }\n"
    shared = C_SHARED + 'extern "C" { extern long fast; void born(int); ' + " ".join(declared) + " }\n"
    return guard + C_INCLUDES + own + C_PRELUDE + kernels, INCLUDES + shared + driver.replace("perfcc_rt_pid = getpid()", "born(getpid())")


def build(texts: tuple[str, str], dialect: str, folder: Path, name: str, *flags: str) -> Path:
    made, objects, commands = folder / name, [], []
    for text, suffix, real in zip(texts, (".c", ".cpp"), ("gcc", "g++"), strict=True):
        if not text:
            continue
        source = folder / f"{name}{suffix}"
        source.write_text(text, "utf-8")
        objects.append(f"{source}.o")
        standard = dialect if suffix == ".c" else "c++17"
        own = [flag for flag in flags if suffix == ".cpp" or not flag.startswith("-D_GLIBCXX")]
        commands.append([real, f"-std={standard}", "-w", "-fopenmp", "-c", *own, str(source), "-o", objects[-1]])
    commands.append(["g++", *(f for f in flags if f.startswith("-fsanitize")), *objects, "-o", str(made)])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
    return made


def run(path: Path, given: str = "") -> list[list[str]]:
    done = subprocess.run([str(path), "quiet"], input=given, capture_output=True, text=True, timeout=300, check=True)
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("language", ["c++", "c"])
@pytest.mark.parametrize("round", range(ROUNDS))
def test_what_is_allowed_changes_nothing(round: int, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_tiling, "_TILES", {2: ("2,3",), 3: ("3,2,4",)})  # blocks that are smaller than the inputs
    c = language == "c"
    generator = Generator(Random(SEED * 1000 + round), language)
    dialect = C_DIALECTS[(SEED + round) % len(C_DIALECTS)] if c else "c++17"
    drawn = [generator.kernel() for _ in range(KERNELS)]
    made = list(variants(drawn, tmp_path / ("fuzz.c" if c else "fuzz.cpp"), dialect))
    interesting = {number for number, what, _ in made if what != "original"}
    made = [one for one in made if one[0] in interesting]
    texts = program(drawn, made, c)
    checks = ("-D_GLIBCXX_ASSERTIONS", "-fsanitize=address,undefined", "-fsanitize-recover=all")
    watched = build(texts, dialect, tmp_path, "watched", "-O0", *checks)
    plain = build(texts, dialect, tmp_path, "plain", "-O2", "-ftrivial-auto-var-init=pattern")
    seen = run(watched)
    valid = "\n".join(f"{number} {at}" for word, number, at, *_ in seen if word == "valid")
    seen += run(plain, valid)
    wrong = {int(candidate): at for word, _, candidate, at, *_ in (line for line in seen if line[0] == "wrong")}
    taken = sum(int(line[3]) > 0 for line in seen if line[0] == "taken")
    print(f"{len(made)} texts of {len(interesting)} kernels, {valid.count(chr(10))} inputs, {taken} fast paths")
    shown = [f"input {at}, {made[position][1]}:\n{drawn[made[position][0]].text}{made[position][2]}" for position, at in wrong.items()]
    assert not wrong, "\n".join(shown)
    assert taken > len(interesting) // 2

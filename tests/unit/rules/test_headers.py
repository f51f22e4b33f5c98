"""Loop headers made anew: for every kind of header the same iterations and the same value left in the loop variable."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from perfcc.cc import compiler, runtime
from perfcc.core.facts import Facts, LoopFacts
from perfcc.core.ir import IntConst
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Refusal
from perfcc.core.unit import Invocation
from perfcc.frontend import parse
from perfcc.rules import engine
from perfcc.rules.replacement import replacement

HEADER = Path(compiler.__file__).parent / "runtime" / "perfcc_guard.h"
TYPES = ("int", "unsigned int", "long", "unsigned long", "short")
UP = [(relation, step) for relation in ("<", "<=") for step in (1, 3)] + [("!=", 1)]
DOWN = [(relation, -step) for relation in (">", ">=") for step in (1, 3)] + [("!=", -1)]
VALUES = (-3, -1, 0, 1, 2, 7, 100, 250)


CHECK = """static long bad;
template <class T, class B>
static void check(const char *name, long (*f)(T, B, T, int *), long (*g)(T, B, T, int *), const long (*v)[2], int count) {
  static int a[1000], b[1000];
  for (int k = 0; k < count; k++) {
    std::memset(a, 0, sizeof a), std::memset(b, 0, sizeof b);
    if (f(0, (B)v[k][1], (T)v[k][0], a) != g(0, (B)v[k][1], (T)v[k][0], b) || std::memcmp(a, b, sizeof a))
      bad++, std::printf("%s %ld %ld\\n", name, v[k][0], v[k][1]);
  }
}
"""


def functions() -> list[tuple[str, str, str]]:
    """(name, bound's type, loop) for every combination of types, relation and step."""
    found = []
    for number, (own, bound, (relation, step)) in enumerate(itertools.product(TYPES, TYPES, UP + DOWN)):
        change = f"i += {step}" if step > 0 else f"i -= {-step}"
        loop = f"for (i = from; i {relation} n; {change})\n        out[i + 400] += i + 1;"
        found.append((f"f{number}", f"{own} i, {bound} n, {own} from", loop))
    return found


def body(loop: str, parameters: str) -> str:
    return f"static long NAME({parameters}, int *out) {{\n    {loop}\n    return (long)i;\n}}\n"


def rewrite(path: Path) -> list[tuple[Kernel, str | None]]:
    """Each kernel with its replacement, or None where the header was refused."""
    invocation = Invocation(("g++", "-O1", "-c", str(path)), "g++", str(path.parent), str(path), 3, "case.o", "c++")
    parsed = parse(compiler.translation_unit(invocation, compiler.probe("g++", invocation)))
    assert parsed.refusal is None
    found: list[tuple[Kernel, str | None]] = []
    for kernel in parsed.kernels:
        if kernel.nest is None:
            continue
        facts = Facts((LoopFacts(kernel.nest.id, 0, None, IntConst(1), ()),), (), ())
        state = engine.start(kernel, facts)
        assert isinstance(state, engine.State)
        after = engine.apply(state, engine.matches(state, "parallel-loop")[0], (("schedule", "static"),), lambda k, n, f=facts: f)
        found.append((kernel, None if isinstance(after, Refusal) else replacement(kernel, engine.candidate(after), 1)))
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, int]:
    """A program that runs each function as written and rewritten on all pairs of values, and prints what differs."""
    directory = tmp_path_factory.mktemp("headers")
    source = directory / "case.cpp"
    entries = functions()
    text = "".join(body(loop, parameters).replace("NAME", name) for name, parameters, loop in entries)
    source.write_text(text, "utf-8")
    data = bytearray(text.encode())
    rewritten = rewrite(source)
    refused = sum(1 for _, new in rewritten if new is None)
    for kernel, new in reversed(rewritten):
        if new is not None:
            new = new.replace(") {\n", ") {\nfast++;\n", 1)
            data[kernel.span.begin : kernel.span.end] = new.encode()
    for name, _, _ in entries:
        data = data.replace(f"long {name}(".encode(), f"long new_{name}(".encode())
    checks = "".join(check(name, parameters, loop) for name, parameters, loop in entries)
    whole = f"{HEADER.read_text()}#include <cstdio>\n#include <cstring>\nstatic long fast;\n{text}{data.decode()}{CHECK}int main() {{\n"
    whole += f"{checks}std::printf(\"%ld %ld\\n\", bad, fast);\n}}\n"
    out = directory / "all.cpp"
    out.write_text(whole, "utf-8")
    binary = directory / "all"
    subprocess.run(["g++", "-O0", "-w", "-fopenmp", str(out), "-o", str(binary)], check=True)
    return binary, refused, len(rewritten)


def check(name: str, parameters: str, loop: str) -> str:
    """Runs both versions on every pair of values for which the original ends without undefined behaviour."""
    own, bound = parameters.split(" i, ")[0], parameters.split(" i, ")[1].split(" n, ")[0]
    relation = next(r for r in ("<=", ">=", "!=", "<", ">") if f"i {r} n" in loop)
    step = int(loop.split("i += ")[1].split(")")[0]) if "i += " in loop else -int(loop.split("i -= ")[1].split(")")[0])
    pairs = [(start, end) for start, end in itertools.product(VALUES, VALUES) if _ends(own, bound, start, end, relation, step)]
    listed = ", ".join(f"{{{start}, {end}}}" for start, end in pairs)
    return f'{{ static const long v[][2] = {{{listed}}}; check("{name}", {name}, new_{name}, v, {len(pairs)}); }}\n'


BITS = {"int": 32, "unsigned int": 32, "long": 64, "unsigned long": 64, "short": 16}


def _wrap(type: str, value: int) -> int:
    bits = BITS[type]
    value %= 1 << bits
    return value if type.startswith("unsigned") or value < 1 << (bits - 1) else value - (1 << bits)


def _ends(own: str, bound: str, start: int, end: int, relation: str, step: int) -> bool:
    """True when the loop as C defines it ends within 300 iterations, inside the array and without overflow."""
    common = max((t if BITS[t] >= 32 else "int" for t in (own, bound)), key=lambda t: (BITS[t], t.startswith("unsigned")))
    i, n = _wrap(own, start), _wrap(bound, end)
    test = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "!=": int.__ne__}[relation]
    for _ in range(300):
        if not test(_wrap(common, i), _wrap(common, n)):
            return True
        if not 0 <= i + 400 < 1000:
            return False
        if own != _signed(own) and i + step != _wrap(own, i + step):
            return False
        i = _wrap(own, i + step)
    return False


def _signed(type: str) -> str:
    return type.removeprefix("unsigned ")


def test_every_header_runs_the_same_iterations_and_leaves_the_same_value(program: tuple[Path, int, int]) -> None:
    binary, refused, total = program
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=True, env={"OMP_NUM_THREADS": "2"}, timeout=100)
    bad, fast = done.stdout.split("\n")[-2].split()
    assert bad == "0", done.stdout
    assert int(fast) > 2000
    assert total >= 200
    assert refused == 0


def test_the_spin_count_is_the_one_that_is_timed() -> None:
    assert f'"GOMP_SPINCOUNT={runtime.SPIN_COUNT}"' in runtime.text(runtime.OPENMP)

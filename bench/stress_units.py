"""The units of the stress test: small C and C++ sources, the headers they share, and what their objects must be."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perfcc.cc import section
from perfcc.cc.section import run_objcopy

PERFCC = str(Path(sys.executable).parent / "perfcc")
TREES = ("one", "two")
"""Two checkouts of the same sources."""
HEADERS = 8
VERSIONS = 4
OUTPUTS = 3
"""Object files per unit, each a unit of its own to the store."""
PAD = 1 << 20
"""Bytes of data in a large object: they fill the store."""
ONE_RULE = "-integer-reduction,-loop-tiling,-parallel-loop"
"""A serial rewrite is timed in processor time, so that a busy machine finds it too."""
SEARCH_SECONDS = 60

_PRODUCT = """void product(double *__restrict c, const double *__restrict a, const double *__restrict b, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
}
"""
_MAIN = """#include <cstdio>
#include <cstring>
#include <vector>
void product(double *, const double *, const double *, int);
int figure();
int main() {
  for (int n : {1, 7, 40, 420}) {
    std::vector<double> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; ++i)
      a[i] = i % 13 * 0.1, b[i] = i % 7 * 0.3, c[i] = i;
    product(c.data(), a.data(), b.data(), n);
    unsigned long long sum = 0;
    for (double x : c) {
      unsigned long long bits;
      std::memcpy(&bits, &x, sizeof bits);
      sum = sum * 31 + bits;
    }
    std::printf("%d %llx\\n", n, sum);
  }
  std::printf("%d\\n", figure());
}
"""

Kind = str
_SHARES: Mapping[Kind, int] = {"plain": 3, "loop": 5, "identity": 1, "large": 4, "product": 3, "broken": 1}
"""Large ones are products with data beside them, which fills the store."""
REWRITTEN = ("large", "product")
_MODES: Mapping[Kind, dict[str, str]] = {
    "identity": {"PERFCC_MODE": "identity"},
    "large": {"PERFCC_MODE": "apply"},
    "product": {"PERFCC_MODE": "apply"},
}


@dataclass(frozen=True)
class Unit:
    """A source file, present in every tree. ``header`` is the number of the header whose version its code shows; -1 for none."""

    name: str
    kind: Kind
    compiler: str
    header: int

    @property
    def source(self) -> str:
        return f"{self.name}.{'c' if self.compiler == 'gcc' else 'cpp'}"

    def text(self) -> str:
        """Every object has ``figure``, which tells the unit and the header's version."""
        number = int(self.name[1:])
        include = f'#include "h{self.header}.h"\n' if self.header >= 0 else "#define VERSION 0\n"
        figure = f"int figure(void) {{ return {number} * 10 + VERSION; }}\n"
        loop = f"int sum{number}(const int *p, int n) {{ int s = VERSION; for (int i = 0; i < n; ++i) s += p[i] * {number}; return s; }}\n"
        body = {
            "plain": "",
            "loop": loop,
            "identity": loop,
            "large": f"{_PRODUCT}unsigned char pad{number}[{PAD}] = {{{number % 200 + 1}}};\n",
            "product": _PRODUCT,
            "broken": f"{loop}int broken( {{ return {number}; }}\n",
        }
        return include + figure + body[self.kind]

    def words(self, output: str) -> list[str]:
        return ["-O2", "-c", self.source, "-o", output]

    def environment(self) -> dict[str, str]:
        return {"PERFCC_RULES": ONE_RULE, **_MODES.get(self.kind, {"PERFCC_MODE": "search", "PERFCC_BUDGET": "0"})}


def clang() -> str:
    """The newest clang++ there is."""
    found = [name for name in ("clang++", *(f"clang++-{n}" for n in range(30, 13, -1))) if shutil.which(name)]
    if not found:
        raise SystemExit("stress: clang++ is missing")
    return found[0]


def make_units(count: int, chance: random.Random) -> list[Unit]:
    """Some of every kind, whatever the number."""
    kinds = [kind for kind, share in _SHARES.items() for _ in range(share)]
    units = []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        compiler = "g++" if kind in REWRITTEN else chance.choice(("g++", "g++", "gcc", clang()))
        header = -1 if kind in REWRITTEN and number % 3 else chance.choice((-1, *range(HEADERS)))
        units.append(Unit(f"u{number:03}", kind, compiler, header))
    return units


@dataclass
class Expected:
    """What one unit gives at one version of its header: the bare compiler's status, report and object, and a store-less emission's."""

    status: int
    report: bytes
    bare: bytes
    emitted: bytes = b""


@dataclass
class Project:
    """Trees of sources below ``root``, and everything that their objects may be."""

    root: Path
    units: list[Unit]
    store: Path
    expected: dict[tuple[Unit, int], Expected] = field(default_factory=dict)
    versions: dict[tuple[str, int], list[tuple[int, float, float]]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self) -> None:
        for tree in TREES:
            (self.root / tree / "out").mkdir(parents=True)
            for unit in self.units:
                (self.root / tree / unit.source).write_text(unit.text())
            for header in range(HEADERS):
                self.set_version(tree, header, 0, time.time())
        (self.root / "main.cpp").write_text(_MAIN)
        (self.root / "tmp").mkdir()
        self.bare(["g++", "-O1", "-c", "main.cpp"], self.root)

    def set_version(self, tree: str, header: int, version: int, mtime: float) -> None:
        """Replaces a header at once, as version control does; from a backup even its time and size are the old ones."""
        path = self.root / tree / f"h{header}.h"
        new = path.with_suffix(".new")
        new.write_text(f"#define VERSION {version}\n")
        os.utime(new, (mtime, mtime))
        with self.lock:
            history = self.versions.setdefault((tree, header), [])
            before = time.monotonic()
            os.replace(new, path)
            after = time.monotonic()
            if history:
                history[-1] = (history[-1][0], history[-1][1], after)
            history.append((version, before, float("inf")))

    def seen(self, tree: str, unit: Unit, begin: float, end: float) -> set[int]:
        """The versions of its header that a compile in that time may have read."""
        if unit.header < 0:
            return {0}
        with self.lock:
            return {version for version, first, last in self.versions[tree, unit.header] if first <= end and last >= begin}

    def environment(self, unit: Unit, store: Path) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PERFCC_")}
        return {**inherited, **unit.environment(), "PERFCC_STORE": str(store), "TMPDIR": str(self.root / "tmp"), "LC_ALL": "C"}

    def bare(self, command: list[str], cwd: Path) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(command, cwd=cwd, env={**os.environ, "LC_ALL": "C"}, capture_output=True, check=False)

    # -- what objects must be

    def learn(self) -> None:
        """Compiles every unit at every version with the bare compiler, and once more by a worker whose store holds decisions alone."""
        self._decide()
        aside = Path(tempfile.mkdtemp(dir=self.root))
        for version in range(VERSIONS):
            for header in range(HEADERS):
                (aside / f"h{header}.h").write_text(f"#define VERSION {version}\n")
            time.sleep(0.05)
            for unit in self.units:
                if version and unit.header < 0:
                    continue
                (aside / unit.source).write_text(unit.text())
                output = aside / f"{unit.name}.o"
                output.unlink(missing_ok=True)
                done = self.bare([unit.compiler, *unit.words(output.name)], aside)
                wanted = Expected(done.returncode, done.stderr, output.read_bytes() if output.exists() else b"")
                if unit.kind in REWRITTEN:
                    wanted.emitted = self._emitted(unit, aside)
                self.expected[unit, version] = wanted

    def _decide(self) -> None:
        """One search; all units with that kernel share its decision."""
        unit = next(unit for unit in self.units if unit.kind == "product")
        environ = {**self.environment(unit, self.store), "PERFCC_MODE": "search", "PERFCC_BUDGET": str(SEARCH_SECONDS)}
        for _ in range(5):
            words = [PERFCC, unit.compiler, *unit.words("decided.o")]
            subprocess.run(words, cwd=self.root / TREES[0], env=environ, check=True)
            if section.read(self.root / TREES[0] / "decided.o"):
                return
            shutil.rmtree(self.store)
        raise SystemExit("stress: the machine is too busy: no rewrite was found to be faster")

    def _emitted(self, unit: Unit, folder: Path) -> bytes:
        store = Path(tempfile.mkdtemp(dir=self.root))
        shutil.copytree(self.store / "decisions", store / "decisions")
        command = [PERFCC, unit.compiler, *unit.words("emitted.o")]
        subprocess.run(command, cwd=folder, env=self.environment(unit, store), check=True)
        shutil.rmtree(store)
        return stripped(folder / "emitted.o")

    def answer(self, object_path: Path) -> bytes:
        """What a program with that object prints."""
        with tempfile.TemporaryDirectory(dir=self.root) as folder:
            program = Path(folder, "program")
            linked = self.bare(["g++", "main.o", str(object_path), "-o", str(program)], self.root)
            if linked.returncode != 0:
                return b"does not link: " + linked.stderr
            done = subprocess.run([program], capture_output=True, check=False)
            return done.stdout + f"status {done.returncode}".encode()


def stripped(path: Path) -> bytes:
    """The object without perfcc's report, which names the output. Empty when it carries none. Raises SectionError."""
    if not section.read(path):
        return b""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.o")
        shutil.copyfile(path, copy)
        run_objcopy(copy, [f"--remove-section={section.NAME}"])
        return copy.read_bytes()


def outputs(units: Iterable[Unit]) -> list[tuple[str, Unit, str]]:
    """Every (tree, unit, object)."""
    return [(tree, unit, f"out/{unit.name}.{number}.o") for unit in units for tree in TREES for number in range(OUTPUTS)]

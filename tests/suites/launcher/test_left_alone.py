"""Units in which no loop can be a kernel: nobody is asked, the store remembers, and --explain looks when it is asked."""

from __future__ import annotations

import json
import os
import time

import pytest

SOURCE = """\
#include "near.h"
int length(const char *s) {
  int n = 0;
  while (s[n])
    ++n;
  return n;
}
int find(const int *p, int n, int x) {
  for (int i = 0; i < n; ++i)
    if (p[i] == x)
      return i;
  return -1;
}
"""
KERNEL = "inline void clear(int *p, int n) { for (int i = 0; i < n; ++i) p[i] = 0; }\n"
LOOP = "inline int count(const char *s) { int n = 0; while (*s++) ++n; return n; }\n"


@pytest.fixture
def unit(site):
    """A unit of loops that are left alone; whoever is asked leaves a file. Its files are old enough to be told by their times."""
    site.worker("(site / 'asked').touch()")
    site.fresh({"kernel.cpp": SOURCE, "near.h": "extern int near;\n"})
    for name in ("kernel.cpp", "near.h"):
        os.utime(site.work / name, (1e9, 1e9))
    return site


def build(site, compiler: str, *arguments: str) -> None:
    plain = site.run([compiler, "-O2", "-c", "kernel.cpp", "-o", "kernel.o", *arguments])
    done = site.run(site.command(compiler, "-O2", "-c", "kernel.cpp", "-o", "kernel.o", *arguments))
    assert (done.code, done.stdout, done.stderr, done.files) == (plain.code, plain.stdout, plain.stderr, plain.files)


def explained(site, *arguments: str) -> dict[str, list[tuple[int, str]]]:
    """What --explain says of each source: line and reason of each decision."""
    site.variables.pop("PERFCC_PYTHON", None)
    done = site.run(site.command("--explain", *arguments, "--format", "json"))
    assert done.code == 0, done.stderr
    units = json.loads(done.stdout)["units"]
    return {os.path.basename(unit["source"]): [(d["at"]["line"], d["reason"]["id"]) for d in unit["decisions"]] for unit in units}


def test_nobody_is_asked_and_the_store_remembers(unit, compiler):
    time.sleep(0.03)  # files that change while the compiler runs are not trusted, and clocks are coarse
    build(unit, compiler)
    build(unit, compiler)
    assert not (unit.root / "asked").exists()
    assert unit.counters() == ["compiled:no-kernels", "compiled:nothing-to-do"]


@pytest.mark.parametrize("flags", [(), ("-MD",), ("-MMD",)])
def test_a_kernel_in_a_header_of_the_project(unit, compiler, flags):
    (unit.work / "near.h").write_text(KERNEL)
    build(unit, compiler, *flags)
    assert (unit.root / "asked").exists()
    assert unit.counters() == ["compiled:searched"]


@pytest.mark.parametrize("flag", ["-isystem far", "-isystemfar", "-idirafter far/"])
def test_a_kernel_in_a_header_of_the_system(unit, compiler, flag):
    (unit.work / "far").mkdir()
    (unit.work / "far" / "away.h").write_text(KERNEL)
    (unit.work / "kernel.cpp").write_text("#include <away.h>\n" + SOURCE)
    build(unit, compiler, *flag.split())
    assert unit.counters() == ["compiled:no-kernels"]


def test_a_header_that_gets_a_kernel(unit, gcc):
    time.sleep(0.03)
    build(unit, gcc)
    (unit.work / "near.h").write_text(KERNEL)
    build(unit, gcc)
    assert (unit.root / "asked").exists()
    assert unit.counters() == ["compiled:no-kernels", "compiled:searched"]


def test_identity_mode_asks_all_the_same(unit, gcc):
    unit.variables["PERFCC_MODE"] = "identity"
    build(unit, gcc)
    assert (unit.root / "asked").exists()


def test_no_python_is_needed(unit, compiler):
    unit.no_worker()
    build(unit, compiler)
    assert unit.counters() == ["compiled:no-kernels"]


def test_every_loop_is_explained_when_somebody_asks(unit, compiler):
    build(unit, compiler)
    expected = {"kernel.cpp": [(4, "not-counted"), (9, "early-exit")]}
    assert explained(unit) == expected
    assert explained(unit) == expected
    assert explained(unit, "kernel.o") == expected
    assert explained(unit, "kernel.cpp") == expected


def test_an_executable_and_its_parts(unit, gcc):
    (unit.work / "main.cpp").write_text("int main() { for (int i = 3; i; --i) ; }\n")
    build(unit, gcc)
    assert unit.run(unit.command(gcc, "-O2", "-c", "main.cpp")).code == 0
    assert unit.run(unit.command(gcc, "main.o", "kernel.o", "-o", "program")).code == 0
    assert explained(unit, "program") == {"main.cpp": [(1, "not-counted")], "kernel.cpp": [(4, "not-counted"), (9, "early-exit")]}
    assert unit.counters()[:2] == ["compiled:no-kernels"] * 2


@pytest.mark.parametrize("step", [["-c"], ["-o", "program"]])
def test_several_sources(unit, gcc, step):
    (unit.work / "main.cpp").write_text("int main() { for (int i = 3; i; --i) ; }\n")
    assert unit.run(unit.command(gcc, "-O2", "main.cpp", "kernel.cpp", *step)).code == 0
    assert unit.counters() == ["compiled:no-kernels"]
    assert explained(unit) == {"main.cpp": [(1, "not-counted")], "kernel.cpp": [(4, "not-counted"), (9, "early-exit")]}
    assert not (unit.root / "asked").exists()


@pytest.mark.parametrize("name", ["kernel.cpp", "near.h"])
def test_a_source_that_has_changed_since(unit, gcc, name):
    build(unit, gcc)
    path = unit.work / name
    path.write_text(path.read_text() + "extern int more;\n")
    unit.variables.pop("PERFCC_PYTHON")
    done = unit.run(unit.command("--explain", "kernel.o"))
    assert done.code == 1
    assert b"kernel.cpp or a header of it has changed since it was compiled; build it again\n" in done.stderr


def test_a_source_that_loses_its_loops_is_forgotten(unit, gcc):
    build(unit, gcc)
    assert explained(unit)
    (unit.work / "kernel.cpp").write_text("int one() { return 1; }\n")
    unit.no_worker()
    build(unit, gcc)
    assert unit.counters()[-1] == "compiled:no-loops"
    unit.variables.pop("PERFCC_PYTHON")
    assert unit.run(unit.command("--explain", "kernel.o")).code == 1


def test_loops_of_a_projects_header_alone_are_noted(unit, gcc):
    (unit.work / "near.h").write_text(LOOP)
    (unit.work / "kernel.cpp").write_text('#include "near.h"\nint one() { return 1; }\n')
    build(unit, gcc)
    assert unit.counters() == ["compiled:no-kernels"]


def test_a_failed_compile_leaves_nothing_to_explain(unit, gcc):
    (unit.work / "kernel.cpp").write_text(SOURCE + "nonsense\n")
    build(unit, gcc)
    assert unit.counters() == ["compiled:failed"]
    assert not (unit.store / "outputs").exists()

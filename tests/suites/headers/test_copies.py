"""A rewritten inline function is one of several copies: whichever the linker keeps, the program computes the same."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from perfcc.cc.emit import Emitted
from perfcc.core.reason import Reason
from tests.suites.headers.headers_site import Project

LOOP = """for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        to[j * n + i] = from[j * n + i] * 2 + calls;"""
HEADER = f"""#pragma once
__attribute__((weak)) int fast;
struct Turner {{ virtual ~Turner() {{}} virtual const double* turn(const double* from, int n); }};
inline __attribute__((noinline)) const double* turned(const double* from, int n) {{
  static double to[4096];
  static int calls;
  ++calls;
  {LOOP}
  return to;
}}
inline const double* Turner::turn(const double* from, int n) {{ return turned(from, n) + 1; }}
template <class T> struct Table {{
  T tag;
  double* to;
  int calls;
  __attribute__((noinline)) void turn(const double* from, int n) {{
    {LOOP}
  }}
  int dependent(int n) {{ int s = 0; for (int i = 0; i < n; ++i) s += sizeof(T); return s; }}
}};
"""
UNIT = """#include "table.h"
double NAME(const double* from, double* space, int n) {
  Table<CELL> table = {0, space, 3};
  table.turn(from, n);
  Turner turner;
  return turned(from, n)[1] + turner.turn(from, n)[0] + space[n] + table.dependent(n);
}
"""
MAIN = """#include <cstdio>
double a(const double*, double*, int);
double b(const double*, double*, int);
extern int fast;
static double from[4096], space[4096];
int main() {
  for (int i = 0; i < 4096; ++i) from[i] = i;
  double sum = 0;
  for (int n = 1; n <= 64; n *= 4) sum += a(from, space, n) * 3 + b(from, space, n);
  std::printf("%.17g\\n%d\\n", sum, fast);
}
"""


def sources(project: Project, cell: str = "int") -> None:
    project.put("table.h", HEADER)
    project.put("a.cpp", UNIT.replace("NAME", "a").replace("CELL", cell))
    project.put("b.cpp", UNIT.replace("NAME", "b").replace("CELL", "int"))
    project.put("main.cpp", MAIN)


@pytest.mark.parametrize(
    ("real", "flags", "other"),
    [
        ("g++", ("-O2",), ("-O2",)),
        ("g++", ("-O3", "-fPIC", "-g"), ("-O0",)),
        ("g++", ("-O2", "-fvisibility-inlines-hidden", "-Werror", "-Wall", "-pedantic-errors"), ("-O2", "-fvisibility-inlines-hidden")),
        ("clang++-19", ("-O2", "-g", "-Werror"), ("-O1",)),
    ],
)
def test_whichever_copy_is_kept(project: Project, real: str, flags: tuple[str, ...], other: tuple[str, ...]) -> None:
    sources(project)
    project.run(real, *other, "-c", "b.cpp", "main.cpp")
    project.run(real, *flags, "-c", "a.cpp", "-o", "plain.o")
    project.run(real, "main.o", "plain.o", "b.o", "-o", "before")
    emitted = project.rewrite("a.cpp", *flags, real=real)
    assert isinstance(emitted, Emitted), emitted
    wanted = project.run("./before").splitlines()[0]
    taken = set()
    for order in (("a.o", "b.o"), ("b.o", "a.o")):
        project.run(real, "main.o", *order, "-o", "after")
        answer, fast = project.run("./after").splitlines()
        assert answer == wanted
        taken.add(int(fast) > 0)
    assert True in taken
    if "-O2" in flags:  # at -O3 a unit keeps clones of its own
        assert False in taken


@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_both_copies_rewritten_with_threads(project: Project, linker: str) -> None:
    sources(project, "char")
    project.run("g++", "-O2", "-fPIC", "-c", "a.cpp", "b.cpp", "main.cpp")
    project.run("g++", "main.o", "a.o", "b.o", "-o", "before")
    for source in ("a.cpp", "b.cpp"):
        emitted = project.rewrite(source, "-O2", "-fPIC", threads=True)
        assert isinstance(emitted, Emitted), emitted
        assert "GOMP_parallel" in emitted.shims
    assert "turned" in project.run("nm", "-C", "a.o")
    project.environ["OMP_NUM_THREADS"] = "2"
    wanted = project.run("./before").splitlines()[0]
    project.run("g++", f"-fuse-ld={linker}", "main.o", "a.o", "b.o", "-o", "after")
    project.run("g++", f"-fuse-ld={linker}", "-shared", "a.o", "-o", "liba.so")
    project.run("g++", f"-fuse-ld={linker}", "main.o", "b.o", "./liba.so", "-o", "shared")
    project.run("g++", f"-fuse-ld={linker}", "-Wl,--gc-sections", "main.o", "b.o", "a.o", "-o", "collected")
    for program in ("./after", "./shared", "./collected"):
        answer, fast = project.run(program).splitlines()
        assert answer == wanted, program
        assert int(fast) > 0, program


def test_explicit_instantiations(project: Project) -> None:
    sources(project, "char")
    project.put(
        "a.cpp",
        '#include "table.h"\nextern template struct Table<char>;\n' + UNIT.partition("\n")[2].replace("NAME", "a").replace("CELL", "char"),
    )
    project.put("inst.cpp", '#include "table.h"\ntemplate struct Table<char>;\n')
    project.run("g++", "-O2", "-c", "a.cpp", "b.cpp", "main.cpp", "inst.cpp")
    project.run("g++", "main.o", "a.o", "b.o", "inst.o", "-o", "before")
    for source in ("a.cpp", "inst.cpp"):
        emitted = project.rewrite(source, "-O2")
        assert isinstance(emitted, Emitted), emitted
    project.run("g++", "main.o", "a.o", "b.o", "inst.o", "-o", "after")
    assert project.run("./after").splitlines()[0] == project.run("./before").splitlines()[0]


C_LOOP = LOOP.replace("int i", "i").replace("int j", "j").replace("+ calls", "+ 1")
C_BODY = f"{{ int i, j; {C_LOOP} }}"
C_MAIN = """#include <stdio.h>
void a(double*, const double*, int);
void b(double*, const double*, int);
extern int fast;
static double from[4096], to[4096];
int main(void) {
  int i, n;
  double sum = 0;
  for (i = 0; i < 4096; ++i) from[i] = i;
  for (n = 1; n <= 64; n *= 4) { a(to, from, n); sum += to[n]; b(to, from, n); sum += to[1]; }
  printf("%.17g\\n%d\\n", sum, fast > 0);
  return 0;
}
"""
SIGNATURE = "void turn(double* to, const double* from, int n)"
C_FORMS = {
    "static inline": ("-std=c99", f"static inline {SIGNATURE} {C_BODY}", ""),
    "static": ("-std=c89", f"static {SIGNATURE} {C_BODY}", ""),
    "inline with an extern declaration": ("-std=c11", f"inline {SIGNATURE} {C_BODY}", f"extern inline {SIGNATURE};"),
    "extern inline of gnu89": ("-std=gnu89", f"extern inline {SIGNATURE} {C_BODY}", f"{SIGNATURE} {C_BODY}"),
    "gnu_inline, always_inline": (
        "-std=gnu11",
        f"extern inline __attribute__((gnu_inline, always_inline)) {SIGNATURE} {C_BODY}",
        f"{SIGNATURE} {C_BODY}",
    ),
}


@pytest.mark.parametrize(("real", "form"), list(itertools.product(["gcc", "clang-19"], C_FORMS)))
def test_inline_functions_of_c(project: Project, real: str, form: str) -> None:
    standard, header, definition = C_FORMS[form]
    project.put("turn.h", f"#ifndef TURN_H\n#define TURN_H\n__attribute__((weak)) int fast;\n{header}\n#endif\n")
    for name in "ab":
        project.put(f"{name}.c", f'#include "turn.h"\nvoid {name}(double* to, const double* from, int n) {{ turn(to, from, n); }}\n')
    guarded = '#include "turn.h"\n' if "extern inline" in definition else ""
    project.put("out.c", f"{guarded}{definition}\nint not_empty;\n")
    project.put("main.c", C_MAIN)
    project.run(real, "-O2", standard, "-c", "a.c", "b.c", "out.c", "main.c")
    project.run(real, "main.o", "a.o", "b.o", "out.o", "-o", "before")
    for threads in (False, True) if real == "gcc" else (False,):
        emitted = project.rewrite("a.c", "-O2", standard, real=real, threads=threads)
        assert isinstance(emitted, Emitted), emitted
        project.run(real, "main.o", "a.o", "b.o", "out.o", "-o", "after")
        answer, fast = project.run("./after").splitlines()
        assert answer == project.run("./before").splitlines()[0]
        if "static" in form or "always" in form:
            assert fast == "1"


def test_a_copy_that_was_only_ever_inlined(project: Project) -> None:
    """C99's inline definition has no copy of its own: the rewritten unit may not ask for one that nobody has."""
    project.put("turn.h", f"__attribute__((weak)) int fast;\ninline {SIGNATURE} {C_BODY}\n")
    uses = "".join(f"void {name}(double* to, const double* from, int n) {{ turn(to, from, n); }}\n" for name in "ab")
    project.put("a.c", f'#include "turn.h"\n{uses}')
    project.put("main.c", C_MAIN)
    emitted = project.rewrite("a.c", "-O2", real="gcc")
    assert "turn" not in project.run("nm", "-u", "a.o").split()
    assert isinstance(emitted, Emitted) or "needs turn" in emitted.detail
    project.run("gcc", "-O2", "main.c", "a.o", "-o", "program")
    project.run("./program")


WAYS = {
    "a symbolic link": ('"link.h"', ()),
    "dots": ('"../src/inc/../inc/table.h"', ()),
    "an absolute directory": ("<table.h>", ("-IROOT/src/inc",)),
    "a generated header": ('"generated.h"', ("-Ibuild",)),
    "an umbrella": ('"all.h"', ("-Isrc",)),
}


@pytest.mark.parametrize("real", ["g++", "clang++-19"])
@pytest.mark.parametrize("way", WAYS)
def test_ways_to_a_header(project: Project, way: str, real: str) -> None:
    include, flags = WAYS[way]
    flags = tuple(flag.replace("ROOT", str(project.root)) for flag in flags)
    project.put("src/inc/table.h", HEADER)
    project.put("build/generated.h", HEADER)
    project.put("src/all.h", '#pragma once\nnamespace { int own; }\n#include "inc/table.h"\n')
    (project.root / "src" / "link.h").symlink_to("inc/table.h")
    unit = UNIT.replace("CELL", "int").replace('"table.h"', include)
    project.put("src/a.cpp", "\n\n" + unit.replace("NAME", "a"))
    project.put("b.cpp", unit.replace("NAME", "b").replace(include, '"src/inc/table.h"'))
    project.put("main.cpp", MAIN)
    emitted = project.rewrite("src/a.cpp", "-O2", *flags, real=real)
    assert isinstance(emitted, Emitted), emitted
    project.run(real, "-O1", "a.o", "b.cpp", "main.cpp", "-o", "after")
    project.run(real, "-O1", *flags, "src/a.cpp", "b.cpp", "main.cpp", "-o", "before")
    after, before = (project.run(program).splitlines() for program in ("./after", "./before"))
    assert after[0] == before[0]
    assert int(after[1]) > 0


def test_names_of_ours_in_a_header(project: Project) -> None:
    sources(project)
    project.put("table.h", HEADER + "static inline int perfcc_rt_known() { return 1; }\n")
    emitted = project.rewrite("a.cpp", "-O2")
    assert isinstance(emitted, Reason)
    assert "perfcc" in emitted.detail


def test_lines_are_the_headers_own(project: Project) -> None:
    """Assertions, __LINE__ and debug information after a rewritten kernel are as before."""
    sources(project)
    tail = "inline int line() { return __LINE__; }\ninline const char* file() { return __FILE__; }\n"
    project.put("table.h", HEADER + tail)
    project.put(
        "a.cpp",
        '#include "table.h"\n#include <cstdio>\nstatic double x[64], y[64];\n' + UNIT.replace("CELL", "int").replace("NAME", "a"),
    )
    project.put(
        "a.cpp", (project.root / "a.cpp").read_text() + 'int main() { a(x, y, 8); std::printf("%d %s %d\\n", line(), file(), __LINE__); }\n'
    )
    emitted = project.rewrite("a.cpp", "-O2", "-g")
    assert isinstance(emitted, Emitted), emitted
    project.run("g++", "a.o", "-o", "after")
    project.run("g++", "-O2", "a.cpp", "-o", "before")
    assert project.run("./after") == project.run("./before")
    lines = project.run("objdump", "--dwarf=decodedline", "a.o")
    assert "table.h" in lines
    assert not [line for line in lines.splitlines() if Path(line.split()[0] if line.split() else "").name.startswith("text-")]


def test_a_lambda_that_is_a_constant_stays_one(project: Project) -> None:
    """Variables that it initialises outside functions are there before any code runs, whatever the order of the units."""
    loop = "for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) to[j * n + i] = from[j * n + i] * 3 + i;"
    lambda_ = f"[] {{ int to[4096] = {{}}; int from[4096] = {{}}; int n = 64; {loop} return to[1]; }}()"
    project.put("table.h", f"__attribute__((weak)) int fast;\ninline void turn(int* to, const int* from, int n) {{ {loop} }}\n")
    project.put("a.cpp", f'#include "table.h"\nint made = {lambda_};\nvoid a(int* to, const int* from, int n) {{ turn(to, from, n); }}\n')
    project.put(
        "main.cpp",
        "#include <cstdio>\nextern int made, fast;\nint early = made;\nvoid a(int*, const int*, int);\nstatic int to[4096], from[4096];\n"
        'int main() { a(to, from, 64); std::printf("%d %d\\n", early, fast > 0); }\n',
    )
    project.run("g++", "-std=c++17", "-O2", "-c", "main.cpp")
    emitted = project.rewrite("a.cpp", "-std=c++17", "-O2")
    assert isinstance(emitted, Emitted), emitted
    project.run("g++", "main.o", "a.o", "-o", "after")
    assert project.run("./after") == "1 1\n"

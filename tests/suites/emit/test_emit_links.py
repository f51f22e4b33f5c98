"""A rewritten object links wherever the original did, starts threads where it can, and gives the same result where it can't."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from perfcc.cc.emit import Emitted
from perfcc.cc.symbols import undefined
from tests.suites.emit.emit_workshop import Workshop, guarded

KERNEL = """for (int i = 0; i < n; ++i) {
    x[i] = x[i] * 3 + i;
  }"""
FAST = """#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) {
    if (i == 0) team = __builtin_omp_get_num_threads();
    x[i] = x[i] * 3 + i;
  }"""
LIBRARY = f"""
#ifdef __cplusplus
extern "C" {{
#endif
int team = 0;
void scale(int* x, int n) {{
  int i;
  {KERNEL.replace("int i", "i")}
}}
#ifdef __cplusplus
}}
#endif
"""
MAIN = """#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif
extern int team;
void scale(int* x, int n);
#ifdef __cplusplus
}
#endif
static int x[1000];
int main(void) {
  long sum = 0;
  int i;
  scale(x, 1000);
  for (i = 0; i < 1000; ++i) sum += x[i];
  printf("%ld %d\\n", sum, team);
  return 0;
}
"""
TWO = {"OMP_NUM_THREADS": "2"}


def rewritten(workshop: Workshop, name: str, *flags: str, compiler: str = "g++") -> Path:
    """The rewritten library object; the original's undefined symbols are checked against its own."""
    workshop.write(name, LIBRARY)
    kernel = KERNEL.replace("int i", "i")
    emitted = workshop.emit(
        workshop.invocation(name, "-O2", *flags, compiler=compiler), [(kernel, guarded(kernel, FAST.replace("int i", "i")))]
    )
    assert isinstance(emitted, Emitted), emitted
    assert "GOMP_parallel" in emitted.shims
    before, after = undefined(workshop.root / (Path(name).stem + ".o")), undefined(emitted.object_path)
    assert after.strong - before.strong <= {"_GLOBAL_OFFSET_TABLE_"}
    assert after.weak >= {"dlsym", "getpid", "__errno_location"}
    assert not after.openmp
    return emitted.object_path


def needed(workshop: Workshop, binary: str) -> set[str]:
    """The libraries that the dynamic linker must find for it."""
    lines = workshop.run("readelf", "-d", binary).splitlines()
    return {line.rpartition("[")[2].rstrip("]") for line in lines if "NEEDED" in line}


@pytest.mark.parametrize("linker", ["bfd", "gold"])
@pytest.mark.parametrize("flags", [(), ("-fPIC",), ("-fno-pie", "-no-pie"), ("-fno-plt",)], ids=["default", "pic", "no-pie", "no-plt"])
def test_executable_needs_nothing_new(workshop: Workshop, linker: str, flags: tuple[str, ...]) -> None:
    new = rewritten(workshop, "lib.cpp", *(flag for flag in flags if flag != "-no-pie"))
    workshop.write("main.cpp", MAIN)
    link = ["g++", f"-fuse-ld={linker}", *flags, "main.cpp"]
    workshop.run(*link, "lib.o", "-o", "before")
    workshop.run(*link, str(new), "-o", "after")
    assert workshop.run("./before") == "499500 0\n"
    assert workshop.run("./after", environ=TWO) == "499500 2\n"
    assert needed(workshop, "after") == needed(workshop, "before")


def test_c_object_linked_with_gcc(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.c", "-std=c89", "-pedantic-errors", "-Werror", compiler="gcc")
    workshop.write("main.c", MAIN)
    workshop.run("gcc", "-Wl,-z,defs", "main.c", str(new), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 2\n"
    assert needed(workshop, "after") == {"libc.so.6"}


def test_one_thread_takes_the_original_path(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp")
    workshop.write("main.cpp", MAIN)
    workshop.run("g++", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ={"OMP_NUM_THREADS": "1"}) == "499500 0\n"


def test_static_executable_runs_the_original_path(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp")
    workshop.write("main.cpp", MAIN)
    workshop.run("g++", "-static", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 0\n"


def test_static_pie(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp", "-fPIE")
    workshop.write("main.cpp", MAIN)
    workshop.run("g++", "-static-pie", "-fPIE", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 0\n"


def test_library_hidden_from_the_program(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp")
    workshop.write("main.cpp", MAIN)
    workshop.write("broken/libgomp.so.1", "")
    workshop.run("g++", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ={**TWO, "LD_LIBRARY_PATH": "broken"}) == "499500 0\n"


def test_static_library_of_two_rewritten_objects(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp", "-fPIC")
    other = workshop.root / "other.cpp"
    other.write_text(LIBRARY.replace("team", "team2").replace("scale", "scale2"))
    kernel = KERNEL.replace("int i", "i")
    emitted = workshop.emit(
        workshop.invocation("other.cpp", "-O2"),
        [(kernel, guarded(kernel, FAST.replace("int i", "i").replace("team", "team2")))],
    )
    assert isinstance(emitted, Emitted), emitted
    workshop.run("ar", "rcs", "libboth.a", str(new), str(emitted.object_path))
    assert len(workshop.run("ar", "t", "libboth.a").split()) == 2
    main = MAIN.replace("scale(x, 1000);\n  for", "scale(x, 1000);\n  scale2(x, 1000);\n  for")
    main = main.replace("void scale(int* x, int n);", "extern int team2; void scale(int* x, int n); void scale2(int* x, int n);")
    workshop.write("main.cpp", main.replace('"%ld %d\\n", sum, team', '"%ld %d\\n", sum, team * 10 + team2'))
    # Both members are named new.o, as objects of one archive may be.
    workshop.run("g++", "main.cpp", "libboth.a", "-o", "after")
    assert workshop.run("./after", environ=TWO) == "1998000 22\n"


def test_shared_library_and_plug_in(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp", "-fPIC")
    workshop.run("g++", "-shared", "-Wl,-z,defs", str(new), "-o", "libscale.so")
    exported = workshop.run("nm", "-D", "--defined-only", "libscale.so")
    assert "perfcc" not in exported
    workshop.write("main.cpp", MAIN)
    workshop.run("g++", "main.cpp", "-L.", "-lscale", "-Wl,-rpath,$ORIGIN", "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 2\n"
    script = "import ctypes; lib = ctypes.CDLL('./libscale.so'); x = (ctypes.c_int * 1000)(); lib.scale(x, 1000);"
    script += "print(sum(x), ctypes.c_int.in_dll(lib, 'team').value)"
    assert workshop.run(sys.executable, "-c", script, environ=TWO) == "499500 2\n"


def test_beside_openmp_of_the_users_own(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp")
    workshop.write(
        "main.cpp",
        MAIN.replace("  for (i = 0", "#pragma omp parallel for reduction(+ : sum)\n  for (i = 0"),
    )
    workshop.run("g++", "-fopenmp", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 2\n"


def test_inside_the_users_own_parallel_region(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp")
    workshop.write(
        "main.cpp", MAIN.replace("  scale(x, 1000);", "#pragma omp parallel num_threads(2)\n#pragma omp single\n  scale(x, 1000);")
    )
    workshop.run("g++", "-fopenmp", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 0\n"


def test_user_compiles_the_unit_itself_with_openmp(workshop: Workshop) -> None:
    """A unit with OpenMP of its own keeps its direct calls: its link line has the library."""
    source = LIBRARY.replace(
        "int team = 0;", "int team = 0;\nint own(void) { int n = 0;\n#pragma omp parallel reduction(+ : n)\nn += 1;\nreturn n; }"
    )
    workshop.write("lib.cpp", source)
    kernel = KERNEL.replace("int i", "i")
    invocation = workshop.invocation("lib.cpp", "-O2", "-fopenmp")
    emitted = workshop.emit(invocation, [(kernel, guarded(kernel, FAST.replace("int i", "i")))])
    assert isinstance(emitted, Emitted), emitted
    assert emitted.shims == ()
    workshop.write(
        "main.cpp", MAIN.replace("extern int team;", "extern int team; int own(void);").replace("sum, team", "sum, team * 10 + own()")
    )
    workshop.run("g++", "-fopenmp", "main.cpp", str(emitted.object_path), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 22\n"


def test_openmp_flag_without_openmp_in_the_unit(workshop: Workshop) -> None:
    """Nothing shows that the link line has the library, so the calls are redirected."""
    new = rewritten(workshop, "lib.cpp", "-fopenmp")
    workshop.write("main.cpp", MAIN)
    workshop.run("g++", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 2\n"


def test_sections_collected_by_the_linker(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp", "-ffunction-sections", "-fdata-sections")
    workshop.write("main.cpp", MAIN)
    workshop.run("g++", "-Wl,--gc-sections", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 2\n"


def test_relocatable_link(workshop: Workshop) -> None:
    new = rewritten(workshop, "lib.cpp")
    workshop.run("ld", "-r", str(new), "-o", "joined.o")
    workshop.write("main.cpp", MAIN)
    workshop.run("g++", "main.cpp", "joined.o", "-o", "after")
    assert workshop.run("./after", environ=TWO) == "499500 2\n"

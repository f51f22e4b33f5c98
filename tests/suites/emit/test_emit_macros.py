"""Macros and names of the user's that could change the text perfcc adds: it keeps its meaning, or the unit is left alone."""

from __future__ import annotations

import pytest

from perfcc.cc.emit import Emitted
from perfcc.core.reason import Reason
from tests.suites.emit.emit_workshop import Workshop, guarded

KERNEL = "for (i = 0; i < n; ++i)\n    x[i] += STEP;"
FAST = KERNEL.replace("for (", "#pragma omp parallel for schedule(static)\n  for (long ", 1).replace("long i", "i")
SOURCE = f"""#ifndef STEP
#define STEP 2
#endif
void add(int* x, int n) {{
  int i;
  {KERNEL}
}}
"""


def outcome(workshop: Workshop, source: str, *flags: str, name: str = "a.c", fast: str = FAST, threads: bool = True) -> Emitted | Reason:
    workshop.write(name, source)
    compiler = "gcc" if name.endswith(".c") else "g++"
    invocation = workshop.invocation(name, "-O2", *flags, compiler=compiler)
    return workshop.emit(invocation, [(KERNEL, guarded(KERNEL, fast))], threads=threads)


def refusal(result: Emitted | Reason) -> Reason:
    assert isinstance(result, Reason), result
    return result


@pytest.mark.parametrize(
    "flag", ["-Dlong=int", "-Dstatic=", "-Dunsigned=signed", "-Dreturn=return 1+", "-Dlibrary=state", "-D__inline__=", "-Dprocess(x)=x"]
)
def test_command_line_redefines_a_word_of_the_runtime(workshop: Workshop, flag: str) -> None:
    reason = refusal(outcome(workshop, SOURCE, flag))
    assert reason.id == "emit-failed"
    assert f"{flag[2:].partition('=')[0].partition('(')[0]} is defined as a macro before the source begins" in reason.detail


@pytest.mark.parametrize("flag", ["-include", "-imacros"])
def test_header_of_the_command_line_redefines_a_word(workshop: Workshop, flag: str) -> None:
    workshop.write("config.h", "#define HAVE_X 1\n#define int long\n")
    assert "int is defined as a macro" in refusal(outcome(workshop, SOURCE, flag, "config.h")).detail


@pytest.mark.parametrize("name", ["a.c", "src/a.cpp"])
def test_ordinary_macros_are_no_obstacle(workshop: Workshop, name: str) -> None:
    workshop.write("config.h", "#define HAVE_X 1\n#define inline __inline\n")
    source = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <errno.h>\n#include <limits.h>\n" + SOURCE
    result = outcome(workshop, source, "-include", "config.h", "-DNDEBUG", "-DSTEP=3", "-D_GNU_SOURCE", "-Dinline=__inline", name=name)
    assert isinstance(result, Emitted), result


@pytest.mark.parametrize("threads", [True, False])
@pytest.mark.parametrize(
    "macro",
    ["for if (0); else for", "int long", "if(x) while (x)", "else if (1)", "const", "long int", "perfcc_rt_parallel_ok() 1"],
    ids=lambda macro: macro.split()[0],
)
def test_source_redefines_a_word_of_the_generated_text(workshop: Workshop, macro: str, threads: bool) -> None:
    fast = FAST.replace("STEP;", "(int)(const long)STEP;") if threads else "{ const int s = STEP; for (long j = 0; j < n; ++j) x[j] += s; }"
    source = SOURCE.replace("#endif\n", f"#endif\n#define {macro}\n#undef {macro.split()[0].partition('(')[0]}\n", 1)
    reason = refusal(outcome(workshop, source, fast=fast, threads=threads))
    assert (reason.id, reason.at is None) in (("macro-in-kernel", False), ("emit-failed", True))
    assert macro.split()[0].partition("(")[0] in reason.detail


@pytest.mark.parametrize("word", ["parallel", "schedule", "private", "static"])
def test_source_redefines_a_word_of_the_pragma(workshop: Workshop, word: str) -> None:
    fast = FAST.replace("schedule(static)", "schedule(static) private(i)")
    reason = refusal(outcome(workshop, SOURCE.replace("#endif\n", f"#endif\n#define {word} shared\n", 1), fast=fast))
    assert (reason.id, reason.detail) == ("macro-in-kernel", f"{word} is defined as a macro in this unit")


@pytest.mark.parametrize("definition", ["__LINE__", "HERE\n#define HERE __LINE__", "__COUNTER__"], ids=["line", "behind", "counter"])
def test_macro_that_leads_to_its_place(workshop: Workshop, definition: str) -> None:
    reason = refusal(outcome(workshop, SOURCE.replace("STEP 2", f"STEP {definition}")))
    assert (reason.id, reason.detail) == ("macro-in-kernel", "STEP depends on where it stands")


def test_lines_inside_the_original_part(workshop: Workshop) -> None:
    """With a serial rewrite that leaves the word out, the original keeps its line; so does its debug information."""
    fast = "for (i = n; i-- > 0;) x[i] += 7;"
    main = '#include <stdio.h>\nint main() { int x[2] = {0, 0}; add(x, 2); printf("%d\\n", x[1]); return 0; }\n'
    source = "#define STEP __LINE__\n" + SOURCE + main
    workshop.write("a.c", source)
    replacement = "{ if (n < 0) {\n\n\n" + fast + "\n}\nelse {\n" + KERNEL + "\n} }"
    result = workshop.emit(workshop.invocation("a.c", "-O1", "-g", compiler="gcc"), [(KERNEL, replacement)], threads=False, guard=False)
    assert isinstance(result, Emitted), result
    lines = []
    for path in (str(workshop.root / "a.o"), str(result.object_path)):
        workshop.run("gcc", path, "-o", "program")
        assert workshop.run("./program") == "8\n"
        dump = workshop.run("readelf", "--debug-dump=decodedline", path)
        lines.append({line.split()[1] for line in dump.splitlines() if line.startswith("a.c ")})
    assert {"7", "8"} <= lines[0]
    assert lines[1] == lines[0]


@pytest.mark.parametrize("name", ["perfcc_rt_parallel_ok", "perfcc_errno0", "PERFCC_RT_MAX"])
def test_source_uses_a_name_of_perfcc(workshop: Workshop, name: str) -> None:
    reason = refusal(outcome(workshop, f"extern int {name};\n" + SOURCE))
    assert (reason.id, reason.detail) == ("emit-failed", f"the source uses the name {name}, which is perfcc's own")


@pytest.mark.parametrize(
    "function", ["omp_get_max_threads", "omp_in_parallel", "omp_get_thread_num", "GOMP_parallel", "GOMP_barrier", "getpid", "dlsym"]
)
@pytest.mark.parametrize("local", ["", "static __attribute__((noinline)) "], ids=["global", "local"])
def test_source_defines_a_function_of_the_library(workshop: Workshop, function: str, local: str) -> None:
    source = f'{local}int {function}(void) {{ __asm__(""); return 7; }}\nint use(void) {{ return {function}() + 1; }}\n' + SOURCE
    reason = refusal(outcome(workshop, source))
    assert (reason.id, reason.detail) == ("openmp-unavailable", f"the source defines {function} itself")

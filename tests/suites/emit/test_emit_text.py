"""What the user's own code sees of a rewrite in the same file: nothing."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from perfcc.cc.compiler import probe, translation_unit
from perfcc.cc.emit import Emitted, OutputState, emit, install
from perfcc.cc.runtime import GUARD, text
from perfcc.cc.splice import Replacement
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation
from tests.suites.emit.emit_workshop import Workshop, guarded, span_of

KERNEL = "for (int i = 0; i < n; ++i)\n    x[i] += i;"
FAST = "#pragma omp parallel for\n  for (int i = 0; i < n; ++i)\n    x[i] += i;"
FUNCTION = f"void add(int* x, int n) {{\n  {KERNEL}\n}}\n"
REWRITE = [(KERNEL, guarded(KERNEL, FAST))]
SERIAL = [(KERNEL, "{ for (int i = n; i-- > 0;)\n\n\n x[i] += i; }")]


def emitted(workshop: Workshop, source: str, *flags: str, name: str = "a.cpp", threads: bool = True) -> Emitted:
    workshop.write(name, source)
    outcome = workshop.emit(workshop.invocation(name, *flags), REWRITE if threads else SERIAL, threads=threads, guard=threads)
    assert isinstance(outcome, Emitted), outcome
    return outcome


def refused(workshop: Workshop, source: str, *flags: str, name: str = "a.cpp", headers: bool = False, compiler: str = "g++") -> Reason:
    workshop.write(name, source)
    outcome = workshop.emit(workshop.invocation(name, *flags, compiler=compiler), REWRITE, openmp_in_headers=headers)
    assert isinstance(outcome, Reason)
    return outcome


def output_of(workshop: Workshop, object_path: Path) -> str:
    workshop.run("g++", str(object_path), "-o", "program")
    return workshop.run("sh", "-c", "./program 2>&1; true")


def same_output(workshop: Workshop, new: Emitted) -> str:
    """The program's output, which must be that of the original."""
    after = output_of(workshop, new.object_path)
    assert after == output_of(workshop, workshop.root / "a.o")
    return after


def test_lines_files_and_assertions(workshop: Workshop) -> None:
    shown = "__FILE__, __LINE__, __BASE_FILE__, __func__, __INCLUDE_LEVEL__"
    source = "#include <cassert>\n#include <cstdio>\n" + FUNCTION
    source += f'int main() {{ int x[3] = {{}}; add(x, 3);\n  printf("%s %d %s %s %d\\n", {shown});\n'
    source += "  fflush(stdout); assert(x[2] == 3); }\n"
    new = emitted(workshop, source, "-O2", name="src/a.cpp")
    after = same_output(workshop, new)
    assert after.startswith("src/a.cpp 8 src/a.cpp main 0\n")
    assert "src/a.cpp:9: int main(): Assertion" in after


@pytest.mark.parametrize("threads", [True, False])
def test_macros_that_openmp_defines_stay_undefined(workshop: Workshop, threads: bool) -> None:
    source = FUNCTION + "#if defined _OPENMP || defined _REENTRANT\n#error seen\n#endif\nint main() {}\n"
    assert same_output(workshop, emitted(workshop, source, "-O2", threads=threads)) == ""


def test_users_pthread_flag_keeps_its_macro(workshop: Workshop) -> None:
    emitted(workshop, FUNCTION + "#ifndef _REENTRANT\n#error gone\n#endif\nint main() {}\n", "-O2", "-pthread")


SLEEPING = """#include <cstdio>
#define LOOP _Pragma("omp parallel num_threads(4)")
int main() {
  int runs = 0;
#pragma omp parallel num_threads(4)
  ++runs;
  LOOP
  ++runs;
  _Pragma("omp parallel num_threads(4)") { ++runs; }
  printf("%d\\n", runs);
}
"""


def test_users_pragmas_stay_asleep(workshop: Workshop) -> None:
    new = emitted(workshop, FUNCTION + SLEEPING, "-O2")
    assert same_output(workshop, new) == "3\n"


def test_users_dormant_openmp_does_not_stop_other_loops(workshop: Workshop) -> None:
    source = "#ifdef _OPENMP\n#include <omp.h>\n#endif\n" + FUNCTION + SLEEPING
    assert same_output(workshop, emitted(workshop, source, "-O2")) == "3\n"


@pytest.mark.parametrize(
    "source",
    [
        "#define DO(x) _Pragma(#x)\nint main() { DO(omp parallel) {} }\n" + FUNCTION,
        "int main() { [[omp::directive(parallel)]] {} }\n" + FUNCTION,
        "#define O omp\nint main() {}\n" + FUNCTION,
    ],
    ids=["stringised", "attribute", "macro"],
)
def test_pragma_that_cannot_be_put_to_sleep(workshop: Workshop, source: str) -> None:
    assert refused(workshop, source, "-O2").id == "openmp-in-headers"


def test_pragma_in_a_header(workshop: Workshop) -> None:
    assert refused(workshop, FUNCTION, "-O2", headers=True).id == "openmp-in-headers"
    assert refused(workshop, FUNCTION, "-O2", "-fopenmp-simd").id == "openmp-in-headers"


@pytest.mark.parametrize(
    ("call", "id"),
    [("omp_get_max_threads", "openmp-unavailable"), ("omp_get_num_procs", ""), ("omp_get_wtime", "")],
)
def test_unit_that_calls_the_library_by_itself(workshop: Workshop, call: str, id: str) -> None:
    """Its link line may have a stub of the library, so a shared call can be neither redirected nor left."""
    workshop.write("a.cpp", f'extern "C" double {call}(); double own() {{ return {call}(); }}\n' + FUNCTION)
    outcome = workshop.emit(workshop.invocation("a.cpp", "-O2", "-fopenmp"), REWRITE)
    assert (outcome.id if isinstance(outcome, Reason) else "") == id, outcome


def test_thread_sanitizer(workshop: Workshop) -> None:
    assert refused(workshop, FUNCTION, "-O2", "-fsanitize=thread").id == "openmp-unavailable"


def test_pragma_inside_the_kernel(workshop: Workshop) -> None:
    kernel = KERNEL.replace("\n", "\n#pragma omp simd\nfor (int j = 0; j < 2; ++j)\n")
    workshop.write("a.cpp", FUNCTION.replace(KERNEL, kernel))
    outcome = workshop.emit(workshop.invocation("a.cpp", "-O2"), [(kernel, guarded(kernel, FAST))])
    assert isinstance(outcome, Reason)
    assert outcome.id == "user-openmp"


def test_serial_rewrite_wakes_nothing_and_calls_nothing(workshop: Workshop) -> None:
    new = emitted(workshop, FUNCTION + SLEEPING, "-O2", threads=False)
    assert new.shims == ()
    assert same_output(workshop, new) == "3\n"
    assert workshop.run("nm", "-u", str(new.object_path)) == workshop.run("nm", "-u", "a.o")


INCLUDING = '#include "near.h"\n#include "sub/far.h"\n#include <cstddef>\n' + FUNCTION + "int main() { return NEAR - FAR; }\n"


@pytest.mark.parametrize("flags", [(), ("-Iother",), ("-iquote", "other"), ("-I-other",)], ids=["plain", "I", "iquote", "odd"])
def test_includes_are_found_beside_the_source(workshop: Workshop, flags: tuple[str, ...]) -> None:
    workshop.write("src/near.h", "#define NEAR 7\n")
    workshop.write("src/sub/far.h", '#include "farther.h"\n')
    workshop.write("src/sub/farther.h", "#define FAR 7\n")
    workshop.write("other/near.h", "#define NEAR 8\n")
    new = emitted(workshop, INCLUDING, "-O2", *flags, name="src/a.cpp")
    names = {os.path.relpath(path, workshop.root) for path in new.dependencies}
    assert {"src/a.cpp", "src/near.h", "src/sub/far.h", "src/sub/farther.h"} <= names
    assert not any("scratch" in name for name in names)
    assert same_output(workshop, new) == ""
    workshop.run("./program")


def test_header_that_would_find_another_beside_the_source(workshop: Workshop) -> None:
    """A header's own includes are looked for beside that header, not beside the source."""
    workshop.write("include/lib.h", '#include "config.h"\n')
    workshop.write("include2/config.h", "#define VALUE 1\n")
    workshop.write("src/config.h", "#undef VALUE\n#define OWN 2\n")
    source = '#include <lib.h>\nint value = VALUE;\n#include "config.h"\nint main() { return value - OWN + 1; }\n' + FUNCTION
    new = emitted(workshop, source, "-O2", "-Iinclude", "-Iinclude2", name="src/a.cpp")
    names = {os.path.relpath(path, workshop.root) for path in new.dependencies}
    assert {"include/lib.h", "include2/config.h", "src/config.h"} <= names
    same_output(workshop, new)
    workshop.run("./program")


def test_header_that_shadows_nothing_outside_the_quotes(workshop: Workshop) -> None:
    """A header beside the source must not be found by #include <...>."""
    workshop.write("cstddef", "#error wrong one\n")
    emitted(workshop, "#include <cstddef>\nint main() {}\n" + FUNCTION, "-O2")


def test_source_that_includes_itself(workshop: Workshop) -> None:
    """A rewrite is made for one reading of the text."""
    source = "#ifndef AGAIN\n#define AGAIN\n#include __FILE__\n" + FUNCTION + "#else\nint twice() { return 2; }\n#endif\n"
    assert "includes itself" in refused(workshop, source, "-O2").detail


@pytest.mark.parametrize("flags", [("-O2", "-g"), ("-O3", "-g3", "-fPIC"), ("-O2", "-g", "-gz", "-gdwarf-4")], ids=["g", "g3", "gz"])
def test_same_bits_from_any_scratch_directory(workshop: Workshop, flags: tuple[str, ...]) -> None:
    source = "#include <vector>\nnamespace { std::vector<int> v(3); struct S { S() { v[0] = 1; } } s; }\n" + FUNCTION
    first = emitted(workshop, source, *flags, name="src/a.cpp").object_path.read_bytes()
    second = emitted(workshop, source, *flags, name="src/a.cpp").object_path.read_bytes()
    assert first == second
    assert b"scratch" not in first


def lines_of(workshop: Workshop, object_path: Path, function: str) -> list[str]:
    """Source lines of each row of the function's line table."""
    table = workshop.run("objdump", "-dl", "--no-show-raw-insn", f"--disassemble={function}", str(object_path))
    return [line.split(":")[-1].split(" ")[0] for line in table.splitlines() if line.startswith((str(workshop.root), "src/"))]


def test_debug_information_of_untouched_code(workshop: Workshop) -> None:
    source = FUNCTION + 'extern "C" int after(int a) {\n  int b = a * 3;\n  if (b > 9)\n    return b / a;\n  return b;\n}\nint main() {}\n'
    new = emitted(workshop, source, "-O1", "-g", name="src/a.cpp")
    wanted = lines_of(workshop, workshop.root / "a.o", "after")
    assert lines_of(workshop, new.object_path, "after") == wanted
    assert {"6", "8"} <= set(wanted)
    info = workshop.run("readelf", "--debug-dump=info", str(new.object_path))
    before = workshop.run("readelf", "--debug-dump=info", "a.o")

    def unit(dump: str) -> list[str]:
        lines = [line.rpartition(": ")[2].strip() for line in dump.splitlines() if "DW_AT_name" in line or "DW_AT_comp_dir" in line]
        return lines[:2]

    assert unit(info) == unit(before)
    assert unit(info)[0] == "src/a.cpp"


@pytest.mark.parametrize("place", ["{root}/a.cpp", "{root}/src/a.cpp", "./src/../a.cpp", "src/./a.cpp", "../sibling/a.cpp"])
@pytest.mark.parametrize("flags", [("-g",), ("-g", "-gdwarf-4"), ("-g", "-fdebug-prefix-map={root}=/mapped")], ids=" ".join)
def test_debug_information_names_the_source(workshop: Workshop, place: str, flags: tuple[str, ...]) -> None:
    source, *words = [word.format(root=workshop.root) for word in (place, *flags)]
    for folder in ("src", "../sibling"):
        (workshop.root / folder).mkdir()
    new = emitted(workshop, FUNCTION, "-O1", *words, name=source)
    units, files = [], []
    for path in ("a.o", str(new.object_path)):
        units.append(re.findall(r"DW_AT_(?:name|comp_dir) .*: (.*)", workshop.run("readelf", "--debug-dump=info", path))[:2])
        dump = workshop.run("objdump", "-dl", "--no-show-raw-insn", path)
        files.append(set(re.findall(r"^(\S+):\d+(?: \(.*)?$", dump, re.M)))
    assert units[1] == units[0]
    assert files[0]
    assert files[1] == files[0]


@pytest.mark.parametrize("folder", ["", "src/"])
@pytest.mark.parametrize("flag", ["-ffile-prefix-map", "-fdebug-prefix-map", "-fmacro-prefix-map"])
def test_users_prefix_maps_hold_for_the_copy(workshop: Workshop, flag: str, folder: str) -> None:
    source = FUNCTION + 'extern "C" int puts(const char*); int main() { puts(__FILE__); puts(__BASE_FILE__); }\n'
    new = emitted(workshop, source, "-O2", "-g", f"{flag}=src=/mapped", f"{flag}={workshop.root}=/root", name=f"{folder}a.cpp")
    same_output(workshop, new)
    dumps = [workshop.run("readelf", "--debug-dump=info", path) for path in ("a.o", str(new.object_path))]
    names = [re.findall(r"DW_AT_(?:name|comp_dir) .*: (.*)", dump)[:2] for dump in dumps]
    assert names[0] == names[1]


@pytest.mark.parametrize(
    "flags",
    [("-MMD",), ("-MD", "-MF", "a.d"), ("-MD", "-MP", "-MTx", "-MQ", "y"), ("-Wp,-MD,a.d",), ("-Wp,-MMD,a.d", "-MT", "x")],
    ids=" ".join,
)
def test_dependency_files_are_left_alone(workshop: Workshop, flags: tuple[str, ...]) -> None:
    workshop.write("near.h", "")
    workshop.write("a.cpp", '#include "near.h"\n' + FUNCTION)
    invocation = workshop.invocation("a.cpp", "-O2", *flags)
    workshop.run(*invocation.argv)
    before = {path.name: path.read_text() for path in workshop.root.glob("*.d")}
    assert isinstance(workshop.emit(invocation, REWRITE), Emitted)
    assert before
    assert {path.name: path.read_text() for path in workshop.root.glob("*.d")} == before
    assert {path.name for path in workshop.root.iterdir()} == {"a.cpp", "a.o", "near.h", *before}


def test_warnings_and_strictness_do_not_stop_the_copy(workshop: Workshop) -> None:
    emitted(workshop, FUNCTION, "-O2", "-std=c++98", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-Wold-style-cast", "-Wundef")


def test_rewrite_that_does_not_compile(workshop: Workshop) -> None:
    workshop.write("a.cpp", FUNCTION)
    outcome = workshop.emit(workshop.invocation("a.cpp", "-O2"), [(KERNEL, "{ nonsense }")])
    assert isinstance(outcome, Reason)
    assert outcome.id == "emit-failed"
    assert "nonsense" in outcome.detail


def test_rewrite_that_needs_what_the_original_did_not(workshop: Workshop) -> None:
    workshop.write("a.cpp", "#include <cstdlib>\n#include <cmath>\n" + FUNCTION)
    outcome = workshop.emit(workshop.invocation("a.cpp", "-O2"), [(KERNEL, "{ std::srand(n); x[0] = 1; }")], threads=False)
    assert isinstance(outcome, Reason)
    assert (outcome.id, outcome.detail) == ("emit-failed", "the rewrite needs srand")


@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_region_in_a_unit_without_exceptions(workshop: Workshop, level: str) -> None:
    """What a region calls to hand back errno and flags is known not to throw, or the object would need the C++ library."""
    fast = "int left = 0, before = perfcc_rt_errno_get();\n"
    fast += "#pragma omp parallel reduction(max : left)\n{\nconst int own = perfcc_rt_errno_swap(0);\n"
    fast += "const perfcc_rt_fenv state = perfcc_rt_fenv_enter(perfcc_rt_fenv_read());\n#pragma omp for\n"
    fast += KERNEL + "\nperfcc_rt_fenv_leave(state);\nleft = perfcc_rt_errno_swap(own);\n}\nperfcc_rt_errno_swap(left ? left : before);"
    workshop.write("a.cpp", FUNCTION)
    outcome = workshop.emit(workshop.invocation("a.cpp", level), [(KERNEL, guarded(KERNEL, fast))])
    assert isinstance(outcome, Emitted), outcome


@pytest.mark.parametrize(
    "pragma",
    ["#pragma omp parallel\n#pragma omp task", "#pragma omp parallel for ordered", "#pragma omp parallel\n#pragma omp critical(name)"],
)
def test_openmp_call_without_a_stand_in(workshop: Workshop, pragma: str) -> None:
    body = "\n#pragma omp ordered\nx[i] = i;" if "ordered" in pragma else "x[i] += i;"
    loop = "for (int i = 0; i < n; ++i) {" + body + "\n}"
    workshop.write("a.cpp", FUNCTION)
    outcome = workshop.emit(workshop.invocation("a.cpp", "-O2"), [(KERNEL, f"{{\n{pragma}\n{loop}\n}}")])
    assert isinstance(outcome, Reason)
    assert outcome.id == "emit-failed"
    assert "no stand-in for GOMP_" in outcome.detail


@pytest.mark.parametrize("flag", ["--coverage", "-flto", "-fstack-usage", "-fprofile-generate", "-fdump-tree-all"])
def test_flag_with_further_outputs(workshop: Workshop, flag: str) -> None:
    assert refused(workshop, FUNCTION, "-O2", flag).id == "emit-failed"


@pytest.mark.parametrize("macro", ["__TIME__", "__DATE__", "__TIMESTAMP__"])
def test_source_that_asks_for_the_time(workshop: Workshop, macro: str) -> None:
    assert refused(workshop, f"const char* when = {macro};\n" + FUNCTION, "-O2").id == "emit-failed"


def test_clang_gets_serial_rewrites_only(workshop: Workshop) -> None:
    assert refused(workshop, FUNCTION, "-O2", compiler="clang++-19").id == "openmp-unavailable"
    outcome = workshop.emit(workshop.invocation("a.cpp", "-O2", "-g", compiler="clang++-19"), SERIAL, threads=False, guard=False)
    assert isinstance(outcome, Emitted), outcome
    assert b"scratch" not in outcome.object_path.read_bytes()


def test_source_with_odd_bytes(workshop: Workshop) -> None:
    source = ("\ufeff// caf\xe9\r\n" + FUNCTION.replace("\n", "\r\n") + "int main() { return __LINE__ - 6; }\r\n").encode()
    source = source.replace(b"caf\xc3\xa9", b"caf\xe9")
    workshop.root.joinpath("a.cpp").write_bytes(source)
    kernel = KERNEL.replace("\n", "\r\n")
    outcome = workshop.emit(workshop.invocation("a.cpp", "-O2"), [(kernel, guarded(kernel, FAST))])
    assert isinstance(outcome, Emitted), outcome
    same_output(workshop, outcome)
    workshop.run("sh", "-c", "./program; test $? -eq 255 -o $? -eq 0")


def test_directory_and_file_names_with_spaces(workshop: Workshop) -> None:
    workshop.write("my src/near file.h", "")
    new = emitted(
        workshop,
        '#include "near file.h"\n' + FUNCTION + 'extern "C" int puts(const char*); int main() { puts(__FILE__); }\n',
        "-O2",
        name="my src/a.cpp",
    )
    assert same_output(workshop, new) == "my src/a.cpp\n"
    assert any(path.endswith("my src/near file.h") for path in new.dependencies)


def test_missing_original_object(workshop: Workshop, tmp_path: Path) -> None:
    workshop.write("a.cpp", FUNCTION)
    invocation = workshop.invocation("a.cpp", "-O2")
    info = probe("g++", invocation)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    outcome = emit(translation_unit(invocation, info), info, [], "", scratch)
    assert isinstance(outcome, Reason)
    assert outcome.id == "emit-failed"


# ---- installing


def installed(workshop: Workshop) -> tuple[Invocation, Path, Path]:
    new = emitted(workshop, FUNCTION + "int main() {}\n", "-O2")
    return workshop.invocation("a.cpp", "-O2"), workshop.root / "a.o", new.object_path


def test_install_keeps_mode_and_leaves_nothing_behind(workshop: Workshop) -> None:
    _, output, new = installed(workshop)
    output.chmod(0o640)
    before = OutputState.of(output)
    assert install(new, output, before) is None
    assert OutputState.of(output).mtime_ns == before.mtime_ns
    assert output.read_bytes() == new.read_bytes()
    assert output.stat().st_mode & 0o777 == 0o640
    assert {path.name for path in workshop.root.iterdir()} == {"a.cpp", "a.o"}


def test_install_refuses_a_changed_output(workshop: Workshop) -> None:
    _, output, new = installed(workshop)
    state = OutputState.of(output)
    for other in (replace(state, size=state.size + 1), replace(state, mtime_ns=1), replace(state, inode=0)):
        before = output.read_bytes()
        reason = install(new, output, other)
        assert reason is not None
        assert reason.id == "output-changed"
        assert output.read_bytes() == before


def test_install_refuses_what_is_no_file(workshop: Workshop) -> None:
    _, output, new = installed(workshop)
    state = OutputState.of(output)
    link = workshop.root / "link.o"
    link.symlink_to(output)
    for target in (link, Path(os.devnull), workshop.root / "missing.o"):
        reason = install(new, target, state)
        assert reason is not None
        assert reason.id == "output-changed"
    assert link.is_symlink()


def test_original_text_and_head_are_all_there_is(workshop: Workshop) -> None:
    new = emitted(workshop, FUNCTION, "-O2")
    assert text(GUARD).encode() in new.text.replace(b"#line 1\n", b"")
    span = span_of(FUNCTION.encode(), KERNEL.encode(), "a.cpp")
    assert new.text.endswith(b"\n#line 3\n              \n}\n")
    assert Replacement(span, "", False).span.line == 2

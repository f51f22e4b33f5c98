"""Loops in the project's headers: which are looked at, under which name, and what stops them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from perfcc.core.kernel import Kernel, ParsedUnit
from perfcc.frontend import parse
from tests.unit.frontend.snippets import nest_text, unit_of

LOOP = "for (int i = 0; i < n; ++i) a[i] = 0;"
KERNEL = f"inline void h(int* a, int n) {{ {LOOP} }}\n"


class Project:
    """A directory of files; ``parse`` reads one of them as the main file."""

    def __init__(self, root: Path, files: Mapping[str, str]) -> None:
        self.root = root
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def parse(self, main: str = "main.cpp", *extra: str, headers: tuple[str, ...] | None = None) -> ParsedUnit:
        language = "c" if main.endswith(".c") else "c++"
        unit = unit_of((self.root / main).read_text(), language, extra, main, str(self.root))
        parsed = parse(unit, headers)
        assert parsed.refusal is None, parsed.refusal
        return parsed

    def kernels(self, main: str = "main.cpp", *extra: str) -> tuple[Kernel, ...]:
        return self.parse(main, *extra).kernels


def test_a_kernel_in_a_header(tmp_path: Path) -> None:
    project = Project(tmp_path, {"lib/a.h": "#pragma once\n" + KERNEL, "main.cpp": '#include "lib/a.h"\nint main() { h(0, 0); }\n'})
    parsed = project.parse()
    (found,) = parsed.kernels
    assert (found.function, found.span.file, found.span.line, found.text) == ("h", "lib/a.h", 2, LOOP)
    assert parsed.texts == (("lib/a.h", (tmp_path / "lib/a.h").read_bytes()),)
    assert found.span.text(parsed.texts[0][1]) == LOOP
    assert parsed.includes == ("lib/a.h",)
    assert found.nest is not None
    assert found.nest.span is not None
    assert found.nest.span.file == "lib/a.h"


def test_the_main_files_kernels_come_first(tmp_path: Path) -> None:
    main = f'#include "a.h"\nvoid g(int* a, int n) {{ {LOOP} h(a, n); }}'
    first, second = Project(tmp_path, {"a.h": KERNEL, "main.cpp": main}).kernels()
    assert (first.span.file, second.span.file) == ("main.cpp", "a.h")
    assert second.id == f"{first.id}-2"
    assert nest_text(first) == nest_text(second)


SOURCES = [("src", "main.cpp"), ("src", "./main.cpp"), (".", "src/main.cpp"), (".", "./src/../src/main.cpp"), (".", "ABSOLUTE")]
INCLUDES = [
    ('"a.h"', ()),
    ('"./a.h"', ()),
    ('"link.h"', ()),
    ('"../inc/b.h"', ()),
    ("<b.h>", ("-I../inc", "-Iinc")),
    ('"b.h"', ("-iquote", "./inc/../inc", "-I../inc/")),
    ("<a.h>", ("-I.", "-Isrc")),
    ("<a.h>", ("-IABSOLUTE",)),
]


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize(("cwd", "source"), SOURCES)
def test_names_are_those_by_which_the_compiler_opens_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str, cwd: str, source: str
) -> None:
    project = Project(tmp_path, {"src/a.h": '#pragma once\n#include "c.h"\n', "src/c.h": KERNEL, "inc/b.h": KERNEL})
    (tmp_path / "src" / "link.h").symlink_to("c.h")
    source = source.replace("ABSOLUTE", str(tmp_path / "src" / "main.cpp"))
    monkeypatch.chdir(tmp_path / cwd)
    for include, flags in INCLUDES:
        flags = tuple(flag.replace("ABSOLUTE", str(tmp_path / "src")) for flag in flags)
        (tmp_path / "src" / "main.cpp").write_text(f"#include {include}\nint main() {{ h(0, 0); }}")
        listed = subprocess.run([compiler, *flags, "-E", source], capture_output=True, text=True, check=True).stdout
        unit = replace(
            unit_of((project.root / "src" / "main.cpp").read_text(), "c++", flags, source, os.getcwd()),
            family="clang" if "clang" in compiler else "gcc",
        )
        (found,) = parse(unit).kernels
        assert f'"{found.span.file}" 1' in listed, include


def test_system_headers_are_not_looked_at(tmp_path: Path) -> None:
    files = {
        "sys/deep/a.h": KERNEL,
        "b.h": "#pragma GCC system_header\n" + KERNEL.replace("h(", "b("),
        "opt/c.h": KERNEL.replace("h(", "c("),
    }
    main = '#include <deep/a.h>\n#include "b.h"\n#include <c.h>\nint main() { h(0, 0); b(0, 0); c(0, 0); }'
    project = Project(tmp_path, {**files, "main.cpp": main})
    assert [kernel.function for kernel in project.kernels("main.cpp", "-isystem", "sys", "-Iopt")] == ["c"]
    assert [kernel.function for kernel in project.kernels("main.cpp", "-Isys", "-isystem", "opt")] == ["h"]
    assert [kernel.function for kernel in project.kernels("main.cpp", "-Isys/deep", "-Isys", "-isystem", "sys", "-Iopt")] == ["c"]


REACHED = [
    ("inline void h(int* a, int n) { LOOP }", "int main() { h(0, 0); }"),
    ("inline void h(int* a, int n) { LOOP }\ninline void mid() { h(0, 0); }", "int main() { mid(); }"),
    ("inline void h(int* a, int n) { LOOP }\n#define CALL h(0, 0)", "int main() { CALL; }"),
    ("void h(int* a, int n) { LOOP }", "int main() {}"),
    ("namespace n { namespace { struct S { void h(int* a, int n) { LOOP } }; } }", "int main() { n::S().h(0, 0); }"),
    ("struct S { S(int* a, int n) { LOOP } };", "int main() { S s(0, 0); }"),
    ("struct S { int* a; int n; ~S() { LOOP } };", "int main() { S s; }"),
    ("struct S { int* a; int n; ~S() { LOOP } };\nstruct D { S s; };", "int main() { D d; }"),
    ("struct S { int* a; int n; void operator+=(int) { LOOP } };", "int main() { S s; s += 1; }"),
    ("struct B { virtual void v(); };\nstruct S : B { int* a; int n; void v() { LOOP } };", "int main() { S s; }"),
    ("struct S { friend void h(S, int* a, int n) { LOOP } };", "int main() { h(S(), 0, 0); }"),
    ("template <class T> struct S { T t; void h(int* a, int n); };\ntemplate <class T> void S<T>::h(int* a, int n) { LOOP }",
     "int main() { S<int>().h(0, 0); }"),
    ("template <class T> struct S { S(int* a, int n) { LOOP } };\ntypedef S<int> Short;", "int main() { Short s(0, 0); }"),
    ("inline int h(int* a, int n) { LOOP return 0; }\nstatic int start = h(0, 0);", "int main() {}"),
    ("template <class T> struct S { T t; void h(int* a, int n) { LOOP } };", "template class S<int>;"),
    ("namespace n { template <class T> struct S { void h(int* a, int n) { LOOP } }; }", "template struct n::S<int>; int main() {}"),
    ('extern "C" { static inline void h(int* a, int n) { LOOP } }', "int main() { h(0, 0); }"),
]  # fmt: skip
UNREACHED = [
    ("inline void h(int* a, int n) { LOOP }", "int main() {}"),
    ("static void h(int* a, int n) { LOOP }", "int main() {}"),
    ("template <class T> void h(T, int* a, int n) { LOOP }", "int main() {}"),
    ("struct S { void h(int* a, int n) { LOOP } };", "int main() { S s; }"),
    ("struct S { void h(int* a, int n); };\ninline void S::h(int* a, int n) { LOOP }", "int main() { S s; }"),
    ("struct S { S(int* a, int n) { LOOP } virtual void v(int* a, int n) { LOOP } };", "int main() {}"),
    ("inline void h(int* a, int n) { LOOP }\ninline void mid() { h(0, 0); }", "int main() {}"),
    ("inline void h(int* a, int n) { LOOP }", "// h(0, 0)\nint main() {}"),
]


@pytest.mark.parametrize(("header", "main"), REACHED)
def test_functions_that_the_unit_can_reach(tmp_path: Path, header: str, main: str) -> None:
    project = Project(tmp_path, {"a.h": header.replace("LOOP", LOOP) + "\n", "main.cpp": f'#include "a.h"\n{main}'})
    assert [kernel.span.file for kernel in project.kernels()] == ["a.h"]


@pytest.mark.parametrize(("header", "main"), UNREACHED)
def test_functions_that_the_unit_cannot_reach_are_not_looked_at(tmp_path: Path, header: str, main: str) -> None:
    project = Project(tmp_path, {"a.h": header.replace("LOOP", LOOP) + "\n", "main.cpp": f'#include "a.h"\n{main}'})
    assert project.kernels() == ()


def test_reached_through_a_header_without_loops(tmp_path: Path) -> None:
    files = {"a.h": KERNEL, "b.h": '#pragma once\n#include "a.h"\ninline void mid() { h(0, 0); }\n'}
    assert len(Project(tmp_path, {**files, "main.cpp": '#include "b.h"\nint main() { mid(); }'}).kernels()) == 1


def test_a_header_inside_a_namespace(tmp_path: Path) -> None:
    main = 'namespace n {\n#include "a.h"\n}\nint main() { n::h(0, 0); }'
    (found,) = Project(tmp_path, {"a.h": KERNEL, "main.cpp": main}).kernels()
    assert (found.function, found.refusal) == ("n::h", None)


def test_a_file_included_several_times_is_refused_once(tmp_path: Path) -> None:
    files = {"x.inc": "void NAME(int* a, int n) { for (int i = 0; i < n; ++i) a[i] = 0; }\n"}
    main = '#define NAME f\n#include "x.inc"\n#undef NAME\n#define NAME g\n#include "x.inc"\n'
    (found,) = Project(tmp_path, {**files, "main.cpp": main}).kernels()
    assert found.refusal is not None
    assert (found.refusal.id, found.span.file) == ("included-again", "x.inc")


@pytest.mark.parametrize("guard", ["#pragma once\nBODY", "#ifndef A_H\n#define A_H\nBODY#endif\n"])
def test_a_guarded_header_included_several_times_has_one_text(tmp_path: Path, guard: str) -> None:
    main = '#include "a.h"\n#include "./a.h"\n#include "a.h"\nint main() { h(0, 0); }'
    (found,) = Project(tmp_path, {"a.h": guard.replace("BODY", KERNEL), "main.cpp": main}).kernels()
    assert found.refusal is None


def test_a_source_that_includes_itself(tmp_path: Path) -> None:
    main = "#ifndef TWICE\n#define TWICE\n" + '#include "main.cpp"\n' + "#else\n" + KERNEL + "#endif\n"
    refusals = [kernel.refusal for kernel in Project(tmp_path, {"main.cpp": main}).kernels()]
    assert refusals
    assert all(refusal is not None and refusal.id == "included-again" for refusal in refusals)


def test_forced_includes_come_before_the_prologue(tmp_path: Path) -> None:
    files = {"a.h": KERNEL, "deep.h": '#include "a.h"\n', "main.cpp": "int main() { h(0, 0); }"}
    (found,) = Project(tmp_path, files).kernels("main.cpp", "-include", "deep.h")
    assert found.refusal is not None
    assert found.refusal.id == "forced-include"


def test_a_function_in_two_files_is_left_alone(tmp_path: Path) -> None:
    main = f'int f(int* a, int n) {{ int s = 0;\n{LOOP}\n#include "rest.inc"\nreturn s; }}'
    (found,) = Project(tmp_path, {"rest.inc": "s += n;\n", "main.cpp": main}).kernels()
    assert found.refusal is not None
    assert found.refusal.id == "unmodelled-statement"
    assert found.refusal.at is not None
    assert found.refusal.at.line == 3


@pytest.mark.parametrize("line", ["#line 7", '# 7 "other.y"'])
def test_lines_with_other_numbers_are_left_alone(tmp_path: Path, line: str) -> None:
    before, after = Project(tmp_path, {"main.cpp": f"{KERNEL}{line}\n{KERNEL.replace('h(', 'g(')}"}).kernels()
    assert before.refusal is None
    assert after.refusal is not None


def test_macros_are_those_of_the_place(tmp_path: Path) -> None:
    header = "#define LEN 8\ninline void h(int* a, int top) { for (int i = 0; i < LEN; ++i) a[i] = top; }\n"
    main = '#include "a.h"\n#define top 3\nint main() { h(0, 0); }'
    (found,) = Project(tmp_path, {"a.h": header, "main.cpp": main}).kernels()
    assert found.refusal is None
    assert found.prelude == ("#define LEN 8",)


def test_a_callees_types_may_stand_in_another_header(tmp_path: Path) -> None:
    files = {
        "base.h": "#pragma once\ntypedef long wide;\ninline int twice(int x) { wide w = x; return (int)(2 * w); }\n",
        "a.h": '#include "base.h"\ninline void h(int* a, int n) { for (int i = 0; i < n; ++i) a[i] = twice(i); }\n',
        "main.cpp": '#include "a.h"\nint main() { h(0, 0); }',
    }
    (found,) = Project(tmp_path, files).kernels()
    assert found.refusal is None
    assert found.prelude == ("typedef long wide;",)


def test_the_same_kernel_in_two_units_has_one_id(tmp_path: Path) -> None:
    files = {"a.h": KERNEL, "main.cpp": '#include "a.h"\nint main() { h(0, 0); }', "b.cpp": '\n#include "./a.h"\nvoid b() { h(0, 1); }'}
    project = Project(tmp_path, files)
    assert project.kernels()[0].id == project.kernels("b.cpp")[0].id


def test_headers_in_c(tmp_path: Path) -> None:
    header = "static inline void h(int* a, int n) { int i; for (i = 0; i < n; ++i) a[i] = 0; }\n"
    (found,) = Project(tmp_path, {"a.h": header, "main.c": '#include "a.h"\nint main(void) { h(0, 0); return 0; }'}).kernels("main.c")
    assert (found.refusal, found.language) == (None, "c")


def test_units_whose_files_hold_no_loops_are_not_parsed(tmp_path: Path) -> None:
    files = {"a.h": "int h();\n", "loops.h": KERNEL, "main.cpp": '#include <vector>\n#include "a.h"\nint main() {}'}
    project = Project(tmp_path, files)
    assert project.parse(headers=("/usr/include/c++/12/vector", "a.h")).includes == ()
    assert project.parse(headers=("a.h", "loops.h")).includes != ()
    assert "a.h" in project.parse().includes

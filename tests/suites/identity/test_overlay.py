"""The overlay under compilers and folders that are odd: it follows them, or it refuses; nothing of the user's is touched either way."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from perfcc.cc.emit.overlay import OverlayError, Run, run

MAIN = '#include "a.h"\nint value() { return VALUE; }\n'
OTHER = MAIN.replace("VALUE;", "VALUE + 1;")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.cpp").write_text(MAIN)
    (folder / "a.h").write_text("#define VALUE 1\n")
    (folder / "a.o").write_text("the original")
    return folder


def overlaid(project: Path, *words: str, compiler: str = "g++", copies: dict[str, bytes] | None = None, cwd: str = "") -> Run:
    scratch = project.parent / "scratch"
    scratch.mkdir()
    path = (
        subprocess.run(["which", compiler], capture_output=True, text=True, check=True).stdout.strip() if "/" not in compiler else compiler
    )
    return run([compiler, *words], path, cwd or str(project), {"a.cpp": OTHER.encode()} if copies is None else copies, scratch)


def content(project: Path) -> dict[str, bytes]:
    return {str(path.relative_to(project)): path.read_bytes() for path in project.rglob("*") if path.is_file()}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_what_is_written_is_kept_aside(project: Path, compiler: str) -> None:
    before = content(project)
    done = overlaid(
        project, "-O1", "-g", "-gsplit-dwarf", "--coverage", "-fstack-usage", "-MMD", "-c", "a.cpp", "-o", "a.o", compiler=compiler
    )
    assert done.code == 0, done.errors
    assert done.mapped == ("a.cpp",)
    assert os.path.normpath(done.reads[-1]) == "a.h"
    assert "a.cpp" not in done.reads
    assert {output.path for output in done.outputs} == {project / f"a.{kind}" for kind in ("o", "d", "dwo", "gcno", "su")}
    assert content(project) == before
    symbols = subprocess.run(
        ["nm", str(next(out.file for out in done.outputs if out.path.suffix == ".o"))], capture_output=True, check=True
    )
    assert b"value" in symbols.stdout


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("name", ["./a.cpp", "sub/../a.cpp", "{project}/a.cpp", "link.cpp", "folder/a.cpp"])
def test_a_source_by_any_name(project: Path, compiler: str, name: str) -> None:
    (project / "link.cpp").symlink_to("a.cpp")
    (project / "folder").symlink_to(".")
    name = name.format(project=project)
    done = overlaid(project, "-E", "-P", name, compiler=compiler)
    assert done.mapped == (name,)


def test_a_working_directory_by_another_name(project: Path) -> None:
    (project.parent / "other").symlink_to(project)
    done = overlaid(project, "-c", "a.cpp", "-o", "sub/new.o", cwd=str(project.parent / "other"))
    assert (done.code, done.mapped) == (0, ("a.cpp",))
    assert [output.path for output in done.outputs] == [project / "sub/new.o"]
    assert not (project / "sub/new.o").exists()


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_headers_by_odd_paths(project: Path, compiler: str) -> None:
    (project / "sub/deep").mkdir()
    (project / "sub/b.h").write_text('#include "../a.h"\n#include "deep/../../c.h"\n')
    (project / "c.h").symlink_to("sub/real_c.h")
    (project / "sub/real_c.h").write_text("#define C 1\n")
    (project / "a.cpp").write_text('#include "sub/b.h"\nint c = C;\n')
    copies = {"a.cpp": (project / "a.cpp").read_bytes(), "c.h": b"#define C 77\n"}
    done = overlaid(project, "-E", "-P", "a.cpp", "-o", "listing", compiler=compiler, copies=copies)
    assert sorted(os.path.normpath(name) for name in done.mapped) == ["a.cpp", "c.h"]
    assert b"int c = 77;" in done.outputs[0].file.read_bytes()


def test_a_read_only_folder_does_not_matter(project: Path) -> None:
    for folder in (project / "sub", project):
        folder.chmod(0o555)
    try:
        done = overlaid(project, "-O1", "-MMD", "-c", "a.cpp", "-o", "sub/new.o")
    finally:
        project.chmod(0o755)
    assert (done.code, {output.path.name for output in done.outputs}) == (0, {"new.o", "new.d"})


def test_users_own_preloaded_library_stays(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "own.c").write_text(
        '#include <stdio.h>\n__attribute__((constructor)) static void hello(void) { fputs("hello\\n", stderr); }\n'
    )
    subprocess.run(["gcc", "-shared", "-fPIC", "own.c", "-o", "own.so"], cwd=project, check=True)
    monkeypatch.setenv("LD_PRELOAD", str(project / "own.so"))
    done = overlaid(project, "-c", "a.cpp")
    assert done.code == 0
    assert "hello" in done.errors
    assert done.mapped == ("a.cpp",)


def test_a_static_compiler_is_refused(project: Path) -> None:
    (project / "static.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-static", "static.c", "-o", "static-g++"], cwd=project, check=True)
    before = content(project)
    with pytest.raises(OverlayError, match="does not load libraries"):
        overlaid(project, "-c", "a.cpp", compiler=str(project / "static-g++"))
    assert content(project) == before


@pytest.mark.parametrize("program", ["static", "script of a static program", "set-group-id"])
def test_a_static_assembler_is_refused(project: Path, program: str) -> None:
    """It would write over the original's object."""
    tools = project / "tools"
    tools.mkdir()
    (project / "static.c").write_text('#include <stdio.h>\nint main(void) { fclose(fopen("a.o", "w")); return 0; }\n')
    flags = [] if program == "set-group-id" else ["-static"]
    subprocess.run(["gcc", *flags, "static.c", "-o", str(tools / "real")], cwd=project, check=True)
    if program.startswith("script"):
        (tools / "as").write_text(f"#!{tools}/real\n")
    else:
        (tools / "as").hardlink_to(tools / "real")
    (tools / "as").chmod(0o2755 if program == "set-group-id" else 0o755)
    before = content(project)
    with pytest.raises(OverlayError, match="as does not load libraries"):
        overlaid(project, "-B", str(tools), "-c", "a.cpp", "-o", "a.o")
    assert content(project) == before


@pytest.mark.parametrize(
    "deed",
    ['rename("a.h", "b.h")', 'truncate("a.h", 0)', 'chmod("a.h", 0)', 'symlink("a.h", "s")', 'link("a.h", "s")', 'mkdir("new", 0755)',
     'rmdir("sub")', 'fopen("a.h", "a")', 'fopen("a.h", "r+")', 'open("a.h", O_RDWR)', 'utimensat(AT_FDCWD, "a.h", 0, 0)'],
)  # fmt: skip
def test_what_cannot_be_undone_is_refused(project: Path, deed: str) -> None:
    tools = project / "tools"
    tools.mkdir()
    head = "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stdio.h>\n#include <sys/stat.h>\n#include <unistd.h>\n"
    (project / "deed.c").write_text(f"{head}int main(void) {{ long done = (long){deed}; return done == 0; }}\n")
    subprocess.run(["gcc", "-w", "deed.c", "-o", str(tools / "as")], cwd=project, check=True)
    before = content(project)
    with pytest.raises(OverlayError, match="did what can't be followed"):
        overlaid(project, "-B", str(tools), "-c", "a.cpp", "-o", "a.o")
    assert content(project) == before
    assert sorted(path.name for path in project.iterdir()) == ["a.cpp", "a.h", "a.o", "deed.c", "sub", "tools"]


def test_an_output_that_is_removed_is_refused(project: Path) -> None:
    tools = project / "tools"
    tools.mkdir()
    (tools / "as").write_text("#!/bin/sh\nrm a.o\n")
    (tools / "as").chmod(0o755)
    with pytest.raises(OverlayError, match=r"removes a\.o"):
        overlaid(project, "-B", str(tools), "-c", "a.cpp", "-o", "a.o")
    assert (project / "a.o").read_text() == "the original"


@pytest.mark.parametrize("odd", ["with space", "with:colon"])
def test_a_temporary_folder_that_cannot_be_named(project: Path, odd: str) -> None:
    scratch = project.parent / odd
    scratch.mkdir()
    with pytest.raises(OverlayError, match="spaces or colons"):
        run(["g++", "-c", "a.cpp"], "/usr/bin/g++", str(project), {"a.cpp": OTHER.encode()}, scratch)
    assert content(project)["a.o"] == b"the original"

"""The probe of the real compiler, and libclang reading units the way it does."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from perfcc.cc.compiler import CompilerError, clang_arguments, identity, probe, probe_key, translation_unit
from perfcc.cc.flags import flags
from perfcc.core.codec import decode, encode
from perfcc.core.unit import Invocation

READ = """
import sys, clang.cindex as c
unit = c.Index.create().parse(sys.argv[1], sys.argv[2:])
print("".join(f"{d.location}: {d.spelling}\\n" for d in unit.diagnostics if d.severity >= 3))
"""


def invocation(folder: Path, source: str, *words: str, compiler: str = "g++") -> Invocation:
    argv = (compiler, *words, "-c", source)
    return Invocation(
        argv, compiler, str(folder), source, len(words) + 2, Path(source).stem + ".o", "c" if source.endswith(".c") else "c++"
    )


def errors(folder: Path, source: str, text: str, *words: str, compiler: str = "g++") -> str:
    """What libclang complains of under the arguments that perfcc makes; "" when it reads the unit."""
    (folder / source).write_text(text)
    asked = invocation(folder, source, *words, compiler=compiler)
    arguments = clang_arguments(asked, probe(compiler, asked))
    done = subprocess.run([sys.executable, "-c", READ, source, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_probe_of_gxx(tmp_path: Path) -> None:
    info = probe("g++", invocation(tmp_path, "a.cpp", "-O2"))
    assert info.family == "gcc"
    assert info.version == subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    assert info.target == subprocess.run(["g++", "-dumpmachine"], capture_output=True, text=True, check=True).stdout.strip()
    assert info.standard == "gnu++17"
    assert all(Path(path).is_dir() for path in info.include_paths)
    assert any(Path(path, "vector").is_file() for path in info.include_paths)
    assert info.macros == ()


def test_probe_of_gcc_for_c(tmp_path: Path) -> None:
    info = probe("gcc", invocation(tmp_path, "a.c", compiler="gcc"))
    assert info.standard == "gnu17"
    assert not any(Path(path, "vector").is_file() for path in info.include_paths)


def test_probe_of_clang(tmp_path: Path) -> None:
    info = probe("clang++-19", invocation(tmp_path, "a.cpp", compiler="clang++-19"))
    assert info.family == "clang"
    assert info.version.startswith("19.")
    assert errors(tmp_path, "a.cpp", "#include <vector>\n#include <cmath>\n", "-O2", compiler="clang++-19") == ""


def test_architecture_flags_become_macros(tmp_path: Path) -> None:
    info = probe("g++", invocation(tmp_path, "a.cpp", "-mavx2"))
    assert "-D__AVX2__=1" in info.macros
    text = "#ifndef __AVX2__\n#error not seen\n#endif\nint x;\n"
    assert errors(tmp_path, "a.cpp", text, "-mavx2") == ""
    assert "not seen" in errors(tmp_path, "a.cpp", text)


def test_missing_compiler(tmp_path: Path) -> None:
    with pytest.raises(CompilerError, match="not found"):
        identity("no-such-compiler")
    with pytest.raises(CompilerError):
        probe(str(tmp_path / "nothing"), invocation(tmp_path, "a.cpp"))


def test_compiler_that_answers_nothing(tmp_path: Path) -> None:
    fake = tmp_path / "fake"
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    with pytest.raises(CompilerError):
        probe(str(fake), invocation(tmp_path, "a.cpp"))


def test_key_changes_with_what_the_answer_depends_on(tmp_path: Path) -> None:
    base = probe_key("g++", invocation(tmp_path, "a.cpp", "-O2"))
    assert probe_key("g++", invocation(tmp_path, "b.cpp", "-O3", "-DX", "-Iinclude")) == base
    others = [("-mavx",), ("-std=c++14",), ("--sysroot=/",), ("-nostdinc",), ("-m32",)]
    keys = {probe_key("g++", invocation(tmp_path, "a.cpp", *words)) for words in others}
    assert len(keys) == len(others)
    assert base not in keys
    assert probe_key("g++", invocation(tmp_path, "a.c")) != base


def test_identity_changes_with_the_executable(tmp_path: Path) -> None:
    copy = tmp_path / "compiler"
    copy.write_text("#!/bin/sh\n")
    copy.chmod(0o755)
    first = identity(str(copy))
    copy.write_text("#!/bin/sh\n# another\n")
    assert identity(str(copy)) != first


def test_info_survives_the_store(tmp_path: Path) -> None:
    info = probe("g++", invocation(tmp_path, "a.cpp", "-mavx2"))
    assert decode(type(info), encode(info)) == info
    assert dataclasses.replace(info, version="1.2.3") != info


STANDARD_HEADERS = "#include <bits/stdc++.h>\nint main() { std::vector<int> v(3); return v[0]; }\n"


@pytest.mark.parametrize("standard", ["c++98", "gnu++11", "c++14", "gnu++17", "c++20"])
def test_whole_standard_library_of_gxx(tmp_path: Path, standard: str) -> None:
    text = STANDARD_HEADERS.replace("int main", "#ifdef __clang__\n#error clang\n#endif\nint main")
    assert errors(tmp_path, "a.cpp", text, "-O2", "-D_FORTIFY_SOURCE=2", f"-std={standard}") == ""


C_HEADERS = (
    "assert complex ctype errno fenv float inttypes limits locale math setjmp signal stdarg stddef stdint stdio stdlib string tgmath time"
)


@pytest.mark.parametrize("standard", ["c89", "gnu99", "c11", "gnu17"])
def test_c_library_of_gcc(tmp_path: Path, standard: str) -> None:
    text = "".join(f"#include <{name}.h>\n" for name in C_HEADERS.split()) + "#include <pthread.h>\nint x;\n"
    assert errors(tmp_path, "a.c", text, "-O2", f"-std={standard}", compiler="gcc") == ""


def test_version_macros_are_the_compilers(tmp_path: Path) -> None:
    info = probe("g++", invocation(tmp_path, "a.cpp"))
    major, minor, patch = info.version.split(".")
    text = f"#if __GNUC__ != {major} || __GNUC_MINOR__ != {minor} || __GNUC_PATCHLEVEL__ != {patch}\n#error x\n#endif\n"
    assert errors(tmp_path, "a.cpp", text) == ""


def test_users_includes_defines_and_dialect(tmp_path: Path) -> None:
    for name in ("plain", "quoted", "system", "after"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.h").write_text("")
    (tmp_path / "forced.h").write_text("#define FORCED 1\n")
    text = '#include "plain.h"\n#include "quoted.h"\n#include <system.h>\n#include <after.h>\n'
    text += "#if !FORCED || VALUE != 3 || defined GONE || __cplusplus != 201402L || defined __GXX_RTTI\n#error x\n#endif\n"
    words = ("-Iplain", "-iquote", "quoted", "-isystem", "system", "-idirafter", "after", "-include", "forced.h", "-DVALUE=3")
    assert errors(tmp_path, "a.cpp", text, *words, "-DGONE", "-UGONE", "-std=c++14", "-fno-rtti", "-Wall", "-Wno-maybe-uninitialized") == ""


def test_flags_that_only_gcc_knows_do_not_reach_libclang(tmp_path: Path) -> None:
    words = (
        "-fno-ipa-icf",
        "-fno-tree-vectorize",
        "--param",
        "max-inline-insns-single=5",
        "-Wlogical-op",
        "-MMD",
        "-MF",
        "a.d",
        "-o",
        "a.o",
    )
    assert errors(tmp_path, "a.cpp", "int x;\n", *words) == ""


def test_include_path_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "extra.h").write_text("")
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path / "extra"))
    asked = invocation(tmp_path, "a.cpp")
    info = probe("g++", asked)
    assert str(tmp_path / "extra") not in info.include_paths
    assert str(tmp_path / "extra") in clang_arguments(asked, info)


def test_translation_unit_holds_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(b"int x; // \xff\r\n")
    asked = invocation(tmp_path, "a.cpp", "-O2", "-fopenmp")
    unit = translation_unit(asked, probe("g++", asked))
    assert unit.text == b"int x; // \xff\r\n"
    assert unit.semantics.openmp
    with pytest.raises(OSError, match="missing"):
        translation_unit(invocation(tmp_path, "missing.cpp"), probe("g++", asked))


def test_flags_take_their_values() -> None:
    found = list(flags(("g++", "-I", "a", "-Ib", "-DX=1", "-MF", "d", "-std=c++17", "main.cpp", "--param", "x=1", "-o", "m.o")))
    assert [(flag.name, flag.value) for flag in found] == [
        ("-I", "a"), ("-I", "b"), ("-D", "X=1"), ("-MF", "d"), ("-std=", "c++17"), ("", "main.cpp"), ("--param", "x=1"), ("-o", "m.o"),
    ]  # fmt: skip
    assert [word for flag in found for word in flag.words] == [
        "-I",
        "a",
        "-Ib",
        "-DX=1",
        "-MF",
        "d",
        "-std=c++17",
        "main.cpp",
        "--param",
        "x=1",
        "-o",
        "m.o",
    ]


def test_compiler_is_found_on_path(tmp_path: Path) -> None:
    assert probe("g++", invocation(tmp_path, "a.cpp")).path == shutil.which("g++")


def test_fusing_follows_the_target(tmp_path: Path) -> None:
    if "x86_64" not in probe("g++", invocation(tmp_path, "a.cpp")).target:
        assert probe("g++", invocation(tmp_path, "a.cpp")).fuses
        return
    flags = ("-O2", "-mavx2", "-mfma", "-mavx512f")
    assert [probe("g++", invocation(tmp_path, "a.cpp", flag)).fuses for flag in flags] == [False, False, True, True]

"""What the launcher's code makes of command lines."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from perfcc import _native
from perfcc.cc import argv, options
from perfcc.core.unit import Invocation

ELIGIBLE = [
    ("g++ -O2 -c a.cpp", "a.cpp", "a.o", "c++", None),
    ("g++ -O1 -c dir/b.cc", "dir/b.cc", "b.o", "c++", None),
    ("gcc -O2 -c c.c -o out.o", "c.c", "out.o", "c", None),
    ("g++ -O2 -c c.c", "c.c", "c.o", "c++", None),
    ("/usr/bin/x86_64-linux-gnu-g++-12 -O2 -c c.c", "c.c", "c.o", "c++", None),
    ("clang -O3 -x c++ -c c.c", "c.c", "c.o", "c++", None),
    ("g++ -Ofast -c a.cpp -oout.o", "a.cpp", "out.o", "c++", None),
    ("g++ -O0 -O -c a.cpp", "a.cpp", "a.o", "c++", None),
    ("g++ -O9 -c a.cpp", "a.cpp", "a.o", "c++", None),
    ("g++ -MD -O2 -c a.cpp", "a.cpp", "a.o", "c++", "a.d"),
    ("g++ -MMD -O2 -c a.cpp -o dir/x.o", "a.cpp", "dir/x.o", "c++", "dir/x.d"),
    ("g++ -MD -MF dep -MT t -O2 -c a.cpp", "a.cpp", "a.o", "c++", "dep"),
    ("g++ -O2 -Wp,-MMD,dep -Wp,-MT,t -Wp,-D_FORTIFY_SOURCE=3 -c a.cpp", "a.cpp", "a.o", "c++", "dep"),
    ("g++ -O2 -Wa,--noexecstack -Wl,-z,relro -c a.cpp -o dir/q", "a.cpp", "dir/q", "c++", None),
    ("clang++ -O2 -Xclang -fcolor-diagnostics -c a.cpp", "a.cpp", "a.o", "c++", None),
    ("g++ -O2 -frtti -fno-builtin-printf -fdebug-compilation-dir x.cpp -c a.cpp", "a.cpp", "a.o", "c++", None),
    ("g++ -I x -isystem y -D A=1 -include z -O2 -c a.cpp", "a.cpp", "a.o", "c++", None),
    ("g++ -O2 -fopenmp -ffast-math -march=native -mavx2 -Wall -Wextra -g3 -std=c++20 -fPIC -pthread -c a.cpp", "a.cpp", "a.o", "c++", None),
]

# Line, whether it links, its output, and of each source its path, language and object.
SEVERAL = [
    ("g++ -O2 a.cpp -o app", True, "app", [("a.cpp", "c++", "a.o")]),
    ("g++ -O2 a.cpp", True, "a.out", [("a.cpp", "c++", "a.o")]),
    ("gcc -O2 c.c a.cpp s.S x.o -lm", True, "a.out", [("c.c", "c", "c.o"), ("a.cpp", "c++", "a.o")]),
    ("g++ -O2 -x c++ c.c -x none dir/b.cc libx.a -Wl,-rpath,/x,-z,now -ob", True, "b", [("c.c", "c++", "c.o"), ("dir/b.cc", "c++", "b.o")]),
    ("clang++ -O2 -shared -fPIC a.cpp i.ii -Wl,-soname,x -o x.so", True, "x.so", [("a.cpp", "c++", "a.o")]),
    ("g++ -O2 -MD a.cpp x.o", True, "a.out", [("a.cpp", "c++", "a.o")]),
    ("g++ -O2 -c a.cpp dir/b.cc -MD", False, "a.o", [("a.cpp", "c++", "a.o"), ("dir/b.cc", "c++", "b.o")]),
]

PASSED = [
    ("g++ a.o b.o -o app", "link"),
    ("g++ -shared -fPIC a.o -o lib.so", "link"),
    ("g++ a.cpp -o app", "not-optimised"),
    ("g++ -O2 a.cpp -Wl,-Map=app.map", "linker-output"),
    ("g++ -O2 a.cpp -Xlinker --dependency-file=d", "linker-output"),
    ("g++ -O2 a.cpp -flto", "lto"),
    ("g++ -O2 -g -gsplit-dwarf a.cpp", "side-output"),
    ("g++ -O2 a.cpp -o dir", "output-not-regular"),
    ("g++ -O2 a.cpp missing.cpp", "source-unreadable"),
    ("g++ -O2 a.cpp h.hpp", "pch"),
    ("g++ -O2 -x c++ a.cpp -", "stdin"),
    ("g++ -O2 -MD a.cpp c.c", "several-sources"),
    ("g++ -O2 s.S", "other-language"),
    ("g++ -E a.cpp", "preprocess-only"),
    ("g++ -O2 -c -M a.cpp", "preprocess-only"),
    ("g++ -O2 -S a.cpp", "assembly"),
    ("g++ -fsyntax-only a.cpp", "syntax-only"),
    ("g++ --version", "version-query"),
    ("g++ -dumpmachine", "version-query"),
    ("g++ -print-prog-name=ld", "version-query"),
    ("g++", "no-input"),
    ("g++ -O2 -c", "no-input"),
    ("g++ -O2 -c a.cpp dir/b.cc -o x.o", "several-sources"),
    ("g++ -O2 -c a.cpp a.cpp", "several-sources"),
    ("g++ -O2 -c a.cpp a.o", "no-input"),
    ("g++ -O2 -c a.cpp i.ii", "preprocessed-input"),
    ("g++ -O2 -c conftest.cpp", "probe"),
    ("g++ -O2 conftest.cpp -o conftest", "probe"),
    ("g++ -O2 build/CMakeFiles/CMakeScratch/TryCompile-x/a.cpp", "probe"),
    ("g++ -O2 -x c++ -c -", "stdin"),
    ("g++ -O2 -c missing.cpp", "source-unreadable"),
    ("g++ -O2 -c dir.cpp", "source-unreadable"),
    ("g++ @missing", "response-file"),
    ("g++ -O2 -c a.cpp -o", "malformed"),
    ("g++ -c a.cpp", "not-optimised"),
    ("g++ -O2 -O0 -c a.cpp", "not-optimised"),
    ("g++ -Og -c a.cpp", "not-optimised"),
    ("g++ -Os -c a.cpp", "optimised-for-size"),
    ("g++ -O2 --coverage -c a.cpp", "coverage"),
    ("g++ -O2 -fprofile-arcs -c a.cpp", "coverage"),
    ("g++ -O2 -fsanitize=address -c a.cpp", "sanitizer"),
    ("g++ -O2 -flto=auto -c a.cpp", "lto"),
    ("g++ -O2 -pg -c a.cpp", "profile"),
    ("g++ -O2 -fprofile-use=x -c a.cpp", "profile"),
    ("g++ -O2 -finstrument-functions -c a.cpp", "instrumentation"),
    ("g++ -O2 -c h.hpp", "pch"),
    ("g++ -O2 -fmodules-ts -c a.cpp", "modules"),
    ("g++ -O2 -save-temps=obj -c a.cpp", "save-temps"),
    ("g++ -O2 -fstack-usage -c a.cpp", "side-output"),
    ("g++ -O2 -fdump-tree-all -c a.cpp", "side-output"),
    ("g++ -O2 -Wa,-adhln -c a.cpp", "plugin"),
    ("g++ -O2 -Wp,-MD,dep -MD -c a.cpp", "plugin"),
    ("g++ -O2 -Wp,-MD,dep,-fno-such -c a.cpp", "plugin"),
    ("g++ -O2 -Wp,-P -c a.cpp", "plugin"),
    ("g++ -O2 -Wa,--noexecstack,-al=list -c a.cpp", "plugin"),
    ("g++ -O2 -c a.cpp -o ''", "malformed"),
    ("g++ -O2 -MD -MF - -c a.cpp", "output-not-regular"),
    ("g++ -O2 -MD -MF dir -c a.cpp", "output-not-regular"),
    ("g++ -O2 -MD -MF a.o -c a.cpp", "output-not-regular"),
    ("clang++ -O2 -Xclang -include-pch -Xclang x.pch -Xclang -include -Xclang x.h -c a.cpp", "pch-use"),
    ("g++ -O2 -isystem-after a.cpp -c", "no-input"),
    ("clang++ -O2 -Xclang -fno-inline -c a.cpp", "plugin"),
    ("g++ -O2 -c i.ii", "preprocessed-input"),
    ("g++ -O2 -c s.S", "other-language"),
    ("g++ -O2 -x fortran -c a.cpp", "other-language"),
    ("g++ -O2 -c a.cpp -o /dev/null", "output-not-regular"),
    ("g++ -O2 -c a.cpp -o dir", "output-not-regular"),
    ("g++ -O2 -m32 -c a.cpp", "cross"),
    ("clang++ --target=aarch64-linux-gnu -O2 -c a.cpp", "cross"),
    ("g++ -O2 -ffreestanding -c a.cpp", "freestanding"),
    ("g++ -O2 -fnon-call-exceptions -c a.cpp", "non-call-exceptions"),
    ("g++ -O2 -frounding-math -c a.cpp", "floating-environment"),
    ("g++ -O2 -ftree-parallelize-loops=4 -c a.cpp", "auto-parallel"),
    ("g++ -O2 -fno-such-thing -c a.cpp", "unknown-option"),
    ("g++ -O2 --output=x -c a.cpp", "unknown-option"),
    ("g++ -O2 -v -c a.cpp", "verbose"),
    ("clang++ -O2 -emit-llvm -c a.cpp", "not-an-object"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir.cpp").mkdir()
    (tmp_path / "build/CMakeFiles/CMakeScratch/TryCompile-x").mkdir(parents=True)
    scratch = "build/CMakeFiles/CMakeScratch/TryCompile-x/a.cpp"
    for name in ("a.cpp", "c.c", "dir/b.cc", "h.hpp", "i.ii", "s.S", "conftest.cpp", scratch):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(("line", "source", "output", "language", "depfile"), ELIGIBLE, ids=[row[0] for row in ELIGIBLE])
def test_eligible(folder: Path, line: str, source: str, output: str, language: str, depfile: str | None) -> None:
    words = line.split()
    read = argv.read(words, str(folder), "/usr/bin/g++")
    expected = Invocation(tuple(words), "/usr/bin/g++", str(folder), source, words.index(source), output, language, depfile)
    assert read == expected


@pytest.mark.parametrize(("line", "links", "output", "sources"), SEVERAL, ids=[row[0] for row in SEVERAL])
def test_several(folder: Path, line: str, links: bool, output: str, sources: list[tuple[str, str, str]]) -> None:
    words = tuple(line.split())
    read = argv.read(words, str(folder))
    members = tuple(argv.Member(source, words.index(source), language, object) for source, language, object in sources)
    assert read == argv.Several(words, members, links, output)


@pytest.mark.parametrize(("line", "reason"), PASSED, ids=[row[0] for row in PASSED])
def test_passed(folder: Path, line: str, reason: str) -> None:
    read = argv.read(shlex.split(line), str(folder))
    assert isinstance(read, argv.PassThrough)
    assert read.reason_id == reason
    assert read.sentence


HELD_BACK = [
    ("g++ -c a.cpp", "not-optimised"),
    ("g++ -Os -c a.cpp", "optimised-for-size"),
    ("g++ -g --coverage -c a.cpp", "coverage"),
    ("g++ -O2 -fstack-usage -fsanitize=address -c a.cpp", "side-output"),
    ("clang++ -O2 -include-pch x.pch -c a.cpp", "pch-use"),
]


@pytest.mark.parametrize(("line", "reason"), HELD_BACK, ids=[row[0] for row in HELD_BACK])
def test_what_is_held_back_is_understood(folder: Path, line: str, reason: str) -> None:
    found = _native.classify(line.split(), str(folder))
    assert (found["eligible"], found["held_back"], found["reason"]) == (False, True, reason)
    assert (found["source"], found["output"], found["language"]) == ("a.cpp", "a.o", "c++")


def test_what_is_not_understood_outweighs_what_holds_back(folder: Path) -> None:
    for line in ("g++ -O0 -save-temps -c a.cpp", "g++ -fsanitize=address -no-such -c a.cpp", "g++ -O0 -c a.cpp -o dir"):
        found = _native.classify(line.split(), str(folder))
        assert found["reason"] in ("save-temps", "unknown-option", "output-not-regular")
        assert not found["held_back"]


def test_response_files_are_expanded_as_gcc_does(folder: Path) -> None:
    (folder / "args").write_text("-O2 '-DA=\"x y\"'\n -DB=c\\ d @more")
    (folder / "more").write_text("-c a.cpp")
    read = argv.read(["g++", "@args"], str(folder))
    assert isinstance(read, Invocation)
    assert read.argv == ("g++", "-O2", '-DA="x y"', "-DB=c d", "-c", "a.cpp")
    assert read.source_index == 5


def test_a_response_file_that_names_itself_passes(folder: Path) -> None:
    (folder / "args").write_text("@args")
    read = argv.read(["g++", "@" + str(folder / "args")], "/")
    assert read == argv.PassThrough("response-file")


def test_every_reason_of_the_table_is_known() -> None:
    known = argv.pass_reasons()
    assert all(option.reason in known for option in options.table() if option.effect is options.Effect.PASS)
    assert not any(option.reason for option in options.table() if option.effect is not options.Effect.PASS)


def test_the_longest_spelling_wins() -> None:
    assert options.find("-fdiagnostics-format=json") == options.Option(
        "-fdiagnostics-format=", options.Argument.JOINED, options.Effect.PASS, "side-output"
    )
    found = options.find("-fdiagnostics-color=always")
    assert found is not None
    assert found.effect is options.Effect.NEUTRAL
    assert options.find("-cc") is None


def test_words_of_a_command_line() -> None:
    words = list(options.words(["g++", "-I", "x", "-Iy", "-O2", "a.cpp", "-no-such"]))
    assert [(word.index, word.length, word.text, word.value) for word in words] == [
        (1, 2, "-I", "x"), (3, 1, "-Iy", "y"), (4, 1, "-O2", "2"), (5, 1, "a.cpp", ""), (6, 1, "-no-such", ""),
    ]  # fmt: skip
    assert [word.option is None for word in words] == [False, False, False, True, True]
    with pytest.raises(ValueError, match="-o lacks its argument"):
        list(options.words(["g++", "-o"]))

"""Every name and path under which perfcc can be called gives the object of the compiler that is meant."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

import pytest

from tests.suites.ways.place import BIN, GCC, LOOP, PERFCC, Place

MACHINE = f"{platform.machine()}-linux-gnu"
WANTED = ["cc", "c++", "gcc", "g++", f"{MACHINE}-gcc", f"{MACHINE}-g++", "clang", "clang++", "c89", "c99"]
VERSIONED = [f"{name}-{n}" for name in ("gcc", "g++", f"{MACHINE}-gcc", f"{MACHINE}-g++", "clang", "clang++") for n in range(9, 26)]
NAMES = [name for name in WANTED + VERSIONED if shutil.which(name)]


def test_the_names_of_this_machine() -> None:
    assert {"cc", "c++", "gcc", "g++"} <= set(NAMES)
    assert any("-" in name and "clang" in name for name in NAMES)


def source_of(name: str) -> str:
    return "unit.cpp" if "++" in name else "unit.c"


@pytest.mark.parametrize("name", NAMES)
def test_masquerading_symlink(place: Place, name: str) -> None:
    place.write({"unit.c": LOOP, "unit.cpp": LOOP})
    command = [name, "-O2", "-g", "-c", source_of(name), "-o", "unit.o"]
    folder = place.root / "bin"
    folder.mkdir()
    (folder / name).symlink_to(PERFCC)
    trees, paths = (place.bare, place.built), (os.environ["PATH"], f"{folder}{os.pathsep}{os.environ['PATH']}")
    bare, done = (place.run(tree, *command, PATH=path) for tree, path in zip(trees, paths, strict=True))
    assert (done.stdout, done.stderr) == (bare.stdout, bare.stderr)
    if "c89" in name or "c99" in name:  # scripts, which perfcc hands on
        assert place.counters() == {"passed": 1}
    else:
        assert place.compiled() == 1
    sections = ["objcopy", "-O", "binary", "-j", ".text", "unit.o"]
    for tree in (place.bare, place.built):
        place.run(tree, *sections, "text")
    assert (place.built / "text").read_bytes() == (place.bare / "text").read_bytes()
    version = [place.run(tree, name, "--version", PATH=path).stdout for tree, path in zip(trees, paths, strict=True)]
    assert version[0] == version[1]


@pytest.mark.parametrize("how", ["symlink", "hard link", "copy", "symlink to a symlink"])
def test_ways_to_masquerade(place: Place, how: str) -> None:
    place.write({"unit.cpp": LOOP})
    folder = place.root / "bin"
    folder.mkdir()
    target = folder / "g++"
    if how == "symlink":
        target.symlink_to(PERFCC)
    elif how == "symlink to a symlink":
        (folder / "one").symlink_to(PERFCC)
        target.symlink_to("one")
    else:
        shutil.copy(PERFCC, folder / "held")
        os.link(folder / "held", target) if how == "hard link" else shutil.copy(PERFCC, target)
    extra = {} if "symlink" in how else {"PERFCC_PYTHON": str(BIN / "python")}
    place.run(place.built, "g++", "-O2", "-c", "unit.cpp", PATH=f"{folder}{os.pathsep}{os.environ['PATH']}", **extra)
    assert place.compiled() == 1


PATHS = {
    "absolute": PERFCC,
    "relative": "../bin/perfcc",
    "here": "./perfcc",
    "spaces": "../a folder/perfcc",
    "on PATH": "perfcc",
    "launcher form": "../bin/perfcc g++",
    "launcher form with a path": f"../bin/perfcc {shutil.which('g++')}",
    "options in the variable": "../bin/perfcc -std=c++17",
    "options in the launcher form": "../bin/perfcc g++ -std=c++17 -pipe",
    "env": "env LC_ALL=C ../bin/perfcc",
}
MAKEFILE = """CXXFLAGS = -O2
app: main.o unit.o sub/part.o
\t$(CXX) $(LDFLAGS) -o $@ $^
sub/part.o:
\t$(MAKE) -C sub part.o
%.o: %.cpp
\t$(CXX) $(CXXFLAGS) -c -o $@ $<
"""
SUB = "%.o: %.cpp\n\t$(CXX) $(CXXFLAGS) -O2 -c -o $@ $<\n"
MAIN = '#include <cstdio>\nint total(const int *, int);\nint main() { int a[] = {1, 2, 4}; std::printf("%d\\n", total(a, 3)); }\n'


@pytest.mark.parametrize("way", PATHS)
def test_make(place: Place, way: str) -> None:
    """Plain make with parallel sub-makes: nobody complains about the job server, and the program is the bare one's."""
    part = LOOP.replace("total", "part")
    place.write({"Makefile": MAKEFILE, "sub/Makefile": SUB, "main.cpp": MAIN, "unit.cpp": LOOP, "sub/part.cpp": part})
    for folder in ("../bin", "../a folder", "bin", "a folder", ".", "sub"):  # what ../ and ./ lead to from both directories
        (place.built / folder).mkdir(exist_ok=True)
        (place.built / folder / "perfcc").symlink_to(PERFCC)
    word = PATHS[way].replace("a folder", '"a folder"')
    extra = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    bare_word = "g++ -std=c++17" if "-std" in word else "g++"
    place.run(place.bare, "make", "-j3", f"CXX={bare_word}")
    done = place.run(place.built, "make", "-j3", f"CXX={word}", **extra)
    assert "jobserver" not in done.stdout + done.stderr
    assert done.stderr == ""
    assert (place.built / "app").read_bytes() == (place.bare / "app").read_bytes()
    assert place.compiled() == 3


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"HOME": "/nonexistent"},
        {"HOME": "/dev/null"},
        {"HOME": ""},
        {"HOME": "relative"},
        {"HOME": "/proc"},
        {"XDG_CACHE_HOME": "/proc/self", "HOME": "/proc"},
        {"PATH": "/usr/bin:/bin", "LANG": "C"},
        {"PERFCC_STORE": "/proc/nowhere"},
        {"TMPDIR": "/nonexistent", "HOME": "/nonexistent"},
    ],
    ids=lambda environ: " ".join(f"{key}={value}" for key, value in environ.items()) or "nothing",
)
def test_hardly_any_environment(place: Place, environ: dict[str, str]) -> None:
    """``env -i``, ``sudo`` with another home, sandboxes: the object is the compiler's and nothing is said."""
    place.write({"unit.c": LOOP})
    command = ["-O2", "-g", "-c", "unit.c", "-o", "unit.o"]
    found = {"PATH": os.defpath, **environ}
    for tree, program in ((place.bare, shutil.which("gcc") or "gcc"), (place.built, GCC)):
        done = subprocess.run([program, *command], cwd=tree, env={**found, "PERFCC_MODE": "apply"}, capture_output=True, timeout=120)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    for tree in (place.bare, place.built):
        place.run(tree, "strip", "-g", "unit.o")
    assert (place.built / "unit.o").read_bytes() == (place.bare / "unit.o").read_bytes()
    assert sorted(path.name for path in place.built.iterdir()) == ["unit.c", "unit.o"]

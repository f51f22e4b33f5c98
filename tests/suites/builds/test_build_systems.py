"""``make CXX=perfcc``, CMake and Ninja: same answers, faster objects, the same bits from the same store."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.suites.builds.project_builds import BIN, OBJECTS, PERFCC, Tree, rewritten

pytestmark = pytest.mark.quiet


def test_make_gives_the_same_answer_and_rewrites_the_kernel(plain: Tree, built: Tree) -> None:
    assert built.answer() == plain.answer() != ""
    assert "smooth" in rewritten(built.explain()), built.log()


def test_objects_without_rewrites_are_the_compilers_own(plain: Tree, built: Tree) -> None:
    assert built.objects()["digest.o"] == plain.objects()["digest.o"]


def test_every_loop_nest_has_one_decision(built: Tree) -> None:
    decisions = [d for unit in built.explain()["units"] for d in unit["decisions"]]
    assert sorted(d["function"] for d in decisions) == ["digest", "main", "main", "smooth", "words"]


def test_the_second_build_searches_nothing_and_gives_the_same_bits(built: Tree) -> None:
    first = built.objects()
    searched = built.searches()
    for name in OBJECTS:
        (built.path / name).unlink()
    built.make()
    assert built.objects() == first
    assert built.searches() == searched


def test_a_changed_header_that_changes_nothing_keeps_the_decisions(built: Tree, tmp_path: Path) -> None:
    tree = Tree.copy(tmp_path / "project", built.store)
    header = tree.path / "smooth.h"
    header.write_text(header.read_text() + "/* a remark */\n")
    tree.make()
    assert "smooth" in rewritten(tree.explain())
    assert all(d["cached"] for unit in tree.explain()["units"] for d in unit["decisions"] if d["status"] == "rewritten")


@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja"])
@pytest.mark.parametrize("way", ["compiler", "launcher"])
def test_cmake(plain: Tree, built: Tree, tmp_path: Path, generator: str, way: str) -> None:
    tree = Tree.copy(tmp_path / "project", built.store)
    chosen = f"-DCMAKE_CXX_COMPILER={PERFCC}" if way == "compiler" else f"-DCMAKE_CXX_COMPILER_LAUNCHER={PERFCC}"
    tree.run("cmake", "-G", generator, "-S", ".", "-B", "out", "-DCMAKE_BUILD_TYPE=Release", chosen)
    tree.run("cmake", "--build", "out", "-j2")
    assert tree.answer("out/app") == plain.answer()
    assert "smooth" in rewritten(tree.explain("out/app"))


def test_a_symlink_named_like_the_compiler(plain: Tree, built: Tree, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "g++").symlink_to(PERFCC)
    tree = Tree.copy(tmp_path / "project", built.store, PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")
    tree.make("g++")
    assert tree.answer() == plain.answer()
    assert "smooth" in rewritten(tree.explain())


def test_an_executable_explains_itself_without_its_store(built: Tree, tmp_path: Path) -> None:
    alone = Tree.copy(tmp_path / "elsewhere")
    shutil.copy(built.path / "app", alone.path / "app")
    assert "smooth" in rewritten(alone.explain())


def test_serial_where_the_openmp_run_time_is_missing(plain: Tree, built: Tree) -> None:
    hidden = Tree(built.path, built.store, {}, ("unshare", "-rm", "sh", "-c", 'mount --bind /dev/null "$0" && exec "$@"', _libgomp()))
    assert hidden.answer() == plain.answer()


def test_objects_are_linked_without_a_word_about_openmp(built: Tree) -> None:
    built.run("g++", "-o", "linked", *OBJECTS)
    needed = built.run("readelf", "-d", "linked").stdout
    assert "libgomp" not in needed
    assert built.answer("./linked") == built.answer()


def test_the_c_drivers_are_installed() -> None:
    assert all((BIN / name).is_file() for name in ("perfcc-gcc", "perfcc-g++", "perfcc-clang", "perfcc-clang++"))


def _libgomp() -> str:
    from ctypes.util import find_library

    name = find_library("gomp") or "libgomp.so.1"
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"):
        path = Path(folder, name)
        if path.exists():
            return str(path.resolve())
    raise AssertionError("libgomp is not where this test looks for it")

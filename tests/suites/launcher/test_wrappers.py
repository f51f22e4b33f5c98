"""Caches and distributors before and behind perfcc, and programs that are no compiler of ours."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def cache(site) -> Path:
    """A folder in which ccache stands under the compilers' names, first on PATH, and a cache of its own."""
    ccache = shutil.which("ccache")
    assert ccache, "the tests need ccache"
    folder = site.root / "links"
    folder.mkdir()
    for name in ("g++", "gcc"):
        (folder / name).symlink_to(ccache)
    site.variables["CCACHE_DIR"] = str(site.root / "ccache")
    return folder


def first(site, folder: Path) -> None:
    site.variables["PATH"] = f"{folder}:{site.environment()['PATH']}"


def hits(site) -> int:
    lines = site.run(["ccache", "--print-stats"]).stdout.decode().split("\n")
    return sum(int(line.split("\t")[1]) for line in lines if line.startswith(("direct_cache_hit", "preprocessed_cache_hit")))


def test_a_cache_in_the_compilers_name_is_looked_through(site, cache):
    expected = site.run(["g++", "-O2", "-MD", "-c", "kernel.cpp"]).files
    site.worker("(site / 'asked').write_text(request['compiler'] + ' ' + request['family'])")
    first(site, cache)
    for _ in range(2):
        assert site.run(site.command("g++", "-O2", "-MD", "-c", "kernel.cpp")).files == expected
    real, family = (site.root / "asked").read_text().split()
    assert (os.path.realpath(real), family) == (os.path.realpath(shutil.which("g++")), "gcc")
    assert hits(site) == 1
    assert site.counters() == ["compiled:searched"] * 2


def test_without_a_list_of_dependencies_nothing_can_be_known(site, cache):
    first(site, cache)
    assert site.run(site.command("g++", "-O2", "-c", "kernel.cpp")).code == 0
    assert site.counters() == ["passed:unknown-compiler"]


@pytest.mark.parametrize("variable", ["CCACHE_COMPILER", "CCACHE_PATH", "ICECC_CXX"])
def test_a_cache_told_which_compiler_to_take_is_not(site, cache, variable):
    first(site, cache)
    site.variables[variable] = "/usr/bin/g++" if variable != "CCACHE_PATH" else "/usr/bin"
    assert site.run(site.command("g++", "-O2", "-MD", "-c", "kernel.cpp")).code == 0
    assert site.counters() == ["passed:unknown-compiler"]


def test_a_distributor_in_the_compilers_name(site):
    folder = site.root / "links"
    folder.mkdir()
    (site.root / "distcc").write_text(f'#!/bin/sh\necho far >> {site.root}/log\nexec {shutil.which("g++")} "$@"\n')
    (site.root / "distcc").chmod(0o755)
    (folder / "g++").symlink_to(site.root / "distcc")
    first(site, folder)
    assert site.run(site.command("-O2", "-MMD", "-c", "kernel.cpp")).code == 0
    assert (site.root / "log").read_text() == "far\n"
    assert site.counters() == ["compiled:no-python"]


def test_a_script_in_the_compilers_name_passes(site):
    folder = site.root / "links"
    folder.mkdir()
    (folder / "g++").write_text(f'#!/bin/sh\nexec {shutil.which("g++")} "$@"\n')
    (folder / "g++").chmod(0o755)
    first(site, folder)
    assert site.run(site.command("-O2", "-MD", "-c", "kernel.cpp")).code == 0
    assert site.counters() == ["passed:unknown-compiler"]


def test_perfcc_prefix(site, cache):
    site.variables["PERFCC_PREFIX"] = "ccache"
    for _ in range(2):
        assert site.run(site.command("-O2", "-MD", "-c", "kernel.cpp")).code == 0
    assert site.run(site.command("kernel.o", "-shared", "-o", "lib.so")).code == 0
    assert hits(site) == 1
    assert site.counters() == ["compiled:no-python"] * 2 + ["passed:link"]


def test_a_prefix_of_several_words(site):
    site.variables["PERFCC_PREFIX"] = "env  NAME=value"
    (site.work / "main.cpp").write_text("int main() { return 0; }\n")
    assert site.run(site.command("-MD", "-O2", "-c", "kernel.cpp")).code == 0
    assert site.run(site.command("main.cpp", "-o", "app")).code == 0
    assert site.run([str(site.work / "app")]).code == 0


def test_a_prefix_that_is_not_there_leaves_the_compiler(site):
    site.variables["PERFCC_PREFIX"] = "no-such-program"
    assert site.run(site.command("-O2", "-c", "kernel.cpp")).code == 0


@pytest.mark.parametrize("words", [["perfcc", "g++"], ["perfcc-g++"]])
def test_under_a_cache_perfcc_is_the_bare_compiler(site, cache, words):
    expected = site.run(["g++", "-O2", "-c", "kernel.cpp"]).files["kernel.o"]
    site.worker("Path(request['output']).write_bytes(b'other')")
    command = ["ccache", *site.command(*words[1:], name=words[0]), "-O2", "-c", "kernel.cpp"]
    for _ in range(2):
        assert site.run(command).files["kernel.o"] == expected
    assert hits(site) == 1
    assert "compiled:searched" not in site.counters()
    assert "passed:cached" in site.counters()


def test_another_program_in_launcher_form(site):
    tool = site.root / "nvcc"
    tool.write_text('#!/bin/sh\necho "$0" "$@"\n')
    tool.chmod(0o755)
    assert site.run(site.command(str(tool), "-O2", "-c", "kernel.cpp")).stdout == f"{tool} -O2 -c kernel.cpp\n".encode()
    first(site, site.root)
    assert site.run(site.command("nvcc", "-c", "kernel.cpp")).stdout.endswith(b"nvcc -c kernel.cpp\n")
    assert site.counters() == ["passed:unknown-compiler"] * 2


def test_a_file_here_is_an_input_whatever_else_has_its_name(site):
    (site.work / "ls").write_text("not an object\n")
    assert site.run(site.command("ls", "-o", "app")).stderr == site.run(["g++", "ls", "-o", "app"]).stderr


@pytest.mark.parametrize("name", ["perfcc-g++-12", "perfcc-x86_64-linux-gnu-g++", "x86_64-linux-gnu-g++-12", "c++"])
def test_versioned_and_cross_names(site, name):
    (site.root / name).symlink_to(site.command()[0])
    assert site.run([str(site.root / name), "-O2", "-c", "kernel.cpp"]).code == 0
    assert site.counters() == ["compiled:no-python"]


def test_a_script_that_does_not_say_by_what_it_is_run(site, gcc):
    script = site.root / "bare-g++"
    script.write_text(f'exec {gcc} "$@"\n')
    script.chmod(0o755)
    done = site.run(site.command(str(script), "-c", "kernel.cpp"))
    assert (done.code, done.stderr, sorted(done.files)) == (0, b"", ["kernel.cpp", "kernel.o"])

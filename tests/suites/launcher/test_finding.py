"""Which compiler stands behind which name, and never perfcc itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


def prepend(site, folder: Path) -> None:
    site.variables["PATH"] = f"{folder}:{site.environment()['PATH']}"


def folder(site, name: str) -> Path:
    made = site.root / name
    made.mkdir()
    return made


def version(site, *command: str) -> str:
    result = site.run([*command, "--version"])
    assert result.code == 0, result.stderr
    return result.stdout.decode().splitlines()[0]


def test_perfcc_is_gxx(site, gcc):
    assert version(site, *site.command()) == version(site, "g++")


def test_perfcc_cxx_chooses(site, compiler):
    site.variables["PERFCC_CXX"] = compiler
    assert version(site, *site.command()) == version(site, compiler)


@pytest.mark.parametrize("name", ["gcc", "g++"])
def test_a_name_chooses(site, name):
    assert version(site, *site.command(name=f"perfcc-{name}")) == version(site, name)


def test_perfcc_cc_chooses_the_c_compiler(site, compiler):
    site.variables["PERFCC_CC"] = compiler
    assert version(site, *site.command(name="perfcc-gcc")) == version(site, compiler)


def test_launcher_form_by_path(site, compiler):
    path = shutil.which(compiler)
    assert version(site, *site.command(path)) == version(site, path)


@pytest.mark.parametrize("name", ["g++", "gcc", "c++", "cc", "x86_64-linux-gnu-g++"])
def test_a_symlink_masquerades(site, name):
    plain = version(site, name)
    links = folder(site, "links")
    (links / name).symlink_to(site.command()[0])
    prepend(site, links)
    assert version(site, name) == plain
    assert site.run([name, "-O2", "-c", "kernel.cpp"]).code == 0
    assert site.counters() == ["passed:version-query", "compiled:no-python"]


def test_a_masquerading_name_has_no_words_of_its_own(site):
    links = folder(site, "links")
    (links / "g++").symlink_to(site.command()[0])
    prepend(site, links)
    assert site.run(["g++", "--doctor"]).stderr == site.run([shutil.which("g++"), "--doctor"]).stderr


def test_a_copy_is_known_as_a_launcher(site):
    first, second = folder(site, "first"), folder(site, "second")
    for place in (first, second):
        shutil.copy(site.command()[0], place / "g++")
    prepend(site, second)
    prepend(site, first)
    assert "perfcc" not in version(site, "g++")
    assert site.counters() == ["passed:version-query"]


def test_launcher_form_by_the_path_of_a_launcher(site):
    links = folder(site, "links")
    (links / "g++").symlink_to(site.command()[0])
    assert version(site, *site.command(str(links / "g++"))) == version(site, "g++")


def test_a_wrapper_that_calls_back(site):
    wrappers = folder(site, "wrappers")
    (wrappers / "g++").write_text(f'#!/bin/sh\nexec {site.command()[0]} "$@"\n')
    (wrappers / "g++").chmod(0o755)
    plain = version(site, "g++")
    prepend(site, wrappers)
    assert version(site, *site.command()) == plain


def test_nothing_but_a_wrapper_that_calls_back(site):
    wrappers = folder(site, "wrappers")
    (wrappers / "g++").write_text(f'#!/bin/sh\nexec {site.command()[0]} "$@"\n')
    (wrappers / "g++").chmod(0o755)
    site.variables["PATH"] = str(wrappers)
    result = site.run(site.command("--version"))
    assert (result.code, result.stdout) == (127, b"")
    assert result.stderr == b"perfcc: the compiler found on PATH leads back to perfcc\n"


def test_no_compiler_at_all(site):
    site.variables["PATH"] = str(folder(site, "empty"))
    result = site.run(site.command("-c", "kernel.cpp"))
    assert (result.code, result.stdout, result.stderr) == (127, b"", b"perfcc: g++: command not found\n")


def test_a_verb_without_python(site):
    result = site.run(site.command("--stats"))
    assert result.code == 127
    assert result.stderr.startswith(b"perfcc: --stats needs Python")


def test_a_verb_goes_to_python(site):
    script = site.root / "python-double"
    script.write_text('#!/bin/sh\nshift 2\necho "$@"\nexit 5\n')
    script.chmod(0o755)
    site.variables["PERFCC_PYTHON"] = str(script)
    result = site.run(site.command("--explain", "a file", "--format", "json"))
    assert (result.code, result.stdout) == (5, b"--explain a file --format json\n")


def test_modules_in_the_working_directory_are_not_perfccs(site):
    del site.variables["PERFCC_PYTHON"]
    site.fresh({"perfcc/__init__.py": "", "perfcc/__main__.py": "raise SystemExit(99)\n", "json.py": "raise SystemExit(98)\n"})
    assert site.run(site.command("--stats")).code == 0


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONHOME"])
def test_the_builds_own_python_settings_are_not_perfccs(site, variable):
    """As pip sets them while it builds an extension: modules of its own in front, all others hidden."""
    del site.variables["PERFCC_PYTHON"]
    site.fresh({"perfcc/__init__.py": "raise SystemExit(99)\n", "sitecustomize.py": "import sys\nsys.path.clear()\n"})
    site.variables[variable] = str(site.work)
    assert site.run(site.command("--stats")).code == 0

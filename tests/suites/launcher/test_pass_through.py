"""For any command line, exit status, output and files are those of the real compiler."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

KERNEL = "int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }\n"
FILES = {
    "kernel.cpp": KERNEL,
    "plain.c": "int twice(int x) { return 2 * x; }\n",
    "main.cpp": '#include "sum.h"\nint main() { int a[3] = {1, 2, 3}; return sum(a, 3) - 6; }\n',
    "sum.h": "int sum(const int *, int);\n",
    "wrong.cpp": "int f( { return missing; }\n",
    "warns.cpp": "int f(int x) { int unused; for (;;) { if (x = 1) return x; } }\n",
    "args": '-O2 -c kernel.cpp\n-o "with space.o"',
    "nested": "@args",
    "sub/inner.cc": KERNEL,
}

COMMANDS = {
    "version": ["--version"],
    "no-arguments": [],
    "machine": ["-dumpmachine"],
    "print": ["-print-search-dirs"],
    "print-file": ["-print-file-name=crtbegin.o"],
    "help": ["--help"],
    "verbose-alone": ["-v"],
    "verbose": ["-v", "-O2", "-c", "main.cpp"],
    "show-commands": ["-###", "-O2", "-c", "main.cpp"],
    "compile": ["-O2", "-c", "kernel.cpp"],
    "compile-to": ["-c", "-O3", "kernel.cpp", "-o", "k.o"],
    "compile-to-joined": ["-c", "-O1", "-ok.o", "kernel.cpp"],
    "compile-debug": ["-c", "-g", "-O2", "kernel.cpp"],
    "compile-below": ["-c", "-O2", "sub/inner.cc"],
    "compile-to-folder": ["-c", "-O2", "kernel.cpp", "-o", "sub/k.o"],
    "compile-to-missing-folder": ["-c", "-O2", "kernel.cpp", "-o", "nowhere/k.o"],
    "compile-c-as-cplusplus": ["-O2", "-c", "plain.c"],
    "unoptimised": ["-c", "kernel.cpp"],
    "debug-level": ["-Og", "-c", "kernel.cpp"],
    "size": ["-Os", "-c", "kernel.cpp"],
    "last-level-counts": ["-O0", "-O2", "-c", "kernel.cpp"],
    "fast": ["-Ofast", "-march=native", "-c", "kernel.cpp"],
    "openmp": ["-fopenmp", "-O2", "-c", "kernel.cpp"],
    "position-independent": ["-fPIC", "-O2", "-c", "kernel.cpp"],
    "language": ["-O2", "-x", "c++", "-c", "plain.c", "-o", "p.o"],
    "language-reset": ["-O2", "-x", "c", "-x", "none", "-c", "kernel.cpp"],
    "explicit-standard": ["-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-c", "kernel.cpp"],
    "macros": ["-DN=3", "-D", "M=4", "-UX", "-Isub", "-O2", "-c", "kernel.cpp"],
    "forced-include": ["-include", "sum.h", "-O2", "-c", "kernel.cpp"],
    "dependencies": ["-MD", "-O2", "-c", "main.cpp"],
    "user-dependencies": ["-MMD", "-MP", "-MF", "main.dep", "-MT", "target", "-O2", "-c", "main.cpp"],
    "dependencies-named": ["-MMD", "-MF", "k.d", "-O2", "-c", "kernel.cpp", "-o", "k.o"],
    "dependencies-beside": ["-MD", "-O2", "-c", "kernel.cpp", "-o", "sub/k.o"],
    "dependencies-only": ["-MM", "main.cpp"],
    "preprocess": ["-E", "main.cpp"],
    "preprocess-to": ["-E", "main.cpp", "-o", "main.ii"],
    "assembly": ["-O2", "-S", "kernel.cpp"],
    "syntax": ["-fsyntax-only", "main.cpp"],
    "syntax-error": ["-O2", "-c", "wrong.cpp"],
    "warnings": ["-O2", "-Wall", "-Wextra", "-c", "warns.cpp"],
    "warnings-as-errors": ["-O2", "-Wall", "-Werror", "-c", "warns.cpp"],
    "link": ["-O2", "main.cpp", "kernel.cpp", "-o", "app"],
    "link-error": ["-O2", "main.cpp", "-o", "app"],
    "several": ["-O2", "-c", "main.cpp", "kernel.cpp"],
    "several-one-output": ["-O2", "-c", "main.cpp", "kernel.cpp", "-o", "both.o"],
    "missing-source": ["-O2", "-c", "nowhere.cpp"],
    "missing-argument": ["-O2", "-c", "kernel.cpp", "-o"],
    "unknown-option": ["-O2", "--no-such-option", "-c", "kernel.cpp"],
    "unknown-warning": ["-O2", "-Wno-such-warning", "-c", "kernel.cpp"],
    "to-nowhere": ["-O2", "-c", "kernel.cpp", "-o", "/dev/null"],
    "response-file": ["@args"],
    "response-file-nested": ["@nested"],
    "response-file-missing": ["-O2", "-c", "@missing"],
    "coverage": ["--coverage", "-O2", "-c", "kernel.cpp"],
    "sanitizer": ["-fsanitize=address", "-O2", "-c", "kernel.cpp"],
    "save-temps": ["-save-temps", "-O2", "-c", "kernel.cpp"],
    "preprocessed-name": ["-O2", "-x", "c++-cpp-output", "-c", "kernel.cpp"],
    "precompiled-header": ["-O2", "-x", "c++-header", "sum.h", "-o", "sum.pch"],
    "empty-word": ["-O2", "-c", "kernel.cpp", ""],
    "word-of-perfcc-later": ["-O2", "-c", "kernel.cpp", "--explain"],
}


# What the compiler itself writes differently each time.
VARYING_FILES = {"coverage", "precompiled-header"}
VARYING_NAME = re.compile(os.fsencode(tempfile.gettempdir()) + rb"/[A-Za-z0-9_-]+\.(s|o|res)\b")


def same(site, command, plain, stdin=b"", contents=True):
    site.fresh(FILES)
    expected = site.run(plain, stdin)
    site.fresh(FILES)
    got = site.run(command, stdin)
    assert got.code == expected.code
    assert got.stdout == expected.stdout
    assert VARYING_NAME.sub(b"temporary", got.stderr) == VARYING_NAME.sub(b"temporary", expected.stderr)
    assert list(got.files) == list(expected.files)
    assert got.files == expected.files or not contents
    return got


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_differs(site, compiler, name):
    same(site, site.command(compiler, *COMMANDS[name]), [compiler, *COMMANDS[name]], contents=name not in VARYING_FILES)
    assert len(site.counters()) == 1


def test_source_from_standard_input(site, compiler):
    arguments = ["-O2", "-x", "c++", "-c", "-", "-o", "k.o"]
    same(site, site.command(compiler, *arguments), [compiler, *arguments], KERNEL.encode())
    assert site.counters() == ["passed:stdin"]


def test_a_worker_that_does_nothing_changes_nothing(site, compiler):
    site.worker("")
    for arguments in (["-O2", "-c", "kernel.cpp"], ["-O2", "-Wall", "-c", "warns.cpp"], ["-MMD", "-O2", "-c", "main.cpp", "-o", "m.o"]):
        same(site, site.command(compiler, *arguments), [compiler, *arguments])


def test_the_linked_program_runs(site, compiler):
    site.worker("")
    site.fresh(FILES)
    for source in ("main", "kernel"):
        assert site.run(site.command(compiler, "-O2", "-c", f"{source}.cpp")).code == 0
    assert site.run(site.command(compiler, "main.o", "kernel.o", "-o", "app")).code == 0
    assert site.run([str(site.work / "app")]).code == 0


def test_off_means_off(site, gcc):
    site.worker("(site / 'asked').touch()")
    site.variables["PERFCC_MODE"] = "off"
    assert site.run(site.command("-O2", "-c", "kernel.cpp")).code == 0
    assert not (site.root / "asked").exists()
    assert site.counters() == []


def test_off_in_the_configuration_file(site, gcc):
    site.worker("(site / 'asked').touch()")
    (site.work / "perfcc.toml").write_text('# settings\nmode = "off"\n')
    assert site.run(site.command("-O2", "-c", "kernel.cpp")).code == 0
    assert not (site.root / "asked").exists()
    assert site.counters() == ["passed:mode-off"]


def test_the_users_own_dependency_variables_are_kept(site, gcc):
    site.worker("(site / 'asked').touch()")
    site.variables["SUNPRO_DEPENDENCIES"] = "listed"
    site.fresh(FILES)
    result = site.run(site.command("-O2", "-c", "main.cpp"))
    assert b"sum.h" in result.files["listed"]
    assert site.counters() == ["passed:environment"]


def full_counters(site) -> None:
    log = site.store / "counters" / "log"
    log.parent.mkdir(parents=True)
    log.write_text("compiled:no-loops 1\n" * 1000)


@pytest.mark.parametrize("limit", ["-f 8", "-n 7"])
def test_limits_on_files_are_for_the_compiler_alone(site, gcc, limit):
    site.no_worker()
    full_counters(site)
    for words in (("-O2", "-c", "kernel.cpp"), ("-O2", "-c", "empty.cpp"), ("-S", "kernel.cpp")):
        site.fresh({"kernel.cpp": KERNEL, "empty.cpp": "int x;\n"})
        plain = site.run(["bash", "-c", f'ulimit {limit}; exec "$@"', "bash", gcc, *words])
        site.fresh({"kernel.cpp": KERNEL, "empty.cpp": "int x;\n"})
        done = site.run(["bash", "-c", f'ulimit {limit}; exec "$@"', "bash", *site.command(gcc, *words)])
        assert plain.code == 0
        assert done == plain


def test_without_proc(site, compiler):
    hide = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    plain = site.run([compiler, "-O2", "-c", "kernel.cpp"])
    site.fresh({"kernel.cpp": KERNEL})
    assert site.run([*hide, *site.command(compiler, "-O2", "-c", "kernel.cpp")]) == plain


def test_no_room_for_another_process(site, gcc):
    """Not even for the compiler's own: its words on that are what is seen."""
    with tempfile.TemporaryDirectory() as folder:  # one that another user can reach
        os.chmod(folder, 0o777)
        Path(folder, "empty.cpp").write_text("int x;\n")
        perfcc = shutil.copy(site.command()[0], folder)
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        plain, done = (
            subprocess.run([*other, "prlimit", "--nproc=1", *words, "-O2", "-c", "empty.cpp"], cwd=folder, capture_output=True, check=False)
            for words in ([gcc], [perfcc, gcc])
        )
    assert plain.returncode != 0
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)

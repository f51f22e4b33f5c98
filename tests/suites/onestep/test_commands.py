"""Commands of several sources that succeed, fail, warn, or are none of perfcc's business: always the bare compiler's results."""

from __future__ import annotations

import re

import pytest

from tests.suites.onestep.onestep_site import Site

LOOP = "int {name}(const int *p, int n) {{ int s = {start}; for (int i = 0; i < n; ++i) s += p[i]; return s; }}\n"
MAIN = "int one(const int *, int);\nint two(const int *, int);\nint main() { int a[2] = {1, 2}; return one(a, 2) + two(a, 2) - 7; }\n"


@pytest.fixture
def sources(site: Site) -> Site:
    site.double()
    site.write({"one.cpp": LOOP.format(name="one", start=0), "two.cpp": LOOP.format(name="two", start=1), "main.cpp": MAIN})
    return site


@pytest.mark.parametrize("words", [("-O2", "main.cpp", "one.cpp", "two.cpp"), ("-O2", "-c", "one.cpp", "two.cpp")])
def test_an_error_in_one_source(sources, compiler, words):
    sources.write({"two.cpp": "int two( { for (;;); }\n"})
    sources.both(compiler, *words, outputs=["a.out", "one.o", "two.o"])
    assert sources.requests() == []
    assert sources.counters() == ["compiled:failed"]


def test_a_link_that_fails(sources, compiler):
    normal = re.compile(rb"[^ ]*/tmp/[-.\w]+\.o\b")
    results = [run(compiler, "-O2", "main.cpp", "one.cpp", "-o", "app") for run in (sources.run, sources.perfcc)]
    plain, built = [(result.code, result.stdout, normal.sub(b"X.o", result.stderr)) for result in results]
    assert plain == built
    assert plain[0] != 0
    assert b"two" in plain[2]
    assert not (sources.work / "app").exists()
    assert sources.requests() == []


def test_warnings_are_shown_once(sources, gcc):
    """The compiler's and the linker's, which says where: in a temporary object, of a name that changes."""
    body = "{ int unused; return tmpnam(0) ? p[0] + n : 0; }"
    sources.write({"one.cpp": f"#include <stdio.h>\n{LOOP.format(name='other', start=0)}int one(const int *p, int n) {body}\n"})
    normal = re.compile(rb"[^ ]*/tmp/[-.\w]+\.o\b")
    results = [run(gcc, "-O2", "-Wall", "main.cpp", "one.cpp", "two.cpp", "-o", "app") for run in (sources.run, sources.perfcc)]
    plain, built = [(result.code, normal.sub(b"X.o", result.stderr)) for result in results]
    assert plain == built
    assert b"tmpnam" in plain[1]
    assert sources.counters() == ["compiled:searched", "linked:again"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("-O2", "main.cpp", "one.cpp", "two.cpp", "-Wl,-Map,app.map"), "linker-output"),
        (("-O2", "main.cpp", "one.cpp", "two.cpp", "-Wl,--dependency-file=app.dep"), "linker-output"),
        (("-O2", "main.cpp", "one.cpp", "two.cpp", "-Wl,--cref"), "linker-output"),
        (("-O2", "main.cpp", "one.cpp", "two.cpp", "-flto"), "lto"),
        (("-O2", "main.cpp", "one.cpp", "two.cpp", "-g", "-gsplit-dwarf"), "side-output"),
        (("-O2", "main.cpp", "one.cpp", "two.cpp", "-fstack-usage"), "side-output"),
        (("-O2", "main.cpp", "one.cpp", "two.cpp", "--coverage"), "coverage"),
        (("-O2", "main.cpp", "one.cpp", "two.cpp", "-save-temps"), "save-temps"),
        (("-O2", "-MD", "main.cpp", "one.cpp", "two.cpp"), "several-sources"),
        (("-O2", "-c", "one.cpp", "sub/one.cpp"), "several-sources"),
        (("-O2", "-c", "one.cpp", "two.cpp", "-o", "x.o"), "several-sources"),
        (("-O2", "main.o", "one.o", "two.o", "-o", "app"), "link"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_commands_that_pass(sources, gcc, words, reason):
    """Whatever files they write, identity mode or not, these have their names and, where GCC gives the same bytes twice, their bytes."""
    sources.write({"sub/one.cpp": LOOP.format(name="other", start=3)})
    assert sources.run(gcc, "-c", "main.cpp", "one.cpp", "two.cpp").code == 0
    before = sources.names()
    contents = []
    for mode in ("", "", "search", "identity"):
        for name in sources.names() - before:
            (sources.work / name).unlink()
        sources.variables["PERFCC_MODE"] = mode
        (sources.perfcc if mode else sources.run)(gcc, *words)
        contents.append({name: (sources.work / name).read_bytes() for name in sources.names() - before})
    assert [found.keys() for found in contents] == [contents[0].keys()] * 4
    same = [name for name, content in contents[0].items() if content == contents[1][name]]
    assert [{name: found[name] for name in same} for found in contents[2:]] == [{name: contents[0][name] for name in same}] * 2
    assert sources.requests() == []
    assert sources.counters() == [f"passed:{reason}"] * 2


CHECKS = [
    "conftest.cpp",
    "build/CMakeFiles/CMakeScratch/TryCompile-a1/src.cxx",
    "build/CMakeFiles/CMakeTmp/src.cxx",
    "build/meson-private/tmpx/testfile.cpp",
]


@pytest.mark.parametrize("path", CHECKS)
def test_configure_checks(sources, gcc, path):
    sources.write({path: LOOP.format(name="f", start=0) + "int main() { return 0; }\n"})
    sources.both(gcc, "-O2", path, "-o", "conftest", outputs=["conftest"])
    sources.both(gcc, "-O2", "-c", path, "-o", "conftest.o", outputs=["conftest.o"])
    assert sources.requests() == []
    assert sources.counters() == ["passed:probe"] * 2


def test_sources_without_loops(sources, compiler):
    sources.write({"one.cpp": "int one(const int *p, int) { return p[0]; }\n", "two.cpp": "int two(const int *p, int) { return p[1]; }\n"})
    sources.both(compiler, "-O2", "main.cpp", "one.cpp", "two.cpp", outputs=["a.out"])
    sources.both(compiler, "-O2", "-c", "one.cpp", "two.cpp", outputs=["one.o", "two.o"])
    assert sources.requests() == []
    assert sources.counters() == ["compiled:no-loops"] * 2


@pytest.mark.parametrize("words", [("-O2",), ("-O2", "-MD"), ("-O2", "-g", "-fPIC")])
def test_objects_of_several_sources(sources, compiler, words):
    """Each object and each dependency file has its own name; the store serves each."""
    command = (compiler, *words, "-c", "one.cpp", "two.cpp")
    outputs = ["one.o", "two.o", *(["one.d", "two.d"] if "-MD" in words else [])]
    sources.both(*command, outputs=outputs)
    (request,) = sources.requests()
    assert [(unit["source"], unit["output"], unit["program"]) for unit in request["units"]] == [
        ("one.cpp", "one.o", None), ("two.cpp", "two.o", None)]  # fmt: skip
    assert [unit["argv"] for unit in request["units"]] == [[compiler, *words, "-c", source] for source in ("one.cpp", "two.cpp")]
    sources.both(*command, outputs=outputs)
    assert sources.counters() == ["compiled:searched", "compiled:from-store"]
    sources.write({"two.cpp": LOOP.format(name="two", start=2)})
    sources.both(*command, outputs=outputs)
    assert [unit["source"] for unit in sources.requests()[1]["units"]] == ["two.cpp"]


def test_no_python_at_all(sources, compiler):
    sources.variables["PERFCC_PYTHON"] = str(sources.root / "no-such-python")
    plain, built = sources.both(compiler, "-O2", "main.cpp", "one.cpp", "two.cpp", outputs=["a.out"])
    assert plain == built
    assert sources.counters() == ["compiled:no-python"]


@pytest.mark.parametrize("body", ["import sys; sys.exit(3)", "import os; os.abort()", "import sys; sys.exit(0)"])
def test_a_worker_that_gives_nothing(sources, gcc, body):
    sources.interpreter(body)
    plain, built = sources.both(gcc, "-O2", "main.cpp", "one.cpp", "two.cpp", outputs=["a.out"])
    assert plain == built
    assert sources.counters() == ["compiled:searched" if "(0)" in body else "compiled:worker-failed"]

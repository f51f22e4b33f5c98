"""The program is linked again from the user's own line, each rewritten source replaced by its object."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import time

import pytest

from tests.suites.onestep.onestep_site import BIN, DOUBLE, newest

# The worker's double finds nothing to do in the units that it leaves alone.
NOTHING = """\
for unit in request["units"]:
    files = _native.record_files(unit["dependencies"], unit["cwd"])
    _native.write_manifest(unit["store"], unit["key"], "", "", files, unit["dependencies"])
"""

# Each part adds its own letter, in upper case once it is rewritten.
PART = """\
#include <stdio.h>
#ifdef REWRITTEN
#define LETTER "{upper}"
#else
#define LETTER "{lower}"
#endif
int {name}_sum(const int *p, int n) {{ int s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }}
{linkage} void {name}(void) {{ fputs(LETTER, stdout); }}
"""
MAIN = """\
#include <stdio.h>
{declarations}
int main_sum(const int *p, int n) {{ int s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }}
int main(void) {{ {calls} puts(""); return 0; }}
"""


def part(name: str, linkage: str = "") -> str:
    return PART.format(name=name, lower=name, upper=name.upper(), linkage=linkage)


def main(*names: str, linkage: str = "") -> str:
    declarations = "\n".join(f"{linkage} void {name}(void);" for name in names)
    return MAIN.format(declarations=declarations, calls=" ".join(f"{name}();" for name in names))


@pytest.fixture
def program(site):
    site.double()
    site.write({"a.cpp": part("a"), "b.cpp": part("b"), "main.cpp": main("a", "b")})
    return site


def test_cold_and_warm(program, compiler):
    words = (compiler, "-O2", "main.cpp", "a.cpp", "b.cpp", "-o", "app")
    program.both(*words, outputs=["app"])
    assert program.output_of() == "AB\n"
    assert program.counters() == ["compiled:searched", "linked:again"]
    program.both(*words, outputs=["app"])
    assert program.output_of() == "AB\n"
    assert program.counters()[2:] == ["linked:again", "compiled:from-store"]
    assert len(program.requests()) == 1


def test_the_request(program, gcc):
    program.write({"far/near.h": ""})
    program.perfcc(gcc, "-O2", "-o", "app", "main.cpp", "-Ifar", "a.cpp", "-lm", "b.cpp")
    (request,) = program.requests()
    assert [unit["argv"] for unit in request["units"]] == [
        [gcc, "-c", "-O2", source, "-Ifar", "-lm"] if source == "main.cpp" else [gcc, "-c", "-O2", "-Ifar", *words]
        for source, words in (("main.cpp", ()), ("a.cpp", ("a.cpp", "-lm")), ("b.cpp", ("-lm", "b.cpp")))
    ]
    for unit in request["units"]:
        assert unit["argv"][unit["source_index"]] == unit["source"]
        assert unit["program"] == str(program.work / "app")
        assert any(name.endswith("stdio.h") for name in unit["dependencies"])
    assert len({unit["key"] for unit in request["units"]}) == 3


def test_a_changed_source(program, compiler):
    """A verdict is bound to the program that the compiler made."""
    words = (compiler, "-O2", "main.cpp", "a.cpp", "b.cpp", "-o", "app")
    program.perfcc(*words)
    program.write({"a.cpp": part("a").replace('"A"', '"X"').replace('"a"', '"x"')})
    program.both(*words, outputs=["app"])
    assert program.output_of() == "XB\n"
    assert [len(request["units"]) for request in program.requests()] == [3, 3]


CHANGES = [("g++", "header"), ("clang++", "header"), ("clang++", "header found earlier"), ("g++", "flag"), ("g++", "settings")]


@pytest.mark.parametrize(("name", "what"), CHANGES)
def test_a_change_elsewhere_makes_all_unknown(program, name, what):
    compiler = newest(name)
    text = part("a").replace("#include <stdio.h>", "#include <stdio.h>\n#include <near.h>")
    program.write({"a.cpp": text, "far/near.h": "#define NEAR 1\n", "first/other.h": ""})
    words = [compiler, "-O2", "-Ifirst", "-Ifar", "main.cpp", "a.cpp", "b.cpp", "-o", "app"]
    program.perfcc(*words)
    if what == "header":
        program.write({"far/near.h": "#define NEAR 2\n"})
    elif what == "header found earlier":
        program.write({"first/near.h": "#define NEAR 2\n"})
    elif what == "settings":
        program.variables["PERFCC_FP"] = "reassociate"
    else:
        words.insert(1, "-DMORE")
    program.both(*words, outputs=["app"])
    assert [len(request["units"]) for request in program.requests()] == [3, 3]


def test_a_library_may_change(program, gcc):
    program.write({"c.cpp": part("c"), "main.cpp": main("a", "c")})
    assert program.run(gcc, "-c", "c.cpp").code == 0
    assert program.run("ar", "rcs", "libc1.a", "c.o").code == 0
    words = (gcc, "-O2", "main.cpp", "a.cpp", "-L.", "-lc1", "-o", "app")
    program.perfcc(*words)
    assert program.output_of() == "Ac\n"
    assert program.run(gcc, "-DREWRITTEN", "-c", "c.cpp").code == 0
    assert program.run("ar", "rcs", "libc1.a", "c.o").code == 0
    program.perfcc(*words)
    assert program.output_of() == "AC\n"


def test_the_order_of_objects_and_archives_is_kept(program, compiler):
    """Of two archives the first that has what an earlier input wants is taken; constructors run in link order."""
    constructor = '#include <stdio.h>\nstruct T { T() { fputs("%s", stdout); } } static t;\n'
    program.write({
        "c1.cpp": part("c").replace('"c"', '"1"'), "c2.cpp": part("c").replace('"c"', '"2"'), "main.cpp": main("a", "c"),
        "x.cpp": constructor % "x", "y.cpp": constructor % "y", "z.cpp": constructor % "z",
    })  # fmt: skip
    for name in ("c1", "c2", "y"):
        assert program.run(compiler, "-c", f"{name}.cpp").code == 0
    for name in ("c1", "c2"):
        assert program.run("ar", "rcs", f"lib{name}.a", f"{name}.o").code == 0
    program.both(compiler, "-O2", "x.cpp", "y.o", "libc1.a", "main.cpp", "a.cpp", "z.cpp", "libc2.a", "-o", "app", outputs=["app"])
    assert program.output_of() == "xyzA2\n"
    program.both(compiler, "-O2", "z.cpp", "y.o", "main.cpp", "a.cpp", "libc1.a", "x.cpp", "libc2.a", "-o", "app", outputs=["app"])
    assert program.output_of() == "zyxA1\n"
    assert program.counters() == ["compiled:searched", "linked:again"] * 2


def test_languages_that_stay_in_force(program, compiler):
    program.write({"a.txt": part("a"), "b.c": part("b"), "c.cpp": part("c"), "main.cpp": main("a", "b", "c")})
    assert program.run(compiler, "-c", "c.cpp").code == 0
    words = (compiler, "-O2", "-x", "c++", "a.txt", "main.cpp", "-xc++", "b.c", "-x", "none", "c.o", "-o", "app")
    program.both(*words, outputs=["app"])
    assert program.output_of() == "ABc\n"


def test_c_and_cplusplus_in_one_command(site):
    site.double()
    site.write({"a.c": part("a"), "b.cpp": part("b", 'extern "C"'), "main.c": main("a", "b")})
    site.both("gcc", "-O2", "main.c", "a.c", "b.cpp", "-o", "app", outputs=["app"])
    assert site.output_of() == "AB\n"
    (request,) = site.requests()
    assert [unit["language"] for unit in request["units"]] == ["c", "c", "c++"]


def test_gcc_a_c_lm(site):
    site.double()
    site.write({"a.c": part("a") + '#include <math.h>\nint main(int n, char **v) { a(); printf("%g\\n", sqrt(n + 3)); return 0; }\n'})
    site.both("gcc", "-O2", "a.c", "-lm", outputs=["a.out"])
    assert site.output_of("./a.out") == "A2\n"


def test_assembler_and_preprocessed_sources_stay(program, gcc):
    program.write({"main.cpp": main("a", "b", "c", "d", linkage='extern "C"'), "a.cpp": part("a", 'extern "C"')})
    program.write({"b.cpp": part("b", 'extern "C"'), "c.cpp": part("c", 'extern "C"'), "d.cpp": part("d", 'extern "C"')})
    assert program.run(gcc, "-O2", "-S", "c.cpp").code == 0
    assert program.run(gcc, "-O2", "-E", "d.cpp", "-o", "d.ii").code == 0
    program.both(gcc, "-O2", "main.cpp", "a.cpp", "c.s", "b.cpp", "d.ii", "-o", "app", outputs=["app"])
    assert program.output_of() == "ABcd\n"


def test_the_same_base_name_twice(program, gcc):
    program.write({"one/part.cpp": part("a"), "two/part.cpp": part("b")})
    program.both(gcc, "-O2", "main.cpp", "one/part.cpp", "two/part.cpp", "-o", "app", outputs=["app"])
    assert program.output_of() == "AB\n"


@pytest.mark.parametrize("words", [("-static",), ("-pie", "-fPIE"), ("-no-pie",), ("-Wl,-z,now,--as-needed", "-s"), ("-r",)])
def test_kinds_of_links(program, gcc, words):
    plain, built = program.both(gcc, "-O2", *words, "main.cpp", "a.cpp", "b.cpp", "-o", "app", outputs=["app"])
    if "-r" in words:
        assert plain != built
    else:
        assert program.output_of() == "AB\n"
    kept = program.work / "app"
    assert stat.S_IMODE(kept.stat().st_mode) & 0o111 or "-r" in words


def test_a_shared_library(program, compiler):
    program.both(compiler, "-O2", "-shared", "-fPIC", "a.cpp", "b.cpp", "-Wl,-soname,libab.so", "-o", "libab.so", outputs=["libab.so"])
    assert program.run(compiler, "-c", "main.cpp").code == 0
    assert program.perfcc(compiler, "main.o", "-L.", "-lab", "-Wl,-rpath,.", "-o", "app").code == 0
    assert program.output_of() == "AB\n"


def test_sources_in_a_response_file(program, gcc):
    program.write({"args": "-O2 main.cpp 'a.cpp'\n@more -o app", "more": "b.cpp"})
    program.both(gcc, "@args", outputs=["app"])
    assert program.output_of() == "AB\n"


@pytest.mark.parametrize("output", [(), ("-o", "app"), ("-o", "out/app.x"), ("-MF", "dep", "-o", "app")])
def test_a_dependency_file(site, compiler, output):
    """It keeps its name and content, which the second link would change, and tells what the store rests on."""
    site.double()
    site.write({"a.cpp": '#include "near.h"\n' + part("a") + "int main() { a(); }\n", "near.h": "", "out/x": ""})
    words = (compiler, "-O2", "-MD", "a.cpp", *output)
    found = site.run(*words)
    assert found.code == 0
    made = site.names() - {"a.cpp", "near.h", "out/x"}
    plain, built = site.both(*words, outputs=sorted(made))
    (program,) = (name for name in made if not name.endswith(".d") and name != "dep")
    assert {name for name in made if plain[name] != built[name]} == {program}
    assert site.output_of(f"./{program}") == "A"
    site.perfcc(*words)
    assert len(site.requests()) == 1
    site.write({"near.h": "#define NEAR\n"})
    site.perfcc(*words)
    assert len(site.requests()) == 2


def test_the_programs_mode_and_time_are_the_linkers(program, gcc):
    os.umask(mask := os.umask(0))
    start = time.time()
    program.perfcc(gcc, "-O2", "main.cpp", "a.cpp", "b.cpp", "-o", "app")
    status = (program.work / "app").stat()
    assert stat.S_IMODE(status.st_mode) == 0o777 & ~mask
    assert status.st_mtime >= start - 1
    assert program.output_of() == "AB\n"


def test_a_program_that_runs_goes_on(site, gcc):
    site.double()
    loop = part("a") + 'int main() { puts(PRINTED); fflush(stdout); for (;;) getchar() == EOF ? throw 1 : 0; }\n'
    site.write({"a.cpp": loop.replace("PRINTED", '"old"')})
    words = (gcc, "-O2", "a.cpp", "-o", "app")
    assert site.perfcc(*words).code == 0
    with subprocess.Popen(["./app"], cwd=site.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"old\n"
        site.write({"a.cpp": loop.replace("PRINTED", '"new"')})
        assert site.perfcc(*words).code == 0
        assert running.poll() is None
        running.kill()
    with subprocess.Popen(["./app"], cwd=site.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"new\n"
        running.kill()


def test_a_hard_link_to_the_old_program_stays_the_old_one(program, gcc):
    words = (gcc, "-O2", "main.cpp", "a.cpp", "b.cpp", "-o", "app")
    program.perfcc(*words)
    os.link(program.work / "app", program.work / "kept")
    program.write({"a.cpp": part("a").replace('"A"', '"X"').replace('"a"', '"x"')})
    program.perfcc(*words)
    assert (program.output_of(), program.output_of("./kept")) == ("XB\n", "AB\n")


def test_an_output_changed_meanwhile_is_left(site, gcc):
    site.interpreter("""\
import json, os, subprocess, sys
for unit in json.load(sys.stdin)["units"]:
    subprocess.run([*unit["argv"], "-DREWRITTEN", "-o", unit["deliver"]], cwd=unit["cwd"], check=True)
    with open(unit["program"], "ab") as program:
        program.write(b"!")
""")
    site.write({"a.cpp": part("a") + "int main() { a(); }\n"})
    assert site.run(gcc, "-O2", "a.cpp", "-o", "plain").code == 0
    assert site.perfcc(gcc, "-O2", "a.cpp", "-o", "app").code == 0
    assert (site.work / "app").read_bytes() == (site.work / "plain").read_bytes() + b"!"
    assert site.counters() == ["compiled:searched", "linked:not-again"]


def test_objects_that_do_not_link_leave_the_program(site, gcc):
    site.double()
    site.write({"a.cpp": "void missing();\n" + part("a").replace("fputs(LETTER", "LETTER[0] == 'A' ? missing() : (void) fputs(LETTER")})
    site.write({"main.cpp": main("a")})
    plain, built = site.both(gcc, "-O2", "main.cpp", "a.cpp", "-o", "app", outputs=["app"])
    assert plain == built
    assert site.counters() == ["compiled:searched", "linked:not-again"]


def test_two_commands_at_once_write_the_same_program(program, gcc):
    words = [str(BIN / "perfcc"), gcc, "-O2", "main.cpp", "a.cpp", "b.cpp", "-o", "app"]
    program.perfcc(*words[1:])
    for _ in range(3):
        runs = [subprocess.Popen(words, cwd=program.work, env=program.environment) for _ in range(4)]
        assert [run.wait(120) for run in runs] == [0] * 4
        assert program.output_of().upper() == "AB\n"
    assert not [name for name in program.names() if "perfcc" in name]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_second_link(program, gcc, number):
    """The linker is one that waits for good the second time; what stops the launcher stops it too, and the first program stays."""
    linker = shutil.which("ld")
    folder = program.root / "linker"
    folder.mkdir()
    script = folder / "ld"
    waiting = f'if [ -e "{program.root}/requests" ]; then touch "{program.root}/linking"; exec sleep 300; fi'
    script.write_text(f'#!/bin/sh\n{waiting}\nexec {linker} "$@"\n')
    script.chmod(0o755)
    program.variables["COMPILER_PATH"] = str(folder)
    words = (gcc, "-O2", "main.cpp", "a.cpp", "b.cpp", "-o", "app")
    assert program.run(*words).code == 0
    plain = (program.work / "app").read_bytes()
    run = subprocess.Popen([str(BIN / "perfcc"), *words], cwd=program.work, env=program.environment)
    deadline = time.monotonic() + 60
    while not (program.root / "linking").exists():
        assert time.monotonic() < deadline
        assert run.poll() is None
        time.sleep(0.02)
    run.send_signal(number)
    assert run.wait(20) == -number
    assert (program.work / "app").read_bytes() == plain
    assert program.counters() == ["compiled:searched", "compiled:interrupted"]


def test_sources_that_are_not_rewritten_are_compiled_once(site, gcc):
    """For the second link they are objects too, kept for the next builds: each then compiles as much as the bare compiler does."""
    decides = 'for unit in [unit for unit in request["units"] if unit["source"] == "a.cpp"]:'
    site.interpreter(DOUBLE.format(root=str(site.root)).replace('for unit in request["units"]:', NOTHING + decides))
    parts = site.root / "parts"
    parts.mkdir()
    compiled = site.root / "compiled"
    (parts / "cc1plus").write_text(f'#!/bin/sh\necho x >> {compiled}\nexec $(env -u COMPILER_PATH {gcc} -print-prog-name=cc1plus) "$@"\n')
    (parts / "cc1plus").chmod(0o755)
    site.variables["COMPILER_PATH"] = str(parts)
    site.write({"a.cpp": part("a"), "b.cpp": part("b"), "main.cpp": main("a", "b")})
    words = (gcc, "-O2", "main.cpp", "a.cpp", "b.cpp", "-o", "app")
    for expected in (3 + 1 + 2, 3, 3):
        compiled.unlink(missing_ok=True)
        assert site.perfcc(*words).code == 0
        assert site.output_of() == "Ab\n"
        assert len(compiled.read_text().splitlines()) == expected
    assert len(site.requests()) == 1


def test_a_header_that_changes_during_the_search(site, gcc):
    """The sources that were not rewritten are compiled after it: the program must not be made of old and new ones."""
    touch = 'Path(request["units"][0]["cwd"], "near.h").write_text("#define NEAR 2\\n")\n'
    decides = 'for unit in [unit for unit in request["units"] if unit["source"] == "a.cpp"]:'
    site.interpreter(DOUBLE.format(root=str(site.root)).replace('for unit in request["units"]:', touch + decides))
    site.write({"a.cpp": part("a"), "main.cpp": '#include "near.h"\n' + main("a"), "near.h": "#define NEAR 1\n"})
    time.sleep(0.1)
    assert site.run(gcc, "-O2", "main.cpp", "a.cpp", "-o", "plain").code == 0
    assert site.perfcc(gcc, "-O2", "main.cpp", "a.cpp", "-o", "app").code == 0
    assert (site.work / "app").read_bytes() == (site.work / "plain").read_bytes()
    assert site.counters() == ["compiled:searched", "linked:not-again"]

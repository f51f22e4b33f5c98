"""The files around a rewritten object: headers it is read from, outputs beside it, and what a debugger finds in them."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from perfcc.cc.compiler import probe, translation_unit
from perfcc.cc.emit import Emitted, OutputState, emit, install
from perfcc.cc.splice import Replacement
from perfcc.core.reason import Reason
from tests.suites.emit.emit_workshop import Workshop, span_of

KERNEL = "for (int i = 0; i < n; ++i)\n    x[i] += i;"
SERIAL = "{ for (int i = n; i-- > 0;)\n\n\n x[i] += i; }"
FUNCTION = f"void add(int* x, int n) {{\n  {KERNEL}\n}}\n"
COMPILERS = pytest.mark.parametrize("compiler", ["g++", "clang++-19"])


def rewritten(workshop: Workshop, source: str, *flags: str, compiler: str = "g++", header: str = "") -> Emitted | Reason:
    """The source (or the header that it includes by that name) with its kernel rewritten."""
    workshop.write("src/a.cpp", source)
    invocation = workshop.invocation("src/a.cpp", *flags, compiler=compiler, output="src/a.o")
    workshop.run(*invocation.argv)
    info = probe(compiler, invocation)
    name = header or "src/a.cpp"
    text = (workshop.root / name).read_bytes()
    scratch = workshop.root.parent / f"scratch-{compiler}"
    scratch.mkdir()
    items = [Replacement(span_of(text, KERNEL.encode(), name), SERIAL, False)]
    return emit(translation_unit(invocation, info), info, items, "", scratch, texts={header: text} if header else None)


@COMPILERS
def test_split_debug_information_goes_with_its_object(workshop: Workshop, compiler: str) -> None:
    new = rewritten(workshop, FUNCTION + "int main() {}\n", "-O1", "-g", "-gsplit-dwarf", compiler=compiler)
    assert isinstance(new, Emitted), new
    assert [item.path for item in new.beside] == [workshop.root / "src/a.dwo"]
    output = workshop.root / "src/a.o"
    before = OutputState.of(output)
    assert install(new.object_path, output, before, new.beside) is None
    assert (workshop.root / "src/a.dwo").read_bytes() == new.beside[0].file.read_bytes()
    assert {path.name for path in output.parent.iterdir()} == {"a.cpp", "a.o", "a.dwo"}
    ids = [
        re.findall(r"dwo_id *: *(\S+)|DWO ID: *(\S+)", workshop.run("readelf", "--debug-dump=info", f"src/a.{kind}"))
        for kind in ("o", "dwo")
    ]
    assert ids[0]
    assert set(ids[0]) == set(ids[1])


def test_nothing_is_installed_when_a_file_beside_the_object_has_changed(workshop: Workshop) -> None:
    new = rewritten(workshop, FUNCTION, "-O1", "-g", "-gsplit-dwarf")
    assert isinstance(new, Emitted), new
    output = workshop.root / "src/a.o"
    (workshop.root / "src/a.dwo").write_text("somebody else's")
    before = output.read_bytes()
    reason = install(new.object_path, output, OutputState.of(output), new.beside)
    assert reason is not None
    assert reason.id == "output-changed"
    assert output.read_bytes() == before
    assert (workshop.root / "src/a.dwo").read_text() == "somebody else's"


@pytest.mark.parametrize("flags", [(), ("-gz",), ("-gsplit-dwarf",), ("-gsplit-dwarf", "-gz")], ids=" ".join)
def test_line_tables_hold_the_checksum_of_the_users_file(workshop: Workshop, flags: tuple[str, ...]) -> None:
    new = rewritten(workshop, FUNCTION, "-O1", "-g", "-gdwarf-5", *flags, compiler="clang++-19")
    assert isinstance(new, Emitted), new
    own = hashlib.md5((workshop.root / "src/a.cpp").read_bytes(), usedforsecurity=False).digest()
    for path in (workshop.root / "src/a.o", new.object_path):
        table = workshop.run("readelf", "--debug-dump=rawline", str(path))
        # binutils prints the sixteen bytes as one number.
        assert {bytes.fromhex(word)[::-1] for word in re.findall(r"0x([0-9a-f]{32})\b", table)} in ({own}, {own[::-1]})


@COMPILERS
@pytest.mark.parametrize("name", ["src/part.h", "include/lib.h"])
def test_kernel_in_a_header(workshop: Workshop, compiler: str, name: str) -> None:
    head = '#ifndef PART\n#define PART\n#include "more.h"\ninline ' + FUNCTION
    tail = "inline const char* place() { return __FILE__; }\ninline int line() { return __LINE__; }\n#endif\n"
    workshop.write(name, head + tail)
    workshop.write(str(Path(name).with_name("more.h")), "#define MORE __INCLUDE_LEVEL__\n")
    word = '"part.h"' if name.startswith("src") else "<lib.h>"
    main = f"#include {word}\n#include {word}\n#include <cstdio>\nint main() {{ int x[3] = {{}}; add(x, 3);\n"
    main += '  printf("%d %d %s %d %d\\n", x[1], x[2], place(), line(), __LINE__); }\n'
    opened = f"src/{Path(name).name}" if name.startswith("src") else name
    new = rewritten(workshop, main, "-O1", "-g", "-Iinclude", "-MMD", compiler=compiler, header=opened)
    assert isinstance(new, Emitted), new
    assert str(workshop.root / name) in new.dependencies
    outputs = []
    for path in ("src/a.o", str(new.object_path)):
        workshop.run(compiler, path, "-o", "program")
        outputs.append(workshop.run("./program"))
    assert outputs[0] == outputs[1] == f"1 2 {opened} 9 5\n"
    assert new.object_path.read_bytes() != (workshop.root / "src/a.o").read_bytes()


def test_header_that_is_read_twice(workshop: Workshop) -> None:
    workshop.write("src/part.h", "inline void NAME(int* x, int n) {\n  " + KERNEL + "\n}\n")
    main = '#define NAME one\n#include "part.h"\n#undef NAME\n#define NAME two\n#include "part.h"\nint main() {}\n'
    outcome = rewritten(workshop, main, "-O1", header="src/part.h")
    assert isinstance(outcome, Reason)
    assert outcome.detail == "src/part.h is included more than once"


def test_header_by_a_name_it_is_not_opened_by(workshop: Workshop) -> None:
    workshop.write("src/part.h", "inline " + FUNCTION)
    outcome = rewritten(workshop, '#include "../src/part.h"\nint main() {}\n', "-O1", header="src/part.h")
    assert isinstance(outcome, Reason)
    assert outcome.id == "emit-failed"


def test_precompiled_header(workshop: Workshop) -> None:
    """It may be older than the text that the kernel was judged by."""
    workshop.write("pre.h", "#define STEP 1\n")
    workshop.run("g++", "-O1", "-x", "c++-header", "pre.h", "-o", "pre.h.gch")
    outcome = rewritten(workshop, FUNCTION, "-O1", "-include", "pre.h")
    assert isinstance(outcome, Reason)
    assert "pre.h.gch is a precompiled header" in outcome.detail


@pytest.mark.parametrize("name", ["first/pre.h.gch", "first/pre.h.gch/any"])
def test_precompiled_header_in_a_folder_before_its_text(workshop: Workshop, name: str) -> None:
    workshop.write("second/pre.h", "typedef int T;\n")
    (workshop.root / name).parent.mkdir(parents=True)
    workshop.run("g++", "-O1", "-x", "c++-header", "second/pre.h", "-o", name)
    workshop.write("second/pre.h", "typedef short T;\n")
    source = "#include <pre.h>\nstatic_assert(sizeof(T) == 4);\n" + FUNCTION
    outcome = rewritten(workshop, source, "-O1", "-Ifirst", "-Isecond")
    assert isinstance(outcome, Reason)
    assert f"{name} is a precompiled header" in outcome.detail


def test_source_with_line_numbers_of_its_own(workshop: Workshop) -> None:
    outcome = rewritten(workshop, '#line 100 "grammar.y"\n' + FUNCTION, "-O1")
    assert isinstance(outcome, Reason)
    assert "numbers its lines itself" in outcome.detail
    workshop.root = workshop.root / "second"
    workshop.root.mkdir()
    later = rewritten(workshop, FUNCTION + '#line 100 "grammar.y"\nint line = __LINE__;\n', "-O1", "-g", compiler="clang++-19")
    assert isinstance(later, Emitted), later

"""C programs in every dialect: their kernels are found, and with all of them rewritten the program prints what it printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfcc.cc.emit import Emitted
from tests.suites.languages.rewriting import Source

SOURCES = Path(__file__).parent / "sources"
STRICT = ("-O2", "-std=c89", "-pedantic-errors", "-Wdeclaration-after-statement", "-Werror")
REWRITTEN = {
    "strict.c": ["colours", "mix", "rows", "keywords", "keywords"],
    "old_style.c": ["total", "fill"],
    "modern.c": ["booleans", "set", "any", "sized", "bytes", "designated", "from_void", "widths", "called"],
    "gnu.c": ["typed", "inlined"],
    "variable_arrays.c": [
        "param",
        "pointer",
        "transpose",
        "product",
        "cube",
        "local",
        "local2",
        "rows",
        "rows2",
        "rows3",
        "heap",
        "one",
        "shifted",
        "main",
    ],
}
CASES = [
    ("strict.c", STRICT),
    ("strict.c", ("-O2", "-ansi")),
    ("strict.c", ("-O3", "-std=iso9899:199409", "-g")),
    ("strict.c", ("-O2", "-std=gnu89", "-fgnu89-inline")),
    ("strict.c", ("-O2", "-std=c17", "-funsigned-char")),
    ("old_style.c", ("-O2", "-std=gnu89")),
    ("old_style.c", ("-O2", "-std=gnu11", "-w")),
    ("old_style.c", ("-O2", "-std=c99", "-w")),
    ("modern.c", ("-O2", "-std=c99")),
    ("modern.c", ("-O2", "-std=c11", "-pedantic-errors")),
    ("modern.c", ("-O2", "-std=gnu2x")),
    ("gnu.c", ("-O2", "-std=gnu99")),
    ("gnu.c", ("-O2",)),
    ("variable_arrays.c", ("-O2", "-std=c99", "-pedantic-errors")),
    ("variable_arrays.c", ("-O3", "-std=gnu17")),
]


@pytest.mark.parametrize(("name", "flags"), CASES)
def test_rewritten_program_prints_the_same(name: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    source = Source(SOURCES / name, flags, "gcc", tmp_path)
    assert source.parsed.refusal is None, source.parsed.refusal
    before, _ = source.output("unit.o")
    pairs = list(source.chosen(threads=True))
    assert [kernel.function.partition("(")[0] for kernel, _ in pairs] == REWRITTEN[name]
    emitted = source.emit(pairs)
    assert isinstance(emitted, Emitted), emitted
    after, ran = source.output(emitted.object_path)
    assert after == before
    assert ran == len(pairs)

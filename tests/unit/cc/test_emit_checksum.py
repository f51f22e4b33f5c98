"""Clang's checksums of sources in objects: found wherever they stand, replaced without a byte more."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from perfcc.cc.emit.checksum import ChecksumError, restore

TEXT = b"int value(int a) { return a + 1; }\n"
OTHER = b"int value(int a)\n#line 1\n                 { return a + 1; }\n"
LONG = b"".join(b"int f%d(int a) { return a * %d; }\n" % (index, index) for index in range(60))
LONGER = b"/* more */\n#line 1\n" + LONG


def compiled(folder: Path, text: bytes, *flags: str) -> Path:
    source, made = folder / "a.cpp", folder / "a.o"
    source.write_bytes(text)
    subprocess.run(["clang++-19", *flags, "-c", "a.cpp", "-o", "a.o"], cwd=folder, check=True)
    return made


@pytest.mark.parametrize("text", [(TEXT, OTHER), (LONG, LONGER)], ids=["short", "long"])
@pytest.mark.parametrize(
    "flags", [("-g",), ("-g", "-gz"), ("-g3", "-gz=zlib", "-O2"), ("-g", "-flto"), ("-g", "-fno-integrated-as"), ("-O1",)], ids=" ".join
)
def test_the_copys_object_becomes_the_originals(tmp_path: Path, text: tuple[bytes, bytes], flags: tuple[str, ...]) -> None:
    original, copy = text
    wanted = compiled(tmp_path, original, *flags).read_bytes()
    made = compiled(tmp_path, copy, *flags)
    assert (made.read_bytes() == wanted) == ("-O1" in flags)
    restore(made, {copy: original})
    assert made.read_bytes() == wanted


def test_compression_that_is_not_known(tmp_path: Path) -> None:
    made = compiled(tmp_path, LONGER, "-g", "-gz=zstd")
    before = made.read_bytes()
    with pytest.raises(ChecksumError, match="not known"):
        restore(made, {LONGER: LONG})
    assert made.read_bytes() == before


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "list.d"
    path.write_bytes(b"a.o: a.cpp\n")
    restore(path, {LONGER: LONG})
    assert path.read_bytes() == b"a.o: a.cpp\n"


def test_other_texts_checksums_are_left_alone(tmp_path: Path) -> None:
    made = compiled(tmp_path, TEXT, "-g", "-gz")
    before = made.read_bytes()
    restore(made, {LONGER: LONG})
    assert made.read_bytes() == before

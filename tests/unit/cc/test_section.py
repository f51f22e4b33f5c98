"""The report section: written into objects, joined by linkers, read from anything that was linked from them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfcc.cc.section import MAGIC, SectionError, attach, frame, read, records


def build(folder: Path, name: str, text: str, *flags: str) -> Path:
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["gcc", "-fPIC", *flags, "-c", f"{name}.c", "-o", f"{name}.o"], cwd=folder, check=True)
    return folder / f"{name}.o"


def run(folder: Path, *command: str) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A directory with two objects that carry a report each, and a third without."""
    attach(build(tmp_path, "one", "int one(void) { return 1; }"), b"first", tmp_path)
    attach(build(tmp_path, "two", "int two(void) { return 2; }"), b"second" * 1000, tmp_path)
    build(tmp_path, "main", "int one(void); int two(void); int main(void) { return one() + two() - 3; }")
    return tmp_path


PAYLOADS = [b"first", b"second" * 1000]


def test_object(pair: Path) -> None:
    assert read(pair / "one.o") == [b"first"]
    assert read(pair / "main.o") == []


def test_section_is_never_loaded(pair: Path) -> None:
    for name in ("one.o", "app"):
        run(pair, "gcc", "main.o", "one.o", "two.o", "-o", "app")
        line = next(line for line in run(pair, "readelf", "-SW", name).splitlines() if ".perfcc" in line)
        flags = line.split("]")[1].split()[6]
        assert "A" not in flags


@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_executable_holds_all_reports(pair: Path, linker: str) -> None:
    run(pair, "gcc", f"-fuse-ld={linker}", "main.o", "one.o", "two.o", "-o", "app")
    run(pair, "./app")
    assert read(pair / "app") == PAYLOADS


def test_collected_sections_and_shared_library(pair: Path) -> None:
    run(pair, "gcc", "-Wl,--gc-sections", "main.o", "one.o", "two.o", "-o", "app")
    assert read(pair / "app") == PAYLOADS
    run(pair, "gcc", "-shared", "one.o", "two.o", "-o", "libboth.so")
    assert read(pair / "libboth.so") == PAYLOADS


def test_static_executable_and_relocatable(pair: Path) -> None:
    run(pair, "gcc", "-static", "main.o", "one.o", "two.o", "-o", "app")
    assert read(pair / "app") == PAYLOADS
    run(pair, "ld", "-r", "one.o", "two.o", "-o", "joined.o")
    assert read(pair / "joined.o") == PAYLOADS


def test_static_library(pair: Path) -> None:
    long_name = "a_member_with_a_name_longer_than_sixteen_bytes.o"
    (pair / long_name).write_bytes((pair / "two.o").read_bytes())
    run(pair, "ar", "rcs", "lib.a", "one.o", "main.o", long_name)
    assert read(pair / "lib.a") == PAYLOADS


def test_thin_static_library(pair: Path) -> None:
    long_name = "a_member_with_a_name_longer_than_sixteen_bytes.o"
    (pair / long_name).write_bytes((pair / "two.o").read_bytes())
    run(pair, "ar", "rcsT", "lib.a", "one.o", "main.o", long_name)
    assert read(pair / "lib.a") == PAYLOADS


def test_same_payload_same_bits(pair: Path) -> None:
    (pair / "elsewhere").mkdir()
    again = build(pair / "elsewhere", "one", "int one(void) { return 1; }")
    attach(again, b"first", pair / "elsewhere")
    assert again.read_bytes() == (pair / "one.o").read_bytes()


def test_debug_information_survives(pair: Path) -> None:
    path = build(pair, "three", "int three(void) { return 3; }", "-g", "-gz")
    before = run(pair, "readelf", "--debug-dump=info", "three.o")
    attach(path, b"third", pair)
    assert run(pair, "readelf", "--debug-dump=info", "three.o") == before
    assert read(path) == [b"third"]


def test_stripped_of_debug_information(pair: Path) -> None:
    run(pair, "gcc", "main.o", "one.o", "two.o", "-o", "app")
    run(pair, "strip", "--strip-debug", "app")
    assert read(pair / "app") == PAYLOADS


def test_no_elf_file(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text")
    with pytest.raises(SectionError, match="neither"):
        read(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing")


@pytest.mark.parametrize("content", [b"\x7fELF", b"\x7fELF" + b"\1" * 100, b"!<arch>\n" + b"x" * 70], ids=["short", "rubbish", "archive"])
def test_damaged_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(SectionError):
        read(tmp_path / "bad")


def test_missing_tool(pair: Path) -> None:
    with pytest.raises(SectionError, match="no-such-tool"):
        attach(pair / "main.o", b"x", pair, objcopy="no-such-tool")
    assert read(pair / "main.o") == []


@given(st.lists(st.tuples(st.binary(max_size=50), st.integers(0, 20))))
def test_records_with_padding(items: list[tuple[bytes, int]]) -> None:
    content = b"".join(frame(payload) + b"\0" * padding for payload, padding in items)
    assert records(content) == [payload for payload, _ in items]


@pytest.mark.parametrize(
    "content",
    [b"x", b"perfcc", frame(b"abc")[:-1], MAGIC + b"\4\0\0\0abcd", b"perfcc\x02\n" + frame(b"abc")[8:], frame(b"abc") + b"x"],
    ids=["rubbish", "short", "cut", "no-zlib", "version", "tail"],
)
def test_damaged_records(content: bytes) -> None:
    with pytest.raises(SectionError):
        records(content)

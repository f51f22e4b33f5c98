"""The shared native code against independent implementations."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perfcc
from perfcc import _native

KEY = "ab" * 32


def test_version_is_the_packages() -> None:
    assert _native.version == perfcc.__version__


@pytest.mark.parametrize("size", [0, 1, 63, 64, 127, 128, 129, 255, 256, 257, 100_000])
def test_blake2b_at_block_borders(size: int) -> None:
    data = bytes(i % 251 for i in range(size))
    assert _native.blake2b(data) == hashlib.blake2b(data, digest_size=32).hexdigest()


@given(st.binary(max_size=1000))
def test_blake2b(data: bytes) -> None:
    assert _native.blake2b(data) == hashlib.blake2b(data, digest_size=32).hexdigest()


def test_a_manifest_comes_back_as_it_went(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("one")
    (tmp_path / "b\udcff.h").write_text("two")
    files = _native.record_files(["a.h", "b\udcff.h"], tmp_path)
    assert files is not None
    assert files[0]["hash"] == hashlib.blake2b(b"one", digest_size=32).hexdigest()
    assert _native.write_manifest(tmp_path, KEY, "cd" * 32, "ef" * 32, files, ["z", "a\udcff"], 5)
    assert _native.read_manifest(tmp_path, KEY) == {
        "verdict": "object", "object": "cd" * 32, "original": "ef" * 32, "recorded_ns": 5, "files": files, "dependencies": ["a\udcff", "z"],
    }  # fmt: skip
    assert _native.manifest_holds(tmp_path, KEY, tmp_path)
    (tmp_path / "a.h").write_text("two")
    assert not _native.manifest_holds(tmp_path, KEY, tmp_path)


@given(st.data())
def test_a_damaged_manifest_is_no_manifest(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    store = tmp_path_factory.mktemp("store")
    (store / "a.h").write_text("one")
    files = _native.record_files(["a.h"], store)
    assert _native.write_manifest(store, KEY, "", "", files or (), ["a.h"])
    path = Path(_native.unit_path(store, KEY))
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content[: data.draw(st.integers(place + 1, len(content)))])
    assert _native.read_manifest(store, KEY) is None


def test_a_manifest_under_another_key_is_no_manifest(tmp_path: Path) -> None:
    assert _native.write_manifest(tmp_path, KEY, "", "", (), ())
    other = "0" + KEY[1:] if KEY[0] != "0" else "1" + KEY[1:]
    place = Path(_native.unit_path(tmp_path, other))
    place.parent.mkdir(parents=True)
    Path(_native.unit_path(tmp_path, KEY)).rename(place)
    assert _native.read_manifest(tmp_path, other) is None


def test_a_replaced_file_keeps_mode_and_times_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.o"
    path.write_bytes(b"old")
    path.chmod(0o640)
    os.utime(path, ns=(5, 7_000_000_001))
    left = tmp_path / ".a.o.perfcc"
    left.write_bytes(b"of a killed process that is still fresh")
    assert _native.replace_file(path, b"new")
    status = path.stat()
    assert (path.read_bytes(), status.st_mode & 0o777, status.st_mtime_ns) == (b"new", 0o640, 7_000_000_001)
    assert {entry.name for entry in tmp_path.iterdir()} == {"a.o", ".a.o.perfcc"}
    assert not _native.replace_file(tmp_path / "missing.o", b"new")
    assert not _native.replace_file(tmp_path, b"new")


def test_a_missing_file_is_not_recorded(tmp_path: Path) -> None:
    assert _native.record_files(["missing.h"], tmp_path) is None


def test_no_hash_is_a_value_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        _native.read_manifest(tmp_path, "short")


def test_make_rules_are_read_as_gcc_writes_them(tmp_path: Path) -> None:
    names = ["a b.h", "c#d.h", "e$f.h", "plain.h"]
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / "m.cpp").write_text("".join(f'#include "{name}"\n' for name in names))
    subprocess.run(["g++", "-MD", "-MP", "-MF", "m.d", "-c", "m.cpp", "-o", "m.o"], cwd=tmp_path, check=True)
    assert _native.parse_make_rule((tmp_path / "m.d").read_bytes()) == sorted([*names, "m.cpp", "/usr/include/stdc-predef.h"])


def test_the_unit_key_hangs_on_source_command_and_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.cpp"
    source.write_text("int x;")
    argv = ["g++", "-O2", "-c", "a.cpp"]

    def key(words: list[str] = argv) -> str:
        return _native.unit_key(words, tmp_path, "g++", "a.cpp")

    keys = [key(), key(["g++", "-O3", "-c", "a.cpp"])]
    assert key() == keys[0]
    monkeypatch.setenv("PERFCC_FP", "reassociate")
    keys.append(key())
    (tmp_path / "perfcc.toml").write_text("budget = 1\n")
    keys.append(key())
    source.write_text("int y;")
    keys.append(key())
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("content", "store"),
    [
        ('store = "here"', "{dir}/here"),
        ("store='/elsewhere'  # why", "/elsewhere"),
        ('mode = "off"\n  store  =  "here"\n', "{dir}/here"),
        ('stores = "no"\nstore = "~/kept"', "{home}/kept"),
        ('[rules]\nstore = "not this one"', "{cache}/perfcc"),
        ('# store = "no"', "{cache}/perfcc"),
    ],
)
def test_the_store_is_found_as_the_full_reader_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, store: str) -> None:
    monkeypatch.delenv("PERFCC_STORE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "perfcc.toml").write_text(content)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    expected = store.format(dir=tmp_path, home=os.environ["HOME"], cache=tmp_path / "cache")
    assert _native.settings(below)["store"] == expected

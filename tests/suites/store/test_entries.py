"""Whatever happens to an entry, the object is the compiler's own or the one that was made from exactly that."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from perfcc import _native
from tests.suites.launcher.test_stored import BLOB, asked

HOUR = 3600.0


def entry(site, kind: str) -> Path:
    (path,) = [path for path in (site.store / kind).rglob("*") if path.is_file()]
    return path


def assert_searched_again(site, command: list[str]) -> None:
    done = site.run(command)
    assert (done.code, done.stderr) == (0, b"")
    assert done.files["kernel.o"][:4] == b"\x7fELF"
    assert asked(site)


def replace(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "first bit": lambda path: flip(path, 0),
    "last bit": lambda path: flip(path, -1),
    "a bit in the middle": lambda path: flip(path, path.stat().st_size // 2),
    "cut": lambda path: os.truncate(path, path.stat().st_size - 1),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "folder": replace(os.mkdir),
    "pipe": replace(os.mkfifo),
    "loop": replace(lambda path: path.symlink_to(path)),
    "device": replace(lambda path: path.symlink_to("/dev/zero")),
    "older format": lambda path: path.write_bytes(b"perfcc-manifest-1\n" + path.read_bytes()[18:]),
    "newer format": lambda path: path.write_bytes(b"perfcc-manifest-9\n" + path.read_bytes()[18:]),
}


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["units", "objects"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_a_miss(site, decided, kind, damage):
    command = decided(BLOB)
    DAMAGE[damage](entry(site, kind))
    assert_searched_again(site, command)


def test_entries_that_changed_places_are_misses(site, gcc):
    """Two units that differ in nothing but their bodies: each verdict would hold for the other."""
    site.worker("(site / Path(request['source']).stem).write_text(json.dumps(request))")
    keys, objects = [], {}
    for name in ("one", "two"):
        body = f"int {name}(int n) {{ int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }}\n"
        (site.work / f"{name}.cpp").write_text(body)
        assert site.run(site.command(gcc, "-O2", "-c", f"{name}.cpp")).code == 0
        request = json.loads((site.root / name).read_text())
        objects[name] = (site.work / f"{name}.o").read_bytes()
        blob = f"the object for {name}".encode()
        path = Path(_native.object_path(site.store, _native.blake2b(blob)))
        path.parent.mkdir(parents=True)
        path.write_bytes(blob)
        original = _native.blake2b(objects[name])
        assert _native.write_manifest(site.store, request["key"], _native.blake2b(blob), original, [], request["dependencies"])
        keys.append(Path(_native.unit_path(site.store, request["key"])))
    aside = site.root / "aside"
    keys[0].rename(aside)
    keys[1].rename(keys[0])
    aside.rename(keys[1])
    for name in ("one", "two"):
        done = site.run(site.command(gcc, "-O2", "-c", f"{name}.cpp"))
        assert (done.code, done.files[f"{name}.o"]) == (0, objects[name])


@pytest.fixture
def reads_a_file(site, compiler) -> tuple[list[str], Path]:
    """A unit with a verdict that depends on a file no list of headers names."""
    site.fresh({
        "kernel.cpp": 'asm(".section .rodata\\n.incbin \\"data.bin\\"\\n.text");\n'
        '#if __has_include("maybe.h")\nint more;\n#endif\n'
        "int sum(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }\n",
        "data.bin": "one",
    })  # fmt: skip
    site.worker("(site / 'request').write_text(json.dumps(request))")
    command = site.command(compiler, "-O2", "-c", "kernel.cpp", "-o", "kernel.o")
    assert site.run(command).code == 0
    request = json.loads((site.root / "request").read_text())
    path = Path(_native.object_path(site.store, _native.blake2b(BLOB)))
    path.parent.mkdir(parents=True)
    path.write_bytes(BLOB)
    files = _native.record_files([*request["dependencies"], "kernel.cpp"], request["cwd"])
    original = _native.blake2b((site.work / "kernel.o").read_bytes())
    name = _native.blake2b(BLOB)
    assert _native.write_manifest(site.store, request["key"], name, original, files or (), request["dependencies"])
    (site.root / "request").unlink()
    assert site.run(command).files["kernel.o"] == BLOB
    return command, site.work


def test_an_included_binary_that_changed(site, reads_a_file):
    command, work = reads_a_file
    (work / "data.bin").write_text("two")
    assert_searched_again(site, command)
    (work / "data.bin").write_text("one")
    assert site.run(command).files["kernel.o"] == BLOB


def test_a_file_that_exists_now(site, reads_a_file):
    command, work = reads_a_file
    (work / "maybe.h").write_text("")
    assert_searched_again(site, command)


@pytest.mark.parametrize("clock", ["back", "ahead"])
def test_a_header_restored_from_a_backup(site, decided, clock):
    """Same size, same time of change, other content, and a clock that was wrong: its state alone is never believed."""
    command = decided(BLOB)
    header = site.work / "near.h"
    shift = -86400 if clock == "back" else 86400
    os.utime(header, (time.time() + shift,) * 2)
    assert site.run(command).files["kernel.o"] == BLOB
    before = header.stat()
    backup = site.work / "near.backup"
    backup.write_text("#define START 5\n")
    os.utime(backup, ns=(before.st_atime_ns, before.st_mtime_ns))
    backup.rename(header)
    assert header.stat().st_size == before.st_size
    assert_searched_again(site, command)


def test_a_verdict_from_the_future_holds_while_the_files_do(site, decided):
    command = decided(BLOB)
    for path in (entry(site, "units"), entry(site, "objects")):
        os.utime(path, (time.time() + 30 * 86400,) * 2)
    assert site.run(command).files["kernel.o"] == BLOB
    assert not asked(site)
    assert abs(entry(site, "units").stat().st_mtime - time.time()) < HOUR, "its mark is corrected"
    (site.work / "near.h").write_text("#define START 3\n")
    assert_searched_again(site, command)


@pytest.mark.parametrize(("age", "marked"), [(2 * HOUR, True), (HOUR / 2, False)])
def test_what_is_used_is_marked_now_and_then(site, decided, age, marked):
    command = decided(BLOB)
    then = time.time() - age
    for kind in ("units", "objects"):
        os.utime(entry(site, kind), (then, then))
    assert site.run(command).files["kernel.o"] == BLOB
    for kind in ("units", "objects"):
        assert (abs(entry(site, kind).stat().st_mtime - then) > 1) is marked


def test_an_object_somebody_else_changed_stays(site, decided):
    """The compiler is slow, and its object is not what the verdict was reached on: another process wrote it."""
    command = decided(BLOB)
    script = site.root / "g++"
    script.write_text('#!/bin/sh\nprintf "an object of somebody else" > kernel.o\n')
    script.chmod(0o755)
    done = site.run([command[0], str(script), *command[2:]])
    assert done.files["kernel.o"] == b"an object of somebody else"

"""A stored verdict spares the search exactly as long as everything it rests on is what it was."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path

import pytest

from perfcc import _native

BLOB = b"an object from the store"
SOURCE = '#include "near.h"\nint sum(int n) { int s = START; for (int i = 0; i < n; ++i) s += i; return s; }\n'


@pytest.fixture
def decided(site, compiler):
    """A unit with a stored verdict: ``decided(object)`` compiles, stores and returns the command."""
    site.fresh({"kernel.cpp": SOURCE, "near.h": "#define START 0\n", "far/near.h": "#define START 7\n"})
    site.worker("(site / 'request').write_text(json.dumps(request))")
    command = site.command(compiler, "-Ifar", "-O2", "-c", "kernel.cpp", "-o", "kernel.o")

    def store(blob: bytes | None) -> list[str]:
        assert site.run(command).code == 0
        request = json.loads((site.root / "request").read_text())
        name = original = ""
        if blob is not None:
            name, original = _native.blake2b(blob), _native.blake2b((site.work / "kernel.o").read_bytes())
            path = Path(_native.object_path(site.store, name))
            path.parent.mkdir(parents=True)
            path.write_bytes(blob)
        files = _native.record_files(request["dependencies"], request["cwd"])
        assert files is not None
        assert _native.write_manifest(site.store, request["key"], name, original, files, request["dependencies"])
        (site.root / "request").unlink()
        (site.work / "kernel.o").unlink()
        return command

    return store


def asked(site) -> bool:
    return (site.root / "request").exists()


def test_nothing_to_do(site, decided):
    command = decided(None)
    assert site.run(command).code == 0
    assert not asked(site)
    assert (site.work / "kernel.o").read_bytes()[:4] == b"\x7fELF"
    assert site.counters() == ["compiled:searched", "compiled:nothing-to-do"]


def test_the_object_takes_the_compilers_place(site, decided):
    command = decided(BLOB)
    before = time.time()
    assert site.run(command).code == 0
    assert not asked(site)
    output = site.work / "kernel.o"
    assert output.read_bytes() == BLOB
    assert stat.S_IMODE(output.stat().st_mode) == stat.S_IMODE((site.work / "near.h").stat().st_mode)
    assert output.stat().st_mtime >= before - 1
    assert site.counters() == ["compiled:searched", "compiled:from-store"]
    assert sorted(site.files()) == ["far/near.h", "kernel.cpp", "kernel.o", "near.h"]


def test_it_needs_no_python(site, decided):
    command = decided(BLOB)
    site.no_worker()
    assert site.run(command).code == 0
    assert (site.work / "kernel.o").read_bytes() == BLOB


def test_a_header_touched_but_not_changed(site, decided):
    command = decided(BLOB)
    os.utime(site.work / "near.h")
    assert site.run(command).code == 0
    assert not asked(site)
    assert (site.work / "kernel.o").read_bytes() == BLOB


def change(site, what: str) -> None:
    header = site.work / "near.h"
    if what == "header":
        header.write_text("#define START 1\n")
    elif what == "header with its time kept":
        before = header.stat()
        header.write_text("#define START 1\n")
        os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif what == "header gone":
        header.unlink()
    elif what == "header found earlier":
        header.rename(site.work / "far" / "kept")
    elif what == "source":
        (site.work / "kernel.cpp").write_text(SOURCE + "\n")
    elif what == "settings file":
        (site.work / "perfcc.toml").write_text("budget = 3\n")
    elif what == "settings variable":
        site.variables["PERFCC_FP"] = "reassociate"
    elif what == "compiler variable":
        site.variables["CPATH"] = str(site.work)
    elif what == "object damaged":
        blob = Path(_native.object_path(site.store, _native.blake2b(BLOB)))
        blob.write_bytes(BLOB + b"!")
    elif what == "object gone":
        Path(_native.object_path(site.store, _native.blake2b(BLOB))).unlink()
    else:
        (unit,) = (site.store / "units").rglob("*/*")
        content = unit.read_bytes()
        if what == "verdict damaged":
            unit.write_bytes(content[:30] + bytes([content[30] ^ 1]) + content[31:])
        elif what == "verdict cut short":
            unit.write_bytes(content[:-1])
        else:
            unit.write_bytes(b"")


@pytest.mark.parametrize(
    "what",
    [
        "header",
        "header with its time kept",
        "header gone",
        "header found earlier",
        "source",
        "settings file",
        "settings variable",
        "compiler variable",
        "object damaged",
        "object gone",
        "verdict damaged",
        "verdict cut short",
        "verdict emptied",
    ],
)
def test_a_change_makes_it_unknown(site, decided, what):
    command = decided(BLOB)
    change(site, what)
    assert site.run(command).code == 0
    assert asked(site)
    assert (site.work / "kernel.o").read_bytes() != BLOB


def test_a_header_put_in_front_of_another(site, compiler):
    """No recorded file has changed, but the compiler reads others: only its own list tells."""
    site.fresh({"kernel.cpp": SOURCE.replace('"near.h"', "<near.h>"), "far/near.h": "#define START 7\n", "first/other.h": ""})
    site.worker("(site / 'request').write_text(json.dumps(request))")
    command = site.command(compiler, "-Ifirst", "-Ifar", "-O2", "-c", "kernel.cpp")
    assert site.run(command).code == 0
    request = json.loads((site.root / "request").read_text())
    name, original = _native.blake2b(BLOB), _native.blake2b((site.work / "kernel.o").read_bytes())
    path = Path(_native.object_path(site.store, name))
    path.parent.mkdir(parents=True)
    path.write_bytes(BLOB)
    files = _native.record_files(request["dependencies"], request["cwd"])
    assert _native.write_manifest(site.store, request["key"], name, original, files or (), request["dependencies"])
    assert site.run(command).files["kernel.o"] == BLOB
    (site.work / "first" / "near.h").write_text("#define START 8\n")
    (site.root / "request").unlink()
    assert site.run(command).files["kernel.o"] != BLOB
    assert asked(site)


def test_a_link_is_noted(site, gcc):
    site.fresh({"main.cpp": "int main() { return 0; }\n"})
    assert site.run(site.command("-c", "main.cpp")).code == 0
    assert site.run(site.command("main.o", "-o", "app", "-lm")).code == 0
    noted = json.loads(Path(_native.link_path(site.store, str(site.work / "app"))).read_text())
    assert noted == {"output": str(site.work / "app"), "cwd": str(site.work), "inputs": ["main.o"]}

"""``perfcc --doctor [--format text|json]``: what is installed, what is missing, what that disables, how to get it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from perfcc import __version__
from perfcc.cli.console import UsageError, console, here, split
from perfcc.core.settings import Settings, SettingsError
from perfcc.explain.doctor import Check, doctor_json, doctor_text, healthy
from perfcc.verify import toolchain

FORMATS = ("text", "json")
# What each package is for; without any of them no kernel can be rewritten.
_PACKAGES = (
    ("libclang", "clang.cindex", "reading C and C++"),
    ("islpy", "islpy", "proving that loops may be reordered"),
    ("numpy", "numpy", "making test inputs"),
    ("pyelftools", "elftools.elf.elffile", "reading and checking objects"),
)


def run(arguments: list[str]) -> int:
    """Prints what was found; 1 when nothing can be rewritten here, 2 for a bad command line."""
    try:
        positional, chosen = split(arguments, FORMATS)
        if positional:
            raise UsageError("takes no file")
        checks = list(find(here()))
    except (UsageError, SettingsError) as error:
        print(f"perfcc: --doctor: {error}", file=sys.stderr)
        return 2
    if chosen == "json":
        sys.stdout.write(doctor_json(checks))
    else:
        doctor_text(checks, console())
    return 0 if healthy(checks) else 1


def find(settings: Settings) -> Iterator[Check]:
    """Every check, in the order a build meets them."""
    yield Check("perfcc", str(Path(__file__).parents[1]), __version__)
    yield Check("Python", sys.executable, sys.version.split()[0])
    for name, module, purpose in _PACKAGES:
        yield _package(name, module, purpose)
    yield _program("g++", os.environ.get("PERFCC_CXX", "g++"), "compiling C++ with perfcc", "apt-get install g++", required=False)
    yield _program("objcopy", "objcopy", "putting rewrites into objects", "apt-get install binutils")
    yield from _verifier()
    yield _openmp()
    yield _store(settings)


def _package(name: str, module: str, purpose: str) -> Check:
    how = f"{sys.executable} -m pip install {name}"
    try:
        loaded = import_module(module)
        if name == "libclang":
            from perfcc.frontend.libclang import library

            library()
        return Check(name, str(Path(loaded.__file__ or "").parent), version(name), purpose, how)
    except PackageNotFoundError:
        return Check(name, str(Path(loaded.__file__ or "").parent), "", purpose, how)
    except Exception as error:
        return Check(name, "", "", f"{purpose} ({error})", how)


def _program(name: str, word: str, purpose: str, how: str, required: bool = True) -> Check:
    path = shutil.which(word)
    return Check(name, path or "", _version(path) if path else "", purpose, how, required)


def _version(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout.splitlines() or [""])[0]


def _verifier() -> Iterator[Check]:
    tools = toolchain.find()
    found = (
        ("perfcc-runner", tools.runner, ""),
        ("clang++", tools.clang, tools.clang_version),
        ("AddressSanitizer", tools.asan, ""),
        ("ThreadSanitizer", tools.tsan, ""),
        ("libomp with Archer", tools.archer if tools.omp_directory else "", ""),
        ("llvm-symbolizer", tools.symbolizer, ""),
    )
    missing = {item.name: item for item in tools.missing}
    for name, path, text in found:
        gone = missing.get(name)
        yield Check(name, path, text, gone.disables if gone else "", gone.how if gone else "", required=name in _REQUIRED)


_REQUIRED = ("perfcc-runner", "clang++", "AddressSanitizer")


def _openmp() -> Check:
    """The run-time that rewritten programs use when it is there; they run serially where it isn't."""
    from ctypes import CDLL

    try:
        CDLL("libgomp.so.1")
        where = "libgomp.so.1"
    except OSError:
        where = ""
    return Check("libgomp", where, "", "running rewritten loops on several threads", "apt-get install libgomp1", required=False)


def _store(settings: Settings) -> Check:
    path = settings.store_path()
    place = next(folder for folder in (path, *path.parents) if folder.exists())
    usable = os.access(place, os.W_OK)
    return Check("store", str(path) if usable else "", "", "remembering decisions between builds", f"make {path} writable")

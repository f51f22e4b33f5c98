"""The programs the checks need: found once, with what is off without each."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from perfcc.core.resources import executable


@dataclass(frozen=True, slots=True)
class Missing:
    """A tool that isn't there: its name, what that disables, how to get it."""

    name: str
    disables: str
    how: str


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Paths, "" for what is missing. ``asan``, ``tsan`` are clang's shared run-time libraries, ``omp_directory`` holds libomp."""

    runner: str
    clang: str
    clang_version: str
    asan: str
    tsan: str
    omp_directory: str
    archer: str
    symbolizer: str
    missing: tuple[Missing, ...]

    @property
    def can_sanitize(self) -> bool:
        return bool(self.clang and self.asan)

    @property
    def can_race(self) -> bool:
        return bool(self.clang and self.tsan and self.omp_directory and self.archer)


VERSIONS = (19, 20, 21, 18, 17, 16, 15, 14)


def find(runner: Path | None = None) -> Toolchain:
    """Looks for everything. ``runner`` stands in for the installed runner; ``PERFCC_CLANG`` names a clang++ to use."""
    run = _runner(runner)
    clang, version = _clang()
    asan = _library(clang, "libclang_rt.asan-x86_64.so", "libclang_rt.asan-aarch64.so", "libclang_rt.asan.so")
    tsan = _library(clang, "libclang_rt.tsan-x86_64.so", "libclang_rt.tsan-aarch64.so", "libclang_rt.tsan.so")
    omp = _library(clang, "libomp.so", "libomp.so.5")
    archer = _library(clang, "libarcher.so")
    symbolizer = _beside(clang, "llvm-symbolizer")
    name = f"-{version.split('.')[0]}" if version else "-19"
    wanted = (
        Missing("perfcc-runner", "every rewrite", "reinstall perfcc") if not run else None,
        Missing("clang++", "every rewrite", f"apt-get install clang{name}") if not clang else None,
        Missing("AddressSanitizer", "every rewrite", f"apt-get install libclang-rt{name}-dev") if not asan else None,
        Missing("ThreadSanitizer", "rewrites that use threads", f"apt-get install libclang-rt{name}-dev") if not tsan else None,
        Missing("libomp with Archer", "rewrites that use threads", f"apt-get install libomp{name}-dev") if not (omp and archer) else None,
        Missing("llvm-symbolizer", "line numbers of unreached edges", f"apt-get install llvm{name}") if not symbolizer else None,
    )
    missing = tuple(item for item in wanted if item is not None)
    return Toolchain(run, clang, version, asan, tsan, str(Path(omp).parent) if omp else "", archer, symbolizer, missing)


def _runner(given: Path | None) -> str:
    try:
        path = given or executable("perfcc-runner")
    except FileNotFoundError:
        return ""
    return str(path) if path.is_file() and os.access(path, os.X_OK) else ""


def _clang() -> tuple[str, str]:
    names = [os.environ.get("PERFCC_CLANG", ""), *(f"clang++-{version}" for version in VERSIONS), "clang++"]
    for name in filter(None, names):
        path = shutil.which(name)
        if path is None:
            continue
        version = _output(path, "-dumpversion")
        if version.split(".")[0].isdigit() and int(version.split(".")[0]) >= 14:
            return path, version
    return "", ""


def clang_headers() -> str:
    """The folder of clang's own headers, empty where there is none."""
    clang, _ = _clang()
    folder = _output(clang, "-print-resource-dir") if clang else ""
    return os.path.join(folder, "include") if folder else ""


def _library(clang: str, *names: str) -> str:
    """The first of these files that clang itself would take: it prints a bare name for what it can't find."""
    if not clang:
        return ""
    beside = Path(clang).resolve().parents[1] / "lib"
    for name in names:
        printed = _output(clang, f"-print-file-name={name}")
        for path in (Path(printed), beside / name):
            if path.is_absolute() and path.is_file():
                return str(path)
    return ""


def _beside(clang: str, name: str) -> str:
    if not clang:
        return ""
    path = Path(clang).resolve().parent / name
    return str(path) if path.is_file() else shutil.which(name) or ""


def _output(*words: str) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""

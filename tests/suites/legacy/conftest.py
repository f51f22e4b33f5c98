"""The legacy program, its data, and one build of it with the installed perfcc, made once a session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
LEGACY = ROOT / "bench" / "legacy"
PERFCC = Path(sys.executable).with_name("perfcc")

sys.path.insert(0, str(ROOT / "bench"))  # expectations.py, which the demo uses too


@dataclass(frozen=True, slots=True)
class Program:
    """The program's sources and data, and how to build and run it. ``environment`` goes to every command."""

    data: Path
    environment: dict[str, str]

    def command(self, *words: str | Path) -> str:
        """Runs a command in the program's tree; its stdout. A failure fails the test, with all that was said."""
        done = subprocess.run([str(word) for word in words], cwd=LEGACY, capture_output=True, text=True, env=self.environment)
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def make(self, build: Path, compiler: str | Path, flags: str, target: str = "all", **environment: str) -> Path:
        setting = ["env", *(f"{key}={value}" for key, value in environment.items())]
        self.command(*setting, "make", "-j2", f"BUILD={build}", f"DATA={self.data}", f"CXX={compiler}", f"CXXFLAGS={flags}", target)
        return build / "fieldlab"

    def cmake(self, build: Path, compiler: str | Path, flags: str) -> Path:
        self.command("cmake", "-S", LEGACY, "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={flags}")
        self.command("cmake", "--build", build, "-j2")
        return build / "fieldlab"

    def run(self, program: Path, **environment: str) -> str:
        setting = ["env", *(f"{key}={value}" for key, value in environment.items())]
        return self.command(*setting, program, "--data", self.data)


@dataclass(frozen=True, slots=True)
class Built:
    """The program as perfcc built it, and perfcc's report on it."""

    program: Program
    compiler: Path
    executable: Path
    report: dict[str, Any]


@pytest.fixture(scope="session")
def expected() -> str:
    """What the reference run prints."""
    return (LEGACY / "expected.txt").read_text("utf-8")


@pytest.fixture(scope="session")
def legacy(tmp_path_factory: pytest.TempPathFactory) -> Program:
    root = tmp_path_factory.mktemp("legacy")
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PERFCC_") and k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    program = Program(root / "data", {**kept, "PERFCC_STORE": str(root / "store"), "PERFCC_BUDGET": "20"})
    program.make(root / "tools", "g++", "-O2", "data")
    return program


@pytest.fixture(scope="session")
def built(legacy: Program, tmp_path_factory: pytest.TempPathFactory) -> Built:
    executable = legacy.make(tmp_path_factory.mktemp("perfcc"), PERFCC, "-O2")
    return Built(legacy, PERFCC, executable, json.loads(legacy.command(PERFCC, "--explain", executable, "--format", "json")))

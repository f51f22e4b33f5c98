"""A small project, built as a user builds it, with a store of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent / "project"
BIN = Path(sys.executable).parent
PERFCC = BIN / "perfcc"
OBJECTS = ("main.o", "smooth.o", "digest.o")


@dataclass
class Tree:
    """One copy of the project. ``store`` is what perfcc keeps; ``wrapper`` is put before every command."""

    path: Path
    store: Path
    environ: dict[str, str] = field(default_factory=dict)
    wrapper: tuple[str, ...] = ()

    @classmethod
    def copy(cls, path: Path, store: Path | None = None, **environ: str) -> Tree:
        shutil.copytree(PROJECT, path)
        return cls(path, store or path.parent / f"{path.name}-store", environ)

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PERFCC_STORE": str(self.store), **self.environ}
        return subprocess.run(
            [*self.wrapper, *command], cwd=self.path, env=environ, capture_output=True, text=True, timeout=500, check=check
        )

    def make(self, compiler: str = str(PERFCC), *words: str) -> subprocess.CompletedProcess[str]:
        return self.run("make", "-j2", f"CXX={compiler}", *words)

    def objects(self) -> dict[str, bytes]:
        return {name: (self.path / name).read_bytes() for name in OBJECTS}

    def answer(self, app: str = "./app") -> str:
        return self.run(app).stdout

    def explain(self, target: str = "app") -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.run(str(PERFCC), "--explain", target, "--format", "json").stdout)
        return document

    def log(self) -> str:
        path = self.store / "log"
        return path.read_text("utf-8", "replace") if path.is_file() else ""

    def searches(self) -> float:
        """How often a worker was started, by the store's counters."""
        stats = json.loads(self.run(str(PERFCC), "--stats", "--format", "json").stdout)["counters"]
        return float(stats.get("compiled", {"parts": {}})["parts"].get("searched", 0))


def rewritten(report: dict[str, Any]) -> list[str]:
    """The functions whose loops were rewritten."""
    return [d["function"] for unit in report["units"] for d in unit["decisions"] if d["status"] == "rewritten"]

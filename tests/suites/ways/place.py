"""Builds by the bare compiler and by perfcc side by side, in trees of the same name, with a store of their own.

Mode ``apply``: perfcc reads and decides every unit, and searches nothing, so a build takes what a build takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.executable).parent
PERFCC = str(BIN / "perfcc")
GCC = str(BIN / "perfcc-gcc")
GXX = str(BIN / "perfcc-g++")
# A loop that has a model, in both languages.
LOOP = "int total(const int *p, int n) { int s = 0, i; for (i = 0; i < n; ++i) s += p[i]; return s; }\n"


@dataclass
class Place:
    """``bare`` and ``built`` are the two trees."""

    root: Path

    @classmethod
    def make(cls, root: Path) -> Place:
        made = cls(root)
        for tree in (made.bare, made.built):
            tree.mkdir(parents=True)
        return made

    @property
    def bare(self) -> Path:
        return self.root / "bare" / "project"

    @property
    def built(self) -> Path:
        return self.root / "built" / "project"

    def write(self, files: Mapping[str, str]) -> None:
        """The files, in both trees."""
        for tree in (self.bare, self.built):
            for name, text in files.items():
                path = tree / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    def environment(self, **extra: str) -> dict[str, str]:
        mine = ("PERFCC_", "MAKE")
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(mine) and key not in ("CC", "CXX", "MFLAGS")}
        return {**inherited, "PERFCC_STORE": str(self.root / "store"), "PERFCC_MODE": "apply", **extra}

    def run(self, tree: Path, *command: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """The command in that tree. It must succeed."""
        done = subprocess.run(command, cwd=tree, env=self.environment(**extra), capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done

    def counters(self) -> dict[str, float]:
        """Commands by what became of them: ``compiled``, ``passed``."""
        stats = json.loads(self.run(self.built, PERFCC, "--stats", "--format", "json").stdout)
        return {name: entry["total"] for name, entry in stats["counters"].items()}

    def compiled(self) -> int:
        """How many units perfcc decided upon."""
        return int(self.counters().get("compiled", 0))

"""A place for one-step builds: the installed launcher beside the bare compiler, and a script that can stand in for the worker."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent

# What stands in for the worker compiles each unit with -DREWRITTEN and keeps the object as a verdict, as the worker does: what a program
# prints then tells which of its objects are in it.
DOUBLE = """\
import json, os, shutil, subprocess, sys
from pathlib import Path
from perfcc import _native
request = json.load(sys.stdin)
site = Path({root!r})
with (site / "requests").open("a") as log:
    log.write(json.dumps(request) + "\\n")
for unit in request["units"]:
    original = Path(unit["program"] or Path(unit["cwd"], unit["output"])).read_bytes()
    made = site / "unit.o"
    words = [word for word in unit["argv"] if word not in ("-MD", "-MF", "dep")]
    subprocess.run([*words, "-DREWRITTEN", "-o", str(made)], cwd=unit["cwd"], check=True)
    name = _native.blake2b(made.read_bytes())
    kept = Path(_native.object_path(unit["store"], name))
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(made, kept)
    files = _native.record_files(unit["dependencies"], unit["cwd"])
    assert _native.write_manifest(unit["store"], unit["key"], name, _native.blake2b(original), files, unit["dependencies"])
    shutil.copyfile(made, unit["deliver"] or Path(unit["cwd"], unit["output"]))
"""


def newest(name: str) -> str:
    """The compiler of that name, or its newest version on PATH."""
    found = [candidate for candidate in (name, *(f"{name}-{n}" for n in range(25, 13, -1))) if shutil.which(candidate)]
    assert found, f"the tests need {name}"
    return found[0]


@dataclass(frozen=True)
class Result:
    code: int
    stdout: bytes
    stderr: bytes


@dataclass
class Site:
    """A working directory, and an environment in which nothing of the caller's perfcc settings is left."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def environment(self) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PERFCC_")}
        temporary = self.root / "tmp"
        temporary.mkdir(exist_ok=True)
        return {**inherited, "PERFCC_STORE": str(self.store), "TMPDIR": str(temporary), **self.variables}

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run(self, *words: str) -> Result:
        done = subprocess.run(words, cwd=self.work, env=self.environment, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
        return Result(done.returncode, done.stdout, done.stderr)

    def perfcc(self, *words: str) -> Result:
        """The command line with perfcc as the first word, by the launcher form."""
        return self.run(str(BIN / "perfcc"), *words)

    def both(self, *words: str, outputs: Sequence[str]) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """The outputs by the bare compiler and by perfcc, each from an empty start; all else must be the same."""
        contents = []
        results = []
        for run in (self.run, self.perfcc):
            for output in outputs:
                (self.work / output).unlink(missing_ok=True)
            before = self.names()
            results.append(run(*words))
            contents.append({name: (self.work / name).read_bytes() for name in outputs if (self.work / name).exists()})
            assert self.names() - before <= set(outputs)
        assert results[0] == results[1]
        assert contents[0].keys() == contents[1].keys()
        return contents[0], contents[1]

    def names(self) -> set[str]:
        return {str(path.relative_to(self.work)) for path in self.work.rglob("*") if path.is_file()}

    def output_of(self, program: str = "./app") -> str:
        result = self.run(program)
        assert result.code == 0, result
        return result.stdout.decode()

    def double(self) -> None:
        """Has DOUBLE stand in for the worker."""
        self.interpreter(DOUBLE.format(root=str(self.root)))

    def interpreter(self, body: str) -> None:
        script = self.root / "python-double"
        script.write_text(f"#!{sys.executable}\n{body}")
        script.chmod(0o755)
        self.variables["PERFCC_PYTHON"] = str(script)

    def requests(self) -> list[dict[str, Any]]:
        log = self.root / "requests"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def counters(self) -> list[str]:
        log = self.store / "counters" / "log"
        return [line.rpartition(" ")[0] for line in log.read_text().splitlines()] if log.exists() else []

    def forget_counters(self) -> None:
        (self.store / "counters" / "log").unlink(missing_ok=True)

    def leftovers(self) -> list[str]:
        """What lies in the folder for temporary files, but for the locks of workers."""
        return sorted(name for name in os.listdir(self.root / "tmp") if ".lock" not in name and ".worker-" not in name)

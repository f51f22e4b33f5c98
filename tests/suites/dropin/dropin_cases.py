"""The cases of ``cases/*.toml``, and how one is run: the same shell script with the bare compiler and with perfcc before it."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
PERFCC = Path(sys.executable).parent / "perfcc"
FILES = {
    "k.cpp": "#ifndef N\n#define N 1\n#endif\n"
    "int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; ++i) s += p[i] * N; return s; }\n",
    "main.cpp": '#include "sum.h"\nint main() { int a[3] = {1, 2, 3}; return sum(a, 3) - 6; }\n',
    "sum.h": "int sum(const int *, int);\n",
    "plain.c": "int twice(int *p, int n) { int i; for (i = 0; i < n; ++i) p[i] *= 2; return n; }\n",
    "warns.cpp": "int f(int x) { int unused; for (;;) { if (x = 1) return x; } }\n",
    "wrong.cpp": "int f( { return missing; }\n",
}
# What compilers choose at random: the names of their temporary files.
TEMPORARY = re.escape(os.fsencode(tempfile.gettempdir()))
RANDOM = re.compile(
    TEMPORARY + rb"/[A-Za-z0-9_.-]+\.(?:s|o|res|ii?|bc|args|ltrans\S*)\b|" + TEMPORARY + rb"/cc\w{6}|\b\w+-[0-9a-f]{6}\.(?:s|o)\b"
)
KEYS = {"name", "run", "files", "from", "varies", "counters", "stderr"}


@dataclass(frozen=True)
class Case:
    """``run`` is a shell script with $CXX and $CC; ``varies`` are patterns of files whose bytes the compiler itself does not repeat.

    ``counters`` is what perfcc counts while it runs, ``stderr`` false where even the bare compiler's words differ each time, and
    ``source`` where such a case was found.
    """

    name: str
    run: str
    files: dict[str, str]
    varies: tuple[str, ...]
    counters: list[str] | None
    stderr: bool
    source: str


def cases() -> list[Case]:
    """Every case; the name of its file comes before its own."""
    made = []
    for path in sorted((HERE / "cases").glob("*.toml")):
        rows: list[dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))["case"]
        for row in rows:
            assert row.keys() <= KEYS, row
            made.append(
                Case(
                    name=f"{path.stem}-{row['name']}",
                    run=row["run"],
                    files=row.get("files", {}),
                    varies=tuple(row.get("varies", ())),
                    counters=row.get("counters"),
                    stderr=row.get("stderr", True),
                    source=row.get("from", ""),
                )
            )
    return made


@dataclass(frozen=True)
class Outcome:
    """All that a script leaves: ``files`` are kind, permissions and content by name."""

    code: int
    stdout: bytes
    stderr: bytes
    files: dict[str, tuple[str, int, bytes]]


def play(case: Case, folder: Path, cxx: str, cc: str, variables: dict[str, str]) -> Outcome:
    """Runs the script in ``folder``, which is emptied first: debug information must name the same place each time."""
    if folder.exists():
        subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=True)
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for name, text in {**FILES, **case.files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PERFCC_", "MAKE", "MFLAGS"))}
    environment = {**inherited, **variables, "CXX": cxx, "CC": cc}
    done = subprocess.run(["sh", "-c", case.run], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    files = {os.fsdecode(os.path.relpath(path, folder)): _state(path, case) for path in sorted(folder.rglob("*"))}
    stderr = RANDOM.sub(b"temporary", done.stderr) if case.stderr else b""
    return Outcome(done.returncode, RANDOM.sub(b"temporary", done.stdout), stderr, files)


def _state(path: Path, case: Case) -> tuple[str, int, bytes]:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "link", 0, os.fsencode(os.readlink(path))
    if not stat.S_ISREG(status.st_mode):
        return "other", stat.S_IMODE(status.st_mode), b""
    varies = any(fnmatch.fnmatch(path.name, pattern) for pattern in case.varies)
    return "file", stat.S_IMODE(status.st_mode), b"" if varies else path.read_bytes()

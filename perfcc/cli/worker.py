"""``python -m perfcc worker``: one unit, or those of one command, asked for by the launcher as JSON on standard input.

What the compiler makes of the originals is already in place. The exit status matters to nobody but the log.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from perfcc.cc.emit import OutputState
from perfcc.core.settings import Settings, SettingsError, load
from perfcc.core.unit import Invocation
from perfcc.pipeline import Context, Request, run_unit
from perfcc.store.cleaning import clean_if_grown
from perfcc.store.disk import Store

SCRATCH_PREFIX = "perfcc-"


def run(arguments: list[str]) -> int:
    """Reads one request, decides the kernels of its units, replaces each object where something was gained."""
    if arguments:
        print("perfcc: the worker takes its request on standard input", file=sys.stderr)
        return 2
    message: Mapping[str, Any] = json.load(sys.stdin)
    if message.get("clean"):
        return tidy(Path(message["store"]), Path(message["cwd"]))
    # Every unit is tried, whatever becomes of the others.
    return max([run_one(unit, bool(message.get("tty"))) for unit in message.get("units", (message,))], default=0)


def tidy(store: Path, cwd: Path) -> int:
    """Brings the store below its limit; for builds in which no unit needs a worker."""
    try:
        clean_if_grown(store, load(cwd, os.environ).store_size)
    except SettingsError as error:
        print(f"perfcc: {error}", file=sys.stderr)
        return 1
    return 0


def run_one(message: Mapping[str, Any], terminal: bool) -> int:
    """One unit; 0 where it was decided."""
    request = parse_request(message)
    try:
        settings = load(Path(request.invocation.cwd, request.invocation.source).parent, os.environ)
    except SettingsError as error:
        print(f"perfcc: {error}", file=sys.stderr)
        return 1
    store = Store(Path(message["store"]))
    os.chdir(request.invocation.cwd)
    with scratch_folder() as scratch, progress(settings, terminal) as tell:
        try:
            run_unit(request, Context(settings, store, scratch, tell))
        except Exception:
            traceback.print_exc()
            return 1
    return 0


def parse_request(message: Mapping[str, Any]) -> Request:
    """The launcher's message on one unit as a Request. Raises KeyError for one of another version."""
    program = message.get("program") or ""
    invocation = Invocation(
        argv=tuple(message["argv"]),
        compiler=message["compiler"],
        cwd=message["cwd"],
        source=message["source"],
        source_index=message["source_index"],
        output=message["output"],
        language=message["language"],
        depfile=message.get("depfile") or None,
        linked=bool(program),
    )
    size, mtime, inode = map(int, message["output_state"])
    return Request(
        invocation,
        message["key"],
        tuple(message.get("dependencies") or ()),
        OutputState(size, mtime, inode),
        key_argv=tuple(message.get("key_argv") or ()),
        program=program,
        deliver=message.get("deliver") or "",
    )


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder of this process's own, for compilers' temporary files too; folders that killed workers left behind are removed first."""
    root = Path(tempfile.gettempdir())
    for folder in root.glob(f"{SCRATCH_PREFIX}*-scratch"):
        owner = folder.name.removeprefix(SCRATCH_PREFIX).split("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists() and folder.stat(follow_symlinks=False).st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{SCRATCH_PREFIX}{os.getpid()}-", suffix="-scratch"))
    theirs = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if theirs is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = theirs


@contextmanager
def progress(settings: Settings, wanted: bool) -> Iterator[Any]:
    """Writes one line of progress to the user's terminal, and wipes it at the end; silent where there is none."""
    try:
        terminal = open("/dev/tty", "w", encoding="utf-8") if wanted else None  # noqa: SIM115
    except OSError:
        terminal = None
    if terminal is None:
        yield lambda line: None
        return
    with terminal:
        width = shutil.get_terminal_size().columns - 1

        def tell(line: str) -> None:
            terminal.write(f"\r\x1b[K{line[:width]}")
            terminal.flush()

        yield tell
        tell("")

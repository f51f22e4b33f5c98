"""Runs the compiler over rewritten sources that only it can see, and keeps what it writes.

The command line and the working directory are the user's own. A library preloaded into the compiler's processes (``native/overlay``) gives
them a copy where they open one of the sources, and puts into the scratch folder whatever they write. A control file says which sources
have copies, and takes the library's log.
"""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perfcc.core.disturbance import heed
from perfcc.core.resources import executable

COMPILE_SECONDS = 600.0
# The layout of native/overlay/control.h.
_HEADER = struct.Struct("<8sII")
_MAGIC = b"perfccO1"
_FLAGS = 4096
_MAP = 1 << 18
_LOG = 4 << 20
_MAX_SOURCES = 256
_MAP_BEGIN = _HEADER.size + _FLAGS
_LIBRARY = "perfcc-overlay.so"
_ELF_SAME = slice(4, 6)  # class and byte order
_PT_INTERP = 3
# The user's own wishes as to where lists of read files go: they were fulfilled when the original was compiled.
_REPORTS = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "CC_PRINT_HEADERS", "CC_PRINT_HEADERS_FILE")


class OverlayError(RuntimeError):
    """The compiler can't be run under the overlay, or did what the overlay can't follow; the message says what."""


@dataclass(frozen=True, slots=True)
class Output:
    """A file that the compiler wrote: where it meant to, and where it is."""

    path: Path
    file: Path


@dataclass(frozen=True, slots=True)
class Run:
    """``code`` and ``errors`` are the compiler's. ``mapped``: the sources that were read as their copies, by the names they were opened by;
    ``reads``: all other files that were read, in order, likewise. ``outputs`` are in the order in which they were first written."""

    code: int
    errors: str
    mapped: tuple[str, ...]
    reads: tuple[str, ...]
    outputs: tuple[Output, ...]


def run(argv: Sequence[str], compiler: str, cwd: str, copies: Mapping[str, bytes], scratch: Path) -> Run:
    """Runs ``argv`` by the executable ``compiler`` in ``cwd``.

    ``copies`` gives the text to be read in place of each source (paths relative to ``cwd`` allowed). ``scratch`` is an empty folder of the
    run's own. Raises OverlayError, OSError, and subprocess.TimeoutExpired; none of them leaves anything outside ``scratch`` changed.
    """
    scratch = scratch.resolve()
    library = scratch / _LIBRARY
    if any(character in str(library) for character in " :\t\n"):
        raise OverlayError(f"the temporary folder's path has spaces or colons: {scratch}")
    if not loads_libraries(compiler):
        raise OverlayError(f"{compiler} does not load libraries, so its files can't be followed")
    library.symlink_to(executable(_LIBRARY))
    for folder in ("out", "tmp"):
        (scratch / folder).mkdir()
    control = scratch / "control"
    _write_control(control, scratch, _copied(copies, cwd, scratch))
    environ = {key: value for key, value in os.environ.items() if key not in _REPORTS}
    theirs = environ.get("LD_PRELOAD")
    environ["LD_PRELOAD"] = f"{library}:{theirs}" if theirs else str(library)
    environ["PERFCC_OVERLAY"] = str(control)
    environ["TMPDIR"] = str(scratch / "tmp")
    done = subprocess.run(
        argv, executable=compiler, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMPILE_SECONDS, check=False
    )
    errors = done.stderr.decode("utf-8", "surrogateescape")
    heed(done.returncode, errors)
    return _account(done.returncode, errors, control, scratch / "out", cwd)


def loads_libraries(program: str) -> bool:
    """The program is an ELF executable of this machine that the dynamic loader starts, so that LD_PRELOAD reaches it."""
    found = shutil.which(program)
    if found is None:
        return False
    with open(found, "rb") as file:
        page = file.read(4096)
    with open("/proc/self/exe", "rb") as file:
        own = file.read(20)
    if page[:4] != b"\x7fELF" or page[_ELF_SAME] != own[_ELF_SAME] or page[18:20] != own[18:20] or len(page) < 64:
        return False
    begin, size, count = *struct.unpack_from("<Q", page, 32), *struct.unpack_from("<HH", page, 54)
    rows = (begin + index * size for index in range(count))
    return any(struct.unpack_from("<I", page, at)[0] == _PT_INTERP for at in rows if at + 4 <= len(page))


def _copied(copies: Mapping[str, bytes], cwd: str, scratch: Path) -> list[tuple[str, str]]:
    """Each source's real path, and the file that holds its copy."""
    pairs: dict[str, str] = {}
    for number, (name, text) in enumerate(copies.items()):
        source = os.path.realpath(os.path.join(cwd, name))
        if source in pairs:
            raise OverlayError(f"{name} has two names")
        copy = scratch / f"text-{number}"
        copy.write_bytes(text)
        pairs[source] = str(copy)
    if len(pairs) > _MAX_SOURCES:
        raise OverlayError("too many sources")
    return list(pairs.items())


def _write_control(control: Path, scratch: Path, pairs: Sequence[tuple[str, str]]) -> None:
    words = [str(scratch), str(scratch / "out"), *(word for pair in pairs for word in pair)]
    table = b"".join(os.fsencode(word) + b"\0" for word in words) + b"\0"
    if _MAP_BEGIN + len(table) > _MAP:
        raise OverlayError("the sources' paths are too long")
    with control.open("wb") as file:
        file.write(_HEADER.pack(_MAGIC, 0, 0))
        file.seek(_MAP_BEGIN)
        file.write(table)
        file.truncate(_MAP + _LOG)


def _account(code: int, errors: str, control: Path, out: Path, cwd: str) -> Run:
    with control.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        _, used, overflow = _HEADER.unpack_from(content)
        log = content[_MAP : _MAP + min(used, _LOG)]
    if overflow:
        raise OverlayError("the compiler opened too many files")
    events: dict[str, list[str]] = {letter: [] for letter in "RMWUVX"}
    for entry in log.split(b"\0")[:-1]:
        events[chr(entry[0])].append(os.fsdecode(entry[1:]))
    if events["X"]:
        raise OverlayError(f"{events['X'][0]} does not load libraries, so its files can't be followed")
    if events["V"]:
        raise OverlayError(f"the compiler did what can't be followed: {events['V'][0]}")
    outputs = _outputs(events["W"], out, cwd)
    kept = {output.path for output in outputs}
    if left := next((name for name in events["U"] if _place(name, cwd)[0] not in kept), None):
        raise OverlayError(f"the compiler removes {left}")
    return Run(code, errors, tuple(events["M"]), tuple(events["R"]), outputs)


def _place(name: str, cwd: str) -> tuple[Path, str]:
    """A written file's path with its folder resolved, and its name inside ``out``: the overlay knows folders by their inodes."""
    folder, base = os.path.split(name)
    real = os.path.realpath(os.path.join(cwd, folder))
    status = os.stat(real)
    return Path(real, base), f"{status.st_dev}-{status.st_ino}/{base}"


def _outputs(written: Sequence[str], out: Path, cwd: str) -> tuple[Output, ...]:
    found: dict[Path, Output] = {}
    for name in written:
        path, inside = _place(name, cwd)
        if (out / inside).is_file():
            found.setdefault(path, Output(path, out / inside))
    if len(found) != sum(len(files) for _, _, files in os.walk(out)):
        raise OverlayError("the compiler changed its folder")
    return tuple(found.values())

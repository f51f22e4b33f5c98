"""The report that travels inside an object: a section ``.perfcc`` that is never loaded, and that linkers concatenate.

One record is a magic, the length of the body, and the body, zlib-compressed. Records follow each other; zero bytes between
them are the linker's padding.
"""

from __future__ import annotations

import struct
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

from perfcc.core.disturbance import heed

NAME = ".perfcc"
MAGIC = b"perfcc\x01\n"
_HEADER = struct.Struct("<8sI")
_LIMIT = 64 << 20
_ARCHIVE = b"!<arch>\n"
_THIN_ARCHIVE = b"!<thin>\n"
OBJCOPY_SECONDS = 60.0


class SectionError(RuntimeError):
    """The section can't be written or read; the message says why."""


def frame(payload: bytes) -> bytes:
    """One record. The same payload gives the same bytes."""
    body = zlib.compress(payload, 9)
    return _HEADER.pack(MAGIC, len(body)) + body


def records(content: bytes) -> list[bytes]:
    """The payloads in a section's bytes, in order. Raises SectionError for bytes that no ``frame`` wrote."""
    found = []
    at = 0
    while at < len(content):
        if content[at] == 0:
            at += 1
            continue
        if len(content) - at < _HEADER.size:
            raise SectionError("a record is cut short")
        magic, length = _HEADER.unpack_from(content, at)
        body = content[at + _HEADER.size : at + _HEADER.size + length]
        if magic != MAGIC or len(body) != length:
            raise SectionError("not a record of this version")
        found.append(_inflate(body))
        at += _HEADER.size + length
    return found


def _inflate(body: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        payload = inflater.decompress(body, _LIMIT)
    except zlib.error as error:
        raise SectionError(f"a record is damaged: {error}") from None
    if not inflater.eof:
        raise SectionError("a record is damaged or larger than 64 MiB")
    return payload


def attach(path: Path, payload: bytes, scratch: Path, objcopy: str = "objcopy") -> None:
    """Puts one record into the object, in place. Raises SectionError."""
    record = scratch / "report.bin"
    record.write_bytes(frame(payload))
    run_objcopy(path, [f"--add-section={NAME}={record}", f"--set-section-flags={NAME}=noload,readonly"], objcopy)


def run_objcopy(path: Path, arguments: list[str], objcopy: str = "objcopy") -> None:
    """Edits the object in place. Raises SectionError."""
    try:
        done = subprocess.run([objcopy, *arguments, str(path)], capture_output=True, timeout=OBJCOPY_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SectionError(f"{objcopy}: {error}") from None
    errors = done.stderr.decode("utf-8", "replace").strip()
    heed(done.returncode, errors)
    if done.returncode != 0:
        raise SectionError(errors or f"{objcopy} failed")


def read(path: Path) -> list[bytes]:
    """The payloads in an object, executable, shared library or static archive, in order; none if perfcc had no part in it.

    Raises SectionError for a file that is neither, and OSError.
    """
    data = path.read_bytes()
    if data.startswith((_ARCHIVE, _THIN_ARCHIVE)):
        return [payload for member in _members(path, data) for payload in _of_elf(member)]
    if not data.startswith(b"\x7fELF"):
        raise SectionError(f"{path}: neither an ELF file nor a static library")
    return _of_elf(data)


def _of_elf(data: bytes) -> list[bytes]:
    from io import BytesIO

    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    if not data.startswith(b"\x7fELF"):
        return []
    try:
        section = ELFFile(BytesIO(data)).get_section_by_name(NAME)
        content = b"" if section is None else bytes(section.data())
    except ELFError as error:
        raise SectionError(f"not a sound ELF file: {error}") from None
    return records(content)


def _members(path: Path, data: bytes) -> Iterator[bytes]:
    """The members of a static library, GNU and BSD name tables left out; a thin one's are files beside it (ar(5))."""
    thin = data.startswith(_THIN_ARCHIVE)
    names = b""
    at = len(_ARCHIVE)
    while at + 60 <= len(data):
        name = data[at : at + 16].rstrip()
        try:
            size = int(data[at + 48 : at + 58])
        except ValueError:
            raise SectionError(f"{path}: damaged static library") from None
        at += 60
        table = name in (b"/", b"//", b"/SYM64/") or name.startswith(b"__.SYMDEF")
        if name == b"//":
            names = data[at : at + size]
        elif not table and thin:
            yield _thin_member(path, name, names)
        elif not table:
            skip = int(name[3:]) if name.startswith(b"#1/") else 0
            yield data[at + skip : at + size]
        if table or not thin:
            at += size + size % 2


def _thin_member(path: Path, name: bytes, names: bytes) -> bytes:
    if name.startswith(b"/") and name[1:].isdigit():
        name = names[int(name[1:]) :].split(b"\n", 1)[0]
    try:
        return (path.parent / name.decode("utf-8", "surrogateescape").rstrip("/")).read_bytes()
    except OSError:
        return b""

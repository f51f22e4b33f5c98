"""Clang's line tables hold an MD5 of each source's text (DWARF 5, 6.2.4.1): that of the original is put where the copy's stands.

A debugger compares it with the file on disk, which is the original. Compressed sections are unpacked, changed and packed again; that, and
laying the sections out anew, must give back the compiler's own bytes when nothing is changed, or the object is refused.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_COMPRESSION = struct.Struct("<IIQQ")
_SHT_NOBITS = 8
_SHF_COMPRESSED = 0x800
_ZLIB = 1


class ChecksumError(ValueError):
    """The checksums can't be replaced without changing more; the message says why."""


@dataclass(frozen=True, slots=True)
class _Section:
    row: tuple[int, ...]
    content: bytes

    @property
    def compressed(self) -> bool:
        return bool(self.row[2] & _SHF_COMPRESSED)

    @property
    def occupies(self) -> bool:
        return self.row[1] not in (0, _SHT_NOBITS)

    @property
    def alignment(self) -> int:
        """LLVM places a compressed section as if it were not, and says afterwards that it needs more."""
        return max(1, int(_COMPRESSION.unpack_from(self.content)[3]) if self.compressed else self.row[8])


def restore(path: Path, texts: Mapping[bytes, bytes]) -> None:
    """Replaces the checksum of each copy (the key) by that of its original (the value) in an object or in LLVM's bitcode, in place.

    Files that hold no such checksum are left alone. Raises ChecksumError and OSError.
    """
    sums = {
        copied: own for copy, original in texts.items() if copy != original for copied, own in zip(_md5(copy), _md5(original), strict=True)
    }
    data = path.read_bytes()
    changed = _replaced(data, sums)
    sections = _sections(data) if data.startswith(b"\x7fELF\x02\x01") else []
    if any(section.compressed for section in sections):
        packed = [_repacked(section, sums) for section in sections]
        if packed != sections:
            if _laid_out(data, sections) != data:
                raise ChecksumError("the compressed debug information can't be laid out anew")
            changed = _replaced(_laid_out(data, packed), sums)
    if changed != data:
        path.write_bytes(changed)


def _md5(text: bytes) -> tuple[bytes, bytes, bytes]:
    """The checksum as LLVM writes it, as the GNU assembler does (the other way round), and as bitcode has it, in digits."""
    digest = hashlib.md5(text, usedforsecurity=False).digest()
    return digest, digest[::-1], digest.hex().encode()


def _replaced(data: bytes, sums: Mapping[bytes, bytes]) -> bytes:
    for old, new in sums.items():
        data = data.replace(old, new)
    return data


def _sections(data: bytes) -> list[_Section]:
    header = _HEADER.unpack_from(data)
    begin, size, count = header[6], header[11], header[12]
    if size != _SECTION.size or begin + size * count > len(data):
        return []
    rows = [_SECTION.unpack_from(data, begin + index * size) for index in range(count)]
    return [_Section(row, data[row[4] : row[4] + row[5]] if row[1] not in (0, _SHT_NOBITS) else b"") for row in rows]


def _repacked(section: _Section, sums: Mapping[bytes, bytes]) -> _Section:
    if not section.compressed:
        return section
    kind, _, size, _ = _COMPRESSION.unpack_from(section.content)
    head, body = section.content[: _COMPRESSION.size], section.content[_COMPRESSION.size :]
    if kind != _ZLIB:
        raise ChecksumError("the debug information is compressed in a way that is not known here")
    try:
        plain = zlib.decompress(body, bufsize=size)
    except zlib.error as error:
        raise ChecksumError(f"the compressed debug information is damaged: {error}") from None
    changed = _replaced(plain, sums)
    if changed == plain:
        return section
    for level in (6, 1, 9, 5):
        if zlib.compress(plain, level) == body:
            return replace(section, content=head + zlib.compress(changed, level))
    raise ChecksumError("the debug information can't be compressed as the compiler does")


def _laid_out(data: bytes, sections: list[_Section]) -> bytes:
    """The file with its sections one after the other in their order, then their table, as LLVM writes it."""
    header = list(_HEADER.unpack_from(data))
    made = bytearray(data[: _HEADER.size])
    offsets = {0: 0}
    for index in sorted(range(1, len(sections)), key=lambda index: (sections[index].row[4], sections[index].row[5] > 0, index)):
        section = sections[index]
        made += bytes(-len(made) % section.alignment)
        offsets[index] = len(made)
        made += section.content
    made += bytes(-len(made) % 8)
    header[6] = len(made)
    for index, section in enumerate(sections):
        row = list(section.row)
        row[4] = offsets[index] if index else row[4]
        row[5] = len(section.content) if section.occupies else row[5]
        made += _SECTION.pack(*row)
    made[: _HEADER.size] = _HEADER.pack(*header)
    return bytes(made)

"""The symbols an object asks the linker for."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Undefined:
    """Undefined symbols by binding: without a ``strong`` one the object does not link, a ``weak`` one is null if nobody has it.

    ``own``: the symbols that the object defines, local ones too.
    """

    strong: frozenset[str]
    weak: frozenset[str]
    own: frozenset[str] = frozenset()

    @property
    def openmp(self) -> frozenset[str]:
        return frozenset(name for name in self.strong | self.weak if name.startswith(("GOMP_", "omp_", "__kmpc_", "GOACC_")))


def undefined(path: Path) -> Undefined:
    """The undefined symbols of a relocatable object that it doesn't define itself under the same name.

    Raises OSError, and ELFError for what is no ELF file.
    """
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    strong: set[str] = set()
    weak: set[str] = set()
    defined: set[str] = set()
    local: set[str] = set()
    with path.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if not isinstance(section, SymbolTableSection):
                continue
            for symbol in section.iter_symbols():
                bind = symbol["st_info"]["bind"]
                if symbol["st_shndx"] != "SHN_UNDEF":
                    (local if bind == "STB_LOCAL" else defined).add(symbol.name)
                elif symbol.name:
                    (weak if bind == "STB_WEAK" else strong).add(symbol.name)
    return Undefined(frozenset(strong - defined), frozenset(weak - defined - strong), frozenset(defined | local))


def bind_to_own(path: Path) -> None:
    """Makes the object's relocations name its own definitions where its symbol table has an undefined entry of the same name too.

    A linker takes the two for one, but a tool that makes the definition local in between would part them. In place, for 64-bit ELF with
    explicit addends. Raises OSError, and ELFError for what is no ELF file.
    """
    from elftools.elf.elffile import ELFFile
    from elftools.elf.relocation import RelocationSection
    from elftools.elf.sections import SymbolTableSection

    with path.open("r+b") as file:
        elf = ELFFile(file)
        if elf.elfclass != 64:
            return
        edits: list[tuple[int, int]] = []
        sections = list(elf.iter_sections())
        for section in sections:
            if not isinstance(section, RelocationSection) or not section.is_RELA():
                continue
            table = sections[section["sh_link"]]
            if not isinstance(table, SymbolTableSection):
                continue
            own = _own(table)
            for position, relocation in enumerate(section.iter_relocations()):
                if (bound := own.get(relocation["r_info_sym"])) is not None:
                    edits.append((section["sh_offset"] + position * section["sh_entsize"] + 8, bound << 32 | relocation["r_info_type"]))
        order = "<Q" if elf.little_endian else ">Q"
        for offset, info in edits:
            file.seek(offset)
            file.write(struct.pack(order, info))


def _own(table: Any) -> dict[int, int]:
    """Undefined entries of a symbol table by their index, with that of the definition of the same name."""
    symbols = [(number, symbol.name, symbol["st_shndx"]) for number, symbol in enumerate(table.iter_symbols()) if symbol.name]
    defined = {name: number for number, name, where in symbols if where != "SHN_UNDEF"}
    return {number: defined[name] for number, name, where in symbols if where == "SHN_UNDEF" and name in defined}

"""The symbols an object asks the linker for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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

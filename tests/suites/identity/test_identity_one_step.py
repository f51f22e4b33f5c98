"""All nasty sources in one command that also links: with a no-op in each, the library is byte for byte what the bare compiler makes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from perfcc.store.disk import Store
from tests.suites.identity.cells import COMPILERS, Cell, places
from tests.suites.identity.nasty_sources import SOURCES, Source

MEMBERS = [source for source in SOURCES if not source.in_c]
# What the sources want, put together; most of them define the same function.
FLAGS = ("-O2", "-g", "-Wall", "-std=c++20", "-fno-char8_t", "-Iother", "-fPIC", "-shared", "-Wl,--allow-multiple-definition")


@dataclass(frozen=True)
class OneStep(Cell):
    def command(self) -> list[str]:
        return [self.compiler, *self.own_flags, *(source.name for source in MEMBERS), "-o", "lib.so"]


@pytest.mark.parametrize("family", COMPILERS)
def test_identity(tmp_path: Path, family: str) -> None:
    files = {name: content for source in MEMBERS for name, content in source.files.items()}
    cell = OneStep(tmp_path, family, Source("all.cpp", files), FLAGS)
    bare = cell.bare()
    assert bare.code == 0, bare.complained
    ours = cell.by_perfcc()
    assert ours.differing(bare) == []
    store = Store(tmp_path / "store")
    for source in MEMBERS:
        outcome = store.outcome(cell.folder / "lib.so", str(cell.folder / source.name))
        assert outcome is not None, source.name
        assert outcome.reason is not None
        assert (outcome.reason.id, places(outcome)) == ("identity-same", 1 + source.kernels), (source.name, str(outcome.reason))
    assert cell.counters() == ["compiled:searched", "linked:again"]

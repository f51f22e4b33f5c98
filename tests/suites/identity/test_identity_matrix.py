"""Two compilers, a column of option sets, nasty sources: with a no-op in it, every unit is byte for byte what the bare compiler makes.

That the no-op was compiled in is read from the store. A compiler that is not deterministic is shown to be so by running it twice.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.suites.identity.cells import COMPILERS, Cell, places
from tests.suites.identity.nasty_sources import SOURCES, Source

OPTIONS = {
    "debug": ("-O2", "-g"),
    "debug-macros": ("-O1", "-g3", "-MMD", "-MP"),
    "split-dwarf": ("-O2", "-g", "-gsplit-dwarf"),
    "compressed": ("-O2", "-g", "-gz"),
    "compressed-split": ("-O1", "-g", "-gsplit-dwarf", "-gz"),
    "coverage": ("-O0", "-g", "--coverage"),
    "coverage-seeded": ("-O1", "--coverage", "-frandom-seed=7"),
    "undefined": ("-O1", "-g", "-fsanitize=undefined"),
    "pch": ("-O2", "-g"),
    "stack-usage": ("-Os", "-fstack-usage", "-MD", "-MF", "list of files.d", "-MT", "target"),
    "prefix-maps": ("-O2", "-g", "-ffile-prefix-map={folder}=/mapped", "-fdebug-prefix-map=src=/there"),
    "unoptimised": ("-O0",),
    "dwarf-4": ("-O3", "-g", "-gdwarf-4", "-fPIC"),
    "warnings": ("-O2", "-Wall", "-Wextra", "-fdiagnostics-color=always"),
    "profile": ("-O1", "-g", "-fprofile-generate", "-frandom-seed=7"),
    "link-time": ("-O1", "-g", "-flto", "-frandom-seed=7"),
}
# GCC stamps what it instruments with the time of day, unless it is given a seed.
UNSEEDED = {("gcc", "coverage")}


def failures(cell: Cell, deterministic: bool) -> list[str]:
    """What is wrong with the cell; empty when nothing is."""
    bare = cell.bare()
    assert bare.code == 0, (cell.command(), bare.complained)
    assert "out.o" in bare.files
    ours = cell.by_perfcc()
    outcome = cell.outcome()
    if outcome is None or outcome.reason is None:
        return [f"nothing was injected: {cell.counters()}"]
    found = []
    if places(outcome) != 1 + (0 if no_loops(cell) else cell.source.kernels):
        found.append(f"{places(outcome)} places")
    wanted = "identity-same"
    differing = ours.differing(bare)
    if differing and not deterministic:
        again = cell.bare().differing(bare)
        if set(differing) <= set(again) and again:
            wanted, differing = "identity-differs", []
    if outcome.reason.id != wanted:
        found.append(str(outcome.reason))
    return found + differing


def no_loops(cell: Cell) -> bool:
    """The no-op at the end is the only one: Clang's bitcode has offsets into the file."""
    return cell.family == "clang" and "-flto" in cell.flags


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("family", COMPILERS)
def test_identity(tmp_path: Path, family: str, options: str) -> None:
    def judge(item: tuple[int, Source]) -> tuple[str, list[str]]:
        number, source = item
        cell = Cell(tmp_path / str(number), family, source, OPTIONS[options], pch=options == "pch")
        return source.name, failures(cell, (family, options) not in UNSEEDED)

    with ThreadPoolExecutor(2) as pool:
        wrong = {name: found for name, found in pool.map(judge, enumerate(SOURCES)) if found}
    assert not wrong


def test_identity_where_lines_are_those_of_the_file(tmp_path: Path) -> None:
    """Clang's map of covered regions does not heed #line: the no-op stands at the end."""
    source = next(each for each in SOURCES if each.name == "templates.cpp")
    cell = Cell(tmp_path, "clang", source, ("-O1", "-g", "-fprofile-instr-generate", "-fcoverage-mapping"))
    assert failures(cell, True) == ["1 places"]


def test_what_passes_is_not_injected(tmp_path: Path) -> None:
    """The intermediate files that -save-temps keeps would show the no-op."""
    cell = Cell(tmp_path, "gcc", SOURCES[0], ("-O2", "-save-temps=obj"))
    bare = cell.bare()
    assert cell.by_perfcc().differing(bare) == []
    assert cell.outcome() is None
    assert cell.counters() == ["passed:save-temps"]


def test_compile_that_fails(tmp_path: Path) -> None:
    source = Source("broken.cpp", {"broken.cpp": "int answer() { return __LINE__; }\n  int x = ;\n"})
    for family in COMPILERS:
        cell = Cell(tmp_path / family, family, source, ("-O2", "-fdiagnostics-color=always", "-MMD"))
        bare = cell.bare()
        assert bare.code == 1
        assert cell.by_perfcc().differing(bare) == []
        assert cell.outcome() is None

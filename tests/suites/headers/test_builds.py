"""Projects with kernels in headers, built by the installed command: searched once, found again, explained by header."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.suites.headers.headers_site import PERFCC, Project

LOOP = """for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      to[j * (long)n + i] = from[j * (long)n + i] * 2 + 1;"""
HEADER = f"""#ifndef TURN_H
#define TURN_H
inline void turn(double* __restrict to, const double* __restrict from, int n) {{
  {LOOP}
}}
inline void unused(double* to, int n) {{
  for (int i = 0; i < n; ++i) to[i] = 0;
}}
#endif
"""
UNIT = """#include "turn.h"
void NAME(double* to, const double* from, int n) { turn(to, from, n); }
"""
MAIN = """#include <cstdio>
#include <vector>
void a(double*, const double*, int);
void b(double*, const double*, int);
int main() {
  int n = 900;
  std::vector<double> from(n * n, 1.5), to(n * n);
  a(to.data(), from.data(), n);
  b(from.data(), to.data(), n);
  std::printf("%.17g\\n", from[17]);
}
"""
MAKE = """CXXFLAGS = -O2 -Iinc
app: src/a.o src/b.o src/main.o
\t$(CXX) $^ -o $@
src/%.o: src/%.cpp
\t$(CXX) $(CXXFLAGS) -MMD -c $< -o $@
-include src/a.d src/b.d src/main.d
"""
ATTEMPTS = 4

pytestmark = pytest.mark.quiet


def fresh(root: Path, store: Path) -> Project:
    """The project, not built. Only the serial rewrite is searched: it is timed on the processor's time, whatever else the machine does."""
    root.mkdir()
    off = "-parallel-loop,-integer-reduction,-loop-tiling"
    project = Project(root, {"PERFCC_STORE": str(store), "PERFCC_RULES": off, "PERFCC_BUDGET": "100"})
    project.put("inc/turn.h", HEADER)
    project.put("src/a.cpp", UNIT.replace("NAME", "a"))
    project.put("src/b.cpp", UNIT.replace("NAME", "b"))
    project.put("src/main.cpp", MAIN)
    project.put("Makefile", MAKE)
    return project


def make(project: Project) -> None:
    project.run("make", "-j2", f"CXX={PERFCC}")


def decisions(project: Project, target: str = "app") -> list[dict[str, Any]]:
    return [decision for unit in project.explain(target)["units"] for decision in unit["decisions"]]


@pytest.fixture(scope="session")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Built from an empty store, its two units at once; anew where the machine was too busy."""
    for attempt in range(ATTEMPTS):
        folder = tmp_path_factory.mktemp(f"searched{attempt}")
        project = fresh(folder / "project", folder / "store")
        make(project)
        if all(decision["status"] == "rewritten" for decision in decisions(project)):
            break
    return project


@pytest.fixture
def again(searched: Project, tmp_path: Path) -> Project:
    """The project once more, with what was decided."""
    store = tmp_path / "store"
    shutil.copytree(Path(searched.environ["PERFCC_STORE"]), store)
    project = fresh(tmp_path / "project", store)
    project.run(str(PERFCC), "--stats", "--zero")
    return project


def test_two_units_share_one_search(searched: Project) -> None:
    found = decisions(searched)
    assert [(decision["function"], decision["status"]) for decision in found] == [("turn", "rewritten")] * 2
    assert sorted(decision["cached"] for decision in found) == [False, True]
    assert found[0]["replacement"] == found[1]["replacement"]
    assert len(list(Path(searched.environ["PERFCC_STORE"], "decisions").glob("??/*.json"))) == 1


def test_the_program_computes_the_same(searched: Project, tmp_path: Path) -> None:
    plain = fresh(tmp_path / "plain", tmp_path / "store")
    plain.run("make", "CXX=g++")
    assert searched.run("./app") == plain.run("./app")


def test_reports_name_the_header(searched: Project) -> None:
    text = searched.run(str(PERFCC), "--explain", "app")
    line = HEADER[: HEADER.index("for (")].count("\n") + 1
    assert text.count(f"\ninc/turn.h:{line}  turn  ") == 1
    assert "1 loop nest (2 loops) in 2 units" in text
    assert "unused" not in text
    assert searched.run(str(PERFCC), "--explain", "inc/turn.h").count(f"inc/turn.h:{line}") >= 1
    assert len(decisions(searched, "inc/turn.h")) == 2
    assert len(decisions(searched, "src/b.cpp")) == 1
    searched.run(str(PERFCC), "--explain", "inc/other.h", expect=1)


def test_a_header_that_changed_is_looked_at_anew(again: Project) -> None:
    make(again)
    assert again.counted("from-store") == 0  # other paths, other units
    time.sleep(0.05)
    again.put("inc/turn.h", "// one line more\n\n" + HEADER)
    make(again)
    first, second = decisions(again)
    assert first["at"]["line"] == HEADER[: HEADER.index("for (")].count("\n") + 3
    assert {first["status"], second["status"]} == {"rewritten"}
    assert again.counted("searched") == 4
    os.remove(again.root / "src" / "a.o")
    make(again)
    assert again.counted("from-store") == 1
    again.environ["PERFCC_MODE"] = "apply"
    again.put("inc/turn.h", HEADER.replace("* 2", "* 4"))
    make(again)
    assert {decision["reason"]["id"] for decision in decisions(again)} == {"search-off"}


def test_a_stored_unit_is_not_used_with_another_header(again: Project) -> None:
    make(again)
    before = (again.root / "src" / "a.o").read_bytes()
    again.put("inc/turn.h", HEADER.replace("* 2", "* 8"))
    again.environ["PERFCC_MODE"] = "off"
    make(again)
    plain = (again.root / "src" / "a.o").read_bytes()
    again.environ["PERFCC_MODE"] = "apply"
    again.run("touch", "src/a.cpp")
    make(again)
    assert (again.root / "src" / "a.o").read_bytes() == plain != before


def test_a_forced_include_is_left_alone(again: Project) -> None:
    again.run(str(PERFCC), "-O2", "-include", "inc/turn.h", "-Iinc", "-c", "src/a.cpp", "-o", "src/a.o")
    assert {(found["function"], found["reason"]["id"]) for found in decisions(again, "src/a.o")} == {("turn", "forced-include")}


def test_a_main_file_is_rewritten_where_its_header_cannot_be(again: Project) -> None:
    """Here the header has a name that only perfcc may use."""
    again.put(
        "src/a.cpp",
        UNIT.replace("NAME", "a") + HEADER.partition("inline void unused")[0].partition("#define TURN_H\n")[2].replace("turn(", "own("),
    )
    again.put("inc/turn.h", HEADER.replace("#endif", "static inline int perfcc_rt_known() { return 1; }\n#endif"))
    again.run(str(PERFCC), "-O2", "-Iinc", "-c", "src/a.cpp", "-o", "src/a.o")
    found = {decision["function"]: decision for decision in decisions(again, "src/a.o")}
    assert found["turn"]["status"] == "rejected"
    assert found["turn"]["reason"]["id"] == "emit-failed"
    assert found["own"]["status"] == "rewritten"


def test_a_unit_with_a_precompiled_header_is_left_alone(again: Project) -> None:
    again.run("g++", "-O2", "-x", "c++-header", "inc/turn.h", "-o", "inc/turn.h.gch")
    again.put("src/a.cpp", UNIT.replace("NAME", "a") + "void clear(int* x, int n) { for (int i = 0; i < n; ++i) x[i] = i; }\n")
    again.run(str(PERFCC), "-O2", "-Iinc", "-c", "src/a.cpp", "-o", "src/a.o")
    found = {decision["function"]: decision for decision in decisions(again, "src/a.o")}
    assert (found["turn"]["status"], found["turn"]["reason"]["id"]) == ("rejected", "emit-failed")


def test_identity_reaches_into_headers(again: Project) -> None:
    again.environ["PERFCC_MODE"] = "identity"
    again.run("g++", "-O2", "-g", "-Iinc", "-c", "src/a.cpp", "-o", "a.o")
    plain = (again.root / "a.o").read_bytes()
    again.run(str(PERFCC), "-O2", "-g", "-Iinc", "-c", "src/a.cpp", "-o", "a.o")
    assert (again.root / "a.o").read_bytes() == plain
    (unit,) = again.explain("a.o")["units"]
    assert "places: 2" in json.dumps(unit["reason"])


def test_a_second_search_is_not_started_while_the_first_runs(again: Project) -> None:
    """Both units at once, from a store without decisions: one of them waits for the other."""
    shutil.rmtree(Path(again.environ["PERFCC_STORE"]))
    environ = {**os.environ, **again.environ}
    running = [
        subprocess.Popen([str(PERFCC), "-O2", "-Iinc", "-c", f"src/{name}.cpp", "-o", f"src/{name}.o"], cwd=again.root, env=environ)
        for name in "ab"
    ]
    assert [process.wait(300) for process in running] == [0, 0]
    found = [*decisions(again, "src/a.o"), *decisions(again, "src/b.o")]
    if all(decision["status"] != "undecided" for decision in found):
        assert sorted(decision["cached"] for decision in found) == [False, True]

"""The worker itself: identity mode leaves no trace in a program, rewrites are in it, and it explains itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perfcc import _native
from tests.suites.onestep.onestep_site import BIN, Site, newest

KERNELS = """\
#include <cstddef>
#include "kernels.h"
// The order of the loops walks down the columns: interchange pays, serially.
void scale(const double *a, double *b, int n) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      b[static_cast<std::size_t>(i) * n + j] = a[static_cast<std::size_t>(i) * n + j] * 2.0 + 1.0;
}
"""
MAIN = """\
#include <cstdio>
#include <vector>
#include "kernels.h"
int main() {
  const int n = 300;
  std::vector<double> a(n * n), b(n * n);
  for (int i = 0; i < n * n; ++i)
    a[i] = i * 0.25;
  scale(a.data(), b.data(), n);
  double sum = 0;
  for (int i = 0; i < n * n; ++i)
    sum = sum * 0.5 + b[i];
  std::printf("%.17g\\n", sum + LAST(b));
}
"""
HEADER = "#define LAST(v) ((v)[v.size() - 1])\nvoid scale(const double *, double *, int);\n"
FILES = {"kernels.cpp": KERNELS, "main.cpp": MAIN, "kernels.h": HEADER}
SERIAL = "-parallel-loop,-integer-reduction,-loop-tiling"
ATTEMPTS = 4


IDENTITIES = [
    ("g++", "-O2"),
    ("clang++", "-O2"),
    ("g++", "-O1", "-static"),
    ("clang++", "-O3", "-march=native", "-std=c++20", "-fPIE", "-pie", "-Wl,-z,now"),
]


@pytest.mark.parametrize("words", IDENTITIES, ids=" ".join)
def test_identity_leaves_no_trace(site, words):
    """The same program, build-id included, though every source was compiled anew and the program linked again."""
    site.write(FILES)
    site.variables["PERFCC_MODE"] = "identity"
    command = (newest(words[0]), *words[1:], "main.cpp", "kernels.cpp", "-o", "app")
    plain, built = site.both(*command, outputs=["app"])
    assert plain == built
    assert site.counters() == ["compiled:searched", "linked:again"]
    plain, built = site.both(*command, outputs=["app"])
    assert plain == built
    assert site.counters()[2:] == ["linked:again", "compiled:from-store"]


def test_identity_of_several_objects(site, compiler):
    site.write(FILES)
    site.variables["PERFCC_MODE"] = "identity"
    outputs = ["main.o", "kernels.o", "main.d", "kernels.d"]
    plain, built = site.both(compiler, "-O2", "-MD", "-c", "main.cpp", "kernels.cpp", outputs=outputs)
    assert plain == built
    assert [manifest["verdict"] for manifest in verdicts(site)] == ["object"] * 2


def verdicts(site: Site) -> list[Any]:
    keys = [path.parent.name + path.name for path in (site.store / "units").glob("??/*")]
    return [_native.read_manifest(site.store, key) for key in keys]


@pytest.fixture(scope="module", params=["g++", "clang++"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A program whose kernel was interchanged: on a noisy machine timing may reject that, rightly or not, and it is searched anew."""
    for attempt in range(ATTEMPTS):
        site = Site(tmp_path_factory.mktemp(f"built{attempt}"))
        site.work.mkdir()
        site.write(FILES)
        site.variables |= {"PERFCC_RULES": SERIAL, "PERFCC_BUDGET": "60"}
        site.compiler = newest(request.param)
        assert site.run(site.compiler, "-O2", "main.cpp", "kernels.cpp", "-o", "plain").code == 0
        assert site.perfcc(site.compiler, "-O2", "main.cpp", "kernels.cpp", "-o", "app").code == 0
        if "linked:again" in site.counters():
            break
    yield site
    assert site.leftovers() == []


def explain(site: Site, *words: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(site.run(str(BIN / "perfcc"), "--explain", *words, "--format", "json").stdout)
    return document


def decided(document: dict[str, Any]) -> dict[str, str]:
    return {decision["function"]: decision["status"] for unit in document["units"] for decision in unit["decisions"]}


def test_a_rewrite_is_in_the_program(built):
    assert built.counters() == ["compiled:searched", "linked:again"]
    assert (built.work / "app").read_bytes() != (built.work / "plain").read_bytes()
    assert built.output_of("./app") == built.output_of("./plain")
    assert b".perfcc" in subprocess.run(["readelf", "-SW", built.work / "app"], capture_output=True, check=True).stdout


def test_the_program_the_source_and_the_folder_explain(built):
    whole = explain(built, "app")
    assert sorted(Path(unit["source"]).name for unit in whole["units"]) == ["kernels.cpp", "main.cpp"]
    assert decided(whole)["scale"] == "rewritten"
    assert decided(explain(built, "kernels.cpp"))["scale"] == "rewritten"
    assert decided(explain(built, ".")) == decided(whole)


def test_a_second_build_searches_nothing_and_makes_the_same(built):
    first = (built.work / "app").read_bytes()
    (built.work / "app").unlink()
    built.forget_counters()
    assert built.perfcc(built.compiler, "-O2", "main.cpp", "kernels.cpp", "-o", "app").code == 0
    assert built.counters() == ["linked:again", "compiled:from-store"]
    assert (built.work / "app").read_bytes() == first


def test_a_program_of_another_name_takes_over_the_decisions(built):
    built.forget_counters()
    assert built.perfcc(built.compiler, "-O2", "kernels.cpp", "main.cpp", "-o", "other").code == 0
    assert built.counters() == ["compiled:searched", "linked:again"]
    assert built.output_of("./other") == built.output_of("./plain")
    assert all(decision["cached"] for unit in explain(built, "other")["units"] for decision in unit["decisions"])


def test_a_program_linked_by_others_since_is_not_said_to_hold_the_rewrite(built):
    assert built.perfcc(built.compiler, "-O2", "main.cpp", "kernels.cpp", "-o", "third").code == 0
    assert any(unit["emitted"] for unit in explain(built, "third")["units"])
    assert built.run(built.compiler, "-O2", "main.cpp", "kernels.cpp", "-o", "third").code == 0
    assert not any(unit["emitted"] for unit in explain(built, "third")["units"])


def test_a_program_without_one_of_the_sources_forgets_it(built):
    built.write({"alone.cpp": KERNELS + MAIN})
    assert built.perfcc(built.compiler, "-O2", "main.cpp", "kernels.cpp", "-o", "fourth").code == 0
    assert built.perfcc(built.compiler, "-O2", "alone.cpp", "-o", "fourth").code == 0
    assert [Path(unit["source"]).name for unit in explain(built, "fourth")["units"]] == ["alone.cpp"]
    (built.work / "fourth").unlink()
    (built.work / "alone.cpp").unlink()

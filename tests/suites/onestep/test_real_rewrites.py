"""The worker itself: identity mode leaves no trace in a program, rewrites are in it, and it explains itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perfcc.store.disk import Store
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
    ("g++", "-O2", "-g3"),
    ("clang++", "-O2", "-g"),
    ("g++", "-O0", "-static"),
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
    assert injected(site) == ["kernels.cpp", "main.cpp"]


@pytest.mark.parametrize("flags", [("-MD",), ("-MMD", "-o", "app")], ids=" ".join)
def test_identity_with_a_dependency_file(site, compiler, flags):
    site.write({**FILES, "all.cpp": '#include "kernels.cpp"\n' + MAIN})
    site.variables["PERFCC_MODE"] = "identity"
    before = site.names()
    assert site.run(compiler, "-O2", "all.cpp", *flags).code == 0
    outputs = sorted(site.names() - before)
    plain, built = site.both(compiler, "-O2", "all.cpp", *flags, outputs=outputs)
    assert plain == built
    assert len(outputs) == 2
    assert site.counters() == ["compiled:searched", "linked:again"]


def test_identity_of_several_objects(site, compiler):
    site.write(FILES)
    site.variables["PERFCC_MODE"] = "identity"
    outputs = ["main.o", "kernels.o", "main.d", "kernels.d"]
    plain, built = site.both(compiler, "-O2", "-MD", "-c", "main.cpp", "kernels.cpp", outputs=outputs)
    assert plain == built
    assert injected(site) == ["kernels.cpp", "main.cpp"]


def injected(site: Site) -> list[str]:
    """The sources that a no-op was compiled into, with the same result."""
    outcomes = Store(site.store).all_outcomes()
    return sorted(Path(outcome.source).name for outcome in outcomes if outcome.reason is not None and outcome.reason.id == "identity-same")


# What the worker does once a kernel is decided, for a rewrite written by hand: whether it pays is no question here.
EMITS = """\
import json, os, sys, tempfile
from pathlib import Path
from perfcc.cc.compiler import probe, translation_unit
from perfcc.cc.emit import emit
from perfcc.cc.runtime import GUARD, text
from perfcc.cc.splice import Replacement
from perfcc.cli.worker import parse_request
from perfcc.core.span import Span
loop = b"for (int i = 0; i < n; ++i)\\n    x[i] = x[i] * 3 + i;"
fast = loop.replace(b"    x[i]", b"    if (i == 0) team = __builtin_omp_get_num_threads(), x[i] = x[i] * 3 + i; else x[i]").decode()
for message in json.load(sys.stdin)["units"]:
    request = parse_request(message)
    invocation = request.invocation
    os.chdir(invocation.cwd)
    info = probe(invocation.compiler, invocation)
    unit = translation_unit(invocation, info)
    if loop not in unit.text:
        continue
    begin = unit.text.index(loop)
    line = unit.text.count(b"\\n", 0, begin) + 1
    span = Span(invocation.source, begin, begin + len(loop), line, 3, line + 1)
    guarded = "{ if (perfcc_rt_parallel_ok()) {\\n#pragma omp parallel for\\n" + fast + "\\n} else {\\n" + loop.decode() + "\\n} }"
    with tempfile.TemporaryDirectory() as scratch:
        emitted = emit(unit, info, [Replacement(span, guarded, True)], text(GUARD), Path(scratch))
        Path(request.deliver).write_bytes(emitted.object_path.read_bytes())
"""
TEAM = """\
int team = 0;
void scale(int *x, int n) {
  for (int i = 0; i < n; ++i)
    x[i] = x[i] * 3 + i;
}
"""
TEAM_MAIN = """\
#include <cstdio>
extern int team;
void scale(int *x, int n);
int main() {
  static int x[1000];
  scale(x, 1000);
  long sum = 0;
  for (int i = 0; i < 1000; ++i)
    sum += x[i];
  std::printf("%ld %d\\n", sum, team);
}
"""


@pytest.mark.parametrize(("words", "team"), [((), 2), (("-fopenmp",), 2), (("-static",), 0)], ids=["plain", "openmp", "static"])
def test_threads_need_nothing_on_the_line(site, gcc, words, team):
    site.interpreter(EMITS)
    site.write({"team.cpp": TEAM, "main.cpp": TEAM_MAIN})
    site.both(gcc, "-O2", *words, "main.cpp", "team.cpp", "-o", "app", outputs=["app"])
    assert site.counters() == ["compiled:searched", "linked:again"]
    site.variables["OMP_NUM_THREADS"] = "2"
    assert site.output_of() == f"499500 {team}\n"


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

"""A two-function file, one function rewritten by hand: it links with a plain command line, uses threads and gives the same result."""

from __future__ import annotations

from perfcc.cc.emit import Emitted, OutputState, install
from tests.suites.emit.emit_workshop import Workshop, guarded

KERNEL = "for (int i = 0; i < n; ++i) {\n    x[i] = x[i] * 3 + i;\n  }"
FAST = """#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) {
    if (i == 0) team = __builtin_omp_get_num_threads();
    x[i] = x[i] * 3 + i;
  }"""
SOURCE = f"""#include <cassert>
#include <cstdio>
int team = 0;
void scale(int* x, int n) {{
  {KERNEL}
}}
int line() {{ return __LINE__; }}
int main() {{
  static int x[1000];
  scale(x, 1000);
  long sum = 0;
  for (int i = 0; i < 1000; ++i) sum += x[i];
#ifdef _OPENMP
  sum = -1;
#endif
#ifdef _REENTRANT
  sum = -2;
#endif
  assert(line() == 9);
  printf("%ld %d\\n", sum, team);
  return 0;
}}
"""


def test_rewritten_object_links_plainly_and_runs_on_a_team(workshop: Workshop) -> None:
    workshop.write("a.cpp", SOURCE)
    invocation = workshop.invocation("a.cpp", "-O2", "-Wall")
    emitted = workshop.emit(invocation, [(KERNEL, guarded(KERNEL, FAST))])
    assert isinstance(emitted, Emitted), emitted
    before = workshop.root / "a.o"
    original = workshop.run("sh", "-c", "g++ a.o -o before && ./before")
    assert install(emitted.object_path, before, OutputState.of(before)) is None
    after = workshop.run("sh", "-c", "g++ a.o -o after && ./after", environ={"OMP_NUM_THREADS": "2"})
    assert original == "499500 0\n"
    assert after == "499500 2\n"
    assert "libgomp" not in workshop.run("readelf", "-d", "after")

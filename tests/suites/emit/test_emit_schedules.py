"""Every form of parallel loop that a rule may print gives the serial loop's result, with a team and without the library."""

from __future__ import annotations

import pytest

from perfcc.cc.emit import Emitted
from tests.suites.emit.emit_workshop import Workshop

# Each: clauses, and the loop (the original is the same without the pragma).
FORMS = {
    "static": ("", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "static-chunk": ("schedule(static, 3)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "dynamic": ("schedule(dynamic, 7)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "monotonic": ("schedule(monotonic : dynamic, 7)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "guided": ("schedule(guided)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "monotonic-guided": ("schedule(monotonic : guided)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "runtime": ("schedule(runtime)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "monotonic-runtime": ("schedule(monotonic : runtime)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "nonmonotonic-runtime": ("schedule(nonmonotonic : runtime)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "downwards": ("schedule(dynamic)", "for (int i = n - 1; i >= 0; i -= 2) x[i] += i * s;"),
    "constant-bounds": ("schedule(dynamic, 5)", "for (int i = 3; i < 900; ++i) x[i] += i * s;"),
    "constant-guided": ("schedule(guided, 5)", "for (int i = 3; i < 900; ++i) x[i] += i * s;"),
    "constant-runtime": ("schedule(runtime)", "for (int i = 3; i < 900; ++i) x[i] += i * s;"),
    "empty": ("schedule(dynamic)", "for (int i = n; i < s; ++i) x[i] += i * s;"),
    "unsigned-long-dynamic": ("schedule(dynamic, 4)", "for (unsigned long i = 0; i < m; ++i) x[i] += (int)i * s;"),
    "unsigned-long-guided": ("schedule(guided)", "for (unsigned long i = 0; i < m; ++i) x[i] += (int)i * s;"),
    "unsigned-long-runtime": ("schedule(runtime)", "for (unsigned long i = 0; i < m; ++i) x[i] += (int)i * s;"),
    "unsigned-long-monotonic": ("schedule(monotonic : dynamic)", "for (unsigned long i = 0; i < m; ++i) x[i] += (int)i * s;"),
    "collapse": ("collapse(2) schedule(dynamic, 9)", "for (int i = 0; i < 30; ++i) for (int j = 0; j < 31; ++j) x[i * 31 + j] += i * j;"),
    "collapse-static": ("collapse(2)", "for (int i = 0; i < n / 31; ++i) for (int j = 0; j < 31; ++j) x[i * 31 + j] += i * j;"),
    "sum": ("reduction(+ : r)", "for (int i = 0; i < n; ++i) r += x[i] * s;"),
    "two-reductions": (
        "schedule(dynamic, 8) reduction(+ : r) reduction(min : q)",
        "for (int i = 0; i < n; ++i) { r += x[i]; q = x[i] < q ? x[i] : q; }",
    ),
    "max-and-bits": (
        "reduction(max : r) reduction(^ : q) reduction(| : u) reduction(& : v)",
        "for (int i = 0; i < n; ++i) { r = x[i] > r ? x[i] : r; q ^= x[i]; u |= x[i] << 3; v &= x[i] | 64; }",
    ),
    "product": ("reduction(* : u)", "for (int i = 0; i < n; ++i) u *= x[i] % 3 + 5;"),
    "lastprivate": ("lastprivate(r) schedule(dynamic)", "for (int i = 0; i < n; ++i) { r = x[i] + i; x[i] = r * 2; }"),
    "firstprivate": ("firstprivate(s)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "num-threads": ("num_threads(3)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
    "one-thread": ("if (n < 0)", "for (int i = 0; i < n; ++i) x[i] += i * s;"),
}

REGION = """#pragma omp parallel
{
#pragma omp single nowait
  s += 1;
#pragma omp barrier
#pragma omp for schedule(dynamic, 11)
  for (int i = 0; i < n; ++i) x[i] += i * s;
#pragma omp for schedule(guided) nowait
  for (int i = 0; i < n; ++i) x[i] ^= i;
#pragma omp critical
  r += 0;
}"""

SOURCE = """#include <stdio.h>
static int x[1000];
static void kernel(int n, unsigned long m, int s) {
  int r = 1, q = 1 << 20, v = -1;
  unsigned u = 1;
  KERNEL
  printf("%d %d %u %d\\n", r, q, u, v);
}
int main(int count, char** words) {
  int i;
  unsigned long h = 5381;
  (void)words;
  for (i = 0; i < 1000; ++i) x[i] = (i * 7919) % 1009 - 300;
  kernel(930 + count, 900 + count, 2 + count);
  for (i = 0; i < 1000; ++i) h = h * 33 + (unsigned)x[i];
  printf("%lu\\n", h);
  return 0;
}
"""


def check(workshop: Workshop, original: str, fast: str, shim: str = "") -> None:
    workshop.write("a.c", SOURCE.replace("KERNEL", original))
    workshop.write("broken/libgomp.so.1", "")
    emitted = workshop.emit(workshop.invocation("a.c", "-O2", compiler="gcc"), [(original, fast)], guard=False)
    assert isinstance(emitted, Emitted), emitted
    assert any(name.startswith("GOMP_parallel") for name in emitted.shims)
    workshop.run("gcc", "a.o", "-o", "before")
    workshop.run("gcc", str(emitted.object_path), "-o", "after")
    wanted = workshop.run("./before")
    for environ in (
        {"OMP_NUM_THREADS": "3"},
        {"OMP_NUM_THREADS": "2", "OMP_SCHEDULE": "dynamic,13"},
        {"LD_LIBRARY_PATH": "broken"},
    ):
        assert workshop.run("./after", environ={"OMP_WAIT_POLICY": "passive", **environ}) == wanted, environ


@pytest.mark.parametrize("form", FORMS)
def test_parallel_loop(workshop: Workshop, form: str) -> None:
    clauses, loop = FORMS[form]
    check(workshop, loop, f"\n#pragma omp parallel for {clauses}\n{loop}\n")


def test_loops_inside_one_region(workshop: Workshop) -> None:
    original = "s += 1; for (int i = 0; i < n; ++i) x[i] += i * s; for (int i = 0; i < n; ++i) x[i] ^= i;"
    check(workshop, original, f"\n{REGION}\n")

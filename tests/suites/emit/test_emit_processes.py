"""Threads, forks and plug-ins around a rewritten kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfcc.cc.emit import Emitted
from tests.suites.emit.emit_workshop import Workshop, guarded

KERNEL = """for (int i = 0; i < n; ++i)
    x[i] = x[i] * 3 + i;"""
FAST = """#pragma omp parallel for schedule(dynamic, 16)
  for (int i = 0; i < n; ++i) {
    if (i == 0) team = __builtin_omp_get_num_threads();
    x[i] = x[i] * 3 + i;
  }"""
LIBRARY = f"""
extern "C" {{
__thread int team;
int last_team(void) {{ return team; }}
void scale(int* x, int n) {{
  team = 0;
  {KERNEL}
}}
}}
"""
TEAM = FAST.replace("if (i == 0) team = ", "if (i == 0) *team_of_caller = ")
TWO = {"OMP_NUM_THREADS": "2"}


def rewritten(workshop: Workshop, *flags: str, guard: bool = True) -> Path:
    workshop.write("lib.cpp", LIBRARY)
    fast = "{ int* team_of_caller = &team;\n" + TEAM + "\n}"
    replacement = guarded(KERNEL, fast) if guard else fast
    emitted = workshop.emit(workshop.invocation("lib.cpp", "-O2", *flags), [(KERNEL, replacement)])
    assert isinstance(emitted, Emitted), emitted
    assert "GOMP_loop_nonmonotonic_dynamic_next" in emitted.shims
    return emitted.object_path


FORK = """#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
extern "C" { void scale(int*, int); int last_team(void); }
static int x[1000];
int main() {
  scale(x, 1000);
  int first = last_team();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    scale(x, 1000);
    printf("child %d %d\\n", x[999], last_team());
    fflush(stdout);
    pid_t grandchild = fork();
    if (grandchild == 0) { alarm(20); scale(x, 1000); printf("grandchild %d %d\\n", x[999], last_team()); fflush(stdout); _exit(0); }
    int status;
    waitpid(grandchild, &status, 0);
    _exit(status != 0);
  }
  int status;
  waitpid(child, &status, 0);
  scale(x, 1000);
  printf("parent %d %d %d %d\\n", x[999], first, last_team(), status);
  return 0;
}
"""


@pytest.mark.parametrize("guard", [True, False], ids=["guard", "shims-alone"])
def test_child_of_fork_runs_alone_and_does_not_hang(workshop: Workshop, guard: bool) -> None:
    new = rewritten(workshop, guard=guard)
    workshop.write("main.cpp", FORK)
    workshop.run("g++", "main.cpp", str(new), "-o", "after")
    alone = 0 if guard else 1
    assert workshop.run("./after", environ=TWO).splitlines() == [
        f"child 3996 {alone}",
        f"grandchild 12987 {alone}",
        "parent 3996 2 2 0",
    ]


PLUGIN_AFTER_FORK = """#include <cstdio>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" { void scale(int*, int); int last_team(void); }
static int x[1000];
int main() {
  scale(x, 1000);
  printf("parent %d\\n", last_team());
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    void* plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    if (!plugin) { puts(dlerror()); fflush(stdout); _exit(2); }
    ((void (*)(int*, int))dlsym(plugin, "scale"))(x, 1000);
    printf("plug-in %d\\n", x[999]);
    fflush(stdout);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return status != 0;
}
"""


def test_plug_in_loaded_by_a_forked_child_does_not_hang(workshop: Workshop) -> None:
    """The plug-in's own guard was born in the child, and the parent's team is gone: only the kernel knows that the process was forked."""
    new = rewritten(workshop, "-fPIC")
    workshop.write("main.cpp", PLUGIN_AFTER_FORK)
    workshop.run("g++", "-shared", str(new), "-o", "plugin.so")
    workshop.run("g++", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "parent 2\nplug-in 3996\n"


THREADS = """#include <cstdio>
#include <thread>
#include <vector>
extern "C" { void scale(int*, int); int last_team(void); }
int main() {
  std::vector<std::thread> threads;
  static int x[8][1000];
  static int bad[8];
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([t] {
      for (int run = 0; run < 50; ++run) {
        for (int i = 0; i < 1000; ++i) x[t][i] = t;
        scale(x[t], 1000);
        for (int i = 0; i < 1000; ++i) bad[t] += x[t][i] != 3 * t + i;
      }
    });
  int total = 0;
  for (int t = 0; t < 8; ++t) { threads[t].join(); total += bad[t]; }
  printf("%d\\n", total);
}
"""


@pytest.mark.parametrize("guard", [True, False], ids=["guard", "shims-alone"])
@pytest.mark.parametrize("hidden", [False, True], ids=["library", "no-library"])
def test_many_threads_call_at_once(workshop: Workshop, guard: bool, hidden: bool) -> None:
    new = rewritten(workshop, guard=guard)
    workshop.write("main.cpp", THREADS)
    workshop.write("broken/libgomp.so.1", "")
    workshop.run("g++", "-pthread", "main.cpp", str(new), "-o", "after")
    environ = {**TWO, "OMP_WAIT_POLICY": "passive"} | ({"LD_LIBRARY_PATH": "broken"} if hidden else {})
    assert workshop.run("./after", environ=environ) == "0\n"


def test_constructor_before_main(workshop: Workshop) -> None:
    new = rewritten(workshop)
    source = '#include <cstdio>\nextern "C" { void scale(int*, int); int last_team(void); }\nstatic int x[100];\n'
    source += 'struct Early { Early() { scale(x, 100); } } early;\nint main() { printf("%d\\n", x[99]); }\n'
    workshop.write("main.cpp", source)
    workshop.run("g++", "main.cpp", str(new), "-o", "after")
    assert workshop.run("./after", environ=TWO) == "99\n"

"""Signals and threads of a program that knew of one thread only: a rewrite changes neither who handles a signal nor whether it runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from perfcc.cc.emit import Emitted
from tests.suites.emit.emit_workshop import Workshop, guarded

KERNEL = """for (int i = 0; i < n; ++i) {
    unsigned v = x[i];
    for (int k = 0; k < depth; ++k) v = v * 1103515245u + 12345u;
    x[i] = v;
  }"""
FAST = f"""#pragma omp parallel for schedule(static)
  {KERNEL.replace("{", "{ if (i == 0) *team_of_caller = __builtin_omp_get_num_threads();", 1)}"""
LIBRARY = f"""
extern "C" {{
static int team;
int last_team(void) {{ return team; }}
void mix(unsigned* x, int n, int depth) {{
  team = 0;
  {KERNEL}
}}
}}
"""
HEAD = """#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
extern "C" { void mix(unsigned*, int, int); int last_team(void); }
static unsigned x[4096];
"""
TWO = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}


def program(workshop: Workshop, main: str) -> Path:
    """An executable of a rewritten kernel and this main file."""
    workshop.write("lib.cpp", LIBRARY)
    rewrite = guarded(KERNEL, "{ int* team_of_caller = &team;\n" + FAST + "\n}")
    emitted = workshop.emit(workshop.invocation("lib.cpp", "-O2"), [(KERNEL, rewrite)])
    assert isinstance(emitted, Emitted), emitted
    workshop.write("main.cpp", HEAD + main)
    workshop.run("g++", "-O1", "main.cpp", str(emitted.object_path), "-o", "after")
    return workshop.root / "after"


TIMER = """static volatile sig_atomic_t handled, elsewhere;
static void tick(int) { ++handled; if (syscall(SYS_gettid) != getpid()) ++elsewhere; }
int main() {
  struct sigaction action = {};
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGNAL, &action, 0);
  struct itimerval every = {{0, 1000}, {0, 1000}};
  setitimer(TIMER, &every, 0);
  for (int run = 0; run < 300; ++run) mix(x, 4096, 400);
  printf("%d %d %d\\n", handled > 10, (int)elsewhere, last_team());
}
"""


@pytest.mark.parametrize(("timer", "signal"), [("ITIMER_PROF", "SIGPROF"), ("ITIMER_REAL", "SIGALRM")])
def test_signals_of_the_process_reach_the_users_thread(workshop: Workshop, timer: str, signal: str) -> None:
    program(workshop, TIMER.replace("TIMER", timer).replace("SIGNAL", signal))
    assert workshop.run("./after", environ=TWO) == "1 0 2\n"


INSIDE = """static volatile sig_atomic_t inside, seen;
static void tick(int) { seen = inside; }
int main() {
  sigset_t before, after;
  sigprocmask(SIG_BLOCK, 0, &before);
  sigaddset(&before, SIGUSR1);
  sigprocmask(SIG_SETMASK, &before, 0);
  signal(SIGALRM, tick);
  struct itimerval once = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &once, 0);
  inside = 1;
  mix(x, 4096, 60000);
  inside = 0;
  sigprocmask(SIG_BLOCK, 0, &after);
  int same = 1;
  for (int s = 1; s < 32; ++s) same &= sigismember(&before, s) == sigismember(&after, s);
  printf("%d %d %d\\n", (int)seen, same, last_team());
}
"""


def test_signal_is_not_held_back_until_the_region_ends(workshop: Workshop) -> None:
    program(workshop, INSIDE)
    assert workshop.run("./after", environ=TWO) == "1 1 2\n"


JUMP = """static sigjmp_buf back;
static void tick(int) { siglongjmp(back, 1); }
int main() {
  mix(x, 4096, 1);
  printf("%d ", last_team());
  signal(SIGALRM, tick);
  struct itimerval once = {{0, 0}, {0, 20000}};
  if (sigsetjmp(back, 1) == 0) {
    setitimer(ITIMER_REAL, &once, 0);
    mix(x, 4096, 100000);
    printf("late ");
  }
  printf("%d ", last_team());
  signal(SIGALRM, SIG_IGN);
  mix(x, 4096, 1);
  printf("%d\\n", last_team());
}
"""


def test_handler_that_could_jump_out_of_a_region(workshop: Workshop) -> None:
    program(workshop, JUMP)
    assert workshop.run("./after", environ=TWO) == "2 0 2\n"


PLUGIN = """#include <dlfcn.h>
static void tick(int) {}
int main() {
  signal(SIGUSR1, tick);
  mix(x, 4096, 1);
  printf("%d ", last_team());
  if (!dlopen("./jumps.so", RTLD_NOW)) return 2;
  mix(x, 4096, 1);
  printf("%d ", last_team());
  signal(SIGUSR1, SIG_DFL);
  mix(x, 4096, 1);
  printf("%d\\n", last_team());
}
"""


@pytest.mark.parametrize("hash", ["gnu", "sysv", "both"])
def test_module_that_can_jump_is_loaded_later(workshop: Workshop, hash: str) -> None:
    workshop.write("jumps.c", "#include <setjmp.h>\nsigjmp_buf back; void leave(int s) { siglongjmp(back, s); }\n")
    workshop.run("gcc", "-shared", "-fPIC", f"-Wl,--hash-style={hash}", "jumps.c", "-o", "jumps.so")
    program(workshop, PLUGIN)
    assert workshop.run("./after", environ=TWO) == "2 0 2\n"


EXIT = """static unsigned long sum() {
  unsigned long h = 0;
  for (int i = 0; i < 4096; ++i) h = h * 31 + ((volatile unsigned*)x)[i];
  return h;
}
static void tick(int) { exit(0); }
struct Watch {
  ~Watch() { unsigned long before = sum(); usleep(30000); printf("%d %d\\n", before == sum(), last_team()); }
} watch;
int main() {
  signal(SIGALRM, tick);
  struct itimerval once = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &once, 0);
  mix(x, 4096, 60000);
  puts("late");
}
"""


def test_exit_in_a_handler_waits_for_the_other_threads(workshop: Workshop) -> None:
    program(workshop, EXIT)
    assert workshop.run("./after", environ=TWO) == "1 2\n"


MEMORY = """int main() {
  FILE* file = fopen("/proc/self/statm", "r");
  long pages = 0;
  if (!file || fscanf(file, "%ld", &pages) != 1) return 2;
  fclose(file);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + (6 << 20);
  setrlimit(RLIMIT_AS, &limit);
  mix(x, 4096, 1);
  printf("%d ", last_team());
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
  for (int run = 0; run < 1100; ++run) mix(x, 4096, 1);
  printf("%d\\n", last_team());
}
"""


def test_no_memory_for_another_thread(workshop: Workshop) -> None:
    program(workshop, MEMORY)
    assert workshop.run("./after", environ=TWO) == "0 2\n"
    assert workshop.run("./after", environ={**TWO, "OMP_STACKSIZE": "256K"}) == "2 2\n"
    assert workshop.run("./after", environ={**TWO, "OMP_STACKSIZE": "16m"}) == "0 2\n"


PROCESSES = """int main() {
  struct rlimit limit;
  getrlimit(RLIMIT_NPROC, &limit);
  limit.rlim_cur = COUNT;
  setrlimit(RLIMIT_NPROC, &limit);
  if (getuid() == 0 && setuid(54321)) return 2;
  mix(x, 4096, 1);
  printf("%d\\n", last_team());
}
"""


def test_no_process_left_for_another_thread(workshop: Workshop) -> None:
    program(workshop, PROCESSES.replace("COUNT", "1"))
    assert workshop.run("./after", environ=TWO) == "0\n"


def test_just_enough_processes(workshop: Workshop) -> None:
    """A thread that was created to try counts no more when the library creates its own. Only root has a user without other processes."""
    program(workshop, PROCESSES.replace("COUNT", "2" if os.getuid() == 0 else "1"))
    for _ in range(10):
        assert workshop.run("./after", environ=TWO) == ("2\n" if os.getuid() == 0 else "0\n")


PRIVATE = """int main() { mix(x, 4096, 1); printf("%d\\n", last_team()); }
"""


def test_small_stacks(workshop: Workshop) -> None:
    program(workshop, PRIVATE)
    assert workshop.run("sh", "-c", "ulimit -s 64; ./after", environ=TWO) == "2\n"


def test_dynamic_teams_are_not_used(workshop: Workshop) -> None:
    """Their size differs from region to region, and threads would have to be tried each time."""
    program(workshop, PRIVATE)
    assert workshop.run("./after", environ={**TWO, "OMP_DYNAMIC": "true"}) == "0\n"

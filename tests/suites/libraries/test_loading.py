"""Libraries that come and go, several in one process, beside the user's own threads of every kind."""

from __future__ import annotations

import shutil

import pytest

from tests.suites.libraries.library_builds import TWO, Yard, declared

PLUGINS = """#include <cstdio>
#include <dlfcn.h>
#include <pthread.h>
static int x[1000];
int main() {
  int teams = 0, bad = 0;
  for (int turn = 0; turn < 1200; ++turn) {
    void *plugin = dlopen(turn % 2 ? "./one.so" : "./two.so", RTLD_NOW | RTLD_LOCAL);
    if (!plugin) { puts(dlerror()); return 1; }
    if (turn % 40 < 2 || turn > 1150) {
      for (int i = 0; i < 1000; ++i) x[i] = 0;
      ((void (*)(int *, int))dlsym(plugin, "scale"))(x, 1000);
      bad += x[999] != 999;
      teams += ((int (*)())dlsym(plugin, "scale_team"))() == 2;
    }
    if (dlclose(plugin)) { puts(dlerror()); return 1; }
  }
  int keys = 0;
  pthread_key_t key;
  while (keys < 900 && pthread_key_create(&key, nullptr) == 0) ++keys;
  printf("%d %d %d\\n", bad, teams, keys);
}
"""


def test_plug_in_is_loaded_and_closed_again_and_again(yard: Yard) -> None:
    """Also while the library's threads live; what a plug-in took from the process it gives back."""
    yard.rewritten("-fPIC")
    for name in ("one.so", "two.so"):
        yard.run("g++", "-shared", "scale-new.o", "-o", name)
    yard.program(PLUGINS)
    assert yard.run("./after", environ=TWO) == "0 107 900\n"


BUSY_PLUGIN = """#include <cstdio>
#include <dlfcn.h>
#include <thread>
static int work() {
  int x[1000] = {}, bad = 0;
  void *plugin = dlopen("./one.so", RTLD_NOW | RTLD_LOCAL);
  for (int turn = 0; turn < 20; ++turn) {
    for (int i = 0; i < 1000; ++i) x[i] = 0;
    ((void (*)(int *, int))dlsym(plugin, "scale"))(x, 1000);
    bad += x[999] != 999;
  }
  return bad + (dlclose(plugin) != 0);
}
int main() {
  int bad[4];
  for (int round = 0; round < 10; ++round) {
    std::thread threads[4];
    for (int t = 0; t < 4; ++t) threads[t] = std::thread([&bad, t] { bad[t] = work(); });
    for (int t = 0; t < 4; ++t) { threads[t].join(); if (bad[t]) return 1; }
  }
  puts("good");
}
"""


def test_plug_in_used_by_threads_that_end(yard: Yard) -> None:
    yard.rewritten("-fPIC")
    yard.run("g++", "-shared", "scale-new.o", "-o", "one.so")
    yard.program(BUSY_PLUGIN, "-pthread")
    assert yard.run("./after", environ=TWO) == "good\n"


SEVERAL = f"""#include <cstdio>
#include <dlfcn.h>
{declared("first")}{declared("second")}{declared("third")}
static int x[1000];
int main() {{
  void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
  void (*fourth)(int *, int) = (void (*)(int *, int))dlsym(plugin, "fourth");
  for (int turn = 0; turn < 5; ++turn) {{ first(x, 1000); second(x, 1000); third(x, 1000); fourth(x, 1000); }}
  OWN
  printf("%u %d %d %d %d\\n", (unsigned)x[7], first_team(), second_team(), third_team(), ((int (*)())dlsym(plugin, "fourth_team"))());
}}
"""
OWN_OPENMP = "int own = 0;\n#pragma omp parallel reduction(+ : own)\n  own += 1;\n  if (own != 2) return 1;\n"
CLANG = next((name for name in ("clang++", *(f"clang++-{n}" for n in range(25, 13, -1))) if shutil.which(name)), "clang++")
LIBOMP = f"-Wl,-rpath,/usr/lib/llvm-{CLANG.rpartition('-')[2]}/lib"


@pytest.mark.parametrize(
    ("compiler", "flags", "own"),
    [
        ("g++", (), ""),
        ("g++", ("-fopenmp",), OWN_OPENMP),
        (CLANG, (), ""),
        (CLANG, ("-fopenmp", LIBOMP), OWN_OPENMP),
        (CLANG, ("-fopenmp=libgomp",), ""),
    ],
    ids=["none", "libgomp", "clang", "libomp", "clang-libgomp"],
)
def test_several_libraries_beside_the_users_openmp(yard: Yard, compiler: str, flags: tuple[str, ...], own: str) -> None:
    for name in ("first", "second", "third", "fourth"):
        yard.rewritten("-fPIC", name=name)
    yard.run("g++", "-shared", "second-new.o", "-o", "libsecond.so")
    yard.run("ar", "rcs", "libthird.a", "third-new.o")
    yard.run("g++", "-shared", "fourth-new.o", "-o", "plugin.so")
    libraries = ("first-new.o", "-L.", "-lsecond", "libthird.a", "-Wl,-rpath,$ORIGIN")
    yard.program(SEVERAL.replace("OWN", own), *flags, *libraries, compiler=compiler)
    value = 0
    for _ in range(20):
        value = (value * 3 + 7) % 2**32
    assert yard.run("./after", environ=TWO) == f"{value} 2 2 2 2\n"


TBB = f"""#include <algorithm>
#include <cstdio>
#include <execution>
#include <vector>
#include <tbb/parallel_for.h>
{declared()}
int main() {{
  std::vector<std::vector<int>> rows(64, std::vector<int>(1000));
  tbb::parallel_for(0, 64, [&](int k) {{ scale(rows[k].data(), 1000); }});
  std::for_each(std::execution::par, rows.begin(), rows.end(), [](std::vector<int> &row) {{ scale(row.data(), 1000); }});
  int bad = 0;
  for (auto &row : rows) bad += row[999] != 3996;
  scale(rows[0].data(), 1000);
  printf("%d %d\\n", bad, scale_team());
}}
"""


def test_beside_threading_building_blocks(yard: Yard) -> None:
    yard.rewritten()
    yard.program(TBB, "-std=c++17", "-O1", "scale-new.o", "-ltbb")
    assert yard.run("./after", environ=TWO) == "0 2\n"


PTHREADS = f"""#include <pthread.h>
#include <stdio.h>
{declared()}
static int rows[6][1000];
static void *run(void *row) {{ int k; for (k = 0; k < 30; ++k) scale(row, 1000); return 0; }}
static int again(void) {{
  pthread_t threads[6];
  int k;
  for (k = 0; k < 6; ++k) if (pthread_create(&threads[k], 0, run, rows[k])) return 1;
  for (k = 0; k < 6; ++k) pthread_join(threads[k], 0);
  return 0;
}}
int main(void) {{
  int turn, k, bad = 0;
  for (turn = 0; turn < 10; ++turn) bad += again();
  for (k = 1; k < 6; ++k) bad += rows[k][999] != rows[0][999];
  printf("%d\\n", bad);
  pthread_exit(0);
}}
"""


def test_beside_pthreads_that_end_and_start_again(yard: Yard) -> None:
    yard.rewritten(suffix=".c")
    yard.program(PTHREADS, "scale-new.o", "-pthread", compiler="gcc", suffix=".c")
    assert yard.run("./after", environ=TWO) == "0\n"


def test_process_ends_in_a_thread_while_another_is_in_a_region(yard: Yard) -> None:
    yard.rewritten()
    body = f"""#include <cstdlib>
#include <thread>
{declared()}
int main() {{
  static int x[4][1000];
  std::thread([] {{ for (;;) scale(x[1], 1000); }}).detach();
  for (int k = 0; k < 200; ++k) scale(x[0], 1000);
  std::exit(x[0][0]);
}}
"""
    yard.program(body, "scale-new.o", "-pthread")
    for _ in range(10):
        yard.run("./after", environ=TWO)

"""Children of every kind after a parallel region: nothing hangs, and the results are the same."""

from __future__ import annotations

import sys
import sysconfig

import pytest

from tests.suites.libraries.library_builds import CALL, TWO, Yard, declared

HEAD = f"""#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
{declared()}{CALL}
extern char **environ;
static int team() {{ return work() == 999 ? scale_team() : -1; }}
static int ended(pid_t child) {{ int status; return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1; }}
"""
# name: (what the process does after its first region, what it prints behind "2 ")
WAYS = {
    "system": ('printf("%d ", WEXITSTATUS(system("./after child")));', "12 "),
    "popen": (
        'FILE *pipe = popen("./after child; echo $?", "r"); char line[9]; fgets(line, 9, pipe); pclose(pipe); printf("%d ", atoi(line));',
        "12 ",
    ),
    "posix_spawn": (
        'pid_t id; char *argv[] = {(char *)"after", (char *)"child", nullptr}; posix_spawn(&id, "./after", 0, 0, argv, environ);'
        'printf("%d ", ended(id));',
        "12 ",
    ),
    "vfork": (
        'pid_t id = vfork(); if (id == 0) { execl("./after", "after", "child", nullptr); _exit(1); } printf("%d ", ended(id));',
        "12 ",
    ),
    "fork and exec": (
        'pid_t id = fork(); if (id == 0) { team(); execl("./after", "after", "child", nullptr); _exit(1); } printf("%d ", ended(id));',
        "12 ",
    ),
    "fork and exit": ('pid_t id = fork(); if (id == 0) { team(); exit(5); } printf("%d ", ended(id));', "5 "),
    "forks in a row": (
        "int sum = 0; for (int k = 0; k < 8; ++k) { pid_t id = fork(); if (id == 0) { alarm(20); _exit(10 + team()); }"
        "sum += ended(id); team(); }"
        'printf("%d ", sum);',
        "80 ",
    ),
    "fork in a child": (
        "pid_t id = fork(); if (id == 0) { alarm(20); team(); pid_t next = fork(); if (next == 0) { alarm(20); _exit(20 + team()); }"
        '_exit(ended(next)); } printf("%d ", ended(id));',
        "20 ",
    ),
    "killed": ('pid_t id = fork(); if (id == 0) { team(); raise(SIGKILL); } printf("%d ", ended(id));', "-1 "),
}
MAIN = """int main(int count, char **) {
  alarm(60);
  if (count > 1) return 10 + team();
  printf("%d ", team());
  fflush(stdout);
  BODY
  printf("%d\\n", team());
}
"""


@pytest.mark.parametrize("way", WAYS)
def test_children(yard: Yard, way: str) -> None:
    body, shown = WAYS[way]
    yard.rewritten()
    yard.program(HEAD + MAIN.replace("BODY", body), "scale-new.o")
    assert yard.run("./after", environ=TWO) == f"2 {shown}2\n"


def test_daemon(yard: Yard) -> None:
    """daemon(3) forks and goes on in the child, alone."""
    yard.rewritten()
    body = """int main() {
  int before = team();
  int told[2], result[2];
  if (pipe(told)) return 1;
  pid_t watcher = fork();
  if (watcher == 0) {
    alarm(30);
    if (daemon(1, 1)) _exit(1);
    alarm(30);
    result[0] = team(), result[1] = x[999];
    write(told[1], result, sizeof result);
    _exit(0);
  }
  close(told[1]);
  ssize_t got = read(told[0], result, sizeof result);
  printf("%d %d %d %d\\n", before, (int)got, result[0], result[1]);
}
"""
    yard.program(HEAD + body, "scale-new.o")
    assert yard.run("./after", environ=TWO) == "2 8 0 999\n"


def test_program_executes_itself(yard: Yard) -> None:
    """exec keeps the process's number, and a new image may use threads again, except in a process that was forked to begin with."""
    yard.rewritten()
    body = "int main(int count, char **) { int now = team(); if (count < 4) {\n"
    body += 'const char *words[5] = {"after", "a", "b", "c", nullptr}; words[count + 1] = nullptr; printf("%d ", now); fflush(stdout);\n'
    body += 'execv("/proc/self/exe", (char **)words); } printf("%d\\n", now); }\n'
    yard.program(HEAD + body, "scale-new.o")
    assert yard.run("./after", environ=TWO) == "2 2 2 2\n"


def test_fork_from_another_thread_and_handlers_of_fork(yard: Yard) -> None:
    yard.rewritten()
    body = """#include <pthread.h>
static int shown;
static void before() { team(); }
static void *run(void *) {
  pid_t id = fork();
  if (id == 0) { alarm(20); _exit(30 + team()); }
  shown = ended(id);
  return nullptr;
}
int main() {
  team();
  pthread_atfork(before, before, before);
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  pthread_join(thread, nullptr);
  printf("%d %d\\n", shown, team());
}
"""
    yard.program(HEAD + body, "scale-new.o", "-pthread")
    assert yard.run("./after", environ=TWO) == "30 2\n"


MODULE = f"""#define PY_SSIZE_T_CLEAN
#include <Python.h>
{declared()}
static int data[1000];
static PyObject *run(PyObject *self, PyObject *none) {{
  int i;
  for (i = 0; i < 1000; ++i) data[i] = 0;
  scale(data, 1000);
  return Py_BuildValue("(ii)", data[999], scale_team());
}}
static PyMethodDef methods[] = {{{{"run", run, METH_NOARGS, ""}}, {{0, 0, 0, 0}}}};
static struct PyModuleDef module = {{PyModuleDef_HEAD_INIT, "NAME", "", -1, methods}};
PyMODINIT_FUNC PyInit_NAME(void) {{ return PyModule_Create(&module); }}
"""
SCRIPT = """import multiprocessing, os, signal, subprocess, sys, threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
signal.alarm(120)
import one, two
def both(_): return one.run(), two.run()
if __name__ == "__main__":
    assert both(0) == ((999, 2), (999, 2)), both(0)
    with ThreadPoolExecutor(4) as pool:
        assert {value for pair in pool.map(both, range(20)) for value, _ in pair} == {999}
    for method in ("fork", "forkserver", "spawn"):
        with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
            found = list(pool.map(both, range(4)))
        assert {value for pair in found for value, _ in pair} == {999}, found
        if method == "fork":
            assert {team for pair in found for _, team in pair} == {0}, found
    child = os.fork()
    if child == 0:
        os._exit(one.run()[0] - 990)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert subprocess.run([sys.executable, "-c", "import one; print(one.run())"], capture_output=True, text=True).stdout == "(999, 2)\\n"
    assert both(0) == ((999, 2), (999, 2))
    print("good")
"""


def test_python_extensions(yard: Yard) -> None:
    """Two modules with rewritten objects: threads, every way to start workers, fork, and the parent goes on afterwards."""
    yard.rewritten("-fPIC", suffix=".c")
    for name in ("one", "two"):
        yard.write(f"{name}.c", MODULE.replace("NAME", name))
        yard.run("gcc", "-O2", "-fPIC", f"-I{sysconfig.get_paths()['include']}", "-c", f"{name}.c")
        yard.run("gcc", "-shared", f"{name}.o", "scale-new.o", "-o", f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}")
    yard.write("script.py", SCRIPT)
    assert yard.run(sys.executable, "script.py", environ=TWO, timeout=150) == "good\n"

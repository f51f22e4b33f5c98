"""Threads that wait for the next region go to sleep soon, which the user's own settings override and nobody else sees."""

from __future__ import annotations

import pytest

from tests.suites.libraries.library_builds import CALL, TWO, Yard, declared

PROGRAM = f"""#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
extern char **environ;
{declared()}{CALL}
int main(int count, char **) {{
  if (count > 1) std::thread([] {{}}).join();
  char **before = environ;
  int variables = 0, same = 1;
  while (environ[variables]) ++variables;
  int sum = work();
  for (int k = 0; k < variables; ++k) same &= environ[k] != nullptr;
  same &= environ == before && environ[variables] == nullptr;
  printf("%d %d %d\\n", sum, scale_team(), same);
}}
"""


@pytest.mark.parametrize(
    ("link", "words", "environ", "count"),
    [
        ((), (), {}, "1000"),
        ((), (), {"GOMP_SPINCOUNT": "77"}, "77"),
        ((), (), {"OMP_WAIT_POLICY": "active"}, "30000000000"),
        ((), (), {"OMP_WAIT_POLICY": "passive"}, "0"),
        ((), ("threads",), {}, "300000"),
        (("-fopenmp", "-Wl,--no-as-needed"), (), {}, "300000"),
    ],
    ids=["default", "user's count", "active", "passive", "threads", "user's library"],
)
def test_how_long_threads_spin(yard: Yard, link: tuple[str, ...], words: tuple[str, ...], environ: dict[str, str], count: str) -> None:
    """The library itself says what it read; the program finds its environment as it was."""
    yard.rewritten()
    yard.program(PROGRAM, "scale-new.o", "-pthread", *link)
    shown = yard.run("sh", "-c", f"./after {' '.join(words)} 2>&1", environ={**TWO, **environ, "OMP_DISPLAY_ENV": "verbose"})
    assert f"GOMP_SPINCOUNT = '{count}'" in shown
    assert "999 2 1" in shown.splitlines()


def test_an_environment_that_is_not_there(yard: Yard) -> None:
    yard.rewritten()
    main = 'int main() { clearenv(); int r = work(); printf("%d %d %d\\n", r, scale_team(), environ == 0); }\n'
    yard.program(PROGRAM.partition("int main(int count")[0] + main, "scale-new.o")
    shown = yard.run("./after", environ=TWO).split()
    assert shown[0] == "999"
    assert shown[2] == "1"

"""Really rewritten objects, made by emission with fixed replacements, for libraries of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from perfcc.cc.emit import Emitted
from tests.suites.emit.emit_workshop import Workshop, guarded

TWO = {"OMP_NUM_THREADS": "2"}
_KERNEL = """for (i = 0; i < n; ++i) {
    x[i] = x[i] * 3 + i;
  }"""
_FAST = """#pragma omp parallel for schedule(static)
  for (i = 0; i < n; ++i) {
    if (i == 0) team = __builtin_omp_get_num_threads();
    x[i] = x[i] * 3 + i;
  }"""
_SOURCE = f"""
#ifdef __cplusplus
extern "C" {{
#endif
#pragma GCC visibility push(default)
static int team = 0;
void NAME(int* x, int n) {{
  int i;
  team = 0;
  {_KERNEL}
}}
int NAME_team(void) {{ return team; }}
#pragma GCC visibility pop
int NAME_inner(void) {{ return 1; }}
#ifdef __cplusplus
}}
#endif
"""
_DECLARED = """#ifdef __cplusplus
extern "C" {
#endif
int NAME_team(void);
void NAME(int*, int);
#ifdef __cplusplus
}
#endif
"""
# One call of 1000 elements, all 0: the last becomes 999.
CALL = "static int x[1000];\nstatic int work(void) { int i; for (i = 0; i < 1000; ++i) x[i] = 0; scale(x, 1000); return x[999]; }\n"


def declared(name: str = "scale") -> str:
    return _DECLARED.replace("NAME", name)


@dataclass
class Yard(Workshop):
    """``original`` and ``rewritten`` give objects of the same source: ``NAME(x, n)`` scales, ``NAME_team()`` gives the last team's size."""

    def rewritten(self, *flags: str, name: str = "scale", suffix: str = ".cpp") -> Path:
        """The rewritten object; the original's stands beside it as ``NAME.o``."""
        self.write(name + suffix, _SOURCE.replace("NAME", name))
        compiler = "gcc" if suffix == ".c" else "g++"
        emitted = self.emit(self.invocation(name + suffix, "-O2", *flags, compiler=compiler), [(_KERNEL, guarded(_KERNEL, _FAST))])
        assert isinstance(emitted, Emitted), emitted
        target = self.root / f"{name}-new.o"
        target.write_bytes(emitted.object_path.read_bytes())
        return target

    def program(self, body: str, *link: str, name: str = "after", compiler: str = "g++", suffix: str = ".cpp") -> None:
        """A program that is linked with what ``link`` says."""
        self.write("main" + suffix, body)
        self.run(compiler, "main" + suffix, *link, "-o", name)

    def needed(self, binary: str) -> list[str]:
        """The libraries that the dynamic linker must find for it."""
        lines = self.run("readelf", "-d", binary).splitlines()
        return sorted(line.rpartition("[")[2].rstrip("]") for line in lines if "NEEDED" in line)

    def exported(self, library: str) -> list[str]:
        return sorted(line.split()[-1] for line in self.run("nm", "-D", "--defined-only", library).splitlines())

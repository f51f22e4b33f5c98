"""Run-time text that is put at the top of a rewritten unit."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

GUARD = "perfcc_guard.h"
OPENMP = "perfcc_openmp.h"
SPIN_COUNT = "1000"
"""How often a waiting thread of the library looks before it sleeps, where perfcc_openmp.h loads the library."""


@cache
def text(name: str) -> str:
    """The header's text. Raises FileNotFoundError for a name that is not installed."""
    return files(__name__).joinpath(name).read_text("utf-8")


@cache
def shims() -> frozenset[str]:
    """The functions of the OpenMP run-time that ``perfcc_openmp.h`` can stand in for."""
    import re

    source = text(OPENMP)
    found: set[str] = set(re.findall(r"^PERFCC_RT_(?:PLAIN|QUERY)\((\w+)", source, re.M))
    for kind in re.findall(r"^PERFCC_RT_PARALLEL_LOOP(?:_RUNTIME)?\((\w+)\)", source, re.M):
        found.add(f"GOMP_parallel_loop_{kind}")
    for phase, kind in re.findall(r"^PERFCC_RT_(NEXT|START)(?:_RUNTIME)?\((\w+)\)", source, re.M):
        found.update(f"GOMP_loop_{width}{kind}_{phase.lower()}" for width in ("", "ull_"))
    found.update(re.findall(r"^PERFCC_RT_SHIM [\w ]+ perfcc_rt_(\w+)\(", source, re.M))
    return frozenset(found)

"""Runs the iterations of a loop on a team of threads.

Before::

    for (int i = 0; i < n; i++)
        y[i] = a * x[i];

After (under a guard that ``x`` and ``y`` do not overlap and that ``n`` is worth it)::

    #pragma omp parallel for schedule(static)
    for (int i = 0; i < n; ++i) {
        y[i] = a * x[i];
    }

Every iteration computes what it computed before, on the same operands: only the order between iterations goes, and the proof is that no
iteration reads or overwrites what another one writes. Scalars that an iteration sets before it reads them get a copy for each thread; errno
and the floating-point flags that threads raise are handed to the calling thread.
"""

from __future__ import annotations

from collections.abc import Iterable

from perfcc.core.candidate import Parameters
from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Legal, Refusal
from perfcc.core.protocols import Match
from perfcc.rules import threads

PHASE = 90
ID = "parallel-loop"


def match(kernel: Kernel, nest: Loop, facts: Facts) -> Iterable[Match]:
    """Loops without reductions, outermost first: ``integer-reduction`` has the others."""
    return (m for m in threads.places(ID, nest, facts) if not any(facts.loop(id).reductions for id in m.band))


def parameters(match: Match, facts: Facts) -> Iterable[Parameters]:
    return threads.schedules(match, facts)


def legal(match: Match, facts: Facts) -> Legal | Refusal:
    return threads.prove(match, facts, "no iteration reads or overwrites what another iteration writes")


def rewrite(kernel: Kernel, match: Match, proof: Legal, parameters: Parameters) -> Loop:
    return threads.annotate(kernel, match, proof, parameters)

"""Dependence, alias and effect analysis of loop nests: ``analyse`` turns a nest into Facts."""

from __future__ import annotations

from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel
from perfcc.core.unit import Semantics


def analyse(kernel: Kernel, nest: Loop, semantics: Semantics) -> Facts:
    """All that is known about ``nest``, which is the kernel's own or one that rules have made of it.

    Whatever is unknown is over-approximated or blocks; nothing is assumed. A nest that is too large gets ``analysis-budget`` as the
    blocker of each loop.
    """
    from perfcc.analysis.nest import analyse as run

    return run(kernel, nest, semantics)

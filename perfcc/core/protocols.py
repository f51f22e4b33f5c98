"""The seams: what a rule, a proposer and a stage of the cascade must offer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from perfcc.core.candidate import Candidate, Parameters
from perfcc.core.decision import Evidence, Verdict
from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Legal, Refusal
from perfcc.core.reason import Reason


@dataclass(frozen=True, slots=True)
class Match:
    """A place where a rule could apply: the loop (or the band it heads) in the nest as it now stands."""

    rule: str
    nest: Loop
    loop: str
    band: tuple[str, ...] = ()


class Rule(Protocol):
    """One rule = one module of ``perfcc.rules.catalogue`` with these functions, beside its room ``rules/<id>/``.

    An optional integer ``PHASE`` says where it stands in a sequence: steps are in ascending phase.
    """

    def match(self, kernel: Kernel, nest: Loop, facts: Facts) -> Iterable[Match]: ...

    def parameters(self, match: Match, facts: Facts) -> Iterable[Parameters]: ...

    def legal(self, match: Match, facts: Facts) -> Legal | Refusal: ...

    def rewrite(self, kernel: Kernel, match: Match, proof: Legal, parameters: Parameters) -> Loop: ...


class Proposer(Protocol):
    """Offers candidates, best first. A model that fails offers none."""

    def propose(self, kernel: Kernel, facts: Facts, tried: tuple[Verdict, ...]) -> Iterable[Candidate]: ...


class Judge(Protocol):
    """The verifier as the search sees it: one verdict a candidate; Reason when no candidate of this kernel can be judged."""

    def prepare(self) -> Reason | None: ...

    def judge(self, candidate: Candidate) -> Verdict: ...

    def evidence(self) -> tuple[Evidence, ...]: ...


@runtime_checkable
class Refuses(Protocol):
    """A proposer that can tell why it offers nothing: the refusals of the rules it asked, each with the loop it was asked about."""

    def refusals(self, kernel: Kernel, facts: Facts) -> tuple[tuple[str, Refusal], ...]: ...

"""Applies rules to a nest, one proved step at a time, and makes a Candidate of what comes out.

Every step is proved on the facts of the nest as it stands before that step, so a sequence of steps is legal when each of them is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from perfcc.core.candidate import Candidate, Parameters, Step
from perfcc.core.facts import Facts, Obligation
from perfcc.core.ir import Expr, Loop, Parallel, loops
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Refusal
from perfcc.core.protocols import Match
from perfcc.core.reason import Reason
from perfcc.rules.discovery import THREADS, category, phase, rules
from perfcc.rules.guard import guard, test
from perfcc.rules.printer import print_nest
from perfcc.rules.replacement import duplicable
from perfcc.rules.tree import find, path

Analyse = Callable[[Kernel, Loop], Facts]
"""The analysis of a nest that may differ from the kernel's own: ``perfcc.analysis.analyse`` with the unit's semantics filled in."""


@dataclass(frozen=True, slots=True)
class State:
    """A nest under way: what has been done to it, what its guard must test, and the facts of it as it stands."""

    kernel: Kernel
    nest: Loop
    facts: Facts
    original_facts: Facts
    steps: tuple[Step, ...] = ()
    obligations: tuple[Obligation, ...] = ()
    touched: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """True when a step has handed a loop to threads: what comes after may only do the same to loops beside it."""
        return any(loop.annotations for loop in loops(self.nest))


def start(kernel: Kernel, facts: Facts) -> State | Refusal:
    """The kernel as the user wrote it. Refused when its text can't stand twice in the unit."""
    if kernel.nest is None:
        return Refusal("", kernel.refusal or Reason("no-rule", kernel.span))
    reason = duplicable(kernel)
    if reason is not None:
        return Refusal("", reason)
    return State(kernel, kernel.nest, facts, facts)


def matches(state: State, rule: str) -> tuple[Match, ...]:
    """The places where the rule could apply, the most promising first."""
    found = tuple(rules()[rule].match(state.kernel, state.nest, state.facts))
    if not state.finished:
        return found
    if phase(rules()[rule]) < THREADS:
        return ()
    threaded = {loop.id for loop in loops(state.nest) if loop.annotations}
    return tuple(m for m in found if not threaded & _related(state.nest, m.loop))


def apply(state: State, match: Match, parameters: Parameters, analyse: Analyse) -> State | Refusal:
    """One step: prove, rewrite, and analyse again what came out; handing a loop to threads changes nothing about the loops beside it."""
    rule = rules()[match.rule]
    proof = rule.legal(match, state.facts)
    if isinstance(proof, Refusal):
        return proof
    untestable = next((o for o in proof.obligations if test(o) in (None, "0")), None)
    if untestable is not None:
        return Refusal(match.rule, _untestable(untestable, state.kernel))
    nest = rule.rewrite(state.kernel, match, proof, parameters)
    step = Step(match.rule, match.loop, parameters, proof.argument, category(match.rule))
    after = replace(
        state,
        nest=nest,
        steps=(*state.steps, step),
        obligations=_union(state.obligations, proof.obligations),
        touched=(*state.touched, match.loop),
    )
    return after if after.finished else replace(after, facts=analyse(state.kernel, nest))


def candidate(state: State, proposer: str = "rules") -> Candidate:
    """The candidate this state stands for. Its steps must not be empty."""
    condition = guard(state.obligations)
    assert state.steps
    assert condition is not None, "every step's obligations were tested when it was applied"
    return Candidate(
        kernel=state.kernel.id,
        steps=state.steps,
        nest=state.nest,
        fast=print_nest(state.kernel, state.nest),
        guard=condition,
        work=work(state),
        obligations=state.obligations,
        threads=any(isinstance(a, Parallel) for loop in loops(state.nest) for a in loop.annotations),
        proposer=proposer,
    )


def work(state: State) -> Expr | None:
    """The size of one run: innermost iterations of the loop the rewrite starts at, or the nearest thing that is known at entry."""
    threaded = [loop.id for loop in loops(state.nest) if loop.annotations and not loop.id.endswith(".tile")]
    chosen = [f for id in threaded for f in state.facts.loops if f.loop == id]
    chosen += [f for id in state.touched for f in state.original_facts.loops if f.loop == id]
    for facts in (*chosen, *state.original_facts.loops[:1]):
        for size in (facts.work, facts.trip_count):
            if size is not None:
                return size
    return None


def _related(nest: Loop, id: str) -> set[str]:
    """The loop, the loops around it and the loops inside it."""
    return {loop.id for loop in (*path(nest, id), *loops(find(nest, id)))}


def _union(left: tuple[Obligation, ...], right: tuple[Obligation, ...]) -> tuple[Obligation, ...]:
    return tuple(dict.fromkeys((*left, *right)))


def _untestable(obligation: Obligation, kernel: Kernel) -> Reason:
    kind = type(obligation).__name__
    id = {"NoOverlap": "possible-overlap", "Untouched": "possible-overlap", "NoWrap": "subscript-wrap"}.get(kind, "bound-not-checkable")
    return Reason(id, kernel.span, "its guard can't be computed")

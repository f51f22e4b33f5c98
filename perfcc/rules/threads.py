"""What the rules that hand a loop to threads share."""

from __future__ import annotations

from dataclasses import replace

from perfcc.core.candidate import Parameters
from perfcc.core.facts import Facts, LoopFacts, Obligation
from perfcc.core.ir import Loop, Parallel, loops
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Legal, Refusal
from perfcc.core.protocols import Match
from perfcc.core.reason import Reason
from perfcc.core.types import Scope, Variable
from perfcc.rules.bounds import fresh, rectangular, runs
from perfcc.rules.region import is_ours
from perfcc.rules.tree import band, exchange, find, undeclared_loop_variables


def places(rule: str, nest: Loop, facts: Facts) -> tuple[Match, ...]:
    """The loops of the nest, outermost first; each is offered as a band of two as well with the loop inside it where bounds allow."""
    found: list[Match] = []
    for loop in loops(nest):
        found.append(Match(rule, nest, loop.id, (loop.id,)))
        pair = band(loop)[:2]
        if len(pair) == 2 and rectangular(pair, nest) and not facts.loop(loop.id).uneven:
            found.append(Match(rule, nest, loop.id, tuple(member.id for member in pair)))
    return tuple(found)


def schedules(match: Match, facts: Facts) -> tuple[Parameters, ...]:
    """Schedules to try, the likeliest first: uneven iterations want to be handed out in small lots."""
    if len(match.band) > 1:
        return ((("collapse", len(match.band)), ("schedule", "static")),)
    uneven = facts.loop(match.loop).uneven
    return tuple((("schedule", s),) for s in (("dynamic,1", "guided", "static,1", "dynamic,8") if uneven else ("static", "dynamic,8")))


def prove(match: Match, facts: Facts, argument: str) -> Legal | Refusal:
    """Every loop of the band may run in any order and at once, and its header can be made anew."""
    members = [find(match.nest, id) for id in match.band]
    obligations: list[Obligation] = []
    for member in members:
        own = facts.loop(member.id)
        reason = _blocker(member, own)
        if reason is not None:
            return Refusal(match.rule, reason)
        header = fresh(member, match.nest)
        if isinstance(header, Reason):
            return Refusal(match.rule, header)
        obligations += (*own.obligations, *header[1])
    obligations += [runs(outer) for outer in members[:-1]]
    return Legal(match.rule, argument, tuple(dict.fromkeys(obligations)), facts.loop(match.loop))


def annotate(kernel: Kernel, match: Match, proof: Legal, parameters: Parameters) -> Loop:
    """The nest with the band under one Parallel annotation."""
    facts = proof.facts
    assert facts is not None
    assert proof.rule == match.rule
    values = dict(parameters)
    new: Loop | None = None
    for id in reversed(match.band):
        member = find(match.nest, id)
        made = fresh(member if new is None else exchange(member, new.id, new), match.nest)
        assert not isinstance(made, Reason), "the proof covers the header"
        new = made[0]
    assert new is not None
    annotation = Parallel(
        schedule=str(values["schedule"]),
        collapse=len(match.band),
        private=tuple(v for v in facts.private if not is_ours(v)),
        lastprivate=tuple(v for v in dict.fromkeys((*facts.lastprivate, *_kept_loop_variables(kernel, new, facts))) if not is_ours(v)),
        reductions=facts.reductions,
        errno_values=facts.errno_values,
        floating_point=facts.floating_point,
    )
    return exchange(match.nest, match.loop, replace(new, annotations=(annotation,)))


def _blocker(loop: Loop, facts: LoopFacts) -> Reason | None:
    """What stops the iterations from running at once: the analysis's first blocker, or variables that no clause can name."""
    if facts.blockers:
        return facts.blockers[0]
    for var in (*facts.private, *facts.lastprivate):
        if var.scope is Scope.MEMBER:
            return Reason("scalar-carried", loop.span or var.span, f"member {var.name}")
    if len(facts.errno_values) > 1:
        return Reason("errno-order", loop.span)
    return None


def _kept_loop_variables(kernel: Kernel, loop: Loop, facts: LoopFacts) -> tuple[Variable, ...]:
    """Variables of inner loops, declared outside the nest, whose last value someone may read."""
    private = {v.id for v in facts.private} | set(kernel.dead_after)
    return tuple(v for v in undeclared_loop_variables(loop.body) if v.id not in private and not is_ours(v))

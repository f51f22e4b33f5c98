"""Candidates from the rules: legal sequences of steps, ordered by a small cost model, then variations of what won.

The model is meant to be read: time is the cache lines an innermost iteration takes (halved when the nest is cut into blocks), plus one for
computing, divided by the threads that share it, plus a tenth for each loop outside the parallel one, since a region is entered every time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from perfcc.core.candidate import Candidate, Parameters, Step
from perfcc.core.decision import Accepted, Rejected, Verdict
from perfcc.core.facts import Facts
from perfcc.core.ir import loops
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Refusal
from perfcc.core.protocols import Match
from perfcc.core.reason import Reason
from perfcc.rules.discovery import rules
from perfcc.rules.engine import Analyse, State, apply, candidate, matches, start
from perfcc.rules.order import cost
from perfcc.rules.tree import path
from perfcc.verify.evaluate import Environment, evaluate

STATES = 48
"""Most sequences that are looked at for one kernel."""
FIRST = 6
"""Candidates of a generation."""
PLAUSIBLE = 1.5
"""How much dearer by the model than an accepted candidate another may be and still be tried."""
LEAST_WORK = 1000
"""Innermost iterations below which neither threads nor another order of loops can gain a tenth."""
_PLACES = 4
"""Places at which one rule is applied to one state."""


class FromRules:
    """The proposer of rule sequences. ``rules_off``: ids of rules it must not use; ``threads``: the team of a region (0: the machine's)."""

    def __init__(self, analyse: Analyse, rules_off: tuple[str, ...] = (), threads: int = 0) -> None:
        self._analyse = analyse
        self._rules = tuple(id for id in rules() if id not in rules_off)
        self._threads = threads or os.cpu_count() or 1
        self._found: dict[tuple[str, int], tuple[tuple[float, Candidate], ...]] = {}

    def propose(self, kernel: Kernel, facts: Facts, tried: tuple[Verdict, ...]) -> Iterable[Candidate]:
        """Generation 0: the best sequences by the model. Later: variations of the fastest, then untried sequences."""
        ranked = self._sequences(kernel, facts)
        if not tried:
            return tuple(found for _, found in ranked[:FIRST])
        costs = {found.fast: cost for cost, found in ranked}
        least = min((costs[v.candidate.fast] for v in tried if isinstance(v, Accepted) and v.candidate.fast in costs), default=None)
        worthy = (found for cost, found in ranked if least is None or cost <= PLAUSIBLE * least)
        seen = {verdict.candidate.fast for verdict in tried}
        return tuple(_distinct((*self._variations(kernel, facts, tried), *worthy), seen))[:FIRST]

    def refusals(self, kernel: Kernel, facts: Facts) -> tuple[tuple[str, Refusal], ...]:
        """What each rule said no to on the nest as it stands, outermost loops first."""
        state = start(kernel, facts)
        if isinstance(state, Refusal):
            return (("", state),)
        found: list[tuple[str, Refusal]] = []
        if self._offered_too_little(kernel, facts):
            words = f"less than {LEAST_WORK} iterations, whatever the input"
            return (("", Refusal("", Reason("too-little-work", kernel.span, words))),)
        for id in self._rules:
            for match in matches(state, id):
                proof = rules()[id].legal(match, facts)
                if isinstance(proof, Refusal):
                    found.append((match.loop, proof))
        return tuple(dict.fromkeys(found))

    def _sequences(self, kernel: Kernel, facts: Facts) -> tuple[tuple[float, Candidate], ...]:
        """By estimated time, least first, without those whose work is known to be too little to gain anything."""
        return tuple((cost, found) for cost, found in self._ranked(kernel, facts) if not _too_little(found))

    def _offered_too_little(self, kernel: Kernel, facts: Facts) -> bool:
        ranked = self._ranked(kernel, facts)
        return bool(ranked) and all(_too_little(found) for _, found in ranked)

    def _ranked(self, kernel: Kernel, facts: Facts) -> tuple[tuple[float, Candidate], ...]:
        key = (kernel.id, kernel.span.begin)
        if key not in self._found:
            ranked = sorted(((self._cost(state), state) for state in self._states(kernel, facts)), key=lambda pair: pair[0])
            first: dict[str, tuple[float, Candidate]] = {}
            for (cost, *_), state in ranked:
                found = candidate(state)
                first.setdefault(found.fast, (cost, found))
            self._found[key] = tuple(first.values())
        return self._found[key]

    def _states(self, kernel: Kernel, facts: Facts) -> list[State]:
        """Every sequence of distinct rules in their order, each at its first legal places with its first parameters."""
        first = start(kernel, facts)
        if isinstance(first, Refusal):
            return []
        found = [first]
        for id in self._rules:
            for state in tuple(found):
                for after in self._steps(state, id):
                    if len(found) > STATES:
                        return found[1:]
                    found.append(after)
        return found[1:]

    def _steps(self, state: State, id: str) -> Iterator[State]:
        applied = 0
        for match in matches(state, id):
            parameters = next(iter(rules()[id].parameters(match, state.facts)), None)
            if parameters is None or applied == _PLACES:
                continue
            after = apply(state, match, parameters, self._analyse)
            if not isinstance(after, State):
                continue
            applied += 1
            if not after.finished:
                yield after
                continue
            if (everywhere := self._everywhere(after)) is not after:
                yield everywhere
            yield after
            return  # threads start as far out as they may

    def _everywhere(self, state: State) -> State:
        """The state with every other loop that may be handed to threads handed to them as well, as far out as they may start."""
        for id in self._rules:
            for match in matches(state, id):
                parameters = next(iter(rules()[id].parameters(match, state.facts)), None)
                after = apply(state, match, parameters, self._analyse) if parameters is not None else None
                if isinstance(after, State):
                    return self._everywhere(after)
        return state

    def _cost(self, state: State) -> tuple[float, int, int]:
        """Estimated time of an innermost iteration; where that is equal, more parallel loops first, then fewer steps."""
        deepest = max(state.facts.loops, key=lambda f: f.depth)
        lines = cost(state.facts, (deepest.loop,))[0]
        blocked = any(loop.id.endswith(".tile") for loop in loops(state.nest))
        time = 1 + lines / (2 if blocked else 1)
        threaded = [loop.id for loop in loops(state.nest) if loop.annotations]
        if threaded:
            outside = len(path(state.nest, threaded[0])) - 1
            time = time / self._threads * (1 + 0.1 * outside)
        return time, -len(threaded), len(state.steps)

    def _variations(self, kernel: Kernel, facts: Facts, tried: tuple[Verdict, ...]) -> Iterator[Candidate]:
        """The fastest accepted candidate, or the first that was right but slow, with one step's parameters exchanged."""
        accepted = [verdict for verdict in tried if isinstance(verdict, Accepted)]
        slow = [verdict for verdict in tried if isinstance(verdict, Rejected) and verdict.reason.id == "not-faster"]
        if not accepted and not slow:
            return
        best = max(accepted, key=lambda verdict: verdict.speedup).candidate if accepted else slow[0].candidate
        for position, step in enumerate(best.steps):
            before = self._replay(kernel, facts, best.steps[:position])
            if before is None:
                continue
            for match, parameters in self._choices(before, step):
                if parameters == step.parameters:
                    continue
                state = apply(before, match, parameters, self._analyse)
                after = self._replay_from(state, best.steps[position + 1 :]) if isinstance(state, State) else None
                if after is not None:
                    yield candidate(after)

    def _choices(self, state: State, step: Step) -> Iterator[tuple[Match, Parameters]]:
        for match in matches(state, step.rule):
            if match.loop == step.loop:
                for parameters in rules()[step.rule].parameters(match, state.facts):
                    yield match, parameters

    def _replay(self, kernel: Kernel, facts: Facts, steps: tuple[Step, ...]) -> State | None:
        state = start(kernel, facts)
        return None if isinstance(state, Refusal) else self._replay_from(state, steps)

    def _replay_from(self, state: State, steps: tuple[Step, ...]) -> State | None:
        for step in steps:
            choice = next((c for c in self._choices(state, step) if c[1] == step.parameters), None)
            after = apply(state, choice[0], choice[1], self._analyse) if choice is not None else None
            if not isinstance(after, State):
                return None
            state = after
        return state


def _too_little(found: Candidate) -> bool:
    """True when the work of the loop it starts at is a constant, and a small one."""
    if found.work is None:
        return False
    value = evaluate(found.work, Environment())
    return value is not None and value < LEAST_WORK


def _distinct(candidates: Iterable[Candidate], seen: set[str]) -> Iterator[Candidate]:
    """Those whose text is new."""
    for found in candidates:
        if found.fast not in seen:
            seen.add(found.fast)
            yield found

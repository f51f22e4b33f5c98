"""Kernel -> Decision: from the store, or by analysis and search."""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from dataclasses import replace
from pathlib import Path

from perfcc import __version__
from perfcc.cc.compiler import CompilerInfo
from perfcc.cc.flags import decisive
from perfcc.core.decision import Accepted, Decision, Status
from perfcc.core.disturbance import heed_error
from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel, ParsedUnit
from perfcc.core.reason import Reason
from perfcc.core.unit import Semantics, TranslationUnit
from perfcc.pipeline.request import Context
from perfcc.store.key import cpu_label, decision_key

TURN_SECONDS = 0.05
"""How often a process that waits for another one's search looks again."""


def decide_kernels(parsed: ParsedUnit, unit: TranslationUnit, info: CompilerInfo, context: Context) -> tuple[Decision, ...]:
    """One decision a kernel, in source order; the hottest are searched first, until the unit's budget is spent.

    A kernel that another process is just searching (units share headers) comes last: by then that process may have decided it.
    """
    deadline = time.monotonic() + context.settings.budget
    decided: dict[int, Decision] = {}
    order = sorted(range(len(parsed.kernels)), key=lambda index: -parsed.kernels[index].hotness.score)
    for patient in (False, True):
        # The other process stops when its own budget is spent.
        until = time.monotonic() + context.settings.budget if patient else 0.0
        for index in [index for index in order if index not in decided]:
            kernel = parsed.kernels[index]
            number = len(decided) + 1
            context.tell(f"perfcc: {os.path.basename(unit.invocation.source)}: kernel {number} of {len(order)}, {kernel.function}")
            try:
                decision = decide_kernel(kernel, parsed, unit, info, context, deadline, until)
            except Exception as error:
                heed_error(error)
                traceback.print_exc()
                decision = left_alone(kernel, Reason("internal-error", kernel.span))
            if decision is not None:
                decided[index] = decision
    return tuple(decided[index] for index in range(len(parsed.kernels)))


def decide_kernel(
    kernel: Kernel, parsed: ParsedUnit, unit: TranslationUnit, info: CompilerInfo, context: Context, deadline: float, until: float
) -> Decision | None:
    """From the store if it is known there, else by analysis and search.

    When another process is searching the kernel, waits for it ``until`` then and searches all the same; with 0, gives None at once.
    """
    if kernel.nest is None:
        return left_alone(kernel, refusal_of(kernel))
    settings = context.settings
    key = decision_key(
        kernel=kernel.id.partition("-")[0],  # equal kernels of a unit have one decision
        compiler=info.identity,
        flags=decisive(unit.invocation.argv),
        semantics=unit.semantics,
        settings=replace(settings, rules_off=(*settings.rules_off, *threadless(parsed, unit.semantics, info))),
        rules=context.rules_digest,
        cpu=cpu_label(),
        version=__version__,
    )
    known = context.store.decision(key)
    if known is not None:
        return moved(known, kernel)
    mine = context.turns.take(key)
    if not mine and not until:
        return None
    while not mine and time.monotonic() < until:
        time.sleep(TURN_SECONDS)
        mine = context.turns.take(key)
    try:
        known = context.store.decision(key)
        if known is not None:
            return moved(known, kernel)
        decision = search_kernel(kernel, parsed, unit, info, context, deadline)
        if decision.reason is None or decision.reason.id not in ("budget-spent", "search-off"):
            context.store.keep_decision(key, decision)
        return decision
    finally:
        if mine:
            context.turns.give_back(key)


def search_kernel(
    kernel: Kernel, parsed: ParsedUnit, unit: TranslationUnit, info: CompilerInfo, context: Context, deadline: float
) -> Decision:
    """Facts, then candidates, each with one verdict. What only the checks need is loaded when there is something to check."""
    from perfcc.analysis import analyse
    from perfcc.propose.from_rules import FromRules
    from perfcc.search.search import refused, search

    assert kernel.nest is not None
    semantics = unit.semantics

    def facts_of(kernel: Kernel, nest: Loop) -> Facts:
        return analyse(kernel, nest, semantics)

    facts = facts_of(kernel, kernel.nest)
    rules_off = (*context.settings.rules_off, *threadless(parsed, semantics, info))
    proposers = (FromRules(facts_of, rules_off, context.settings.threads),)
    if not any(True for proposer in proposers for _ in proposer.propose(kernel, facts, ())):
        return refused(kernel, facts, proposers)
    if context.settings.mode == "apply":
        return left_alone(kernel, Reason("search-off", kernel.span))

    from perfcc.rules.replacement import replacement
    from perfcc.verify.toolchain import find
    from perfcc.verify.verifier import Verifier

    def render(best: Accepted) -> str:
        return replacement(kernel, best.candidate, best.threshold)

    folder = Path(tempfile.mkdtemp(dir=context.scratch))
    with Verifier(kernel, facts, unit, folder, find(), context.settings.threads, context.lock, replacement) as judge:
        return search(kernel, facts, proposers, judge, max(0.0, deadline - time.monotonic()), render=render)


def threadless(parsed: ParsedUnit, semantics: Semantics, info: CompilerInfo) -> tuple[str, ...]:
    """The rules that can't be used in this unit since its object could not start threads."""
    if info.family == "gcc" and (semantics.openmp or not parsed.openmp_in_headers):
        return ()
    return ("parallel-loop", "integer-reduction")


def refusal_of(kernel: Kernel) -> Reason:
    return kernel.refusal or Reason("unmodelled-statement", kernel.span)


def left_alone(kernel: Kernel, reason: Reason) -> Decision:
    """The decision on a kernel that was not searched."""
    return Decision(
        kernel=kernel.id,
        function=kernel.function,
        span=kernel.span,
        status=Status.REFUSED,
        reason=reason,
        before=kernel.text,
        hotness=kernel.hotness.score,
        hotness_why=kernel.hotness.why,
        loops=max(1, len(kernel.loop_spans)),
    )


def moved(known: Decision, kernel: Kernel) -> Decision:
    """A stored decision, brought to where the kernel stands now: lines may have moved, the text has not."""
    shift = kernel.span.line - known.span.line
    reason = known.reason
    if reason is not None and reason.at is not None:
        at = replace(
            reason.at,
            file=kernel.span.file,
            line=reason.at.line + shift,
            end_line=reason.at.end_line + shift,
            begin=reason.at.begin + kernel.span.begin - known.span.begin,
            end=reason.at.end + kernel.span.begin - known.span.begin,
        )
        reason = replace(reason, at=at)
    return replace(
        known,
        kernel=kernel.id,
        span=kernel.span,
        function=kernel.function,
        reason=reason,
        hotness=kernel.hotness.score,
        hotness_why=kernel.hotness.why,
        cached=True,
    )

"""The only wiring: one function per arrow of the flow.

    Request -> TranslationUnit -> Kernel + Facts -> Candidate -> Verdict -> Decision -> Outcome

The original object exists already when a unit gets here. Whatever goes wrong below leaves it as it is.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from perfcc import __version__, _native
from perfcc.cc import compiler, emit, runtime, section
from perfcc.cc.compiler import CompilerError, CompilerInfo
from perfcc.cc.emit import Beside, Emitted, OutputState
from perfcc.cc.flags import decisive
from perfcc.cc.splice import Replacement
from perfcc.core.codec import dumps
from perfcc.core.decision import Accepted, Decision, Outcome, Status
from perfcc.core.facts import Facts
from perfcc.core.ir import Loop
from perfcc.core.kernel import Kernel, ParsedUnit
from perfcc.core.reason import Reason
from perfcc.core.settings import Settings
from perfcc.core.span import Span
from perfcc.core.unit import Invocation, Semantics, TranslationUnit
from perfcc.store.cleaning import clean_if_grown
from perfcc.store.counters import Counters
from perfcc.store.disk import Store
from perfcc.store.key import cpu_label, decision_key, tree_digest
from perfcc.store.turns import Turns

if TYPE_CHECKING:
    from perfcc._native import FileRecord

Progress = Callable[[str], None]


TURN_SECONDS = 0.05
"""How often a process that waits for another one's search looks again."""

CLOCK_GRAIN = 20_000_000
"""File times come from a clock that may be some milliseconds behind (nanoseconds)."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the launcher asks of the worker: one unit whose original has just been compiled.

    ``key`` is the unit's key in the store (hex), made from ``key_argv`` where that is not the invocation's argv; ``dependencies`` are the
    files the real compiler read, as it named them, for all sources of the command; ``compiled`` is what the output looked like when it
    was done. ``program`` is what a command that also links has made; then the rewritten object goes to ``deliver``, and the launcher
    links again.
    """

    invocation: Invocation
    key: str
    dependencies: tuple[str, ...]
    compiled: OutputState
    key_argv: tuple[str, ...] = ()
    program: str = ""
    deliver: str = ""

    @property
    def output(self) -> Path:
        """The absolute path of the object, or of the program."""
        return Path(self.invocation.cwd, self.program or self.invocation.output)

    @property
    def member(self) -> str:
        """Which part of the output the unit is: its source, of a program; all of it ("") otherwise."""
        return str(Path(self.invocation.cwd, self.invocation.source)) if self.program else ""


@dataclass(frozen=True)
class Context:
    """What every arrow needs beside its input; made once a worker. ``scratch`` is an empty folder of the worker's own."""

    settings: Settings
    store: Store
    scratch: Path
    tell: Progress

    @cached_property
    def rules_digest(self) -> str:
        """Changes when a rule, an analysis or a check does: a decision made by other code is not taken over."""
        package = Path(__file__).parent
        return tree_digest([package / part for part in ("core", "frontend", "analysis", "rules", "propose", "search", "verify", "cc")])

    @cached_property
    def turns(self) -> Turns:
        """Who searches what in this store."""
        return Turns(self.store.path)

    @cached_property
    def lock(self) -> Path:
        """Machine-wide: shared to compile, exclusive to time."""
        return Path(tempfile.gettempdir(), f"perfcc-{os.getuid()}.lock")


def run_unit(request: Request, context: Context) -> Outcome:
    """One unit from request to outcome; the outcome is kept, and the object replaced if something was gained."""
    start = Start.now(request)
    original = request.output.read_bytes()
    outcome = new_outcome(request, context)
    unit = read_unit(request, context)
    if isinstance(unit, Reason):
        outcome = replace(outcome, reason=unit)
        emitted: Emitted | None = None
        read: tuple[str, ...] = request.dependencies
    else:
        translation, info = unit
        outcome = replace(outcome, compiler=info.label)
        parsed = find_kernels(translation, request.dependencies)
        if context.settings.mode == "identity":
            return identity_unit(outcome, parsed, translation, info, request, context)
        read = (*request.dependencies, *parsed.includes)
        decisions = decide_kernels(parsed, translation, info, context)
        outcome = replace(outcome, decisions=decisions, reason=parsed.refusal)
        outcome, emitted = emit_unit(outcome, parsed, translation, info, context)
        read = (*read, *(emitted.dependencies if emitted is not None else ()))
    outcome = replace(outcome, seconds=(time.monotonic_ns() - start.steady) / 1e9)
    files = unchanged_files(request, read, start)
    record(request, outcome, emitted, files, original, context)
    clean_if_grown(context.store.path, context.settings.store_size)
    Counters(context.store.path / "counters").fold()
    return outcome


def look_at_unit(request: Request, context: Context) -> Outcome:
    """The outcome of a unit in which the launcher saw no kernel: its loops and why each is left alone. Nothing is searched or built."""
    started = time.monotonic()
    outcome = new_outcome(request, context)
    looking = replace(context, settings=replace(context.settings, mode="apply"))
    unit = read_unit(request, looking)
    if isinstance(unit, Reason):
        return replace(outcome, reason=unit)
    translation, info = unit
    parsed = find_kernels(translation, request.dependencies)
    decisions = tuple(_of_no_effect(decision) for decision in decide_kernels(parsed, translation, info, looking))
    seconds = time.monotonic() - started
    return replace(outcome, compiler=info.label, decisions=decisions, reason=parsed.refusal, seconds=seconds)


def _of_no_effect(decision: Decision) -> Decision:
    """The launcher leaves out loops that have a model only where they assign nothing."""
    if decision.reason is None or decision.reason.id != "search-off":
        return decision
    return replace(decision, reason=Reason("too-little-work", decision.span, "it assigns nothing"))


def new_outcome(request: Request, context: Context) -> Outcome:
    """The outcome of a unit nobody has looked at yet."""
    return Outcome(
        source=str(Path(request.invocation.cwd, request.invocation.source)),
        output=str(request.output),
        compiler=request.invocation.compiler,
        version=__version__,
        settings=_shown(context.settings),
        folder=request.invocation.cwd,
    )


# ---- Request -> TranslationUnit ----------------------------------------------------------------------------------------


def read_unit(request: Request, context: Context) -> tuple[TranslationUnit, CompilerInfo] | Reason:
    """The unit's text and flags as libclang must see them; a Reason when it may not or can't be looked at."""
    invocation = request.invocation
    if context.settings.mode == "off":
        return Reason("mode-off")
    try:
        key = compiler.probe_key(invocation.compiler, invocation)
        info = context.store.probe(key, CompilerInfo)
        if info is None:
            info = compiler.probe(invocation.compiler, invocation)
            context.store.keep_probe(key, info)
        unit = compiler.translation_unit(invocation, info)
    except (CompilerError, OSError) as error:
        return Reason("parse-error", detail=str(error))
    if context.settings.fp == "reassociate":
        unit = replace(unit, semantics=replace(unit.semantics, reassociate=True))
    return unit, info


# ---- TranslationUnit -> Kernel -----------------------------------------------------------------------------------------


def find_kernels(unit: TranslationUnit, dependencies: tuple[str, ...]) -> ParsedUnit:
    """Every loop nest of the unit that its code can reach, each exactly once; ``dependencies`` are the files that the compiler read."""
    try:
        from perfcc.frontend import parse
    except ImportError as error:
        return ParsedUnit((), (), Reason("tool-missing", detail=f"libclang: {error}"))
    return parse(unit, dependencies or None)


# ---- Kernel -> Decision ------------------------------------------------------------------------------------------------


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
            except Exception:
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
        return left_alone(kernel, _refusal(kernel))
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


def _refusal(kernel: Kernel) -> Reason:
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


# ---- Decision -> Outcome -----------------------------------------------------------------------------------------------


def emit_unit(
    outcome: Outcome, parsed: ParsedUnit, unit: TranslationUnit, info: CompilerInfo, context: Context
) -> tuple[Outcome, Emitted | None]:
    """The rewritten object in the scratch folder, its report inside; None where nothing was rewritten or it could not be made.

    Where the unit can't be compiled with its headers' rewrites (one may be read from a precompiled header), it is with its own alone.
    """
    replacements = [planned for decision in outcome.decisions if (planned := replacement_of(decision)) is not None]
    own = [planned for planned in replacements if planned.span.file == unit.invocation.source]
    for chosen in (replacements, own) if len(own) < len(replacements) else (own,):
        if not chosen:
            break
        context.tell(f"perfcc: {os.path.basename(unit.invocation.source)}: compiling {len(chosen)} rewritten kernels")
        folder = Path(tempfile.mkdtemp(dir=context.scratch))
        done = replace(outcome, emitted=True)
        try:
            emitted = emit.emit(unit, info, chosen, runtime.text(runtime.GUARD), folder, parsed.openmp_in_headers, dict(parsed.texts))
            if not isinstance(emitted, Reason):
                section.attach(emitted.object_path, dumps(reproducible(done)), folder)
                return done, emitted
            reason = emitted
        except Exception as error:
            traceback.print_exc()
            reason = Reason("emit-failed", detail=f"{type(error).__name__}: {error}")
        outcome = _withdrawn(outcome, reason, {planned.span for planned in chosen if chosen is own or planned not in own})
    return outcome, None


def replacement_of(decision: Decision) -> Replacement | None:
    """What takes the kernel's place, if it was rewritten."""
    if decision.status is Status.REWRITTEN:
        return Replacement(decision.span, decision.replacement, decision.threads)
    return None


def identity_unit(
    outcome: Outcome, parsed: ParsedUnit, unit: TranslationUnit, info: CompilerInfo, request: Request, context: Context
) -> Outcome:
    """Mode "identity": a no-op is compiled into the unit, and what differs is put in place, so that a test can see it.

    Nothing but the outcome is kept: every build does it again. Its reason says what came of it.
    """
    modelled = [kernel for kernel in parsed.kernels if kernel.nest is not None]
    reasons = [Reason("mode-identity", each.span) if each in modelled else _refusal(each) for each in parsed.kernels]
    decisions = tuple(map(left_alone, parsed.kernels, reasons))
    spans = [kernel.span for kernel in modelled]
    folder = Path(tempfile.mkdtemp(dir=context.scratch))
    injected = emit.inject(unit, info, spans, folder, dict(parsed.texts))
    if isinstance(injected, Reason):
        reason = injected
    else:
        detail = f"places: {injected.places}, the same: {', '.join(injected.same) or 'none'}"
        reason = Reason("identity-same", detail=detail)
        if injected.differing:
            reason = Reason("identity-differs", detail=f"{detail}, different: {', '.join(injected.differing)}")
        if injected.differing or request.program:
            reason = put_in_place(injected.object_path, injected.beside, request) or reason
    outcome = replace(outcome, decisions=decisions, reason=reason)
    context.store.keep_outcome(request.output, outcome, request.member)
    return outcome


def reproducible(outcome: Outcome) -> Outcome:
    """The outcome as it travels in the object: without what differs between two builds from one store, wherever the object goes."""
    decisions = tuple(replace(decision, cached=False) for decision in outcome.decisions)
    return replace(outcome, output=os.path.basename(outcome.output), seconds=0.0, decisions=decisions)


def _withdrawn(outcome: Outcome, reason: Reason, spans: Collection[Span] | None = None) -> Outcome:
    """The rewrites (those at ``spans``) can't be compiled in: each of them is left alone for that reason."""
    decisions = tuple(
        replace(decision, status=Status.REJECTED, reason=replace(reason, at=reason.at or decision.span), speedup=1.0)
        if decision.status is Status.REWRITTEN and (spans is None or decision.span in spans)
        else decision
        for decision in outcome.decisions
    )
    return replace(outcome, decisions=decisions)


@dataclass(frozen=True, slots=True)
class Start:
    """When the worker began, by the clock that can be set and the one that can't, and the state of the files known to be read by then."""

    wall: int
    steady: int
    seen: frozenset[tuple[int, int, int, int]]

    @classmethod
    def now(cls, request: Request) -> Start:
        wall, steady = time.time_ns(), time.monotonic_ns()
        states = []
        for name in (request.invocation.source, *request.dependencies):
            with contextlib.suppress(OSError):
                status = os.stat(Path(request.invocation.cwd, name))
                states.append((status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
        return cls(wall, steady, frozenset(states))

    def maybe_changed(self, row: FileRecord) -> bool:
        """The file may have changed since. A time to come is no sign of it where the file was the same at the start."""
        jumped = abs(time.time_ns() - self.wall - (time.monotonic_ns() - self.steady))
        first = self.wall - CLOCK_GRAIN - jumped
        same = (row["size"], row["mtime_ns"], row["ctime_ns"], row["inode"]) in self.seen
        last = time.time_ns() + CLOCK_GRAIN + jumped if same else math.inf
        return any(first <= moment <= last for moment in (row["mtime_ns"], row["ctime_ns"]))


def unchanged_files(request: Request, read: tuple[str, ...], start: Start) -> list[FileRecord] | None:
    """The files that the unit was read from, as they are; None when one of them may have changed since ``start``."""
    invocation = request.invocation
    files = _native.record_files(sorted({invocation.source, *read}), invocation.cwd)
    if files is None or any(map(start.maybe_changed, files)):
        return None
    current = _native.unit_key(request.key_argv or invocation.argv, invocation.cwd, invocation.compiler, invocation.source) == request.key
    return files if current else None


def record(
    request: Request, outcome: Outcome, emitted: Emitted | None, files: list[FileRecord] | None, original: bytes, context: Context
) -> None:
    """Puts the object in place, then keeps the outcome and, if it is final, the verdict that spares the next build all of this.

    The verdict is bound to the compiler's object (or program), ``original``: should it ever make anything else, the verdict is void.
    """
    store = context.store
    name = ""
    if emitted is not None:
        refused = Reason("output-changed", detail="a source changed meanwhile") if files is None else None
        refused = refused or put_in_place(emitted.object_path, emitted.beside, request)
        if refused is not None:
            store.keep_outcome(request.output, _withdrawn(replace(outcome, emitted=False), refused), request.member)
            return
        name = store.keep_object(emitted.object_path.read_bytes()) or ""
    store.keep_outcome(request.output, outcome, request.member)
    final = not any(decision.status is Status.UNDECIDED and _retried(decision) for decision in outcome.decisions)
    # A stored verdict has room for the object alone.
    if final and files is not None and (emitted is None or (name and not emitted.beside)):
        store.keep_verdict(request.key, name, _native.blake2b(original) if name else "", files, request.dependencies)


def put_in_place(object_path: Path, beside: Sequence[Beside], request: Request) -> Reason | None:
    """Replaces the object and what lies beside it, or hands it to the launcher to link; None, or why that can't be."""
    if not request.program:
        return emit.install(object_path, request.output, request.compiled, beside)
    if not request.deliver:
        return Reason("output-changed", detail="there is no room to link in")
    try:
        shutil.copyfile(object_path, request.deliver)
    except OSError as error:
        Path(request.deliver).unlink(missing_ok=True)
        return Reason("output-changed", detail=str(error))
    return None


def _retried(decision: Decision) -> bool:
    """A spent budget is final until the budget changes, which changes the unit's key; a busy machine is not."""
    return decision.reason is None or decision.reason.id != "budget-spent"


def _shown(settings: Settings) -> tuple[tuple[str, str], ...]:
    shown = [("mode", settings.mode), ("budget", f"{settings.budget:g} s"), ("fp", settings.fp)]
    if settings.threads:
        shown.append(("threads", str(settings.threads)))
    if settings.rules_off:
        shown.append(("rules off", ", ".join(settings.rules_off)))
    return tuple(shown)

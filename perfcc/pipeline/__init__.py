"""The only wiring: one function per arrow of the flow.

    Request -> TranslationUnit -> Kernel + Facts -> Candidate -> Verdict -> Decision -> Outcome

The original object exists already when a unit gets here. Whatever goes wrong below leaves it as it is.
"""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from perfcc import __version__, _native
from perfcc.cc import compiler, emit, runtime, section
from perfcc.cc.compiler import CompilerError, CompilerInfo
from perfcc.cc.emit import Emitted
from perfcc.cc.splice import Replacement
from perfcc.core.codec import dumps
from perfcc.core.decision import Decision, Outcome, Status
from perfcc.core.disturbance import heed_error
from perfcc.core.kernel import ParsedUnit
from perfcc.core.reason import Reason
from perfcc.core.settings import Settings
from perfcc.core.span import Span
from perfcc.core.unit import TranslationUnit
from perfcc.pipeline.decide import decide_kernels, left_alone, refusal_of
from perfcc.pipeline.files import Start, put_in_place, retried, unchanged_files
from perfcc.pipeline.intrinsics import with_clangs_intrinsics
from perfcc.pipeline.request import Context, Request
from perfcc.store.cleaning import clean_if_grown
from perfcc.store.counters import Counters

if TYPE_CHECKING:
    from perfcc._native import FileRecord

__all__ = ["Context", "Request", "emit_unit", "look_at_unit", "run_unit"]


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
        heed_error(error)
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
    parsed = parse(unit, dependencies or None)
    other = with_clangs_intrinsics(unit, parsed)
    return parsed if other is None else parse(other, dependencies or None)


# ---- Decision -> Outcome -----------------------------------------------------------------------------------------------


def emit_unit(
    outcome: Outcome, parsed: ParsedUnit, unit: TranslationUnit, info: CompilerInfo, context: Context
) -> tuple[Outcome, Emitted | None]:
    """The rewritten object in the scratch folder, its report inside; None where nothing was rewritten or it could not be made.

    Where the unit can't be compiled with its headers' rewrites (one may be read from a precompiled header), it is with its own alone.
    """
    replacements = [planned for decision in outcome.decisions if (planned := replacement_of(decision)) is not None]
    precompiled = [name for name in parsed.includes if os.path.exists(os.path.join(unit.invocation.cwd, f"{name}.gch"))]
    if precompiled and replacements and info.family == "gcc":
        detail = f"{precompiled[0]} has a precompiled header beside it, which may be of another text"
        return _withdrawn(outcome, Reason("emit-failed", detail=detail)), None
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
            heed_error(error)
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
    reasons = [Reason("mode-identity", each.span) if each in modelled else refusal_of(each) for each in parsed.kernels]
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
    final = not any(decision.status is Status.UNDECIDED and retried(decision) for decision in outcome.decisions)
    # A stored verdict has room for the object alone.
    if final and files is not None and (emitted is None or (name and not emitted.beside)):
        store.keep_verdict(request.key, name, _native.blake2b(original) if name else "", files, request.dependencies)


def _shown(settings: Settings) -> tuple[tuple[str, str], ...]:
    shown = [("mode", settings.mode), ("budget", f"{settings.budget:g} s"), ("fp", settings.fp)]
    if settings.threads:
        shown.append(("threads", str(settings.threads)))
    if settings.rules_off:
        shown.append(("rules off", ", ".join(settings.rules_off)))
    return tuple(shown)

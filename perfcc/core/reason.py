"""The one table of everything that stops a rewrite or a search.

A Reason is a value: it crosses stages, is counted by ``--stats``, stored in verdicts and printed by ``--explain``. Nothing else in perfcc says why.
"""

from __future__ import annotations

from dataclasses import dataclass

from perfcc.core.span import Span


@dataclass(frozen=True, slots=True)
class ReasonKind:
    """One row: ``id`` (also the counter's name), the stage that gives it, a sentence, and what would lift it ("" when nothing would)."""

    id: str
    stage: str
    sentence: str
    lift: str = ""


_ROWS = (
    # -- frontend: what the model of a loop nest can't hold
    ReasonKind("parse-error", "frontend", "libclang could not parse the unit", "make the unit compile with clang too"),
    ReasonKind("not-counted", "frontend", "the loop's trip count is not known when it starts", "use a counted for loop"),
    ReasonKind("loop-variable-written", "frontend", "the loop's body changes its own loop variable", "leave the loop variable alone in the body"),
    ReasonKind("bound-written", "frontend", "the loop's body may change the loop's bound", "copy the bound to a local before the loop"),
    ReasonKind("early-exit", "frontend", "the loop can be left early by break, return or goto", "move the exit test out of the loop"),
    ReasonKind("unknown-call", "frontend", "the loop calls a function whose body is not in this unit", "make the callee visible (inline or same file)"),
    ReasonKind("callback", "frontend", "the loop calls through a pointer, a virtual function or a functor of unknown body", "call the function directly"),
    ReasonKind("io-in-loop", "frontend", "the loop does input or output", "collect results first, print after the loop"),
    ReasonKind("may-throw", "frontend", "an iteration may throw an exception", "check before the loop, or use operator[] in place of at()"),
    ReasonKind("volatile-access", "frontend", "the loop touches a volatile object", ""),
    ReasonKind("atomic-access", "frontend", "the loop touches an atomic object", ""),
    ReasonKind("thread-local-access", "frontend", "the loop touches a thread_local object", ""),
    ReasonKind("inline-assembly", "frontend", "the loop contains inline assembly", ""),
    ReasonKind("user-openmp", "frontend", "the loop is already under one of the user's own OpenMP pragmas", "remove the pragma to let perfcc decide"),
    ReasonKind("inside-parallel-region", "frontend", "the loop runs inside a parallel region of the user's", ""),
    ReasonKind("dependent-type", "frontend", "the loop depends on template parameters", "give the kernel a concrete type"),
    ReasonKind("included-again", "frontend", "the file is included several times, so its text has several meanings", "give it an include guard"),
    ReasonKind("forced-include", "frontend", "a flag has the file read before the source's first line", "include it in the source"),
    ReasonKind("macro-in-kernel", "frontend", "part of the loop comes out of a macro", "write the loop out, or make the macro a constant or a function"),
    ReasonKind("allocation-in-loop", "frontend", "the loop allocates or frees memory", "allocate before the loop"),
    ReasonKind("container-modified", "frontend", "the loop changes the size of a container", "resize before the loop and assign by index"),
    ReasonKind("unmodelled-statement", "frontend", "the loop contains a statement perfcc has no model for", ""),
    ReasonKind("unmodelled-expression", "frontend", "the loop contains an expression perfcc has no model for", ""),
    ReasonKind("unmodelled-type", "frontend", "the loop uses an object of a type perfcc has no model for", "hoist the members used into local variables"),
    ReasonKind("unknown-effects", "frontend", "the loop calls a function with effects that perfcc can't bound", ""),
    # -- analysis: legality
    ReasonKind("carried-dependence", "analysis", "an iteration needs what an earlier one wrote", "remove the dependence, or give each iteration its own element"),
    ReasonKind("scalar-carried", "analysis", "a scalar carries a value from one iteration to the next", ""),
    ReasonKind("possible-overlap", "analysis", "two arrays may overlap and no run-time test can rule it out", "pass the extents, or use std::vector or restrict"),
    ReasonKind("nonaffine-write", "analysis", "the place written depends on data", "make the subscript a linear function of the loop variables"),
    ReasonKind("float-reduction-order", "analysis", "the loop sums floating-point values, and another order changes the rounding", "allow it with fp = \"reassociate\" or -fassociative-math"),
    ReasonKind("fp-contraction", "analysis", "the compiler may fuse products with sums, and where it does decides the rounding", "compile with -ffp-contract=off"),
    ReasonKind("errno-order", "analysis", "iterations may set errno to different values, and the last one counts", "compile with -fno-math-errno"),
    ReasonKind("subscript-wrap", "analysis", "a subscript may wrap around and no run-time test can rule it out", "use a signed or a wider index type"),
    ReasonKind("address-escapes", "analysis", "the address of a scalar the loop writes is taken", "copy it to a local variable"),
    ReasonKind("interchange-reverses-dependence", "analysis", "exchanging the loops would run a dependence backwards", ""),
    ReasonKind("nest-not-perfect", "analysis", "statements stand between the loops of the nest", ""),
    ReasonKind("bounds-not-rectangular", "analysis", "an inner bound depends on an outer loop variable", ""),
    ReasonKind("stride-already-best", "analysis", "the innermost loop already has the best stride", ""),
    ReasonKind("no-reuse", "analysis", "no loop of the nest reuses data that tiling could keep in the cache", ""),
    ReasonKind("no-reduction", "analysis", "the loop holds no integer reduction", ""),
    ReasonKind("analysis-budget", "analysis", "the dependence analysis ran out of its time or size limit", ""),
    ReasonKind("large-private", "analysis", "a private array would be too large for a worker thread's stack", "allocate it outside the loop"),
    ReasonKind("no-rule", "rules", "no rule applies to this loop", ""),
    ReasonKind(
        "bound-not-checkable",
        "rules",
        "the loop's bound may lie outside its variable's type, and is not known when the kernel starts",
        "give the loop variable the bound's type",
    ),
    ReasonKind("not-duplicable", "rules", "the loop's text can't stand twice in the unit", "move local statics, labels and lambdas out of the loop"),
    ReasonKind("openmp-unavailable", "rules", "this compiler's OpenMP output can't be made self-contained yet", "compile with g++"),
    ReasonKind("openmp-in-headers", "rules", "a header holds OpenMP pragmas that -fopenmp would wake up", ""),
    # -- verification
    ReasonKind("out-of-scope", "verify", "the rewrite uses something the original did not", ""),
    ReasonKind("live-in-unsupported", "verify", "a live-in has a type that can't be exercised yet", "pass plain arrays, vectors and scalars"),
    ReasonKind("cannot-exercise", "verify", "no input could be made that runs the original without fault", ""),
    ReasonKind("edges-not-covered", "verify", "the inputs did not reach every edge of the loop", ""),
    ReasonKind("does-not-compile", "verify", "the rewrite does not compile without new diagnostics", ""),
    ReasonKind("different-result", "verify", "the rewrite gave a different result", ""),
    ReasonKind("sanitizer-report", "verify", "AddressSanitizer or UndefinedBehaviorSanitizer reported the rewrite", ""),
    ReasonKind("uninitialised-read", "verify", "a result depends on memory nobody wrote", ""),
    ReasonKind("data-race", "verify", "ThreadSanitizer reported a race in the rewrite", ""),
    ReasonKind("planted-race-missed", "verify", "ThreadSanitizer missed the race planted as a control, so its silence proves nothing", ""),
    ReasonKind("crashed", "verify", "the rewrite crashed or did not end in time", ""),
    ReasonKind("not-faster", "verify", "no size was found at which the rewrite is at least 1.10x faster", ""),
    ReasonKind("beaten", "verify", "another rewrite of the same loop is faster", ""),
    ReasonKind("too-little-work", "rules", "the loop does too little for a rewrite to gain anything", ""),
    ReasonKind("machine-busy", "verify", "the machine was too busy to decide on the timing", "build again when the machine is quiet"),
    ReasonKind("tool-missing", "verify", "a tool that a check needs is missing", "see perfcc --doctor"),
    # -- pipeline
    ReasonKind("budget-spent", "pipeline", "the unit's search budget was spent", "raise budget"),
    ReasonKind("search-off", "pipeline", "the kernel is not in the store, and mode = \"apply\" does not search", "build once with mode = \"search\""),
    ReasonKind("mode-identity", "pipeline", "mode = \"identity\" puts every loop back as it was", "use mode = \"search\""),
    ReasonKind("identity-same", "pipeline", "mode = \"identity\": a no-op was compiled in, and every file written is the same", ""),
    ReasonKind(
        "identity-differs",
        "pipeline",
        "mode = \"identity\": a no-op was compiled in, and a file written is not the same",
        "please report it, unless the compiler itself writes two different files when it is run twice",
    ),
    ReasonKind("mode-off", "pipeline", "perfcc is switched off by mode = \"off\"", ""),
    ReasonKind("emit-failed", "pipeline", "the rewritten unit did not compile", ""),
    ReasonKind("output-changed", "pipeline", "the object changed while it was being searched", ""),
    ReasonKind("internal-error", "pipeline", "perfcc failed on this kernel; the original stands", "please report it"),
)

REASONS: dict[str, ReasonKind] = {row.id: row for row in _ROWS}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something was left alone: a row of the table, the place that caused it, and the particulars.

    Raises KeyError for an id that is not in the table.
    """

    id: str
    at: Span | None = None
    detail: str = ""

    def __post_init__(self) -> None:
        REASONS[self.id]

    @property
    def kind(self) -> ReasonKind:
        return REASONS[self.id]

    def __str__(self) -> str:
        place = f"{self.at.file}:{self.at.line}: " if self.at else ""
        detail = f" ({self.detail})" if self.detail else ""
        return f"{place}{self.kind.sentence}{detail} [{self.id}]"

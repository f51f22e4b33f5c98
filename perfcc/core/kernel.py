"""A kernel: one loop nest with everything a later stage needs to know about it, free of libclang."""

from __future__ import annotations

from dataclasses import dataclass

from perfcc.core.ir import Loop
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.core.types import Variable


@dataclass(frozen=True, slots=True)
class CallEffect:
    """What one callee may do, as far as a loop around it is concerned.

    ``pure``: result depends on the arguments alone, nothing is written but errno. ``errno_values``: the constants it may set.
    ``definition``: source text of a unit function that a codelet must carry ("" for library functions). ``header``: the standard header
    that declares a library function.
    """

    callee: str
    pure: bool
    errno_values: tuple[str, ...] = ()
    may_throw: bool = False
    definition: str = ""
    header: str = ""


@dataclass(frozen=True, slots=True)
class Hotness:
    """A static guess of how much a kernel matters: ``score`` orders the search, ``why`` says what it rests on."""

    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """A maximal modelled loop nest, or a loop that has to be left alone.

    Exactly one of ``nest`` and ``refusal`` is set. ``span`` covers the loop statement from its keyword to its last byte; a rewrite replaces
    just these bytes of ``span.file``: the main file as the command line names it, or a header as the compiler opened it. ``id`` is stable
    while the kernel's own text, types and callees are unchanged. ``prelude`` holds the typedefs, enums, macros and constants (source text,
    in order, each complete) that the kernel's text needs outside its unit. ``live_out`` names (by Variable.id) the variables declared
    outside the kernel that it may write; ``dead_after`` those of them, scalars only, that nobody reads afterwards. ``loop_spans`` are the
    spans of all loops inside, the outermost first.
    """

    id: str
    function: str
    language: str
    span: Span
    text: str
    nest: Loop | None
    refusal: Reason | None
    variables: tuple[Variable, ...] = ()
    live_in: tuple[str, ...] = ()
    live_out: tuple[str, ...] = ()
    dead_after: tuple[str, ...] = ()
    calls: tuple[CallEffect, ...] = ()
    prelude: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    hotness: Hotness = Hotness(0.0, "unknown")
    loop_spans: tuple[Span, ...] = ()

    def variable(self, id: str) -> Variable:
        """The variable with that id. Raises KeyError when the kernel mentions none such."""
        for variable in self.variables:
            if variable.id == id:
                return variable
        raise KeyError(id)


@dataclass(frozen=True, slots=True)
class ParsedUnit:
    """What the frontend found: every loop nest exactly once, and the files the unit was read from.

    ``refusal`` is set (and ``kernels`` empty or all refused) when the unit as a whole can't be looked at. ``openmp_in_headers`` tells that
    a non-main file holds an OpenMP pragma. ``texts`` are the contents of the headers that hold kernels, by the names in their spans.
    """

    kernels: tuple[Kernel, ...]
    includes: tuple[str, ...]
    refusal: Reason | None = None
    openmp_in_headers: bool = False
    seconds: float = 0.0
    texts: tuple[tuple[str, bytes], ...] = ()

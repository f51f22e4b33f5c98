"""What the analyses know about a loop nest: values, with no way back into isl.

A rule asks Facts; it never analyses by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from perfcc.core.ir import Expr, Reduction
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.core.types import Variable


class DependenceKind(Enum):
    FLOW = "flow"  # read after write
    ANTI = "anti"  # write after read
    OUTPUT = "output"  # write after write


@dataclass(frozen=True, slots=True)
class Dependence:
    """A dependence between two accesses of one nest, over the loops common to both, outermost first.

    ``directions`` holds one of ``< = > *`` a loop (``<``: the sink runs in a later iteration of that loop); ``distance`` the constant
    distance a loop, ``None`` where it varies. ``loops`` are the ids of those loops. ``exact`` is false for an over-approximation.
    """

    kind: DependenceKind
    variable: str
    source: Span | None
    sink: Span | None
    loops: tuple[str, ...]
    directions: tuple[str, ...]
    distance: tuple[int | None, ...]
    exact: bool = True

    def carried_by(self, loop: str) -> bool:
        """True when ``loop`` may carry it: every loop outside is possibly ``=`` and this one possibly not."""
        for id, direction in zip(self.loops, self.directions, strict=True):
            if id == loop:
                return direction != "="
            if direction not in ("=", "*"):
                return False
        return False


@dataclass(frozen=True, slots=True)
class NoOverlap:
    """Guard: the bytes the nest touches through ``left`` and through ``right`` are disjoint.

    A range is ``[base, base + extent)`` in elements; ``extent`` None means the container's own ``data()`` and ``size()`` (VECTOR) or its
    whole object (ARRAY, SCALAR). ``lowest`` is the smallest subscript touched (None: 0).
    """

    left: Variable
    right: Variable
    left_extent: Expr | None = None
    right_extent: Expr | None = None
    left_lowest: Expr | None = None
    right_lowest: Expr | None = None


@dataclass(frozen=True, slots=True)
class NoWrap:
    """Guard: ``expr``, computed without bound, lies within a type of ``bits`` bits and that signedness, so that the subscript never wraps.
    """

    expr: Expr
    bits: int
    signed: bool


@dataclass(frozen=True, slots=True)
class Holds:
    """Guard: the scalar condition ``left relation right`` holds, computed without wrap-around (for example a stride is at least a row's
    length).
    """

    left: Expr
    relation: str
    right: Expr


@dataclass(frozen=True, slots=True)
class Untouched:
    """Guard: the bytes the nest touches through ``base`` (a range as in ``NoOverlap``) leave the variable ``object`` itself alone.

    ``object`` is a VECTOR (its header: three pointers, not its elements) or a POINTER variable that lives in memory; a character-typed
    write could change it.
    """

    base: Variable
    object: Variable
    extent: Expr | None = None
    lowest: Expr | None = None


Obligation = NoOverlap | NoWrap | Holds | Untouched


@dataclass(frozen=True, slots=True)
class AccessFact:
    """How one access moves: ``strides`` in elements for each enclosing loop id, ``None`` where it is not a constant number."""

    variable: str
    write: bool
    span: Span | None
    strides: tuple[tuple[str, int | None], ...]
    stride_text: tuple[tuple[str, str], ...] = ()
    affine: bool = True


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """What is known of one loop of the nest.

    ``blockers`` is empty exactly when the loop's iterations may run in any order and at once, given ``obligations`` (checked at run time,
    at the kernel's entry), with ``private``, ``lastprivate`` and ``reductions`` handled as said. ``trip_count`` is an expression over
    values known at the kernel's entry, or None. ``work`` is the number of innermost iterations of one run of this loop, likewise.
    ``errno_values``: what an iteration may leave in errno. ``uneven`` tells that iterations differ in cost (triangular or data-dependent
    inner bounds). ``float_reductions`` are sums that strict floating point forbids to split.
    """

    loop: str
    depth: int
    trip_count: Expr | None
    work: Expr | None
    blockers: tuple[Reason, ...]
    obligations: tuple[Obligation, ...] = ()
    private: tuple[Variable, ...] = ()
    lastprivate: tuple[Variable, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    errno_values: tuple[str, ...] = ()
    uneven: bool = False
    floating_point: bool = False


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a POINTER, ARRAY or VECTOR live-in is touched: subscripts in ``[lowest, count)``, over values known at entry; None: depends
    on data.
    """

    variable: str
    count: Expr | None
    lowest: Expr | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known about one nest.

    ``permutable`` lists maximal runs of perfectly nested loops (ids, outermost first) with nothing between them. ``order_obligations`` are
    what makes ``dependences`` complete: a rule that reorders iterations (interchange, tiling) must guard with them. ``reorder_blockers``
    stop every such rule (unmodelled code, non-affine writes, scalars carried).
    """

    loops: tuple[LoopFacts, ...]
    dependences: tuple[Dependence, ...]
    accesses: tuple[AccessFact, ...]
    permutable: tuple[tuple[str, ...], ...] = ()
    order_obligations: tuple[Obligation, ...] = ()
    reorder_blockers: tuple[Reason, ...] = ()
    extents: tuple[Extent, ...] = ()

    def loop(self, id: str) -> LoopFacts:
        """The facts of that loop. Raises KeyError for an id that is not in the nest."""
        for facts in self.loops:
            if facts.loop == id:
                return facts
        raise KeyError(id)

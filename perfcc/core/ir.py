"""The loop-nest tree that frontend, analysis and rules share.

Expressions and statements are frozen and pickleable. A node's ``span`` is its place in the source, or ``None`` for a node that a rule
made. A node with a span prints as the user's own text; a node without one prints from its structure. What the
frontend can't model is an ``Opaque`` expression or an ``Unmodelled`` statement that carries its Reason: unknown
never looks like harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.core.types import ScalarType, Variable

# ---- expressions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IntConst:
    """An integer constant, enum constants and folded constant expressions included."""

    value: int
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class FloatConst:
    """A floating constant; ``text`` is its spelling."""

    text: str
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class VarRef:
    """The value (or, as an assignment target, the place) of a scalar variable."""

    var: Variable
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """An element of memory: ``base[s0][s1]...``; as an expression it is a load.

    ``base`` is a POINTER, ARRAY or VECTOR variable; ``*p`` is ``p[0]``. ``subscripts`` are outermost first.
    """

    base: Variable
    subscripts: tuple[Expr, ...]
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class ContainerSize:
    """``v.size()`` of a VECTOR variable, in elements; its type is unsigned 64-bit on LP64."""

    base: Variable
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Unary:
    """``op`` is one of ``- + ! ~``."""

    op: str
    operand: Expr
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Binary:
    """``op`` is a C binary operator without side effects (``+ - * / % << >> & | ^ < <= > >= == != && ||``), or ``min``/``max`` in nodes
    made by rules.
    """

    op: str
    left: Expr
    right: Expr
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Cast:
    """A value-changing conversion to ``type``, implicit or written."""

    operand: Expr
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Conditional:
    """``condition ? then : other``."""

    condition: Expr
    then: Expr
    other: Expr
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a named function with scalar arguments, e.g. ``std::sqrt``; its effects are in ``Kernel.calls`` by ``callee``."""

    callee: str
    arguments: tuple[Expr, ...]
    type: ScalarType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Opaque:
    """An expression outside the model; ``reason`` says what it is."""

    reason: Reason
    type: ScalarType | None = None
    span: Span | None = None


Expr = IntConst | FloatConst | VarRef | Access | ContainerSize | Unary | Binary | Cast | Conditional | Call | Opaque

# ---- annotations that rules put on loops ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reduction:
    """``op`` is an OpenMP reduction identifier (``+ * & | ^ min max``); partial results use ``type``."""

    op: str
    var: Variable
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Parallel:
    """The loop's iterations run on a team of threads.

    ``schedule`` is ``static``, ``static,N``, ``dynamic,N`` or ``guided``; ``errno_values`` names the errno constants (at most one) that an
    iteration may set and that the printer must carry back to the calling thread.
    """

    schedule: str = "static"
    collapse: int = 1
    private: tuple[Variable, ...] = ()
    lastprivate: tuple[Variable, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    errno_values: tuple[str, ...] = ()
    floating_point: bool = True


Annotation = Parallel

# ---- statements ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    """``target op value``; ``op`` is ``=`` or a compound operator with its ``=`` (``+=``). ``x++`` is ``x += 1``."""

    target: VarRef | Access
    op: str
    value: Expr
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Declare:
    """A local variable declared in the kernel's body, with its initialiser.

    ``init`` is ``None`` when there is none, for an ARRAY (whose initialiser, if any, holds only constants) and for a POINTER that is never
    changed: its uses appear as accesses of what it was computed from, and the declaration itself stays as text.
    """

    var: Variable
    init: Expr | None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression statement, normally a call, whose value is dropped."""

    expr: Expr
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Block
    other: Block | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Jump:
    """``break``, ``continue``, ``return``, ``goto``; ``leaves`` is how many loops of the nest it leaves (a ``continue``: 0)."""

    kind: str
    leaves: int
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """A statement outside the model: I/O, throw, unknown call, asm, ...; ``reason`` names line and cause."""

    reason: Reason
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Block:
    items: tuple[Stmt, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """A counted loop: ``for (var = lower; var relation bound; var += step) body``.

    ``lower`` and ``bound`` are evaluated once; the frontend has checked that nothing in the body writes ``var``, and that whatever the
    bound reads is not written in the body (else the loop is ``Unmodelled``). The comparison is made in ``bound.type``, to which ``var``
    converts. ``relation`` is ``<``, ``<=``, ``>``, ``>=`` or ``!=``;
    ``step`` is a nonzero constant. ``declares_var`` tells ``for (int i...)`` from ``for (i...)``. ``id`` is unique in the nest. ``fresh``:
    a rule made the header anew, so ``bound`` is converted to the variable's type and evaluated once before the loop; the rule's obligations
    make that the same.
    """

    id: str
    var: Variable
    lower: Expr
    bound: Expr
    relation: str
    step: int
    body: Block
    declares_var: bool = True
    annotations: tuple[Annotation, ...] = ()
    span: Span | None = None
    fresh: bool = False


Stmt = Assign | Declare | Evaluate | If | Jump | Unmodelled | Block | Loop


# ---- walking ---------------------------------------------------------------------------------------------------


def expressions(expr: Expr) -> Iterator[Expr]:
    """``expr`` and all its sub-expressions, outermost first."""
    yield expr
    match expr:
        case Unary(operand=inner) | Cast(operand=inner):
            yield from expressions(inner)
        case Binary(left=left, right=right):
            yield from expressions(left)
            yield from expressions(right)
        case Conditional(condition=condition, then=then, other=other):
            yield from expressions(condition)
            yield from expressions(then)
            yield from expressions(other)
        case Call(arguments=parts) | Access(subscripts=parts):
            for part in parts:
                yield from expressions(part)
        case _:
            pass


def statements(stmt: Stmt) -> Iterator[Stmt]:
    """``stmt`` and all statements inside it, in source order, outermost first."""
    yield stmt
    match stmt:
        case Block(items=items):
            for item in items:
                yield from statements(item)
        case If(then=then, other=other):
            yield from statements(then)
            if other is not None:
                yield from statements(other)
        case Loop(body=body):
            yield from statements(body)
        case _:
            pass


def loops(stmt: Stmt) -> Iterator[Loop]:
    """The counted loops in ``stmt``, outermost first."""
    return (s for s in statements(stmt) if isinstance(s, Loop))


def own_expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions a statement evaluates itself, not those of the statements inside it."""
    match stmt:
        case Assign(target=target, value=value):
            return (target, value)
        case Declare(init=init):
            return () if init is None else (init,)
        case Evaluate(expr=expr):
            return (expr,)
        case If(condition=condition):
            return (condition,)
        case Loop(lower=lower, bound=bound):
            return (lower, bound)
        case _:
            return ()

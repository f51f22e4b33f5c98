"""The walkers of the loop-nest tree."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from perfcc.core import ir
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.core.types import ScalarType, Scope, Storage, TypeKind, Variable

INT = ScalarType("int", TypeKind.SIGNED, 32)


def scalar(name: str) -> Variable:
    return Variable(name, name, "int", Storage.SCALAR, INT, Scope.LOCAL)


VAR, INNER, COUNT = scalar("i"), scalar("j"), scalar("n")
ARRAY = Variable("a", "a", "int *", Storage.POINTER, INT, Scope.PARAMETER)
ONE = ir.IntConst(1)


def loop(id: str, var: Variable, *body: ir.Stmt, bound: ir.Expr | None = None) -> ir.Loop:
    return ir.Loop(id, var, ir.IntConst(0), bound or ir.VarRef(COUNT), "<", 1, ir.Block(body))


leaves = st.sampled_from([ONE, ir.VarRef(VAR), ir.FloatConst("1.5"), ir.Opaque(Reason("unmodelled-expression")), ir.ContainerSize(ARRAY)])


def grow(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    return st.one_of(
        st.builds(ir.Unary, st.just("-"), inner),
        st.builds(ir.Cast, inner),
        st.builds(ir.Binary, st.just("+"), inner, inner),
        st.builds(ir.Conditional, inner, inner, inner),
        st.builds(ir.Call, st.just("f"), st.tuples(inner, inner)),
        st.builds(ir.Access, st.just(ARRAY), st.tuples(inner)),
    )


def nodes(expr: ir.Expr) -> int:
    """The size of a tree, counted from its dataclass fields rather than by the walker under test."""
    total = 1
    for name in expr.__slots__:
        value = getattr(expr, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, ir.Expr):
                total += nodes(part)
    return total


@given(st.recursive(leaves, grow, max_leaves=20))
def test_expressions_visits_every_node_and_starts_at_the_root(expr: ir.Expr) -> None:
    seen = list(ir.expressions(expr))
    assert seen[0] is expr
    assert len(seen) == nodes(expr)


@given(st.recursive(leaves, grow, max_leaves=8))
def test_a_tree_survives_pickling(expr: ir.Expr) -> None:
    assert pickle.loads(pickle.dumps(expr)) == expr


def test_statements_go_in_source_order_through_loops_branches_and_blocks() -> None:
    jump, stop = ir.Jump("break", 1), ir.Unmodelled(Reason("io-in-loop"))
    evaluate = ir.Evaluate(ONE)
    branch = ir.If(ONE, ir.Block((jump,)), ir.Block((stop,)))
    lonely = ir.If(ONE, ir.Block((evaluate,)))
    nest = loop("L0", VAR, branch, loop("L1", INNER, lonely))
    leaves_seen = [s for s in ir.statements(nest) if not isinstance(s, ir.Block | ir.Loop | ir.If)]
    assert leaves_seen == [jump, stop, evaluate]
    assert next(iter(ir.statements(nest))) is nest


def test_loops_are_listed_outermost_first() -> None:
    nest = loop("L0", VAR, loop("L1", INNER, ir.Evaluate(ONE)), loop("L2", INNER))
    assert [each.id for each in ir.loops(nest)] == ["L0", "L1", "L2"]
    assert list(ir.loops(ir.Evaluate(ONE))) == []


def test_own_expressions_leave_out_what_inner_statements_evaluate() -> None:
    inner = ir.Evaluate(ir.VarRef(INNER))
    nest = loop("L0", VAR, inner, bound=ir.VarRef(COUNT))
    assert ir.own_expressions(nest) == (ir.IntConst(0), ir.VarRef(COUNT))
    assert ir.own_expressions(ir.If(ir.VarRef(VAR), ir.Block((inner,)))) == (ir.VarRef(VAR),)
    assert ir.own_expressions(inner) == (ir.VarRef(INNER),)
    assert ir.own_expressions(ir.Block((inner,))) == ()
    assert ir.own_expressions(ir.Unmodelled(Reason("may-throw"))) == ()


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_a_span_contains_what_lies_inside_it(a: int, b: int, c: int, d: int) -> None:
    outer, inner = Span("f", a, a + b, 1, 1, 1), Span("f", a + c, a + c + d, 1, 1, 1)
    assert outer.contains(inner) == (c + d <= b)
    assert not outer.contains(Span("g", a, a, 1, 1, 1))


def test_a_spans_text_counts_bytes() -> None:
    source = "é = 1;\xff".encode() + b"\xff"
    assert Span("f", 0, 2, 1, 1, 1).text(source) == "é"
    assert Span("f", len(source) - 1, len(source), 1, 1, 1).text(source) == "\udcff"

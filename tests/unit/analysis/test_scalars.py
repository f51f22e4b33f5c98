"""Private, last-private, reduction or carried."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfcc.analysis import analyse
from perfcc.core.facts import Facts, LoopFacts, NoOverlap
from perfcc.core.ir import Assign, Call, Conditional, Evaluate, Expr, Jump, Loop, Opaque, Stmt, Unmodelled
from perfcc.core.kernel import CallEffect
from perfcc.core.reason import Reason
from perfcc.core.types import ScalarType, Scope, Variable
from perfcc.core.unit import Semantics
from tests.unit.analysis.loopnests import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UCHAR,
    UNSIGNED,
    assign,
    at,
    binary,
    block,
    cast,
    declare,
    expr,
    kernel,
    loop,
    pointer,
    scalar,
    span,
    when,
)

ROW, COL = scalar("i"), scalar("j")
N = scalar("n")
S, T = scalar("s"), scalar("t")
A = pointer("a", INT)
D = pointer("d", DOUBLE)
PLAIN = Semantics()


def facts(nest: Loop, semantics: Semantics = PLAIN, dead: tuple[str, ...] = (), calls: tuple[CallEffect, ...] = ()) -> Facts:
    return analyse(kernel(nest, dead, calls), nest, semantics)


def outer(*body: Stmt, semantics: Semantics = PLAIN, dead: tuple[str, ...] = ()) -> LoopFacts:
    return facts(loop(ROW, 0, N, *body), semantics, dead).loops[0]


def blocked(found: LoopFacts) -> list[str]:
    return [reason.id for reason in found.blockers]


def reductions(found: LoopFacts) -> list[tuple[str, str, str]]:
    return [(r.op, r.var.name, r.type.spelling) for r in found.reductions]


def ternary(condition: Expr, then: Variable | Expr, other: Variable | Expr, type: ScalarType = INT) -> Expr:
    return Conditional(condition, expr(then), expr(other), type, span())


@pytest.mark.parametrize(("op", "as_reduction"), [("+=", "+"), ("-=", "+"), ("*=", "*"), ("&=", "&"), ("|=", "|"), ("^=", "^")])
def test_compound_assignments(op: str, as_reduction: str) -> None:
    found = outer(assign(S, at(A, ROW), op))
    assert blocked(found) == []
    assert reductions(found) == [(as_reduction, "s", "unsigned int")]


@pytest.mark.parametrize("op", ["<<=", "/=", "%="])
def test_other_operators_are_carried(op: str) -> None:
    assert blocked(outer(assign(S, at(A, ROW), op))) == ["scalar-carried"]


def test_spelt_out_sums() -> None:
    assert reductions(outer(assign(S, binary("+", S, at(A, ROW))))) == [("+", "s", "unsigned int")]
    assert reductions(outer(assign(S, binary("+", at(A, ROW), S)))) == [("+", "s", "unsigned int")]
    assert reductions(outer(assign(S, binary("-", binary("+", S, ROW), at(A, ROW))))) == [("+", "s", "unsigned int")]
    assert blocked(outer(assign(S, binary("-", at(A, ROW), S)))) == ["scalar-carried"]
    assert blocked(outer(assign(S, binary("+", S, S)))) == ["scalar-carried"]
    assert blocked(outer(assign(S, binary("*", binary("+", S, ROW), 2)))) == ["scalar-carried"]


def test_several_updates_need_one_operator() -> None:
    assert reductions(outer(assign(S, at(A, ROW), "+="), assign(S, 1, "-="))) == [("+", "s", "unsigned int")]
    assert blocked(outer(assign(S, at(A, ROW), "+="), assign(S, 3, "*="))) == ["scalar-carried"]


@pytest.mark.parametrize(
    ("type", "spelling"), [(LONG, "unsigned long"), (UNSIGNED, "unsigned int"), (UCHAR, "unsigned char"), (INT, "unsigned int")]
)
def test_partial_sums_use_the_unsigned_type(type: ScalarType, spelling: str) -> None:
    assert reductions(outer(assign(scalar("s", type), cast(at(A, ROW), type), "+="))) == [("+", "s", spelling)]


def test_an_integer_that_sums_fractions_is_carried() -> None:
    assert blocked(outer(assign(S, at(D, ROW), "+="))) == ["scalar-carried"]


def test_minima_and_maxima() -> None:
    element = at(A, ROW)
    assert reductions(outer(when(binary(">", element, S), [assign(S, element)]))) == [("max", "s", "int")]
    assert reductions(outer(when(binary(">", S, element), [assign(S, element)]))) == [("min", "s", "int")]
    assert reductions(outer(assign(S, ternary(binary("<", element, S), element, S)))) == [("min", "s", "int")]
    assert reductions(outer(assign(S, ternary(binary("<", element, S), S, element)))) == [("max", "s", "int")]
    call = Call("std::max", (expr(S), element), INT, span())
    nest = loop(ROW, 0, N, assign(S, call))
    assert reductions(facts(nest, calls=(CallEffect("std::max", True),)).loops[0]) == [("max", "s", "int")]


def test_what_only_looks_like_a_maximum() -> None:
    one, other = at(A, ROW), at(pointer("b", INT), ROW)
    assert blocked(outer(when(binary(">", one, S), [assign(S, other)]))) == ["scalar-carried"]
    assert blocked(outer(when(binary(">", one, S), [assign(S, one), assign(T, ROW)]))) == ["scalar-carried", "scalar-carried"]
    assert blocked(outer(when(binary(">", one, S), [assign(S, one)], [assign(S, 0)]))) == ["scalar-carried"]
    unsigned = when(binary(">", cast(one, UNSIGNED), cast(S, UNSIGNED)), [assign(S, one)])
    assert blocked(outer(unsigned)) == ["scalar-carried"]


def test_floating_point_sums_keep_their_order_unless_allowed() -> None:
    total = scalar("s", DOUBLE)
    body = assign(total, at(D, ROW), "+=")
    assert blocked(outer(body)) == ["float-reduction-order"]
    loose = Semantics(reassociate=True)
    assert reductions(outer(body, semantics=loose)) == [("+", "s", "double")]
    narrow = assign(scalar("s", FLOAT), at(D, ROW), "+=")
    assert blocked(outer(narrow, semantics=loose)) == ["scalar-carried"]
    largest = when(binary(">", at(D, ROW), total), [assign(total, at(D, ROW))])
    assert blocked(outer(largest, semantics=loose)) == ["float-reduction-order"]


def test_trapping_sums_keep_their_order() -> None:
    assert blocked(outer(assign(S, at(A, ROW), "+="), semantics=Semantics(trapping=True))) == ["scalar-carried"]


def test_a_bool_gathers_with_or_but_not_with_exclusive_or() -> None:
    flag = scalar("s", BOOL)
    assert reductions(outer(assign(flag, at(A, ROW), "|="))) == [("|", "s", "bool")]
    assert blocked(outer(assign(flag, at(A, ROW), "^="))) == ["scalar-carried"]


def test_a_sum_that_is_read_is_carried() -> None:
    assert blocked(outer(assign(S, at(A, ROW), "+="), assign(at(A, ROW), S))) == ["scalar-carried"]
    assert blocked(outer(assign(S, at(A, S), "+="))) == ["scalar-carried"]


def test_private_and_lastprivate() -> None:
    body = (assign(T, at(A, ROW)), assign(at(A, ROW), binary("*", T, T)))
    assert [v.name for v in outer(*body, dead=("t",)).private] == ["t"]
    assert [v.name for v in outer(*body).lastprivate] == ["t"]


def test_an_assignment_on_one_path_only_is_carried_if_needed() -> None:
    sometimes = when(binary("<", at(A, ROW), 3), [assign(T, ROW)])
    assert blocked(outer(sometimes)) == ["scalar-carried"]
    assert [v.name for v in outer(sometimes, dead=("t",)).private] == ["t"]
    both = when(binary("<", at(A, ROW), 3), [assign(T, ROW)], [assign(T, 0)])
    assert [v.name for v in outer(both).lastprivate] == ["t"]
    skipped = when(binary("<", at(A, ROW), 3), [Jump("continue", 0, span())])
    assert blocked(outer(skipped, assign(T, ROW))) == ["scalar-carried"]


def test_an_assignment_in_an_inner_loop_may_not_happen() -> None:
    maybe = loop(COL, 0, N, assign(T, COL))
    assert blocked(facts(loop(ROW, 0, N, maybe)).loops[0]) == ["scalar-carried"]
    surely = loop(COL, 0, 4, assign(T, COL))
    assert [v.name for v in facts(loop(ROW, 0, N, surely)).loops[0].lastprivate] == ["t"]


def test_inner_results_are_private_to_the_outer_loop() -> None:
    nest = loop(ROW, 0, N, assign(S, 0), loop(COL, 0, N, assign(S, at(A, COL), "+=")), assign(at(pointer("b", INT), ROW), S))
    found = facts(nest, dead=("s",))
    assert [v.name for v in found.loops[0].private] == ["s"]
    assert reductions(found.loops[1]) == [("+", "s", "unsigned int")]


def test_loop_variables_from_outside() -> None:
    inner = loop(COL, 0, N, assign(at(A, ROW), 1), declares=False)
    found = facts(loop(ROW, 0, N, inner, declares=False), dead=("i", "j"))
    assert [v.name for v in found.loops[0].private] == ["i", "j"]
    assert [v.name for v in facts(loop(ROW, 0, N, inner, declares=False)).loops[0].lastprivate] == ["i", "j"]


def test_declared_inside_is_in_no_class() -> None:
    found = outer(declare(T, at(A, ROW)), assign(at(A, ROW), T))
    assert (found.private, found.lastprivate, found.blockers) == ((), (), ())


def test_a_static_of_the_body_is_carried() -> None:
    static = scalar("t", scope=Scope.STATIC_LOCAL)
    assert "scalar-carried" in blocked(outer(declare(static, 0), assign(static, 1, "+=")))


def test_scalars_in_memory_are_kept_apart_from_what_is_accessed() -> None:
    total = scalar("s", scope=Scope.GLOBAL)
    found = outer(assign(total, at(A, ROW), "+="))
    assert reductions(found) == [("+", "s", "unsigned int")]
    (obligation,) = found.obligations
    assert isinstance(obligation, NoOverlap)
    assert outer(assign(total, at(D, ROW), "+=")).obligations == ()
    assert blocked(outer(assign(scalar("s", scope=Scope.MEMBER), at(A, ROW), "+="))) == ["scalar-carried"]


def test_what_is_not_modelled_may_read_everything() -> None:
    reason = Reason("io-in-loop", span())
    inner = loop(COL, 0, 8, assign(T, COL))
    nest = loop(ROW, 0, N, declare(T), inner, Unmodelled(reason, span()))
    found = facts(nest)
    assert found.loops[0].blockers[0] == reason
    assert found.loops[1].lastprivate == (T,)
    value = Opaque(Reason("unmodelled-expression", span()), INT, span())
    assert facts(loop(ROW, 0, N, declare(T), inner, assign(at(A, ROW), value))).loops[1].lastprivate == (T,)
    assert facts(loop(ROW, 0, N, declare(T), inner)).loops[1].private == (T,)


def test_calls_need_known_effects() -> None:
    call = Call("f", (), DOUBLE, span())
    nest = loop(ROW, 0, N, assign(at(D, ROW), call))
    assert blocked(facts(nest).loops[0]) == ["unknown-effects"]
    assert blocked(facts(nest, calls=(CallEffect("f", False),)).loops[0]) == ["unknown-effects"]
    assert blocked(facts(nest, calls=(CallEffect("f", True, may_throw=True),)).loops[0]) == ["may-throw"]
    two = CallEffect("f", True, ("EDOM", "ERANGE"))
    assert blocked(facts(nest, calls=(two,)).loops[0]) == ["errno-order"]
    assert blocked(facts(nest, Semantics(math_errno=False), calls=(two,)).loops[0]) == []
    assert facts(nest, calls=(CallEffect("f", True, ("EDOM",)),)).loops[0].errno_values == ("EDOM",)
    assert blocked(facts(loop(ROW, 0, N, Evaluate(call, span()))).loops[0]) == ["unknown-effects"]


def test_a_break_stops_the_loop_it_leaves() -> None:
    leave = when(binary("<", at(A, COL), 0), [Jump("break", 1, span())])
    found = facts(loop(ROW, 0, N, loop(COL, 0, N, leave)))
    assert [blocked(one) for one in found.loops] == [[], ["early-exit"]]
    returns = when(binary("<", at(A, COL), 0), [Jump("return", 2, span())])
    assert [blocked(one) for one in facts(loop(ROW, 0, N, loop(COL, 0, N, returns))).loops] == [["early-exit"]] * 2


@pytest.mark.parametrize(
    ("flag", "reason"), [("is_volatile", "volatile-access"), ("is_atomic", "atomic-access"), ("is_thread_local", "thread-local-access")]
)
def test_watched_objects(flag: str, reason: str) -> None:
    watched: Variable = replace(A, **{flag: True})
    assert reason in blocked(outer(assign(at(watched, ROW), 1)))


def test_reordering_is_stopped_by_carried_scalars_only_where_loops_could_change_places() -> None:
    total = scalar("s", DOUBLE)
    update: Assign = assign(total, at(D, COL), "+=")
    assert [r.id for r in facts(loop(ROW, 0, N, loop(COL, 0, N, update))).reorder_blockers] == ["float-reduction-order"]
    split = loop(ROW, 0, N, assign(total, 0), loop(COL, 0, N, update))
    assert facts(split).reorder_blockers == ()
    assert facts(split).permutable == (("i",), ("j",))
    assert block([split]).items == (split,)

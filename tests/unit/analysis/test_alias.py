"""Which bases are kept apart by proof, which by a guard, and which can't be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfcc.analysis import analyse
from perfcc.analysis.alias import may_overlap, types_alias
from perfcc.core.facts import LoopFacts, NoOverlap, Untouched
from perfcc.core.ir import Loop
from perfcc.core.types import ScalarType, Scope, Storage, TypeKind, Variable
from perfcc.core.unit import Semantics
from tests.unit.analysis.loopnests import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    SIZE,
    UCHAR,
    UNSIGNED,
    Machine,
    array,
    assign,
    at,
    cast,
    declare,
    kernel,
    loop,
    met,
    pointer,
    scalar,
    size,
    vector,
)

ROW, N = scalar("i"), scalar("n")
PLAIN = Semantics()
LOOSE = Semantics(strict_aliasing=False)
CHAR = ScalarType("char", TypeKind.SIGNED, 8)


def outer(nest: Loop, semantics: Semantics = PLAIN) -> LoopFacts:
    return analyse(kernel(nest), nest, semantics).loops[0]


def copy(to: Variable, source: Variable, semantics: Semantics = PLAIN) -> LoopFacts:
    return outer(loop(ROW, 0, N, assign(at(to, ROW), at(source, ROW))), semantics)


@pytest.mark.parametrize(
    ("left", "right", "may"),
    [
        (DOUBLE, INT, False),
        (DOUBLE, LONG, False),
        (DOUBLE, FLOAT, False),
        (INT, LONG, False),
        (INT, UNSIGNED, True),
        (LONG, SIZE, True),
        (UCHAR, DOUBLE, True),
        (INT, CHAR, True),
        (INT, INT, True),
    ],
)
def test_types(left: ScalarType, right: ScalarType, may: bool) -> None:
    assert types_alias(left, right, PLAIN) is may
    assert types_alias(right, left, PLAIN) is may
    assert types_alias(left, right, LOOSE)


LOCAL = array("l", 9, scope=Scope.LOCAL)
GLOBAL = array("g", 9)
VALUE = vector("v", scope=Scope.LOCAL, reference=False)


@pytest.mark.parametrize(
    ("left", "right", "may"),
    [
        (pointer("p"), pointer("q"), True),
        (pointer("p", is_restrict=True), pointer("q", is_restrict=True), False),
        (pointer("p", is_restrict=True), pointer("q"), True),
        (pointer("p", is_restrict=True), GLOBAL, False),
        (pointer("p"), GLOBAL, True),
        (pointer("p"), LOCAL, True),
        (GLOBAL, LOCAL, False),
        (GLOBAL, replace(GLOBAL, id="h"), False),
        (GLOBAL, replace(GLOBAL, id="h", is_reference=True), True),
        (GLOBAL, replace(GLOBAL, id="h", scope=Scope.PARAMETER), True),
        (replace(GLOBAL, scope=Scope.MEMBER), replace(GLOBAL, id="h", scope=Scope.MEMBER), True),
        (vector("v"), vector("w"), True),
        (VALUE, replace(VALUE, id="w"), False),
        (VALUE, vector("w"), True),
        (vector("v"), GLOBAL, False),
        (vector("v"), pointer("p"), True),
        (vector("v"), replace(GLOBAL, id="h", is_reference=True), True),
        (scalar("s", DOUBLE, Scope.GLOBAL), pointer("p"), True),
        (scalar("s", DOUBLE, is_reference=True), vector("v"), True),
    ],
)
def test_bases(left: Variable, right: Variable, may: bool) -> None:
    assert may_overlap(left, right, PLAIN) is may
    assert may_overlap(right, left, PLAIN) is may


def test_pointers_are_guarded_by_what_is_touched() -> None:
    p, q = pointer("p"), pointer("q")
    (guard,) = copy(p, q).obligations
    assert isinstance(guard, NoOverlap)
    for far, apart in ((0, False), (9, False), (10, True), (-9, False), (-10, True)):
        assert met(guard, Machine({"p": 100, "q": 100 + far}, {"n": 10})) is apart


def test_the_smallest_subscript_counts() -> None:
    p, q = pointer("p"), pointer("q")
    (guard,) = outer(loop(ROW, 5, N, assign(at(p, ROW), at(q, ROW)))).obligations
    assert met(guard, Machine({"p": 100, "q": 95}, {"n": 10}))
    assert not met(guard, Machine({"p": 100, "q": 96}, {"n": 10}))


def test_reading_through_both_needs_no_guard() -> None:
    nest = loop(ROW, 0, N, assign(at(vector("o"), ROW), at(pointer("p", INT), at(pointer("q", INT), ROW))))
    assert outer(nest).obligations == ()


def test_unknown_extents_block_between_pointers() -> None:
    p, q, k = pointer("p"), pointer("q"), pointer("k", INT)
    found = outer(loop(ROW, 0, N, assign(at(p, ROW), at(q, at(k, ROW)))))
    (reason,) = found.blockers
    assert reason.id == "possible-overlap"
    assert "'p'" in reason.detail
    assert "'q'" in reason.detail


def test_subscripts_of_small_types_have_extents() -> None:
    p, q, k = pointer("p"), pointer("q"), pointer("k", UCHAR)
    found = outer(loop(ROW, 0, N, assign(at(p, ROW), at(q, cast(at(k, ROW), INT)))))
    assert found.blockers == ()
    assert any(not met(guard, Machine({"p": 355, "q": 100, "k": 9000}, {"n": 10})) for guard in found.obligations)


def test_character_writes_may_reach_headers_and_pointers() -> None:
    bytes_, v = pointer("b", UCHAR), vector("v")
    guards = copy(bytes_, v).obligations
    assert any(isinstance(guard, Untouched) and guard.object == v for guard in guards)
    held = pointer("p", scope=Scope.GLOBAL)
    guards = copy(bytes_, held).obligations
    assert any(isinstance(guard, Untouched) and guard.object == held for guard in guards)
    assert not any(isinstance(guard, Untouched) for guard in copy(pointer("d"), v).obligations)
    assert any(isinstance(guard, Untouched) for guard in copy(pointer("d"), v, LOOSE).obligations)
    local = vector("v", scope=Scope.LOCAL, reference=False)
    assert not any(isinstance(guard, Untouched) for guard in copy(bytes_, local).obligations)


def test_a_bound_in_a_header_is_watched_too() -> None:
    bytes_, v = pointer("b", UCHAR), vector("v")
    found = outer(loop(ROW, 0, cast(size(v), INT), assign(at(bytes_, ROW), 1)))
    assert any(isinstance(guard, Untouched) and guard.object == v for guard in found.obligations)


def test_parameters_in_memory_are_kept_apart_from_writes() -> None:
    count = scalar("n", INT, Scope.GLOBAL)
    a = pointer("a", INT)
    (guard,) = outer(loop(ROW, 0, count, assign(at(a, ROW), 1))).obligations
    assert isinstance(guard, NoOverlap)
    assert {guard.left.id, guard.right.id} == {"a", "n"}
    assert outer(loop(ROW, 0, count, assign(at(pointer("d"), ROW), 1))).obligations == ()


def test_a_pointer_that_moves_is_unknown() -> None:
    p = Variable("p", "p", "double *", Storage.POINTER, DOUBLE, Scope.LOCAL)
    nest = loop(ROW, 0, N, declare(p), assign(at(p, ROW), 1))
    assert "nonaffine-write" in [reason.id for reason in outer(nest).blockers]


def test_arrays_of_the_body_belong_to_the_iteration() -> None:
    t = array("t", 4, scope=Scope.LOCAL)
    body = (declare(t), assign(at(t, 0), at(pointer("q"), ROW)), assign(at(pointer("p"), ROW), at(t, 0)))
    found = outer(loop(ROW, 0, N, *body))
    assert found.blockers == ()
    assert len(found.obligations) == 1
    outside = outer(loop(ROW, 0, N, *body[1:]))
    assert [reason.id for reason in outside.blockers] == ["carried-dependence"]

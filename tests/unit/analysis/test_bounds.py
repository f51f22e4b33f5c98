"""Domains, wrap-around, delinearisation: what is proved, what becomes a guard, what blocks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfcc.analysis import analyse
from perfcc.core.facts import Facts, Holds, NoWrap
from perfcc.core.ir import Binary, IntConst, Loop, VarRef
from perfcc.core.unit import Semantics
from tests.unit.analysis.loopnests import (
    INT,
    SIZE,
    UNSIGNED,
    Machine,
    add,
    array,
    assign,
    at,
    binary,
    cast,
    kernel,
    loop,
    met,
    mul,
    pointer,
    scalar,
    size,
    sub,
    vector,
    when,
)

ROW, COL, DEEP = scalar("i"), scalar("j"), scalar("k")
N, M = scalar("n"), scalar("m")
A = pointer("a")
PLAIN = Semantics()


def facts(nest: Loop, semantics: Semantics = PLAIN) -> Facts:
    return analyse(kernel(nest), nest, semantics)


def run(nest: Loop, semantics: Semantics = PLAIN) -> list[tuple[bool, int]]:
    """(parallel?, number of obligations) of each loop."""
    return [(not one.blockers, len(one.obligations)) for one in facts(nest, semantics).loops]


def entry(**values: int) -> Machine:
    return Machine({}, values)


def test_rows_and_columns_need_no_guard_when_the_loop_runs_over_a_row() -> None:
    assert run(loop(ROW, 0, N, loop(COL, 0, M, assign(at(A, add(mul(ROW, M), COL)), 1)))) == [(True, 0), (True, 0)]


def test_a_row_length_that_is_not_the_stride_is_checked() -> None:
    stride = scalar("s")
    found = facts(loop(ROW, 0, N, loop(COL, 0, M, assign(at(A, add(mul(ROW, stride), COL)), 1))))
    (obligation,) = found.loop("i").obligations
    assert isinstance(obligation, Holds)
    assert met(obligation, entry(n=9, m=4, s=4))
    assert not met(obligation, entry(n=9, m=5, s=4))


def test_a_row_that_is_left_blocks_the_outer_loop_only() -> None:
    found = facts(loop(ROW, 0, N, loop(COL, 0, add(M, 1), assign(at(A, add(mul(ROW, M), COL)), 1))))
    assert [reason.id for reason in found.loop("i").blockers] == ["carried-dependence"]
    assert found.loop("j").blockers == ()


def test_the_last_column_counted_backwards() -> None:
    subscript = sub(sub(add(mul(ROW, M), M), 1), COL)
    assert run(loop(ROW, 0, N, loop(COL, 0, M, assign(at(A, subscript), 1)))) == [(True, 0), (True, 0)]


def test_three_dimensions() -> None:
    subscript = add(mul(add(mul(ROW, N), COL), M), DEEP)
    nest = loop(ROW, 0, 7, loop(COL, 0, N, loop(DEEP, 0, M, assign(at(A, subscript), 1))))
    assert run(nest) == [(True, 0)] * 3


def test_unsigned_arithmetic_is_guarded_at_its_extreme() -> None:
    i, j, n, m = (scalar(name, UNSIGNED) for name in "ijnm")
    subscript = add(mul(i, m, UNSIGNED), j, UNSIGNED)
    found = facts(loop(i, 0, n, loop(j, 0, m, assign(at(A, subscript), 1))))
    (obligation,) = found.loop("i").obligations
    assert isinstance(obligation, NoWrap)
    assert met(obligation, entry(n=1 << 16, m=1 << 16))
    assert not met(obligation, entry(n=1 << 16, m=(1 << 16) + 1))


def test_unsigned_neighbours_that_can_not_wrap_need_no_guard() -> None:
    i, n = scalar("i", UNSIGNED), scalar("n", UNSIGNED)
    nest = loop(i, 1, n, assign(at(A, i), at(A, add(sub(i, 1, UNSIGNED), 0, UNSIGNED))))
    assert [reason.id for reason in facts(nest).loop("i").blockers] == ["carried-dependence"]
    other = loop(i, 1, n, assign(at(A, sub(i, 1, UNSIGNED)), 1))
    assert run(other) == [(True, 0)]


def test_unsigned_subscript_below_zero_is_guarded_or_blocked() -> None:
    i, n, far = scalar("i", UNSIGNED), scalar("n", UNSIGNED), scalar("far", UNSIGNED)
    found = facts(loop(i, 0, n, assign(at(A, sub(i, far, UNSIGNED)), 1))).loop("i")
    assert found.blockers == ()
    assert any(isinstance(obligation, NoWrap) and not met(obligation, entry(n=9, far=1)) for obligation in found.obligations)
    constant = facts(loop(i, 0, n, assign(at(A, sub(i, 1, UNSIGNED)), 1))).loop("i")
    assert [reason.id for reason in constant.blockers] == ["subscript-wrap"]


def test_wrapv_turns_the_assumption_into_a_guard() -> None:
    nest = loop(ROW, 0, N, loop(COL, 0, M, assign(at(A, add(mul(ROW, M), COL)), 1)))
    for semantics in (Semantics(wrapv=True), Semantics(trapping=True)):
        found = facts(nest, semantics).loop("i")
        assert found.blockers == ()
        assert all(met(guard, entry(n=100, m=100)) for guard in found.obligations)
        assert not all(met(guard, entry(n=1 << 16, m=(1 << 15) + 1)) for guard in found.obligations)


def test_int_subscripts_of_vectors_need_no_guard() -> None:
    v = vector("v")
    subscript = cast(add(mul(sub(ROW, 1), M), COL), SIZE)
    assert run(loop(ROW, 1, N, loop(COL, 0, M, assign(at(v, subscript), 1)))) == [(True, 0), (True, 0)]


def test_a_signed_count_against_an_unsigned_bound_must_start_at_zero() -> None:
    v = vector("v")
    found = facts(loop(ROW, M, size(v), assign(at(v, cast(ROW, SIZE)), 1)))
    assert any(not met(obligation, entry(m=-1)) for obligation in found.loop("i").obligations if isinstance(obligation, Holds))


def test_not_equal_bounds_are_checked() -> None:
    found = facts(loop(ROW, M, N, assign(at(A, ROW), 1), relation="!=")).loop("i")
    (obligation,) = found.obligations
    assert met(obligation, entry(m=3, n=3))
    assert not met(obligation, entry(m=4, n=3))
    by_two = facts(loop(ROW, M, N, assign(at(A, ROW), 1), relation="!=", step=2)).loop("i")
    assert [reason.id for reason in by_two.blockers] == ["not-counted"]


def test_unsigned_at_most_the_largest_value_never_ends() -> None:
    i, n = scalar("i", UNSIGNED), scalar("n", UNSIGNED)
    (obligation,) = facts(loop(i, 0, n, assign(at(A, i), 1), relation="<=")).loop("i").obligations
    assert met(obligation, entry(n=(1 << 32) - 2))
    assert not met(obligation, entry(n=(1 << 32) - 1))


@pytest.mark.parametrize("step", [2, 3, 16])
def test_steps_keep_elements_apart(step: int) -> None:
    inner = loop(COL, ROW, add(ROW, step), assign(at(A, COL), 1))
    assert [one[0] for one in run(loop(ROW, 0, N, inner, step=step))] == [True, True]
    beyond = loop(COL, ROW, add(ROW, step + 1), assign(at(A, COL), 1))
    assert [one[0] for one in run(loop(ROW, 0, N, beyond, step=step))] == [False, True]


def tiled(var_type: object, tile: int) -> Loop:
    """What loop-tiling makes of ``for i < n for j < m``."""
    ii, jj = replace(ROW, id="ii", name="ii"), replace(COL, id="jj", name="jj")

    def point(var: object, start: object, bound: object, body: Loop | None, id: str) -> Loop:
        end = Binary("min", Binary("+", VarRef(start, INT), IntConst(tile)), VarRef(bound, INT))  # type: ignore[arg-type]
        inside = body if body is not None else assign(at(A, add(mul(ROW, M), COL)), 1, "+=")
        return replace(loop(var, 0, 0, inside, id=id), lower=VarRef(start, INT), bound=end, span=None, fresh=True)  # type: ignore[arg-type]

    points = point(ROW, ii, N, point(COL, jj, M, None, "j"), "i")
    inner = replace(loop(jj, 0, M, points, step=tile, id="j.tile"), span=None, fresh=True)
    return replace(loop(ii, 0, N, inner, step=tile, id="i.tile"), span=None, fresh=True)


def test_tiles_stay_parallel_and_do_not_count_past_the_type() -> None:
    found = facts(tiled(INT, 32))
    assert [one.blockers for one in found.loops] == [()] * 4
    guards = found.loop("i.tile").obligations
    assert all(met(guard, entry(n=1000, m=1000)) for guard in guards)
    assert any(not met(guard, entry(n=(1 << 31) - 5, m=4)) for guard in guards)
    assert not found.loop("i.tile").uneven
    (extent,) = found.extents
    assert extent.count is not None
    assert entry(n=10, m=7).value(extent.count) == 70


def test_conditions_narrow_the_domain() -> None:
    write = assign(at(A, ROW), at(A, add(ROW, M)))
    plain = loop(ROW, 0, N, write)
    assert run(plain) == [(False, 0)]
    assert run(loop(ROW, 0, N, when(binary(">=", M, N), [write]))) == [(True, 0)]
    assert run(loop(ROW, 0, N, when(binary("<", M, N), [assign(at(A, 0), 1)], [write])))[0][0] is False


def test_numeric_arrays_flatten_where_rows_are_left() -> None:
    g = array("g", 10, 10)
    assert run(loop(ROW, 0, 100, assign(at(g, 0, ROW), 1))) == [(True, 0)]
    found = facts(loop(ROW, 0, N, loop(COL, 0, M, assign(at(g, ROW, COL), 1)))).loop("i")
    assert found.blockers == ()
    assert all(met(obligation, entry(n=10, m=10)) for obligation in found.obligations)
    assert not all(met(obligation, entry(n=10, m=11)) for obligation in found.obligations)


def test_distances_and_directions() -> None:
    nest = loop(ROW, 2, N, loop(COL, 0, M, assign(at(A, add(mul(ROW, M), COL)), at(A, add(mul(sub(ROW, 2), M), COL)))))
    carried = [d for d in facts(nest).dependences if "<" in d.directions]
    assert {(d.kind.value, d.directions, d.distance, d.exact) for d in carried} == {("flow", ("<", "="), (2, 0), True)}


def test_strides() -> None:
    found = facts(loop(ROW, 0, N, loop(COL, 0, M, assign(at(A, add(mul(ROW, M), COL)), 1), step=2)))
    (access,) = found.accesses
    assert access.strides == (("i", None), ("j", 2))
    assert access.stride_text == (("i", "m"), ("j", "2"))


def test_a_nest_that_is_too_large_says_so() -> None:
    body = [assign(at(A, mul(ROW, k + 2)), at(A, add(mul(ROW, k + 2), k))) for k in range(100)]
    found = facts(loop(ROW, 0, N, *body))
    assert [reason.id for reason in found.loop("i").blockers] == ["analysis-budget"]

"""Inputs for blocks of iterations: long where threads share blocks, short elsewhere, and never too much work."""

from __future__ import annotations

from dataclasses import replace

from perfcc.core.ir import Block, IntConst, Loop, Parallel, VarRef
from perfcc.core.types import ScalarType, Scope, Storage, TypeKind, Variable
from perfcc.verify import tiled
from perfcc.verify.roles import Roles

INT = ScalarType("int", TypeKind.SIGNED, 32)
N, M = (Variable(name, name, "int", Storage.SCALAR, INT, Scope.PARAMETER) for name in "nm")
SHARED = Parallel()
EMPTY = Block(())


def loop(name: str, bound: Variable, body: Block = EMPTY, step: int = 1) -> Loop:
    var = Variable(name, name, "int", Storage.SCALAR, INT, Scope.LOCAL, declared_in_kernel=True)
    return Loop(name, var, IntConst(0), VarRef(bound), "<", step, body)


ROLES = Roles(("n", "m"), (), (), {}, (), (), (), (), {}, (), 2)
ORIGINAL = loop("i", N, Block((loop("j", M),)))


def blocked(step: int) -> Loop:
    return replace(loop("i", N, Block((loop("j", M),)), step), annotations=(SHARED,))


def test_only_what_bounds_the_shared_loop_is_long() -> None:
    (shape,) = tiled.shapes(blocked(32), ORIGINAL, ROLES)
    assert (shape.long, shape.size) == ("n", tiled.SHARES * 32 + 3)
    assert shape.short < 32


def test_single_iterations_need_no_inputs_of_their_own() -> None:
    assert tiled.shapes(blocked(1), ORIGINAL, ROLES) == ()
    assert (tiled.block(blocked(1)), tiled.block(blocked(32))) == (1, 32)


def test_one_bound_for_three_loops_stays_affordable_and_has_several_blocks() -> None:
    cube = loop("i", N, Block((loop("j", N, Block((loop("k", N),))),)))
    (shape,) = tiled.shapes(replace(cube, step=32, annotations=(SHARED,)), cube, replace(ROLES, depth=3))
    assert shape.size > 4 * 32
    assert shape.size**3 <= tiled.MOST_ITERATIONS


def test_serial_loops_may_be_blocked_as_they_like() -> None:
    assert tiled.shapes(loop("i", N, step=32), ORIGINAL, ROLES) == ()

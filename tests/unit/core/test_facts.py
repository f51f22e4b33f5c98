"""Which loop carries a dependence, and what character types may alias."""

from __future__ import annotations

import pytest

from perfcc.core.facts import Dependence, DependenceKind, Facts, LoopFacts
from perfcc.core.types import ScalarType, TypeKind


def dependence(*directions: str) -> Dependence:
    loops = tuple(f"L{index}" for index in range(len(directions)))
    return Dependence(DependenceKind.FLOW, "a", None, None, loops, directions, (None,) * len(directions))


@pytest.mark.parametrize(
    ("directions", "carriers"),
    [
        (("=", "="), set()),
        (("<", "="), {"L0"}),
        (("=", "<"), {"L1"}),
        (("<", "<"), {"L0"}),
        (("*", "<"), {"L0", "L1"}),
        (("=", "*"), {"L1"}),
        ((">", "<"), {"L0"}),
        (("=", "=", "<"), {"L2"}),
        (("*", "=", "*"), {"L0", "L2"}),
    ],
)
def test_the_carrier_is_the_first_loop_that_may_differ(directions: tuple[str, ...], carriers: set[str]) -> None:
    found = dependence(*directions)
    assert {loop for loop in found.loops if found.carried_by(loop)} == carriers


def test_a_loop_outside_the_dependence_carries_nothing() -> None:
    assert not dependence("=").carried_by("L7")


def test_facts_of_a_loop_are_found_by_its_id() -> None:
    inner = LoopFacts("L1", 1, None, None, ())
    facts = Facts((LoopFacts("L0", 0, None, None, ()), inner), (), ())
    assert facts.loop("L1") is inner
    with pytest.raises(KeyError):
        facts.loop("L2")


def test_character_types_alias_everything_and_others_do_not() -> None:
    assert ScalarType("unsigned char", TypeKind.UNSIGNED, 8).aliases_anything
    assert not ScalarType("int", TypeKind.SIGNED, 32).aliases_anything
    assert not ScalarType("bool", TypeKind.BOOL, 8).is_integer

"""Core's dataclasses as JSON and back: nothing is lost, nothing foreign gets in."""

from __future__ import annotations

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfcc.core import ir
from perfcc.core.codec import CodecError, decode, dumps, encode, loads
from perfcc.core.decision import Decision, Evidence, Outcome, SizeTiming, Status
from perfcc.core.facts import Facts, Holds, LoopFacts, NoWrap
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from tests.unit.core.test_ir import grow, leaves
from tests.unit.explain import samples


def through_json(value: object) -> object:
    return json.loads(json.dumps(encode(value), allow_nan=False))


def comparable(value: object) -> str:
    """NaN is unequal to itself, and a zero that equals its default loses its sign."""
    return re.sub(r"-0\.0\b", "0.0", repr(value))


@given(samples.outcomes)
def test_any_outcome_comes_back(outcome: Outcome) -> None:
    back = decode(Outcome, encode(outcome))
    assert comparable(back) == comparable(outcome)


@pytest.mark.parametrize("outcome", [samples.MATRIX, samples.FILTERS, samples.BROKEN])
def test_an_outcome_comes_back_through_text(outcome: Outcome) -> None:
    assert decode(Outcome, through_json(outcome)) == outcome


@given(st.recursive(leaves, grow, max_leaves=10))
def test_any_expression_comes_back_inside_a_statement(expr: ir.Expr) -> None:
    statement = ir.Evaluate(expr)
    assert decode(ir.Evaluate, through_json(statement)) == statement


def test_facts_come_back_with_the_right_obligation() -> None:
    facts = Facts((LoopFacts("L0", 0, ir.IntConst(3), None, (Reason("no-rule"),), (NoWrap(ir.IntConst(1), 32, True),)),), (), ())
    back = decode(Facts, through_json(facts))
    assert back == facts
    assert isinstance(back.loops[0].obligations[0], NoWrap)
    assert not isinstance(back.loops[0].obligations[0], Holds)


def test_defaults_are_left_out_and_filled_in() -> None:
    assert encode(Reason("no-rule")) == {"id": "no-rule"}
    assert decode(Reason, {"id": "no-rule"}) == Reason("no-rule")


@pytest.mark.parametrize("value", [math.inf, -math.inf, 0.1, 5e-324, 1e308])
def test_figures_are_exact(value: float) -> None:
    timing = SizeTiming(value, 1.0, 1.0, 1.0, 3, "faster")
    assert decode(SizeTiming, through_json(timing)) == timing


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Reason, {"id": "no-such-reason"}),
        (Reason, {"id": "no-rule", "extra": 1}),
        (Reason, {}),
        (Reason, []),
        (Reason, {"id": 3}),
        (Reason, {"id": "no-rule", "at": "here"}),
        (Span, {"file": "a", "begin": True, "end": 1, "line": 1, "column": 1, "end_line": 1}),
        (Span, {"file": "a", "begin": 0.0, "end": 1, "line": 1, "column": 1, "end_line": 1}),
        (Evidence, {"stage": "a", "passed": 1, "summary": ""}),
        (Evidence, {"stage": "a", "passed": True, "summary": "", "figures": [["a"]]}),
        (Evidence, {"stage": "a", "passed": True, "summary": "", "seconds": "soon"}),
        (ir.Evaluate, {"expr": {"is": "Popen"}}),
        (ir.Evaluate, {"expr": {"is": ["IntConst"], "value": 1}}),
        (ir.Evaluate, {"expr": {"is": "IntConst", "value": "1"}}),
        (ir.Evaluate, {"expr": {"value": 1}}),
    ],
)
def test_what_does_not_match_is_an_error(kind: type, data: object) -> None:
    with pytest.raises(CodecError):
        decode(kind, data)


def test_an_error_names_the_place() -> None:
    data = encode(samples.FASTER)
    data["evidence"][1]["passed"] = "yes"
    with pytest.raises(CodecError, match=r"Decision\.evidence\[1\]\.passed"):
        decode(Decision, data)


def test_a_status_outside_the_enumeration_is_an_error() -> None:
    data = encode(samples.REFUSED)
    assert data["status"] == Status.REFUSED.value
    with pytest.raises(CodecError):
        decode(Decision, {**data, "status": "fine"})


@given(samples.outcomes)
def test_the_same_value_gives_the_same_bytes(outcome: Outcome) -> None:
    text = dumps(outcome)
    text.decode("ascii")
    assert dumps(outcome) == text
    assert dumps(decode(Outcome, encode(outcome))) == text


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b'"\xff"', b"[" * 100000, b"nul"])
def test_text_that_is_no_json_is_an_error(text: bytes) -> None:
    with pytest.raises(CodecError):
        loads(Outcome, text)


def test_nesting_without_end_is_an_error_and_no_crash() -> None:
    data: object = {"is": "IntConst", "value": 1}
    for _ in range(20000):
        data = {"is": "Unary", "op": "-", "operand": data}
    with pytest.raises(CodecError):
        decode(ir.Evaluate, {"expr": data})

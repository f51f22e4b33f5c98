"""The JSON report: valid by its schema, complete, and the same for the same outcomes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

import perfcc.explain
from perfcc.core.decision import Outcome, Status
from perfcc.explain.json import render_json
from perfcc.explain.wording import valid
from tests.unit.explain import samples

SCHEMA = json.loads((Path(perfcc.explain.__file__).parent / "explain.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def rendered(*outcomes: Outcome) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    document: dict[str, Any] = json.loads(render_json(outcomes), parse_constant=refuse)
    VALIDATOR.validate(document)
    return document


def test_the_schema_is_a_schema_and_leaves_no_object_open() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    def closed(node: Any) -> bool:
        if isinstance(node, list):
            return all(map(closed, node))
        if not isinstance(node, dict):
            return True
        return ("properties" not in node or "type" not in node or node.get("additionalProperties") is False) and all(
            map(closed, node.values())
        )

    assert closed(SCHEMA)


def test_the_documentation_shows_the_very_same_schema() -> None:
    assert json.loads((Path(__file__).parents[3] / "docs" / "explain.schema.json").read_text("utf-8")) == SCHEMA


def test_no_outcome_gives_an_empty_report() -> None:
    assert rendered()["summary"] == {"units": 0, "nests": 0, "loops": 0, "rewritten": 0, "left_alone": 0, "reasons": {}}


def test_the_summary_counts_every_decision_once() -> None:
    document = rendered(samples.MATRIX, samples.FILTERS, samples.BROKEN)
    assert document["summary"] == {
        "units": 3,
        "nests": 5,
        "loops": 8,
        "rewritten": 1,
        "left_alone": 4,
        "reasons": {"carried-dependence": 2, "io-in-loop": 1, "not-faster": 1},
    }
    assert next(iter(document["summary"]["reasons"])) == "carried-dependence"


def test_decisions_stand_in_source_order_with_all_their_parts() -> None:
    unit = rendered(samples.MATRIX)["units"][0]
    assert [decision["at"]["line"] for decision in unit["decisions"]] == [41, 88]
    faster, refused = unit["decisions"]
    assert faster["reason"] is None
    assert faster["steps"][1]["parameters"] == {"schedule": "static", "collapse": 1}
    assert faster["timings"][0] == {"work": 42000.0, "ratio": 1.21, "low": 1.12, "high": 1.33, "pairs": 12, "verdict": "faster"}
    assert faster["evidence"][1]["figures"] == [{"name": "inputs", "value": "301"}, {"name": "threads", "value": "1, 2, 4"}]
    assert refused["reason"]["id"] == "io-in-loop"
    assert refused["reason"]["at"]["line"] == 91
    assert refused["reason"]["lift"] == "collect results first, print after the loop"


def test_the_same_object_met_twice_is_reported_once_and_the_last_counts() -> None:
    again = replace(samples.MATRIX, emitted=False)
    document = rendered(samples.MATRIX, samples.FILTERS, again)
    assert [unit["output"] for unit in document["units"]] == ["matrix.o", "filters.o"]
    assert document["units"][0]["emitted"] is False
    assert document["summary"]["nests"] == 5


def test_one_source_compiled_twice_is_two_units() -> None:
    assert rendered(samples.MATRIX, replace(samples.MATRIX, output="pic/matrix.o"))["summary"]["nests"] == 4


def test_the_schema_notices_a_refusal_without_reason_and_a_stray_key() -> None:
    document = rendered(samples.MATRIX)
    document["units"][0]["decisions"][1]["reason"] = None
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)
    document = rendered(samples.MATRIX)
    document["units"][0]["extra"] = 1
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)
    document = rendered(samples.MATRIX)
    document["units"][0]["decisions"][0]["reason"] = document["units"][0]["decisions"][1]["reason"]
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)


@given(st.lists(samples.outcomes, max_size=3))
def test_any_outcomes_give_a_valid_report_that_keeps_every_decision(outcomes: list[Outcome]) -> None:
    document = rendered(*outcomes)
    kept = {(outcome.source, outcome.output): outcome for outcome in outcomes}
    assert len(document["units"]) == len(kept)
    for unit, outcome in zip(document["units"], kept.values(), strict=True):
        assert unit["source"] == valid(outcome.source)
        assert unit["seconds"] == (outcome.seconds if math.isfinite(outcome.seconds) else None)
        assert [pair["value"] for pair in unit["settings"]] == [valid(value) for _, value in outcome.settings]
        ordered = sorted(outcome.decisions, key=lambda decision: decision.span)
        assert [decision["status"] for decision in unit["decisions"]] == [decision.status.value for decision in ordered]
        assert [decision["before"] for decision in unit["decisions"]] == [valid(decision.before) for decision in ordered]
    statuses = [decision["status"] for unit in document["units"] for decision in unit["decisions"]]
    assert document["summary"]["nests"] == len(statuses)
    assert document["summary"]["rewritten"] == statuses.count(Status.REWRITTEN.value)
    assert sum(document["summary"]["reasons"].values()) == document["summary"]["left_alone"]


@given(samples.outcomes)
def test_the_report_is_ascii_and_always_the_same(outcome: Outcome) -> None:
    first = render_json([outcome])
    assert first.isascii()
    assert first == render_json([outcome])

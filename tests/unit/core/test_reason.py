"""The table of reasons, and the code's use of it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from perfcc.core import reason as table
from perfcc.core.reason import REASONS, Reason
from perfcc.core.span import Span

PACKAGE = Path(__file__).parents[3] / "perfcc"
STAGES = {"frontend", "analysis", "rules", "verify", "pipeline", "cc", "store"}


def test_every_row_has_its_own_id() -> None:
    assert [id for id, times in Counter(row.id for row in table._ROWS).items() if times > 1] == []
    assert len(REASONS) == len(table._ROWS)


@pytest.mark.parametrize("kind", REASONS.values(), ids=lambda kind: kind.id)
def test_a_row_reads_well(kind: table.ReasonKind) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", kind.id)
    assert kind.stage in STAGES
    for words in (kind.sentence, kind.lift):
        assert words == words.strip()
        assert not words.endswith(".")
        assert "\n" not in words
    assert len(kind.sentence.split()) >= 3
    assert not kind.sentence[0].isupper() or kind.sentence.split()[0] in ("AddressSanitizer", "ThreadSanitizer", "OpenMP")


def test_no_two_reasons_say_the_same() -> None:
    sentences = Counter(kind.sentence for kind in REASONS.values())
    assert [sentence for sentence, times in sentences.items() if times > 1] == []


def test_a_reason_outside_the_table_can_not_be_made() -> None:
    with pytest.raises(KeyError):
        Reason("no-such-reason")


def test_a_reason_names_place_cause_and_id() -> None:
    reason = Reason("io-in-loop", Span("a.cpp", 10, 20, 3, 4, 3), "std::printf")
    assert str(reason) == "a.cpp:3: the loop does input or output (std::printf) [io-in-loop]"
    assert str(Reason("no-rule")) == "no rule applies to this loop [no-rule]"


def given_ids(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The constant ids that ``Reason(...)`` is called with, and the lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Reason":
            first = node.args[:1] + [keyword.value for keyword in node.keywords if keyword.arg == "id"]
            for argument in first:
                choices = [argument.body, argument.orelse] if isinstance(argument, ast.IfExp) else [argument]
                for choice in choices:
                    if isinstance(choice, ast.Constant):
                        yield str(choice.value), node.lineno


def test_given_ids_sees_every_form() -> None:
    tree = ast.parse("Reason('a')\nreason.Reason(id='b')\nReason('c' if x else 'd', at)\nReason(name)")
    assert [id for id, _ in given_ids(tree)] == ["a", "b", "c", "d"]


def test_every_id_in_the_code_is_in_the_table() -> None:
    used = [
        (id, f"{path.relative_to(PACKAGE)}:{line}")
        for path in sorted(PACKAGE.rglob("*.py"))
        for id, line in given_ids(ast.parse(path.read_text("utf-8")))
    ]
    assert [(id, place) for id, place in used if id not in REASONS] == []

"""Numbers, places and foreign text in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfcc.core.span import Span
from perfcc.explain import wording


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0"), (1, "1"), (42000.0, "42,000"), (1234567.4, "1,234,567"), (0.25, "0.25"), (1e18, "1e+18")]
)
def test_counts(number: float, words: str) -> None:
    assert wording.count(number) == words


@pytest.mark.parametrize(("value", "words"), [(0.0004, "0.4 ms"), (0.31, "0.3 s"), (90.0, "90.0 s"), (150.0, "2.5 min")])
def test_durations(value: float, words: str) -> None:
    assert wording.seconds(value) == words


def test_plurals() -> None:
    assert wording.plural(1, "loop") == "1 loop"
    assert wording.plural(0, "loop") == "0 loops"
    assert wording.plural(2, "copy", "copies") == "2 copies"


def test_paths_are_shown_relative_only_inside_the_base() -> None:
    assert wording.path("/a/b/c.cpp", "/a") == "b/c.cpp"
    assert wording.path("/other/c.cpp", "/a") == "/other/c.cpp"
    assert wording.path("./c.cpp", "/a") == "c.cpp"
    assert wording.place(Span("/a/c.cpp", 0, 1, 7, 1, 7), "/a") == "c.cpp:7"


@given(st.floats())
def test_every_figure_has_words(value: float) -> None:
    assert wording.count(value)
    assert wording.seconds(value)
    assert wording.ratio(value).endswith("x")


@given(st.binary())
def test_valid_text_replaces_exactly_the_stray_bytes(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    made = wording.valid(text)
    made.encode("utf-8")
    assert len(made) == len(text)
    assert all(a == b or (b == "�" and "\ud800" <= a <= "\udfff") for a, b in zip(text, made, strict=True))


@given(st.text(st.characters(exclude_categories=[])), st.sampled_from(["ascii", "utf-8", "cp1252"]))
def test_printable_text_fits_the_terminal(text: str, encoding: str) -> None:
    made = wording.printable(text, encoding)
    made.encode(encoding)
    assert not [c for c in made if ord(c) < 32 and c not in "\t\n"]

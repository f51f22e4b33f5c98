"""Splicing: what is replaced, what keeps its line and column, and which pragmas stay asleep."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from perfcc.cc.splice import Replacement, names, own_numbers, splice, untouched
from perfcc.core.span import Span


def replacement(source: bytes, old: bytes, new: str, threads: bool = False) -> Replacement:
    begin = source.index(old)
    return Replacement(Span("a.c", begin, begin + len(old), 1, 1, 1), new, threads)


def test_nothing_to_do_changes_nothing() -> None:
    assert splice(b"int x;\r\n", (), "", mask_openmp=False) == b"int x;\r\n"


def test_following_text_keeps_line_and_column() -> None:
    source = b"int a;\n  for (;;) {\n  } int b;\nint c;\n"
    out = splice(source, [replacement(source, b"for (;;) {\n  }", "NEW\nTEXT\nLONG")], "", mask_openmp=False)
    assert out == b"int a;\n  NEW\n#line 2\nTEXT\n#line 2\nLONG\n#line 3\n    int b;\nint c;\n"


def test_head() -> None:
    out = splice(b"int x;\n", (), "HEAD\nTEXT", mask_openmp=False)
    line = b"#line 1\n"
    assert out == line + b"HEAD\n" + line + b"TEXT\n" + line + b"int x;\n"


def test_byte_order_mark_does_not_end_up_inside() -> None:
    source = b"\xef\xbb\xbfint x;"
    assert splice(source, (), "H", mask_openmp=False).endswith(b"#line 1\nint x;")


def test_original_inside_the_replacement_keeps_its_lines() -> None:
    source = b"\n\n  for (;;)\n    f();\n"
    kernel = b"for (;;)\n    f();"
    out = splice(source, [replacement(source, kernel, "if (ok) {\nfast\n} else {\n" + kernel.decode() + "\n}")], "", False)
    assert out.index(b"#line 3\n  for (;;)\n    f();\n}") > out.index(b"fast")


LINES = [
    ("a\nb", "a\n@b"),
    ("#pragma omp parallel for schedule(static)\nfor (;;)\n  x;", "#pragma omp parallel for schedule(static)\n@for (;;)\n@  x;"),
    ("f(a,\n b)\nc", "f(a,\n b)\n@c"),
    ("x /* (\n */ y\nz", "x /* (\n */ y\n@z"),
    ("x // (\ny", "x // (\n@y"),
    ("x \\\ny\nz", "x \\\ny\n@z"),
    ("'(';\n\"(\";\nx", "'(';\n@\"(\";\n@x"),
    ('R"(\n)" x\ny', 'R"(\n)" x\n@y'),
    ("ends\n", "ends\n"),
]


@pytest.mark.parametrize(("text", "numbered"), LINES)
def test_new_text_has_the_first_line_of_the_original(text: str, numbered: str) -> None:
    """Wherever a directive may stand: not inside a token, a continued line or the arguments of a macro."""
    source = b"\n\nLOOP\n"
    out = splice(source, [replacement(source, b"LOOP", text)], "", mask_openmp=False)
    assert out.startswith(b"\n\n" + numbered.replace("@", "#line 3\n").encode() + b"\n#line 3")


def test_several_replacements_in_any_order() -> None:
    source = b"A1 B2 C3"
    items = [replacement(source, b"C3", "c"), replacement(source, b"A1", "a")]
    out = splice(source, items, "", mask_openmp=False)
    assert out == b"a\n#line 1\n   B2 c\n#line 1\n        "


@pytest.mark.parametrize(("first", "second"), [(b"ABC", b"BCD"), (b"ABC", b"ABC")])
def test_overlap_is_an_error(first: bytes, second: bytes) -> None:
    source = b"ABCD"
    with pytest.raises(ValueError, match="overlaps"):
        splice(source, [replacement(source, first, ""), replacement(source, second, "")], "", mask_openmp=False)


def test_span_outside_the_source_is_an_error() -> None:
    with pytest.raises(ValueError, match="outside"):
        splice(b"AB", [Replacement(Span("x", 1, 5, 1, 1, 1), "", False)], "", mask_openmp=False)


ASLEEP = [
    b"#pragma omp parallel for\nx;",
    b"  #  pragma   omp simd",
    b"# /* c */ pragma /* d */ omp barrier",
    b"#pragma \\\n omp barrier",
    b'_Pragma("omp parallel")',
    b'_Pragma ( " omp parallel")',
    b'#define PAR _Pragma("omp parallel for")',
    b"%:pragma omp barrier",
]


@pytest.mark.parametrize("text", ASLEEP)
def test_pragma_is_put_to_sleep_in_place(text: bytes) -> None:
    out = splice(text, (), "", mask_openmp=True)
    assert out == text.replace(b"omp", b"xmp")
    assert splice(text, (), "", mask_openmp=False) == text


AWAKE = [
    b'"#pragma omp parallel"',
    b"// #pragma omp parallel",
    b"/*\n#pragma omp parallel\n*/",
    b'R"(\n#pragma omp parallel\n)"',
    b'R"x(\n)"\n#pragma omp parallel\n)x"',
    b"#pragma once\nint omp;",
    b"#pragma ompx",
    b"#pragma GCC omp",
    b"// \\\n#pragma omp in a comment",
    b"char c = '\"'; int omp; // \"",
]


@pytest.mark.parametrize("text", AWAKE)
def test_what_is_no_openmp_pragma_is_untouched(text: bytes) -> None:
    assert splice(text, (), "", mask_openmp=True) == text


def test_pragmas_of_a_replacement_are_left_awake() -> None:
    source = b"#pragma omp barrier\nLOOP\n#pragma omp flush\n"
    out = splice(source, [replacement(source, b"LOOP", "\n#pragma omp parallel\n", True)], "", mask_openmp=True)
    assert out.count(b"#pragma omp") == 1
    assert out.count(b"#pragma xmp") == 2


def test_names_leave_out_comments_and_literals() -> None:
    text = b'int a1 = 0x1f + 1\'000; // omp\nchar c = \'o\'; "omp" /* omp */ R"(omp)" o\\\nmp'
    assert list(names(text)) == [b"int", b"a1", b"char", b"c", b"omp"]


@given(st.binary(max_size=60), st.data())
def test_lines_after_a_replacement_are_numbered_as_before(text: bytes, data: st.DataObject) -> None:
    source = b"B" + text.replace(b"#", b"\n") + b"KERNEL" + text.replace(b"\0", b"\n") + b" END"
    begin = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(begin, len(source)))
    item = Replacement(Span("x", begin, end, 1, 1, 1), "new text", False)
    out = splice(source, [item], "", mask_openmp=False)
    assume(source[begin:end] not in b"new text" or begin == end)
    head, number, tail = re.fullmatch(rb"(.*)\n#line (\d+)\n(.*)", out, re.S).groups()  # type: ignore[union-attr]
    assert head == source[:begin] + b"new text"
    assert int(number) == source[:end].count(b"\n") + 1
    assert tail.lstrip(b" ") == source[end:].lstrip(b" ")
    column = end - source.rfind(b"\n", 0, end) - 1
    assert len(tail) == column + len(source) - end


def without_directives(text: bytes) -> bytes:
    return re.sub(rb"\n#line \d+\n *", b"", text.replace(b"/* perfcc */\n#line 1\n", b"", 1))


def test_untouched_text_keeps_lines_and_columns() -> None:
    source = b"int a;\n  for (;;) {\n  } int b;\n"
    span = replacement(source, b"for (;;) {\n  }", "").span
    out = untouched(source, [span])
    assert out == b"/* perfcc */\n#line 1\nint a;\n  \n#line 2\n  for (;;) {\n  }\n#line 3\n    int b;\n"
    assert untouched(b"\xef\xbb\xbfint x;", ()) == b"\xef\xbb\xbf/* perfcc */\n#line 1\nint x;"


def test_untouched_text_leaves_out_what_overlaps() -> None:
    source = b"ABCD"
    spans = [replacement(source, part, "").span for part in (b"ABC", b"BC", b"D")]
    assert without_directives(untouched(source, spans)) == source
    assert untouched(source, spans).count(b"#line") == 5


OWN_NUMBERS = [b"#line 7\n", b' # 7 "f"\n', b"%:line 3\n", b"/* c */ # /* d */ line 4\n", b"# \\\n line 4\n"]


@pytest.mark.parametrize("directive", OWN_NUMBERS)
def test_source_with_numbers_of_its_own(directive: bytes) -> None:
    source = b"LOOP\n" + directive + b"LAST\n"
    assert untouched(source, [replacement(source, b"LAST", "").span]).count(b"#line 1") == 1
    splice(source, [replacement(source, b"LOOP", "x")], "", mask_openmp=False)
    with pytest.raises(ValueError, match="numbers its lines itself"):
        splice(source, [replacement(source, b"LAST", "x")], "", mask_openmp=False)


def test_other_directives_number_nothing() -> None:
    source = b"#define line 1\n#if 1\n#endif\n#pragma line\nint x = 3 # 4\n;"
    assert own_numbers(source) == len(source)

"""Byte spans: what they cover, and that putting the same bytes back changes nothing."""

from __future__ import annotations

import pytest

from tests.unit.frontend.snippets import kernels, parsed

BODIES = [
    (b"for (int i = 0; i < n; i++) a[i] = 0;", b";"),
    (b"for (int i = 0; i < n; i++) a[i] = 0 ;", b";"),
    (b"for (int i = 0; i < n; i++) { a[i] = 0; }", b"}"),
    (b"for (int i = 0; i < n; i++) { a[i] = 0; };", b"}"),
    (b"for (int i = 0; i < n; i++) a[i] = int{3};", b";"),
    (b"for (int i = 0; i < n; i++);", b";"),
    (b"for (int i = 0; i < n; i++) ;", b";"),
    (b"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j] = 1 /* x; */ ;", b";"),
    (b"for (int i = 0; i < n; i++) if (a[i]) a[i] = 1; else a[i] = 2;", b";"),
    (b"for (int i = 0; i < n; i++) if (a[i]) { a[i] = 1; } else { a[i] = 2; }", b"}"),
    (b"while (n > 0) n--;", b";"),
    (b"do { n--; } while (n > 0);", b";"),
    (b"do n--; while (n > 0) ;", b";"),
    (b"for (int i = 0; i < n; i++) continue;", b";"),
    (b"for (int i = 0; i < n; i++) { continue; }", b"}"),
    (b"for (int i = 0; i < n; i++) a[i] = TWO;", b";"),
    (b"for (int i = 0; i < n; i++) a[i] = SQR(a[i]);", b";"),
    (b"for (int i = 0; i < n; i++) a[i] = SAME(a[i]);", b";"),
    (b"for (int i = 0; i < SAME(n); i++) { a[SAME(i)] = SAME(TWO) + SAME(i); }", b"}"),
    (b"for (int i = 0; i < n; i++) switch (a[i]) { case 1: a[i] = 2; }", b"}"),
    (b"for (int i = 0; i < n; i++) try { a[i] = 2; } catch (...) { }", b"}"),
]
TOPS = b"#define TWO 2\n#define SQR(x) ((x) * (x))\n#define SAME(x) x\n"
SETTINGS = {
    "plain": (b"", b"\n"),
    "non-ASCII": ('// größer ∂ été\nconst char* s = "日本語 } ; {";\n/* ∀ */ '.encode(), b"\n"),
    "latin-1": (b'// caf\xe9 \xff\xfe\nconst char* s = "\xe9";\n', b"\n"),
    "CRLF": (b"// x\r\nint k; // y \\\r\n still the comment\r\n", b"\r\n"),
    "tabs": (b"\t\tint k;\t", b"\t"),
    "line directive": (b'#line 500 "other.y"\n', b"\n"),
    "raw string": (b'const char* s = R"x(for (;;) { " \' )" \n # define for )x";\n', b"\n"),
    "byte order mark": (b"\xef\xbb\xbfint k;\n", b"\n"),
    "digit separators": (b"int k = 1'000'000; char c = '\\''; const char* s = \"\\\"\";\n", b"\n"),
    "continued lines": (b"#define LONG for (;;) \\\n   break;\nint k\\\n2 = 0;\n", b"\n"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_spans_cover_the_whole_statement(setting: str) -> None:
    before, newline = SETTINGS[setting]
    bodies = [body for body, _ in BODIES]
    bom = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
    text = bom + TOPS.replace(b"\n", newline if newline == b"\r\n" else b"\n") + before.removeprefix(bom)
    text += newline.join(b"void f%d(int* a, int n) {%s%s%s}" % (n, newline, body, newline) for n, body in enumerate(bodies))
    found = [kernel for kernel in kernels(text + b"\n") if kernel.refusal is None or kernel.refusal.id != "internal-error"]
    outer = {kernel.function: kernel for kernel in reversed(found)}
    assert len(outer) == len(BODIES)
    for n, (body, last) in enumerate(BODIES):
        kernel = outer[f"f{n}"]
        span = kernel.span
        covered = text[span.begin : span.end]
        assert covered.split()[0][:2] == body[:2]
        assert body.startswith(covered)
        assert covered.endswith(last)
        assert body[len(covered) :] in (b"", b";")
        assert kernel.text.encode("utf-8", "surrogateescape") == covered
        assert text[: span.begin] + covered + text[span.end :] == text
        assert span.line == text[: span.begin].count(b"\n") + 1
        assert span.end_line == text[: span.end - 1].count(b"\n") + 1
        assert span.column == span.begin - (text.rfind(b"\n", 0, span.begin) + 1) + 1


def test_statement_spans_are_the_statements_own_text() -> None:
    text = b"void f(int* a, int n) { for (int i = 0; i < n; i++) { if (n) { a[i] = 1 ; } int k = i, m = 2; a[i] += k + m; } }"
    (kernel,) = kernels(text)
    assert kernel.nest is not None
    spans = [stmt.span.text(text) for stmt in kernel.nest.body.items if stmt.span is not None]
    assert spans == ["if (n) { a[i] = 1 ; }", "int k = i, m = 2;", "int k = i, m = 2;", "a[i] += k + m;"]


def test_standard_headers_hold_no_openmp_of_the_users() -> None:
    assert not parsed("#include <cmath>\n#include <vector>\nint main() { for (int i = 0; i < 3; i++) {} }").openmp_in_headers

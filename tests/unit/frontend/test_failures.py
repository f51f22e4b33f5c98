"""Whatever goes wrong is a refusal."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from perfcc.frontend import parse
from perfcc.frontend.nest import NestBuilder
from tests.unit.frontend.snippets import kernels, unit_of

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("int f(} ;", 1),
        ("void f() {\n undeclared(1);\n for (;;) {}\n}", 2),
        ('#include "nowhere.h"\n', 1),
        ("#error no\n", 1),
        ("\n\n}", 3),
    ],
)
def test_parse_error(text: str, line: int) -> None:
    unit = parse(unit_of(f"{text}\nvoid loops() {{ for (;;) {{}} }}\n"))
    assert unit.refusal is not None
    assert unit.refusal.id == "parse-error"
    assert unit.refusal.at is not None
    assert unit.refusal.at.line == line
    assert unit.refusal.detail
    assert unit.kernels == ()


def test_warnings_are_no_errors() -> None:
    unit = parse(
        unit_of("#warning beware\nint f(int n) { if (n = 2) ; for (int i = 0; i < n; i++) n; return; }", extra=("-Wall", "-fpermissive"))
    )
    assert unit.refusal is None or unit.refusal.id == "parse-error"


@pytest.mark.parametrize("text", ["", "\n", "int x;", "// for (;;)\n", 'const char* s = "for (;;)";'])
def test_units_without_loops(text: str) -> None:
    unit = parse(unit_of(text))
    assert unit.refusal is None
    assert unit.kernels == ()


def test_missing_libclang_is_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "clang.py").write_text("")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from perfcc.core.unit import *; from perfcc.frontend import parse\n"
        "i = Invocation(('g++',), 'g++', '/', 'a.cpp', 0, 'a.o', 'c++')\n"
        "u = TranslationUnit(i, ('-x', 'c++'), Semantics(), b'int f() { for (;;); }')\n"
        "print(parse(u).refusal.id)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)})
    assert done.stdout.strip() == "tool-missing", done.stderr


def test_broken_libclang_is_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "clang" / "native").mkdir(parents=True)
    (tmp_path / "clang" / "__init__.py").write_text("")
    (tmp_path / "clang" / "native" / "libclang.so").write_bytes(b"not a library")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from perfcc.core.unit import *; from perfcc.frontend import parse\n"
        "i = Invocation(('g++',), 'g++', '/', 'a.cpp', 0, 'a.o', 'c++')\n"
        "u = TranslationUnit(i, ('-x', 'c++'), Semantics(), b'int f() { for (;;); }')\n"
        "print(parse(u).refusal)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)})
    assert "tool-missing" in done.stdout, done.stderr


def test_a_defect_in_one_kernel_spares_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    original = NestBuilder.build

    def failing(self: NestBuilder, node: object) -> object:
        if getattr(node, "begin", 0) < 40:
            raise RuntimeError("planted")
        return original(self, node)  # type: ignore[arg-type]

    monkeypatch.setattr(NestBuilder, "build", failing)
    first, second = kernels("void f(int* a) { for (int i = 0; i < 3; i++) a[i] = 0; for (int i = 0; i < 3; i++) a[i] = 1; }")
    assert first.refusal is not None
    assert first.refusal.id == "internal-error"
    assert "planted" in first.refusal.detail
    assert second.nest is not None


def test_deep_nesting_is_refused_not_fatal() -> None:
    depth = 400
    expression = "(" * depth + "n" + ")" * depth
    sums = " + ".join(["n"] * 3000)
    blocks = "{" * 200 + "a[0] = 1;" + "}" * 200
    text = f"""void f(int* a, int n) {{
        for (int i = 0; i < n; i++) a[i] = {expression[:200] + "n" + ")" * 200 if depth > 100 else expression};
        for (int i = 0; i < n; i++) a[i] = {sums};
        for (int i = 0; i < n; i++) {blocks}
    }}"""
    found = kernels(text)
    assert {k.refusal.id if k.refusal else "" for k in found} <= {"unmodelled-expression", "unmodelled-statement"}
    assert len(found) == 3


def test_time_grows_with_the_text_and_not_with_its_square() -> None:
    def seconds(count: int) -> float:
        body = "for (int i = 0; i < n; i++) { a[i] = a[i] + 1; if (a[i] > 3) a[i] = 0; }\n"
        text = "void f(int* a, int n) {\n" + body * count + "}\n" + "void g(int* a, int n) { a[0] = n; }\n".replace("g", "g") * 1
        best = 1e9
        for _ in range(2):
            started = time.process_time()
            assert len(kernels(text)) == count
            best = min(best, time.process_time() - started)
        return best

    assert seconds(160) < 10 * seconds(40) + 0.2

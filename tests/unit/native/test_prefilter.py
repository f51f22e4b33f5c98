"""Which texts can hold a kernel: what the launcher leaves out is what the frontend refuses, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfcc import _native
from perfcc.core.ir import Assign, statements
from perfcc.core.kernel import Kernel
from perfcc.core.reason import REASONS, Reason
from perfcc.frontend import parse
from tests.unit.frontend.snippets import kernels, unit_of

ROOT = Path(__file__).parents[3]
CORPUS = sorted(
    [*ROOT.glob("bench/legacy/src/*.cpp"), *ROOT.glob("rules/*/cases/*.c*"), *ROOT.glob("tests/**/*.c"), *ROOT.glob("tests/**/*.cpp")]
)
KEPT = "for (int i = 0; i < n; i++) a[i] = 0;"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int x;", "none"),
        ("// for\n/* while\n do */ int x;", "none"),
        ('const char *s = "for \\" while"; char c = \'"\';', "none"),
        ('auto s = R"x( for )" while )x"; int y;', "none"),
        ("int before, format, done, meanwhile;", "none"),
        ("// a comment \\\n for\nint x;", "none"),
        ("#define TWICE(x) \\\r\n (2 * (x))\r\ndouble d;", "none"),
        ("#error don't\nint x;", "none"),
        ("int élan; int do_it;", "none"),
        ("void f() { for (;;) {} }", "refused"),
        ("void f() { while (1) {} }", "refused"),
        ("void f() { do {} while (0); }", "refused"),
        ("void f() { fo\\\nr (;;) ; }", "refused"),
        ('auto s = R"x( )x"; void f() { for (;;) {} }', "refused"),
        ("int n = 1'000'000; void f() { for (;;) {} }", "refused"),
        ("#define EVER for (;;)\nvoid f() { EVER; }", "refused"),
        (f"void f(int n, int *a) {{ {KEPT} }}", "candidate"),
        ("// a comment ??/\n for\nint x;", "candidate"),
        ('const char *s = "unfinished\n', "candidate"),
        ("/* unfinished", "candidate"),
        ('auto s = R"(unfinished', "candidate"),
        ("void f(int n, int *a) { for (int i = 0; i < n; i++) <% a[i] = 0; %> }", "candidate"),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert _native.loops_in(text.encode(), "c++") == expected


# One loop for each row of refused.def: the frontend refuses it for the row's reason. A loop that the frontend has been taught to take
# fails here: its row is to be deleted.
TOPS = """
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>
struct Point { double x; double plain(int) const; };
struct Base { virtual ~Base(); }; struct Derived : Base {};
static int twice(int x) { return 2 * x; }
"""
ARGUMENTS = "int n, int m, int *a, int *b, double *d, char *s, char **lines, Point *p, std::FILE *file, Base *base, void *memory"
EXAMPLES = {
    "WhileLoop": "while (n > 0) n--;",
    "DoLoop": "do n--; while (n > 0);",
    "NotThreeParts": "for (int x : {1, 2}) n += x;",
    "SeveralVariables": "for (int i = 0, j = n; i < j; i++) a[i] = 0;",
    "NoFirstValue": "int i = 0; for (i; i < n; i++) a[i] = 0;",
    "PointerVariable": "for (int *q = a; q < b; q++) n += 1;",
    "NarrowVariable": "for (short i = 0; i < n; i++) a[i] = 0;",
    "NoComparison": "for (int i = 0; s[i]; i++) n += 1;",
    "CompoundCondition": "for (int i = 0; i < n && a[i] > 0; i++) b[i] = 0;",
    "StepNoSum": "for (int i = 1; i < n; i *= 2) a[i] = 0;",
    "DirectiveInside": "for (int i = 0; i < n; i++) {\n#if 1\n a[i] = 0;\n#endif\n}",
    "UnderPragma": "\n#pragma omp simd\nfor (int i = 0; i < n; i++) a[i] = 0;",
    "MemberAccess": "for (int i = 0; i < n; i++) d[i] = p[i].x;",
    "StringLiteral": 'for (int i = 0; i < n; i++) a[i] = "ab"[b[i]];',
    "NestedIncrement": "for (int i = 0; i < n; i++) a[m++] = i;",
    "StreamOperator": "using namespace std; for (int i = 0; i < n; i++) { a[i] = 0; cout << i; }",
    "break": "for (int i = 0; i < n; i++) { a[i] = 0; if (b[i]) break; }",
    "return": "for (int i = 0; i < n; i++) { a[i] = 0; if (b[i]) return; }",
    "goto": "for (int i = 0; i < n; i++) { a[i] = 0; if (b[i]) goto out; } out:;",
    "switch": "for (int i = 0; i < n; i++) switch (b[i]) { case 1: a[i] = 0; }",
    "static": "for (int i = 0; i < n; i++) { static int k; a[i] = k; }",
    "extern": "for (int i = 0; i < n; i++) { extern int k; a[i] = k; }",
    "typedef": "for (int i = 0; i < n; i++) { typedef int T; a[i] = T(i); }",
    "__asm__": 'for (int i = 0; i < n; i++) { a[i] = 0; __asm__ ("nop"); }',
    "__asm": 'for (int i = 0; i < n; i++) { a[i] = 0; __asm ("nop"); }',
    "asm": 'for (int i = 0; i < n; i++) { a[i] = 0; asm ("nop"); }',
    "try": "for (int i = 0; i < n; i++) { try { a[i] = 0; } catch (...) {} }",
    "using": "for (int i = 0; i < n; i++) { using T = int; a[i] = T(i); }",
    "throw": "for (int i = 0; i < n; i++) { a[i] = 0; if (b[i]) throw 1; }",
    "new": "for (int i = 0; i < n; i++) a[i] = *new int(i);",
    "delete": "for (int i = 0; i < n; i++) { a[i] = 0; delete lines[i]; }",
    "nullptr": "for (int i = 0; i < n; i++) if (lines[i] != nullptr) a[i] = 0;",
    "dynamic_cast": "for (int i = 0; i < n; i++) if (dynamic_cast<Derived *>(base)) a[i] = 0;",
    "reinterpret_cast": "for (int i = 0; i < n; i++) a[i] = reinterpret_cast<int *>(d)[i];",
    "const_cast": "for (int i = 0; i < n; i++) a[i] = const_cast<const int *>(b)[i];",
    "typeid": "for (int i = 0; i < n; i++) a[i] = typeid(*base) == typeid(Base);",
    "printf": 'for (int i = 0; i < n; i++) { a[i] = 0; printf("%d", i); }',
    "fprintf": 'for (int i = 0; i < n; i++) { a[i] = 0; fprintf(file, "%d", i); }',
    "puts": "for (int i = 0; i < n; i++) { a[i] = 0; puts(s); }",
    "fputs": "for (int i = 0; i < n; i++) { a[i] = 0; fputs(s, file); }",
    "putchar": "for (int i = 0; i < n; i++) { a[i] = 0; putchar(i); }",
    "fputc": "for (int i = 0; i < n; i++) { a[i] = 0; fputc(i, file); }",
    "fgets": "for (int i = 0; i < n; i++) { a[i] = 0; fgets(s, n, file); }",
    "fgetc": "for (int i = 0; i < n; i++) a[i] = fgetc(file);",
    "getchar": "for (int i = 0; i < n; i++) a[i] = getchar();",
    "fread": "for (int i = 0; i < n; i++) a[i] = fread(s, 1, n, file);",
    "fwrite": "for (int i = 0; i < n; i++) a[i] = fwrite(s, 1, n, file);",
    "scanf": "for (int i = 0; i < n; i++) { a[i] = 0; scanf(s); }",
    "fscanf": "for (int i = 0; i < n; i++) { a[i] = 0; fscanf(file, s); }",
    "fopen": "for (int i = 0; i < n; i++) { a[i] = 0; fopen(s, s); }",
    "fclose": "for (int i = 0; i < n; i++) a[i] = fclose(file);",
    "fflush": "for (int i = 0; i < n; i++) a[i] = fflush(file);",
    "malloc": "for (int i = 0; i < n; i++) { a[i] = 0; malloc(8); }",
    "calloc": "for (int i = 0; i < n; i++) { a[i] = 0; calloc(8, 1); }",
    "realloc": "for (int i = 0; i < n; i++) { a[i] = 0; realloc(s, 1); }",
    "free": "for (int i = 0; i < n; i++) { a[i] = 0; free(s); }",
    "strdup": "for (int i = 0; i < n; i++) { a[i] = 0; strdup(s); }",
    "exit": "for (int i = 0; i < n; i++) { a[i] = 0; exit(1); }",
    "abort": "for (int i = 0; i < n; i++) { a[i] = 0; abort(); }",
    "snprintf": "for (int i = 0; i < n; i++) a[i] = snprintf(s, 1, s);",
    "sprintf": "for (int i = 0; i < n; i++) a[i] = sprintf(s, s);",
    "sscanf": "for (int i = 0; i < n; i++) a[i] = sscanf(s, s);",
    "strlen": "for (int i = 0; i < n; i++) a[i] = strlen(s);",
    "strcmp": "for (int i = 0; i < n; i++) a[i] = strcmp(s, s);",
    "strncmp": "for (int i = 0; i < n; i++) a[i] = strncmp(s, s, 1);",
    "strcpy": "for (int i = 0; i < n; i++) { a[i] = 0; strcpy(s, s); }",
    "strncpy": "for (int i = 0; i < n; i++) { a[i] = 0; strncpy(s, s, 1); }",
    "strcat": "for (int i = 0; i < n; i++) { a[i] = 0; strcat(s, s); }",
    "strchr": "for (int i = 0; i < n; i++) { a[i] = 0; strchr(s, i); }",
    "strtol": "for (int i = 0; i < n; i++) a[i] = strtol(s, 0, 10);",
    "strtod": "for (int i = 0; i < n; i++) d[i] = strtod(s, 0);",
    "memcpy": "for (int i = 0; i < n; i++) { a[i] = 0; memcpy(s, b, 1); }",
    "memmove": "for (int i = 0; i < n; i++) { a[i] = 0; memmove(s, b, 1); }",
    "memset": "for (int i = 0; i < n; i++) { a[i] = 0; memset(s, 0, 1); }",
    "memcmp": "for (int i = 0; i < n; i++) a[i] = memcmp(s, b, 1);",
    "rand": "for (int i = 0; i < n; i++) a[i] = rand();",
    "cout": "for (int i = 0; i < n; i++) { a[i] = 0; std::cout << i; }",
    "cerr": "for (int i = 0; i < n; i++) { a[i] = 0; std::cerr << i; }",
    "clog": "for (int i = 0; i < n; i++) { a[i] = 0; std::clog << i; }",
    "cin": "for (int i = 0; i < n; i++) { a[i] = 0; std::cin >> n; }",
    "getline": "std::string t; for (int i = 0; i < n; i++) { a[i] = 0; std::getline(std::cin, t); }",
    "string": "for (int i = 0; i < n; i++) { std::string t; a[i] = 0; }",
    "ostringstream": "for (int i = 0; i < n; i++) { std::ostringstream t; a[i] = 0; }",
    "istringstream": "for (int i = 0; i < n; i++) { std::istringstream t; a[i] = 0; }",
    "stringstream": "for (int i = 0; i < n; i++) { std::stringstream t; a[i] = 0; }",
    "to_string": "for (int i = 0; i < n; i++) { a[i] = 0; std::to_string(i); }",
    "move": "for (int i = 0; i < n; i++) a[i] = std::move(b[i]);",
    "swap": "for (int i = 0; i < n; i++) { a[i] = 0; std::swap(a[i], b[i]); }",
    "sort": "for (int i = 0; i < n; i++) { a[i] = 0; std::sort(b, b + n); }",
    "find": "for (int i = 0; i < n; i++) a[i] = *std::find(b, b + n, i);",
    "find_if": "for (int i = 0; i < n; i++) a[i] = *std::find_if(b, b + n, twice);",
    "copy": "for (int i = 0; i < n; i++) { a[i] = 0; std::copy(b, b + n, a); }",
    "fill": "for (int i = 0; i < n; i++) { a[i] = 0; std::fill(b, b + n, 0); }",
    "make_pair": "for (int i = 0; i < n; i++) { a[i] = 0; std::make_pair(i, i); }",
    "make_unique": "for (int i = 0; i < n; i++) { a[i] = 0; std::make_unique<int>(i); }",
    "make_shared": "for (int i = 0; i < n; i++) { a[i] = 0; std::make_shared<int>(i); }",
}
ROWS = _native.refusals()
MODELLED = {"NoAssignment"}


def in_function(loop: str, name: str = "f") -> str:
    return f"void {name}({ARGUMENTS}) {{ {loop} }}\n"


@pytest.fixture(scope="module")
def refused() -> dict[str, list[Reason]]:
    """What the frontend says of each row's example."""
    text = TOPS + "".join(in_function(loop, f"f{number}") for number, loop in enumerate(EXAMPLES.values()))
    found: dict[str, list[Reason]] = {name: [] for name in EXAMPLES}
    for kernel in kernels(text):
        name = list(EXAMPLES)[int(kernel.function.removeprefix("f"))]
        assert kernel.refusal is not None, f"{name}: the frontend takes {kernel.text}"
        found[name].append(kernel.refusal)
    return found


def test_every_row_has_its_example() -> None:
    assert {name for _, name, _, _ in ROWS} == EXAMPLES.keys() | MODELLED
    assert {reason for _, _, _, reason in ROWS} <= REASONS.keys()


@pytest.mark.parametrize(("name", "reason"), [(name, reason) for _, name, _, reason in ROWS if name in EXAMPLES])
def test_the_frontend_refuses_what_a_row_stands_for(refused: dict[str, list[Reason]], name: str, reason: str) -> None:
    assert reason in {given.id for given in refused[name]}, refused[name]
    assert _native.loops_in(in_function(EXAMPLES[name]).encode(), "c++") == "refused"


@pytest.mark.parametrize("name", [name for kind, name, cplusplus, _ in ROWS if kind == "word" and cplusplus])
def test_words_of_cplusplus_are_names_in_c(name: str) -> None:
    text = f"void f(int n, int *a, int {name}) {{ for (int i = 0; i < n; i++) a[i] = {name}; }}".encode()
    assert _native.loops_in(text, "c") == "candidate"


def test_a_loop_that_assigns_nothing_computes_nothing() -> None:
    loop = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { twice(a[i]); a[j]; }"
    assert _native.loops_in(in_function(loop).encode(), "c++") == "refused"
    (kernel,) = kernels(TOPS + in_function(loop))
    assert kernel.nest is not None
    assert not assigns(kernel)


def assigns(kernel: Kernel) -> bool:
    assert kernel.nest is not None
    return any(isinstance(stmt, Assign) for stmt in statements(kernel.nest))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: "-".join(path.relative_to(ROOT).parts))
def test_no_kernel_of_the_corpus_is_lost(path: Path) -> None:
    language = "c" if path.suffix == ".c" else "c++"
    text = path.read_bytes()
    found = parse(unit_of(text, language, (f"-I{path.parent}",), str(path))).kernels
    for kernel in found:
        if kernel.nest is not None and assigns(kernel):
            assert _native.loops_in(text, language) == "candidate"
            assert _native.loops_in(kernel.text.encode(), language) == "candidate", kernel.text


MACROS = """
#define SCALE 3
#define LAST(n) ((n) - 1)
#define IGNORED(x) ((void)0)
#define UNSPOKEN(x) 0
#define SAME(x) x
#define LOWER lower
#define THROUGH(x) { a[x] = 1; }
struct Pair { int first; int values[4]; static int half(int x) { return x / 2; } };
struct Vector { unsigned long size() const; int &operator[](unsigned long); };
extern "C" int puts(const char *);
static int lower(int x) { return x - 1; }
"""
WHERE = "int n, int m, int *a, const int *b, double *d, int (*rows)[8], Pair *p, Pair &one, bool flag, Vector v, char *s"
ATOMS = [
    "i", "n", "m", "3", "SCALE", "b[i]", "a[i]", "d[i]", "rows[i][2]", "LAST(n)", "UNSPOKEN(p->first)", 'UNSPOKEN("text")', "UNSPOKEN(m++)",
    "SAME(b[i])", "lower(i)", "LOWER(i)", "p->first", "one.values[1]", "one.half(i)", "Pair::half(i)", "v.size()", "v[i]", "*b", "*(b + i)",
    "m++", "(int)d[i]", "static_cast<int>(d[i])", "sizeof(int)", "sizeof \"text\"", 'sizeof("text")', "sizeof(one.first)", "flag ? i : m",
    "(i < m && flag)", "'c'", "__builtin_abs(i)", "s[i]", "-i", "!flag", "&a[i] - a", "puts(\"x\")",
]  # fmt: skip
STATEMENTS = [
    "a[i] = {0};", "m += {0};", "d[i] *= {0};", "++m;", "a[i]++;", "(m--);", "rows[i][1] = {0};", "int k = {0}; a[i] = k;", "int k{{m}};",
    "if ({0} < {1}) a[i] = {0};", "if (flag) ++a[i]; else --a[i];", "IGNORED(return);", "IGNORED(one.first = 2);", "(void)m;", ";",
    "*a++ = {0};", "a[m++] = {0};", "THROUGH(i)", "SAME(m = {0});", "lower({0});", "int &r = a[i]; r = {0};", "continue;",
    "int *q = a + i; q[0] = {0};", "m = n = 0;", "while (m) m--;", "switch (m) {{ case 1: m = 2; }}", "static int once = 1; m = once;",
    "int t[2] = {{1, 2}}; m += t[0];", "const char *text = \"abc\"; a[i] = text[1];", "auto f = [&](int x) {{ return x; }}; m = f({0});",
    "double x = d[i], y = 2; d[i] = x * y;", "\n#if 1\nm = 1;\n#endif\n", "m = ++n;", "m = a[i]++ * 2;", "if (m) *a = {0};",
    "a[i] = -({0});",
]  # fmt: skip
STARTS = ["int i = 0", "long i = m", "i = 1", "unsigned i{0}", "auto i = 2", "int i(3)", "int i = 0, j = 1", "char i = 0", "i"]
CONDITIONS = ["i < n", "n > i", "i <= LAST(n)", "i != n", "i < n && flag", "SAME(i < n)", "i", "(i < n)", "i < *b", "i < one.first"]
STEPS = ["i++", "++i", "i += 2", "i = i + SCALE", "i -= -1", "i *= 2", "i++, m++", "SAME(i++)", "i <<= 1"]


@st.composite
def loops(draw: st.DrawFn, depth: int = 0) -> str:
    atoms = [draw(st.sampled_from(ATOMS)) for _ in range(2)]
    # Mostly plain headers, or hardly a body would ever be looked into.
    header = "; ".join(draw(st.one_of(st.just(parts[0]), st.sampled_from(parts))) for parts in (STARTS, CONDITIONS, STEPS))
    body = [f"{{ {draw(st.sampled_from(STATEMENTS)).format(*atoms)} }}" for _ in range(draw(st.integers(1, 2)))]
    if depth < 1 and draw(st.integers(0, 3)) == 0:
        body.insert(draw(st.integers(0, len(body))), draw(loops(depth + 1)))
    return f"for ({header}) " + (body[0] if len(body) == 1 else "{ " + " ".join(body) + " }")


@settings(max_examples=40, deadline=None)
@given(st.lists(loops(), min_size=10, max_size=25))
def test_no_kernel_of_any_loop_is_lost(made: list[str]) -> None:
    """Loops put together at random from what the rows look for and what they must not take for it."""
    text = MACROS + "".join(f"void f{n}({WHERE}) {{ int i; {loop} }}\n" for n, loop in enumerate(made))
    unit = parse(unit_of(text))
    assert unit.refusal is None, unit.refusal
    for kernel in unit.kernels:
        if kernel.nest is not None and assigns(kernel):
            assert _native.loops_in((MACROS + kernel.text).encode(), "c++") == "candidate", kernel.text

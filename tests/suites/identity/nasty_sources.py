"""Sources that show where they stand, what they are called and how their lines are numbered, in every way a compiler offers."""

from __future__ import annotations

from dataclasses import dataclass

KERNEL = "for (int i = 0; i < n; ++i)\n    x[i] += y[i] * 3;"


@dataclass(frozen=True)
class Source:
    """``name`` is how the command names it; ``files`` lie in the working directory (a str that begins with "->" is a symbolic link);
    ``flags`` it needs itself; ``kernels``: loops that have a model, hence places for a no-op beside the one at the top."""

    name: str
    files: dict[str, bytes | str]
    kernels: int = 0
    flags: tuple[str, ...] = ()

    @property
    def in_c(self) -> bool:
        return self.name.endswith(".c")


MACROS = rf"""#include <cassert>
#include <source_location>
#define HERE __FILE__, __BASE_FILE__, __LINE__, __COUNTER__, __INCLUDE_LEVEL__
#define LONG(a) \
  take(a, HERE); \
  take(a, __LINE__)
void take(...);
int where(std::source_location at = std::source_location::current()) {{ return at.line() * 1000 + at.column(); }}
int line(int at = __builtin_LINE()) {{ return at; }}
void add(int* x, const int* y, int n) {{ assert(n > 0); LONG(n); {KERNEL} assert(x != y); take(__func__, HERE, where(), line()); }}
/* a comment that ends */ int after(int n) {{ /* here
  */ LONG(n); return __LINE__ + where() + line(); }}
int count = __COUNTER__ + __LINE__;
"""

NEAR = {
    "src/near.cpp": f'#include "x.h"\n#include "deep/x.h"\n#include <x.h>\nint near() {{ return NEAR + DEEP + OUTER; }}\n'
    f"void add(int* x, const int* y, int n) {{\n  {KERNEL}\n}}\n",
    "src/x.h": "#define NEAR 1\n",
    "src/deep/x.h": '#include "y.h"\n',
    "src/deep/y.h": "#define DEEP __LINE__ + sizeof __FILE__\n",
    "src/y.h": "#error the wrong one\n",
    "other/x.h": '#include "y.h"\n',
    "other/y.h": "#define OUTER 5\n",
}

RAW = r"""#include "names.h"
const char* text = R"x(
for (int i = 0; i < n; ++i)
#line 7 "not a directive"
)x" "\
continued" u8R"(/*)";
%:define DIGRAPH <:
int array DIGRAPH 3:> = <% 1'000, '"', '\'' %>;
int si\
ze(int n) { return n; } // a comment that goes \
on
void add(int* x, const int* y, int n) {
	for (int i = 0; i < n; ++i)	x[i] += y[i];	take(__LINE__, R"(
)", __LINE__);
}
"""

CRLF = f"""#define LINE __LINE__\\
 + 1
int first = LINE;
void add(int* x, const int* y, int n) {{
  {KERNEL}
}}
int last = __LINE__;""".replace("\n", "\r\n")

TEMPLATES = f"""#include <stdexcept>
#include <vector>
template <class T> struct Box {{
  std::vector<T> items;
  T total() const {{ T sum{{}}; for (const T& item : items) sum += item; return sum; }}
  template <class F> void each(F f) {{ for (T& item : items) f(item); }}
}};
static int twice(int a) {{ return 2 * a; }}
namespace {{
struct Hidden {{ Hidden() {{ value = twice(21); }} int value; }} hidden;
auto late = [](auto a) {{ return [=](auto b) {{ return a + b + hidden.value; }}; }};
}}
int run(Box<int>& box, int n) try {{
  box.each([n](int& a) {{ if (a > n) throw std::runtime_error("large"); a = late(a)(n); }});
  return box.total();
}} catch (const std::exception&) {{ return -1; }}
void add(int* x, const int* y, int n) {{
  {KERNEL}
}}
template struct Box<long>;
inline namespace v1 {{ int inner() {{ return __LINE__; }} }}
"""

NUMBERED = f"""void before(int* x, const int* y, int n) {{
  {KERNEL}
}}
#line 100 "grammar.y"
void add(int* x, const int* y, int n) {{
  {KERNEL}
}}
int line = __LINE__;
const char* file = __FILE__;
# 7 "scanner.l"
int other = __LINE__;
"""

INCBIN = f"""asm(".section .rodata\\n.global blob\\nblob: .incbin \\"blob.bin\\"\\n.previous");
extern "C" const char blob[];
int add(int* x, const int* y, int n) {{ asm volatile("# line %0" :: "i"(__LINE__)); {KERNEL} return blob[0]; }}
"""

PLAIN_C = f"""#include <stddef.h>
struct point {{ int x, y; }};
static const struct point origin = {{ .y = __LINE__ }};
static int calls;
int old_style(n) int n; {{ return n + calls; }}
void add(int n, int x[restrict], const int y[restrict n]) {{
  int local[n > 0 ? n : 1];
  local[0] = ++calls;
  {KERNEL}
  x[0] += local[0] + origin.y;
}}
_Static_assert(sizeof(int) == 4, "int");
"""

WARNINGS = f"""void add(int* x, const int* y, unsigned n) {{
  int unused;
  for (int i = 0; i < n; ++i) {{ int shadow, shadow2 = 3; x[i] = i; if (x[i] = y[i]) x[i] += 1; }}
  {KERNEL.replace("int i", "unsigned i")}
}}
int fallen(int a) {{ switch (a) {{ case 1: a = 2; case 2: return a; }} }}
#warning this is shown
#pragma unknown here
"""

BOM = f"""\ufeff// gr\u00fcn
int gr\u00fcn = __LINE__; const char* t = "\u65e5\u672c";
void add(int* x, const int* y, int n) {{ /*\u00e9*/ {KERNEL} }}
"""
SPACES = f"const char* name = __FILE__;\nvoid add(int* x, const int* y, int n) {{\n  {KERNEL}\n}}\n"
TAKE = "void take(...);\n"

SOURCES = (
    Source("macros.cpp", {"macros.cpp": MACROS}, 1, ("-std=c++20",)),
    Source("src/near.cpp", {**NEAR}, 1, ("-Iother",)),
    Source("./raw.cpp", {"raw.cpp": RAW, "names.h": TAKE}, 1, ("-std=c++17",)),
    Source("crlf.cpp", {"crlf.cpp": CRLF}, 1),
    Source("bom.cpp", {"bom.cpp": BOM}, 1),
    Source("my src/\u00fcn\u00ef code.cpp", {"my src/\u00fcn\u00ef code.cpp": SPACES}, 1),
    Source("templates.cpp", {"templates.cpp": TEMPLATES}, 1, ("-std=c++20", "-fPIC")),
    Source("numbered.cpp", {"numbered.cpp": NUMBERED}, 1),
    Source("incbin.cpp", {"incbin.cpp": INCBIN, "blob.bin": bytes(range(256))}, 1),
    Source("plain.c", {"plain.c": PLAIN_C}, 1, ("-std=gnu11",)),
    Source("warnings.cpp", {"warnings.cpp": WARNINGS}, 1),
    Source("link.cpp", {"link.cpp": "->elsewhere/real.cpp", "elsewhere/real.cpp": SPACES}, 1),
    Source("elsewhere/../no_loop.cpp", {"elsewhere/x": "", "no_loop.cpp": "int answer() { return __LINE__ + 41; }"}),
    Source("empty.cpp", {"empty.cpp": ""}),
)

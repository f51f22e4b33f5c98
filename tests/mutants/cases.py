"""Kernels, right rewrites of them, and wrong ones with the reasons for which the verifier may reject them."""

from __future__ import annotations

from dataclasses import dataclass

WRONG = ("different-result",)
MEMORY = ("sanitizer-report", "crashed", "different-result")
RACE = ("data-race", "different-result")


@dataclass(frozen=True)
class Rewrite:
    """``fast`` is the text; ``reasons`` empty for a right rewrite. ``quick``: in the set that every test run takes."""

    name: str
    fast: str
    reasons: tuple[str, ...] = ()
    guard: str = "1"
    threads: bool = False
    quick: bool = False


@dataclass(frozen=True)
class Case:
    """A function with one loop nest, and rewrites of that nest."""

    name: str
    source: str
    rewrites: tuple[Rewrite, ...]
    language: str = "c++"


PRODUCT = Case(
    "product",
    """
void product(int n, const double *a, const double *b, double *c) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < n; ++k)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}
""",
    (
        Rewrite(
            "parallel",
            """
#pragma omp parallel for schedule(static)
for (int i = 0; i < n; ++i)
  for (int j = 0; j < n; ++j) {
    double s = 0;
    for (int k = 0; k < n; ++k)
      s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
  }
""",
            guard="(c + n * n <= a || a + n * n <= c) && (c + n * n <= b || b + n * n <= c)",
            threads=True,
            quick=True,
        ),
        Rewrite(
            "dropped private",
            """
double s;
#pragma omp parallel for schedule(static)
for (int i = 0; i < n; ++i)
  for (int j = 0; j < n; ++j) {
    s = 0;
    for (int k = 0; k < n; ++k)
      s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
  }
""",
            RACE,
            guard="(c + n * n <= a || a + n * n <= c) && (c + n * n <= b || b + n * n <= c)",
            threads=True,
            quick=True,
        ),
        Rewrite(
            "missing alias guard",
            """
for (int j = 0; j < n; ++j)
  for (int i = 0; i < n; ++i) {
    double s = 0;
    for (int k = 0; k < n; ++k)
      s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
  }
""",
            WRONG,
            quick=True,
        ),
        Rewrite(
            "reordered sum",
            """
for (int i = 0; i < n; ++i)
  for (int j = 0; j < n; ++j) {
    double s = 0;
    for (int k = n - 1; k >= 0; --k)
      s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
  }
""",
            WRONG,
            quick=True,
        ),
        Rewrite(
            "tile remainder dropped",
            """
for (int ii = 0; ii + 32 <= n; ii += 32)
  for (int i = ii; i < ii + 32; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < n; ++k)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
""",
            WRONG,
        ),
        Rewrite(
            "tile overrun",
            """
for (int ii = 0; ii < n; ii += 32)
  for (int i = ii; i < ii + 32; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < n; ++k)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
""",
            MEMORY,
        ),
        Rewrite(
            "narrowed accumulator",
            """
for (int i = 0; i < n; ++i)
  for (int j = 0; j < n; ++j) {
    float s = 0;
    for (int k = 0; k < n; ++k)
      s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
  }
""",
            WRONG,
        ),
        Rewrite(
            "uninitialised accumulator",
            """
for (int i = 0; i < n; ++i)
  for (int j = 0; j < n; ++j) {
    double s;
    for (int k = 0; k < n; ++k)
      s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
  }
""",
            ("uninitialised-read", "different-result", "does-not-compile"),
            quick=True,
        ),
        Rewrite(
            "last row lost",
            """
for (int i = 0; i < n - 1; ++i)
  for (int j = 0; j < n; ++j) {
    double s = 0;
    for (int k = 0; k < n; ++k)
      s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
  }
""",
            WRONG,
        ),
        Rewrite(
            "read past the end",
            """
double unused = 0;
for (int i = 0; i < n; ++i)
  for (int j = 0; j < n; ++j) {
    double s = 0;
    for (int k = 0; k < n; ++k)
      s += a[i * n + k] * b[k * n + j];
    unused += a[i * n + j + 1];
    c[i * n + j] = s;
  }
if (unused == 12345.25) c[0] = unused;
""",
            ("sanitizer-report", "crashed", "different-result"),
            quick=True,
        ),
        Rewrite("calls out", "printf(\"%d\", n);", ("out-of-scope",), quick=True),
        Rewrite("assembler", "asm volatile(\"nop\");", ("out-of-scope",)),
        Rewrite("does not parse", "for (int i = 0; i < n; ++i) { c[i] = ; }", ("does-not-compile",), quick=True),
        Rewrite("never ends", "for (int i = 0; i < n; i += (n < 0)) c[0] = a[0];", ("crashed",)),
        Rewrite("null", "double *p = 0; for (int i = 0; i < n; ++i) p[i] = a[i];", ("crashed", "sanitizer-report")),
    ),
)

SUM = Case(
    "sum",
    """
unsigned sum(const unsigned *v, int n) {
  unsigned total = 7;
  for (int i = 0; i < n; ++i)
    if (v[i] > 3)
      total += v[i];
  return total;
}
""",
    (
        Rewrite(
            "reduction",
            """
#pragma omp parallel for reduction(+ : total) schedule(static)
for (int i = 0; i < n; ++i)
  if (v[i] > 3)
    total += v[i];
""",
            threads=True,
            quick=True,
        ),
        Rewrite(
            "wrong operator",
            """
#pragma omp parallel for reduction(^ : total) schedule(static)
for (int i = 0; i < n; ++i)
  if (v[i] > 3)
    total += v[i];
""",
            WRONG,
            threads=True,
        ),
        Rewrite(
            "no reduction",
            """
#pragma omp parallel for schedule(static)
for (int i = 0; i < n; ++i)
  if (v[i] > 3)
    total += v[i];
""",
            RACE,
            threads=True,
            quick=True,
        ),
        Rewrite(
            "wrong identity",
            """
unsigned part = 1;
for (int i = 0; i < n; ++i)
  if (v[i] > 3)
    part += v[i];
total += part;
""",
            WRONG,
            quick=True,
        ),
        Rewrite(
            "narrowed type",
            """
unsigned short part = 0;
for (int i = 0; i < n; ++i)
  if (v[i] > 3)
    part += v[i];
total += part;
""",
            WRONG,
        ),
        Rewrite("off by one in the condition", "for (int i = 0; i < n; ++i) if (v[i] >= 3) total += v[i];", WRONG, quick=True),
        Rewrite("one too few", "for (int i = 1; i < n; ++i) if (v[i] > 3) total += v[i];", WRONG),
        Rewrite("start lost", "total = 0; for (int i = 0; i < n; ++i) if (v[i] > 3) total += v[i];", WRONG),
        Rewrite("guard that never holds", "total = 0;", ("cannot-exercise",), guard="n < -5"),
    ),
)

BLUR = Case(
    "blur",
    """
#include <vector>
void blur(std::vector<double> &out, const std::vector<double> &in, int w, int h) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x)
      out[y * w + x] = 0.5 * in[y * w + x] + 0.125 * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}
""",
    (
        Rewrite(
            "parallel",
            """
#pragma omp parallel for schedule(static)
for (int y = 1; y < h - 1; ++y)
  for (int x = 1; x < w - 1; ++x)
    out[y * w + x] = 0.5 * in[y * w + x] + 0.125 * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
""",
            guard="&out != &in",
            threads=True,
            quick=True,
        ),
        Rewrite(
            "the same vector twice",
            """
for (int x = 1; x < w - 1; ++x)
  for (int y = h - 2; y >= 1; --y)
    out[y * w + x] = 0.5 * in[y * w + x] + 0.125 * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
""",
            WRONG,
            quick=True,
        ),
        Rewrite(
            "border written",
            """
for (int y = 1; y < h - 1; ++y)
  for (int x = 0; x < w - 1; ++x)
    out[y * w + x] = 0.5 * in[y * w + x] + 0.125 * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
""",
            WRONG,
        ),
        Rewrite(
            "contracted",
            """
for (int y = 1; y < h - 1; ++y)
  for (int x = 1; x < w - 1; ++x)
    out[y * w + x] = 0.125 * (4.0 * in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
""",
            WRONG,
        ),
        Rewrite(
            "row past the end",
            """
for (int y = 1; y < h; ++y)
  for (int x = 1; x < w - 1; ++x)
    out[y * w + x] = 0.5 * in[y * w + x] + 0.125 * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
""",
            MEMORY,
        ),
    ),
)

LAST = Case(
    "last",
    """
int last(const int *v, int *out, int n) {
  int t = -1;
  for (int i = 0; i < n; ++i) {
    t = v[i] * 3;
    out[i] = t + 1;
  }
  return t;
}
""",
    (
        Rewrite(
            "lastprivate",
            """
#pragma omp parallel for lastprivate(t) schedule(static)
for (int i = 0; i < n; ++i) {
  t = v[i] * 3;
  out[i] = t + 1;
}
""",
            guard="n > 0 && (out + n <= v || v + n <= out)",
            threads=True,
        ),
        Rewrite(
            "missing lastprivate",
            """
#pragma omp parallel for private(t) schedule(static)
for (int i = 0; i < n; ++i) {
  t = v[i] * 3;
  out[i] = t + 1;
}
""",
            (*RACE, "uninitialised-read"),
            guard="out + n <= v || v + n <= out",
            threads=True,
            quick=True,
        ),
        Rewrite(
            "neighbours share",
            """
#pragma omp parallel for lastprivate(t) schedule(static)
for (int i = 0; i < n; ++i) {
  t = v[i] * 3;
  out[i] = t + 1;
  if (i + 1 < n) out[i + 1] = 0;
}
""",
            RACE,
            guard="n > 0 && (out + n <= v || v + n <= out)",
            threads=True,
        ),
    ),
)

ROWS = Case(
    "rows",
    """
void rows(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
  for (int i = 0; i < n; ++i) {
    double s = 0;
    for (int k = start[i]; k < start[i + 1]; ++k)
      s += value[k] * x[column[k]];
    y[i] = s;
  }
}
""",
    (
        Rewrite(
            "empty rows skipped",
            """
for (int i = 0; i < n; ++i) {
  if (start[i] == start[i + 1]) continue;
  double s = 0;
  for (int k = start[i]; k < start[i + 1]; ++k)
    s += value[k] * x[column[k]];
  y[i] = s;
}
""",
            WRONG,
            quick=True,
        ),
        Rewrite(
            "no indirection",
            """
for (int i = 0; i < n; ++i) {
  double s = 0;
  for (int k = start[i]; k < start[i + 1]; ++k)
    s += value[k] * x[i];
  y[i] = s;
}
""",
            WRONG,
        ),
        Rewrite(
            "row end included",
            """
for (int i = 0; i < n; ++i) {
  double s = 0;
  for (int k = start[i]; k <= start[i + 1]; ++k)
    s += value[k] * x[column[k]];
  y[i] = s;
}
""",
            MEMORY,
        ),
    ),
)

COUNTS = Case(
    "counts",
    """
void counts(const unsigned char *p, int n, unsigned *h) {
  for (int i = 0; i < n; ++i)
    h[p[i]] += 1;
}
""",
    (
        Rewrite(
            "shared counters",
            """
#pragma omp parallel for schedule(static)
for (int i = 0; i < n; ++i)
  h[p[i]] += 1;
""",
            RACE,
            threads=True,
        ),
        Rewrite("forwards or backwards", "for (int i = n - 1; i >= 0; --i) h[p[i]] += 1;", guard="n > 0 && (const unsigned char *)h != p"),
    ),
    "c",
)

START = Case(
    "start",
    """
void start(int k, int n, const int *__restrict in, float *__restrict out) {
  for (int i = k; i < n; ++i) {
    k = in[i];
    out[i] = k * 1.5f;
  }
}
""",
    (
        Rewrite(
            "start taken before",
            """
{
  const int first = k;
#pragma omp parallel for schedule(static) private(k)
  for (int i = first; i < n; ++i) {
    k = in[i];
    out[i] = k * 1.5f;
  }
}
""",
            threads=True,
        ),
        Rewrite(
            "start taken from a thread's own copy",
            """
#pragma omp parallel private(k)
{
#pragma omp for schedule(static)
  for (int i = k; i < n; ++i) {
    k = in[i];
    out[i] = k * 1.5f;
  }
}
""",
            (*MEMORY, "uninitialised-read", "data-race", "does-not-compile"),
            threads=True,
        ),
    ),
)

CUT = Case(
    "cut",
    """
unsigned long cut(const unsigned long *a, int n) {
  unsigned long s = 0;
  for (int i = 0; i < n; ++i)
    s = (unsigned)(s + a[i]);
  return s;
}
""",
    (
        Rewrite(
            "partial sums cut one by one",
            """
#pragma omp parallel for schedule(static) reduction(+ : s)
for (int i = 0; i < n; ++i)
  s = (unsigned)(s + a[i]);
""",
            WRONG,
            threads=True,
        ),
    ),
)

CASES = (PRODUCT, SUM, BLUR, LAST, ROWS, COUNTS, START, CUT)

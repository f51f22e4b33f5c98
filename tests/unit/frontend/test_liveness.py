"""Values that cross the kernel's borders, and scalars nobody reads afterwards."""

from __future__ import annotations

import pytest

from tests.unit.frontend.snippets import kernel, kernels

ROWS = [
    # body; names live in, live out, dead (of the last kernel)
    ("for (int i = 0; i < n; i++) a[i] = x;", "n a x", "a", ""),
    ("for (int i = 0; i < n; i++) a[i] = b[i];", "n a b", "a", ""),
    ("int i; for (i = 0; i < n; i++) a[i] = 0;", "n a", "i a", "i"),
    ("int i; for (i = 0; i < n; i++) a[i] = 0; use(i);", "n a", "i a", ""),
    ("int i, j; for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[j] = 0;", "n a", "i j a", "i j"),
    ("int i, j; for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[j] = 0; use(j);", "n j a", "i j a", "i"),
    ("int s = 0; for (int i = 0; i < n; i++) s += b[i]; use(s);", "n s b", "s", ""),
    ("int s = 0; for (int i = 0; i < n; i++) s += b[i];", "n s b", "s", "s"),
    ("double t; for (int i = 0; i < n; i++) { t = b[i]; a[i] = t; }", "n a b", "t a", "t"),
    ("double t; for (int i = 0; i < n; i++) { if (n) t = b[i]; a[i] = t; }", "n a b t", "t a", "t"),
    ("double t; for (int i = 0; i < n; i++) { if (n) t = 1; else t = 2; a[i] = t; }", "n a", "t a", "t"),
    ("double t; for (int i = 0; i < n; i++) { t = b[i]; a[i] = t; } t = 2; use(t);", "n a b", "t a", "t"),
    ("double t; for (int i = 0; i < n; i++) { t = b[i]; a[i] = t; } if (n) t = 2; use(t);", "n a b t", "t a", ""),
    ("double t; for (int i = 0; i < n; i++) { t = b[i]; a[i] = t; } t = t + 2;", "n a b t", "t a", ""),
    ("double t; for (int i = 0; i < n; i++) { t = b[i]; a[i] = t; } t += 2;", "n a b t", "t a", ""),
    ("double t; double* q = &t; for (int i = 0; i < n; i++) { t = b[i]; a[i] = t; } use(*q);", "n a b t", "t a", ""),
    ("double t; double& q = t; for (int i = 0; i < n; i++) { t = b[i]; a[i] = t; } use(q);", "n a b t", "t a", ""),
    ("double t = 0; auto q = [&] { use(t); }; for (int i = 0; i < n; i++) { t = b[i]; } q();", "n b t", "t", ""),
    ("for (int i = 0; i < n; i++) global = i;", "n global", "global", ""),
    ("static int kept; for (int i = 0; i < n; i++) kept = i;", "n kept", "kept", ""),
    ("for (int i = 0; i < n; i++) x = b[i];", "n b", "x", "x"),
    ("for (int i = 0; i < n; i++) r = 1;", "n r", "r", ""),
    ("int i; { for (i = 0; i < n; i++) a[i] = 0; } for (i = 0; i < 3; i++) {}", "", "i", "i"),
    ("int i; while (use(n)) { for (i = 0; i < n; i++) a[i] = 0; }", "n a", "i a", "i"),
    ("int i = 0; while (use(i)) { for (i = 0; i < n; i++) a[i] = 0; }", "n a", "i a", ""),
    ("double t = 0; while (use(n)) { for (int i = 0; i < n; i++) t += b[i]; }", "n b t", "t", ""),
    ("double t; while (use(n)) { t = 0; for (int i = 0; i < n; i++) t += b[i]; a[0] = 1; }", "n b t", "t", "t"),
    ("double t; while (use(n)) { if (n) t = 0; for (int i = 0; i < n; i++) t += b[i]; }", "n b t", "t", ""),
    ("double t; while (use(n)) { if (n) continue; t = 0; for (int i = 0; i < n; i++) t += b[i]; }", "n b t", "t", ""),
    ("double t = 0; again: use(t); for (int i = 0; i < n; i++) t = b[i]; if (use(n)) goto again;", "n b t", "t", ""),
]  # fmt: skip


@pytest.mark.parametrize(("body", "live_in", "live_out", "dead"), ROWS, ids=[row[0][:60] for row in ROWS])
def test_liveness(body: str, live_in: str, live_out: str, dead: str) -> None:
    text = f"bool use(double); int global;\nvoid f(int n, double* a, const double* b, double x, int& r) {{ {body} }}"
    found = [kernel for kernel in kernels(text) if kernel.nest is not None][-1]
    names = {variable.id: variable.name for variable in found.variables}

    def named(ids: tuple[str, ...]) -> set[str]:
        return {names[id] for id in ids}

    assert named(found.live_out) == set(live_out.split())
    assert named(found.live_in) == set(live_in.split())
    assert named(found.dead_after) == set(dead.split())


ESCAPES = [
    ("double t = 0; for (int i = 0; i < n; i++) t += b[i]; use(t);", False),
    ("double t = 0; for (int i = 0; i < n; i++) t += b[i]; take(&t);", True),
    ("double t = 0; for (int i = 0; i < n; i++) t += b[i]; refer(t);", True),
    ("double t = 0; for (int i = 0; i < n; i++) t += b[i]; look(t);", True),
    ("double t = 0; for (int i = 0; i < n; i++) t += b[i]; (void)t;", False),
    ("double t[4]; for (int i = 0; i < 4; i++) t[i] = b[i]; use(t[2]);", False),
    ("double t[4]; for (int i = 0; i < 4; i++) t[i] = b[i]; take(t);", True),
    ("double t[4]; for (int i = 0; i < 4; i++) t[i] = b[i]; take(&t[1]);", True),
    ("double t[4]; for (int i = 0; i < 4; i++) t[i] = b[i]; refer(t[1]);", True),
    ("double t[4][4]; for (int i = 0; i < 4; i++) t[i][i] = b[i]; use(t[2][1]);", False),
    ("double t[4][4]; for (int i = 0; i < 4; i++) t[i][i] = b[i]; take(t[2]);", True),
]


@pytest.mark.parametrize(("body", "taken"), ESCAPES, ids=[row[0][-30:] for row in ESCAPES])
def test_address_taken(body: str, taken: bool) -> None:
    text = (
        f"void use(double); void take(double*); void refer(double&); void look(const double&);\nvoid f(int n, const double* b) {{ {body} }}"
    )
    (found,) = kernels(text)
    (variable,) = [v for v in found.variables if v.name == "t"]
    assert variable.address_taken is taken


def test_vectors_escape_by_their_data() -> None:
    text = """
    #include <vector>
    void take(double*);
    void f(int n) {
        std::vector<double> kept(n), given(n), out(n);
        out.push_back(1); out.resize(n); take(&given[0]);
        for (int i = 0; i < n; i++) out[i] = kept[i] + given[i];
    }
    """
    (found,) = kernels(text)
    assert {v.name for v in found.variables if v.address_taken} == {"given"}


def test_minimum_of_the_standard_library_takes_no_address() -> None:
    text = "#include <algorithm>\nint f(int n, const int* b) { int m = 9; for (int i = 0; i < n; i++) m = std::min(m, b[i]); return m; }"
    (found,) = kernels(text)
    assert not any(v.address_taken for v in found.variables)


def test_a_pragma_may_read_the_value() -> None:
    text = """void f(int *a, const int *b, int n) {{
    int t = 0;
    for (int i = 0; i < n; i++) {{ t = b[i]; a[i] = t; }}
{pragma}
    {{ a[0]++; }}
}}"""
    assert "t" in kernel(text.format(pragma="")).dead_after
    for pragma in ("#pragma omp parallel num_threads(t)", '_Pragma("omp parallel if(t > 2)")', "#define T t\n#pragma omp parallel if(T)"):
        assert "t" not in kernel(text.format(pragma=pragma)).dead_after

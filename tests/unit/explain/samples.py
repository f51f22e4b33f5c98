"""Outcomes made by hand, and a strategy for any outcome."""

from __future__ import annotations

from hypothesis import strategies as st

from perfcc.core.candidate import Step
from perfcc.core.decision import Decision, Evidence, Outcome, SizeTiming, Status, Tried
from perfcc.core.reason import REASONS, Reason
from perfcc.core.span import Span


def span(line: int, file: str = "src/matrix.cpp") -> Span:
    return Span(file, 100 * line, 100 * line + 60, line, 5, line + 3)


INTERCHANGE = Step("loop-interchange", "L0", (("order", "i k j"),), "no dependence is carried by j or k", "data locality")
PARALLEL = Step(
    "parallel-loop", "L0", (("schedule", "static"), ("collapse", 1)), "no two iterations touch the same element", "multithreading"
)

BEFORE = "for (int i = 0; i < n; ++i)\n    c[i] = 0;"
AFTER = "{ if (n >= 42000) {\n#pragma omp parallel for\nfor (int i = 0; i < n; ++i)\n    c[i] = 0;\n} else\n" + BEFORE + "\n}"

FASTER = Decision(
    kernel="k1",
    function="multiply",
    span=span(41),
    status=Status.REWRITTEN,
    steps=(INTERCHANGE, PARALLEL),
    evidence=(
        Evidence("compiles", True, "no new diagnostics", (("flags", "-O2"),), 0.31),
        Evidence("differential", True, "1204 runs agree bit for bit", (("inputs", "301"), ("threads", "1, 2, 4")), 2.24),
    ),
    speedup=3.42,
    threshold=42000.0,
    timings=(SizeTiming(42000.0, 1.21, 1.12, 1.33, 12, "faster"), SizeTiming(1e6, 3.42, 3.1, 3.7, 9, "faster")),
    guard="perfcc_rt_disjoint(a, n, (b && n), n) && n > 0",
    before=BEFORE,
    replacement=AFTER,
    threads=True,
    tried=(Tried((PARALLEL,), Reason("not-faster", None, "1.02x at best")),),
    facts=(("trip count", "n"), ("stride of b", "n before, 1 after")),
    hotness=8.0,
    hotness_why="three loops deep, called in a loop",
    loops=3,
)

REFUSED = Decision("k2", "readLog", span(88), Status.REFUSED, Reason("io-in-loop", span(91), "std::printf"))
CARRIED = Decision("k3", "smooth", span(120), Status.REFUSED, Reason("carried-dependence", span(122), "a[i] needs a[i-1]"), loops=2)
CARRIED_TOO = Decision("k4", "fade", span(140), Status.REFUSED, Reason("carried-dependence", span(141)))
REJECTED = Decision(
    "k5",
    "scale",
    span(160),
    Status.REJECTED,
    Reason("not-faster"),
    tried=(Tried((PARALLEL,), Reason("not-faster", None, "0.98x at best")),),
)

MATRIX = Outcome("/home/me/app/src/matrix.cpp", "matrix.o", "g++", (REFUSED, FASTER), True, None, 4.5, "0.1.0", (("fp", "strict"),))
FILTERS = Outcome("/home/me/app/src/filters.cpp", "filters.o", "g++", (CARRIED, CARRIED_TOO, REJECTED), False, None, 2.0, "0.1.0")
BROKEN = Outcome("/home/me/app/src/old.cpp", "old.o", "g++", (), False, Reason("parse-error", span(7, "old.cpp"), "unknown type"))

# ---- anything at all: text with stray bytes, figures that aren't finite ------------------------------------------

texts = st.text(st.characters(exclude_categories=[]), max_size=12)
figures = st.one_of(st.floats(), st.sampled_from([0.0, 1.0, float("inf"), float("nan")]))
counts = st.integers(0, 10**6)
spans = st.builds(Span, texts, counts, counts, st.integers(1, 10**6), st.integers(1, 500), st.integers(1, 10**6))
reasons = st.builds(Reason, st.sampled_from(sorted(REASONS)), st.none() | spans, texts)
pairs = st.lists(st.tuples(texts, texts), max_size=3).map(tuple)
parameters = st.dictionaries(texts, counts | texts, max_size=2).map(lambda d: tuple(d.items()))
steps = st.builds(Step, st.sampled_from(["parallel-loop", "loop-tiling"]), texts, parameters, texts, texts)
step_lists = st.lists(steps, max_size=2).map(tuple)
evidence = st.builds(Evidence, texts, st.booleans(), texts, pairs, figures)
timings = st.builds(SizeTiming, figures, figures, figures, figures, counts, texts)
tried = st.builds(Tried, step_lists, reasons)


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    status = draw(st.sampled_from(Status))
    return Decision(
        kernel=draw(texts),
        function=draw(texts),
        span=draw(spans),
        status=status,
        reason=None if status is Status.REWRITTEN else draw(reasons),
        steps=draw(step_lists),
        evidence=tuple(draw(st.lists(evidence, max_size=2))),
        speedup=draw(figures),
        threshold=draw(figures),
        timings=tuple(draw(st.lists(timings, max_size=2))),
        guard=draw(texts),
        before=draw(texts),
        replacement=draw(texts),
        threads=draw(st.booleans()),
        tried=tuple(draw(st.lists(tried, max_size=2))),
        facts=draw(pairs),
        hotness=draw(figures),
        hotness_why=draw(texts),
        loops=draw(st.integers(1, 9)),
        cached=draw(st.booleans()),
    )


outcomes = st.builds(
    Outcome, texts, texts, texts, st.lists(decisions(), max_size=3).map(tuple), st.booleans(), st.none() | reasons, figures, texts, pairs
)

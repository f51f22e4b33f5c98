"""The text report: what a person must find in it, and that nothing in a source can spoil it."""

from __future__ import annotations

import io
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from perfcc.core.decision import Decision, Evidence, Outcome, Status, Tried
from perfcc.core.reason import Reason
from perfcc.explain.text import render_text
from perfcc.explain.wording import Catalogue, RuleWords
from tests.unit.explain import samples

WORDS = {"loop-interchange": RuleWords("Loop interchange", "data locality", "Neighbouring elements share a cache line.")}


def shown(*outcomes: Outcome, catalogue: Catalogue | None = None, base: str = "", encoding: str = "utf-8", colour: bool = False) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="")
    render_text(
        outcomes, Console(file=stream, width=60, force_terminal=colour, color_system="standard" if colour else None), catalogue, base
    )
    stream.flush()
    return raw.getvalue().decode(encoding)


def block(text: str, start: str) -> str:
    """The lines from the one that starts so to the next blank one."""
    lines = text.splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith(start))
    last = next((index for index in range(first, len(lines)) if not lines[index]), len(lines))
    return "\n".join(lines[first:last])


def test_the_first_line_sums_up() -> None:
    text = shown(samples.MATRIX, samples.FILTERS, samples.BROKEN)
    assert text.splitlines()[0] == "perfcc looked at 5 loop nests (8 loops) in 3 units: 1 rewritten, 4 left alone."


def test_the_summary_has_a_row_for_each_rewrite_and_the_reasons_with_counts() -> None:
    summary = shown(samples.MATRIX, samples.FILTERS).split("\n\nsrc/")[0].splitlines()
    row = next(line for line in summary if line.startswith("  src/matrix.cpp:41"))
    assert row.split("  ")[1:4] == ["src/matrix.cpp:41", "multiply", "3.42x"]
    assert "42,000 iterations" in row
    assert "loop interchange (order i k j), then parallel loop" in row
    reasons = [line for line in summary if line.endswith("]")]
    assert reasons[0] == "     2  an iteration needs what an earlier one wrote [carried-dependence]"
    assert len(reasons) == 3


def test_the_fastest_comes_first() -> None:
    slower = replace(samples.FASTER, span=samples.span(5), function="first", speedup=1.2)
    text = shown(replace(samples.MATRIX, decisions=(slower, samples.FASTER)))
    assert text.index("src/matrix.cpp:41  multiply  3.42x faster") < text.index("src/matrix.cpp:5  first  1.20x faster")


def test_a_rewritten_kernel_says_what_won_why_and_on_what_evidence() -> None:
    text = block(shown(samples.MATRIX, catalogue=WORDS), "src/matrix.cpp:41  multiply  3.42x faster")
    for line in (
        "  hot       three loops deep, called in a loop",
        "  tried     1 candidate: no size was found at which the rewrite is at least 1.10x faster [not-faster]",
        "              parallel loop (schedule static, collapse 1) (1.02x at best)",
        "  won       loop interchange (order i k j) [data locality]",
        "              legal because no dependence is carried by j or k",
        "            parallel loop (schedule static, collapse 1) [multithreading]",
        "  helps     Neighbouring elements share a cache line.",
        "            trip count: n",
        "            stride of b: n before, 1 after",
        "  checks    passed  compiles: no new diagnostics (0.3 s); flags -O2",
        "            passed  differential: 1204 runs agree bit for bit (2.2 s); inputs 301, threads 1, 2, 4",
        "  timed     1.21x (1.12 to 1.33) at 42,000 iterations, 12 pairs: faster",
        "            3.42x (3.10 to 3.70) at 1,000,000 iterations, 9 pairs: faster",
    ):
        assert line in text.splitlines()
    guard = text[text.index("  guard") : text.index("    --- a/")].splitlines()
    assert [line.removeprefix("  guard").strip() for line in guard] == [
        "the rewrite runs when all of this holds, else the original loop:",
        "the work is at least 42,000 iterations",
        "threads may be started here",
        "perfcc_rt_disjoint(a, n, (b && n), n)",
        "n > 0",
    ]


def test_the_diff_keeps_the_original_and_counts_lines_from_the_file() -> None:
    text = block(shown(samples.MATRIX), "src/matrix.cpp:41  multiply")
    assert "    @@ -41,2 +41,8 @@" in text
    assert "    +#pragma omp parallel for" in text
    assert "     for (int i = 0; i < n; ++i)" in text
    assert not [line for line in text.splitlines() if line.startswith("    -") and not line.startswith("    ---")]


def test_a_kernel_left_alone_names_the_line_the_cause_and_the_way_out() -> None:
    text = shown(samples.MATRIX, samples.FILTERS)
    assert block(text, "src/matrix.cpp:88").splitlines() == [
        "src/matrix.cpp:88  readLog: refused",
        "  src/matrix.cpp:91: the loop does input or output (std::printf) [io-in-loop]",
        "  to lift it: collect results first, print after the loop",
    ]
    assert block(text, "src/matrix.cpp:160").splitlines()[0] == "src/matrix.cpp:160  scale: tried without success"
    assert "(0.98x at best)" in block(text, "src/matrix.cpp:160")


def test_a_unit_left_alone_as_a_whole_says_why() -> None:
    text = shown(samples.BROKEN, base="/home/me/app")
    assert "src/old.cpp: the whole unit was left alone: libclang could not parse the unit (unknown type) [parse-error]" in text


def test_accepted_rewrites_that_did_not_reach_the_object_are_owned_up_to() -> None:
    assert "the object does not hold them" in shown(replace(samples.MATRIX, emitted=False))
    assert "the object does not hold them" not in shown(samples.MATRIX)


def test_no_line_is_wrapped_or_padded_whatever_the_width() -> None:
    text = shown(samples.MATRIX, samples.FILTERS)
    assert max(map(len, text.splitlines())) > 60
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


def test_markup_and_control_characters_in_a_source_are_only_text() -> None:
    nasty = replace(samples.REFUSED, function="f[bold]\x1b[31m\x07", reason=Reason("callback", samples.span(3, "a[/red].cpp")))
    text = shown(replace(samples.MATRIX, decisions=(nasty,)))
    assert "f[bold]?[31m?" in text
    assert "a[/red].cpp:3" in text
    assert "\x1b" not in text


def test_a_terminal_gets_colours_and_the_same_words() -> None:
    coloured = shown(samples.MATRIX, colour=True)
    assert "\x1b[1;32m" in coloured


def test_a_guard_with_alternatives_is_not_torn_apart() -> None:
    text = shown(replace(samples.MATRIX, decisions=(replace(samples.FASTER, guard="a && b || c"),)))
    assert "              a && b || c" in text.splitlines()


def test_candidates_that_failed_alike_are_listed_together() -> None:
    busy = Reason("machine-busy", None, "load 9")
    tried = (*samples.FASTER.tried, Tried((samples.INTERCHANGE,), busy), *samples.FASTER.tried)
    text = shown(replace(samples.MATRIX, decisions=(replace(samples.FASTER, tried=tried),)))
    assert "  tried     2 candidates: no size was found" in text
    assert "            1 candidate: the machine was too busy" in text
    assert text.count("(1.02x at best)") == 2


def test_an_unguarded_rewrite_says_so() -> None:
    bare = replace(samples.FASTER, guard="1", threads=False, threshold=0.0)
    text = shown(replace(samples.MATRIX, decisions=(bare,)))
    assert "  guard     none: the rewrite always runs" in text
    assert "any size" in text


def test_figures_of_the_timing_are_not_told_twice() -> None:
    timing = Evidence("timing", True, "3.42x", (("work 42000", "1.21x"), ("CPU pressure", "2 %")))
    text = shown(replace(samples.MATRIX, decisions=(replace(samples.FASTER, evidence=(timing,)),)))
    assert "  checks    passed  timing: 3.42x; CPU pressure 2 %" in text.splitlines()


def test_few_reasons_are_spelled_out_and_the_rest_counted() -> None:
    from perfcc.core.reason import REASONS

    ids = sorted(REASONS)[:11]
    many = tuple(replace(samples.REFUSED, span=samples.span(n + 1), reason=Reason(id)) for n, id in enumerate(ids))
    assert "     3  for 3 other reasons" in shown(replace(samples.MATRIX, decisions=many))


def test_an_empty_report_says_so_in_one_line() -> None:
    assert shown() == "perfcc looked at 0 loop nests (0 loops) in 0 units: 0 rewritten, 0 left alone.\n"


@given(st.lists(samples.outcomes, max_size=2), st.sampled_from(["utf-8", "ascii", "latin-1"]))
def test_anything_can_be_shown_on_any_terminal(outcomes: list[Outcome], encoding: str) -> None:
    text = shown(*outcomes, encoding=encoding)
    kept = {(outcome.source, outcome.output): outcome for outcome in outcomes}.values()
    decisions: list[Decision] = [decision for outcome in kept for decision in outcome.decisions]
    changed = sum(decision.status is Status.REWRITTEN for decision in decisions)
    assert text.count(" faster") >= changed
    assert text.splitlines()[0].endswith(f"{changed} rewritten, {len(decisions) - changed} left alone.")


def test_a_kernel_in_a_header_is_told_once_for_all_units_that_decide_alike() -> None:
    refused = replace(
        samples.REFUSED, span=samples.span(88, "../inc/matrix.h"), reason=Reason("early-exit", samples.span(91, "../inc/matrix.h"))
    )
    one, *others = [Outcome(f"/p/src/{name}.cpp", f"/p/{name}.o", "g++", (refused,), folder="/p/src") for name in ("a", "b", "c", "d")]
    text = shown(one, *others, base="/p")
    assert "looked at 1 loop nest " in text
    assert text.count("\ninc/matrix.h:88") == 1
    assert "inc/matrix.h:91: " in text
    other = replace(one, source="/p/src/e.cpp", output="/p/e.o", decisions=(replace(refused, reason=Reason("budget-spent")),))
    assert "looked at 2 loop nests" in shown(one, *others, other)


def test_one_source_compiled_twice_is_told_twice() -> None:
    refused = replace(samples.REFUSED, span=samples.span(88, "a.cpp"))
    units = [Outcome("/p/a.cpp", f"/p/{name}.o", "g++", (refused,), folder="/p") for name in ("a", "b")]
    assert "looked at 2 loop nests" in shown(*units)

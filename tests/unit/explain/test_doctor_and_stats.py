"""The doctor's list and the counters, as text and as JSON."""

from __future__ import annotations

import io
import json

from rich.console import Console

from perfcc.explain.doctor import Check, doctor_json, doctor_text, healthy
from perfcc.explain.stats import Holdings, stats_json, stats_text

COMPILER = Check("g++", "/usr/bin/g++", "g++ 12.2\nCopyright", "everything", "apt-get install g++")
CLANG = Check("clang++-19", "", "", "the race check", "apt-get install clang-19 libomp-19-dev")
MODEL = Check("planner model", "", "", "model proposals", "pip install perfcc[models]", required=False)

COUNTERS = {
    "compiled": 7,
    "passed-through": 5,
    "passed-through:link": 2,
    "passed-through:preprocess": 3,
    "refused:io-in-loop": 4,
    "search-seconds": 0.05,
}
HOLDINGS = Holdings("/home/user/.cache/perfcc", 50_000_000, 1_234_567, {"units": 1000, "objects": 12})


def console() -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, width=60), stream


def test_all_there_is_well() -> None:
    out, stream = console()
    doctor_text([COMPILER], out)
    assert "ok  g++   g++ 12.2" in stream.getvalue()
    assert "Copyright" not in stream.getvalue()
    assert stream.getvalue().endswith("perfcc can rewrite programs here.\n")


def test_what_is_missing_is_named_with_what_it_disables_and_how_to_get_it() -> None:
    out, stream = console()
    doctor_text([COMPILER, CLANG, MODEL], out)
    text = stream.getvalue()
    assert "clang++-19 is missing\n  disables  the race check\n  get it    apt-get install clang-19 libomp-19-dev\n" in text
    assert "MISSING" in text
    assert "absent" in text
    assert "can't rewrite anything here" in text


def test_only_what_is_required_decides_on_health() -> None:
    assert healthy([COMPILER, MODEL])
    assert not healthy([COMPILER, CLANG])
    out, stream = console()
    doctor_text([COMPILER, MODEL], out)
    assert stream.getvalue().endswith("perfcc can rewrite programs here. Some parts are off, see above.\n")


def test_the_doctors_json() -> None:
    document = json.loads(doctor_json([COMPILER, CLANG]))
    assert (document["format"], document["version"], document["healthy"]) == ("perfcc-doctor", 1, False)
    assert [check["found"] for check in document["checks"]] == ["/usr/bin/g++", None]


def test_counters_are_grouped_and_reasons_spelled_out() -> None:
    out, stream = console()
    stats_text(COUNTERS, HOLDINGS, out, {"link": "it links, nothing is compiled"})
    assert stream.getvalue().splitlines() == [
        "1.23 MB of 50 MB in 1,012 entries of /home/user/.cache/perfcc",
        "         7  compiled",
        "         5  passed through",
        "             3  preprocess",
        "             2  it links, nothing is compiled [link]",
        "         4  refused",
        "             4  the loop does input or output [io-in-loop]",
        "   50.0 ms  search seconds",
    ]


def test_the_counters_json() -> None:
    document = json.loads(stats_json(COUNTERS, HOLDINGS))
    assert document["store"] == {
        "path": HOLDINGS.store, "limit": 50_000_000, "size": 1_234_567, "entries": {"units": 1000, "objects": 12},
    }  # fmt: skip
    groups = document["counters"]
    assert groups["passed-through"] == {"total": 5, "parts": {"link": 2, "preprocess": 3}}
    assert groups["refused"] == {"total": 4, "parts": {"io-in-loop": 4}}


def test_nothing_counted_is_said() -> None:
    out, stream = console()
    stats_text({}, HOLDINGS, out)
    assert stream.getvalue().splitlines()[1:] == ["Nothing has been counted yet."]

"""Keys, counters and clean-up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfcc.core.settings import Settings
from perfcc.core.unit import Semantics
from perfcc.store import cleaning, counters, size
from perfcc.store.cleaning import clean, clean_if_grown, clear, holdings
from perfcc.store.counters import Counters
from perfcc.store.disk import Store, output_key
from perfcc.store.key import cpu_label, decision_key, digest, processors, tree_digest
from perfcc.store.lock import alone
from tests.unit.explain import samples

# ---- keys


def key(**changes: object) -> str:
    values: dict[str, object] = {
        "kernel": "k",
        "compiler": "c",
        "flags": ("g++", "-O2", "-c", "a.cpp"),
        "semantics": Semantics(),
        "settings": Settings(),
        "rules": "r",
        "cpu": "x86",
        "version": "1",
    }
    return decision_key(**{**values, **changes})  # type: ignore[arg-type]


def test_key_changes_with_everything_that_decides() -> None:
    others = [
        key(kernel="k2"),
        key(compiler="c2"),
        key(flags=("g++", "-O3", "-c", "a.cpp")),
        key(flags=("g++", "-O2", "-march=native", "-c", "a.cpp")),
        key(semantics=Semantics(wrapv=True)),
        key(settings=Settings(fp="reassociate")),
        key(settings=Settings(threads=2)),
        key(settings=Settings(rules_off=("loop-tiling",))),
        key(rules="r2"),
        key(cpu="arm"),
        key(version="2"),
    ]
    assert len({key(), *others}) == len(others) + 1


def test_key_stays_when_nothing_that_decides_changes() -> None:
    assert key(settings=Settings(budget=5.0, mode="apply", store="/x")) == key()


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_digest_marks_parts_off(left: list[str], right: list[str]) -> None:
    assert (digest(*left) == digest(*right)) == (left == right)


def test_cpu_label_names_the_processors_in_use() -> None:
    assert cpu_label().endswith(f" x{processors()}")
    assert processors() == len(os.sched_getaffinity(0))
    assert "unknown" not in cpu_label()


def test_tree_digest_follows_sources_only(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.py").write_text("1")
    first = tree_digest([tmp_path])
    (tmp_path / "rules" / "a.pyc").write_text("2")
    assert tree_digest([tmp_path]) == first
    (tmp_path / "rules" / "a.py").write_text("2")
    changed = tree_digest([tmp_path])
    (tmp_path / "rules" / "a.py").rename(tmp_path / "rules" / "b.py")
    assert len({first, changed, tree_digest([tmp_path])}) == 3


# ---- counters


def log(folder: Path, *lines: str, name: str = "log") -> None:
    """Appends lines as the launcher does."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


def aside(seconds: float) -> str:
    """A log that was put aside so long ago."""
    return f"log-{int((time.time() - seconds) * 1e9)}"


def test_counters_add_up(tmp_path: Path) -> None:
    assert Counters(tmp_path).read() == {}
    log(tmp_path, "compiled 1", "seconds 0.25")
    log(tmp_path, "compiled 2", "passed:link 1")
    assert Counters(tmp_path).read() == {"compiled": 3.0, "seconds": 0.25, "passed:link": 1.0}


def test_damaged_lines_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"good 1\nbad\n\xff\xff 3\n-1\ngood -5\ngood 2\ngood 1e9\ncut 5 6")
    assert Counters(tmp_path).read() == {"good": 3.0}


def test_logs_put_aside_are_folded_once(tmp_path: Path) -> None:
    log(tmp_path, "compiled 1", name=aside(100))
    log(tmp_path, "compiled 10", name=aside(90))
    log(tmp_path, "compiled 100", name=aside(1))
    log(tmp_path, "compiled 1000")
    for _ in range(3):
        assert Counters(tmp_path).read() == {"compiled": 1111.0}
    assert len(list(tmp_path.glob("log-*"))) == 1


def test_whoever_is_killed_while_folding_counts_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log(tmp_path, "compiled 1", name=aside(100))
    with monkeypatch.context() as killed:
        killed.setattr(counters.files, "forget", lambda path: None)
        assert Counters(tmp_path).read() == {"compiled": 1.0}
    assert len(list(tmp_path.glob("log-*"))) == 1
    assert Counters(tmp_path).read() == {"compiled": 1.0}
    log(tmp_path, "compiled 1", name=aside(50))
    assert Counters(tmp_path).read() == {"compiled": 2.0}
    assert list(tmp_path.glob("log-*")) == []


def test_a_log_is_not_folded_while_another_folds(tmp_path: Path) -> None:
    log(tmp_path, "compiled 1", name=aside(100))
    with alone(tmp_path / "lock", without_locks=False) as mine:
        assert mine
        assert Counters(tmp_path).read() == {"compiled": 1.0}
        assert len(list(tmp_path.glob("log-*"))) == 1


def test_damaged_totals_are_no_totals(tmp_path: Path) -> None:
    log(tmp_path, "compiled 1", name=aside(100))
    Counters(tmp_path).read()
    (tmp_path / "totals").write_bytes((tmp_path / "totals").read_bytes().replace(b"1", b"7"))
    log(tmp_path, "compiled 2")
    assert Counters(tmp_path).read() == {"compiled": 2.0}


def test_counters_are_set_to_zero(tmp_path: Path) -> None:
    log(tmp_path, "compiled 1", name=aside(100))
    Counters(tmp_path).read()
    log(tmp_path, "compiled 1")
    Counters(tmp_path).zero()
    assert Counters(tmp_path).read() == {}
    assert Counters(tmp_path / "nothing").read() == {}


def test_counters_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert Counters(tmp_path / "file").read() == {}
    Counters(tmp_path / "file").zero()


# ---- clean-up

BLOCK = size.BLOCK


def fill(store: Store, count: int, blocks: int = 1) -> list[Path]:
    """Objects, the first used longest ago."""
    paths = []
    for index in range(count):
        name = store.keep_object(bytes([index]) * blocks * BLOCK)
        assert name is not None
        path = store.object_path(name)
        os.utime(path, (1000 + index, 1000 + index))
        paths.append(path)
    return paths


def exist(paths: list[Path]) -> str:
    return "".join(".X"[path.exists()] for path in paths)


def test_store_below_its_limit_is_left_alone(tmp_path: Path) -> None:
    paths = fill(Store(tmp_path), 9)
    assert clean(tmp_path, 10 * BLOCK) == 0
    assert clean(tmp_path, 0) == 0
    assert exist(paths) == "X" * 9


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    paths = fill(store, 10)
    store.load_object(paths[0].parent.name + paths[0].name)
    assert clean(tmp_path, 10 * BLOCK) == 2
    assert exist(paths) == "X..XXXXXXX"


def test_decisions_outlive_what_a_compile_makes_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    key = digest("k")
    store.keep_decision(key, samples.MATRIX.decisions[0])
    decision = next((tmp_path / "decisions").rglob("*.json"))
    now = time.time()
    os.utime(decision, (now - 20 * 86400,) * 2)
    paths = fill(store, 12)
    for index, path in enumerate(paths):
        os.utime(path, (now - 600 + index,) * 2)
    clean(tmp_path, 10 * BLOCK)
    assert decision.exists()
    os.utime(decision, (now - 40 * 86400,) * 2)
    clean(tmp_path, 5 * BLOCK)
    assert not decision.exists()


def test_times_to_come_are_worth_nothing(tmp_path: Path) -> None:
    paths = fill(Store(tmp_path), 10)
    os.utime(paths[5], (time.time() + 90_000,) * 2)
    clean(tmp_path, 10 * BLOCK)
    assert exist(paths) == ".XXXX.XXXX"


def test_what_is_used_while_others_are_removed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = fill(Store(tmp_path), 10)
    entry = next(entry for entry in cleaning.entries(tmp_path) if entry.path == str(paths[0]))
    os.utime(paths[0])
    assert not cleaning._remove(entry)
    assert paths[0].exists()
    paths[0].unlink()
    assert not cleaning._remove(entry)


def test_links_are_bounded_too_and_counters_are_no_part_of_it(tmp_path: Path) -> None:
    log(tmp_path / "counters", "a 1")
    fill(Store(tmp_path), 3)
    (tmp_path / "links").mkdir()
    for index in range(100):
        (tmp_path / "links" / output_key(Path(str(index)))).write_text("{}")
    clean(tmp_path, 10 * BLOCK)
    assert holdings(tmp_path)[0] <= 8 * BLOCK
    assert Counters(tmp_path / "counters").read() == {"a": 1.0}


def test_left_behind_temporary_files_go(tmp_path: Path) -> None:
    folder = fill(Store(tmp_path), 1)[0].parent
    old = [folder / ".new-old", folder / ".perfcc-old", folder / ".new-to-come"]
    for path, age in zip(old, (7200, 7200, -7200), strict=True):
        path.write_text("")
        os.utime(path, (time.time() - age,) * 2)
    (folder / ".new-young").write_text("")
    assert clean(tmp_path, 0) == 3
    assert not any(path.exists() for path in old)
    assert (folder / ".new-young").exists()


def test_the_store_is_emptied(tmp_path: Path) -> None:
    fill(Store(tmp_path), 5)
    assert clear(tmp_path) == 5
    assert holdings(tmp_path)[0] == 0
    assert size.estimate(tmp_path) == 0


@pytest.mark.parametrize("limit", [20, 50, 200])
def test_a_growing_store_stays_below_its_limit(tmp_path: Path, limit: int) -> None:
    store = Store(tmp_path)
    for index in range(2 * limit):
        assert store.keep_object(index.to_bytes(2, "big") * BLOCK)
        clean_if_grown(tmp_path, limit * BLOCK)
        assert holdings(tmp_path)[0] <= limit * BLOCK
    assert holdings(tmp_path)[0] >= 0.7 * limit * BLOCK


def test_nothing_is_scanned_below_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    fill(store, 3)
    clean_if_grown(tmp_path, 100 * BLOCK)
    monkeypatch.setattr(cleaning, "entries", None)
    fill(store, 10)
    assert size.estimate(tmp_path) == 10 * BLOCK
    assert clean_if_grown(tmp_path, 100 * BLOCK) == 0


@pytest.mark.parametrize(
    ("name", "damage"), [*(("size", how) for how in ("gone", "empty", "rubbish", "folder")), ("grown", "gone"), ("grown", "folder")]
)
def test_lost_notes_are_counted_again(tmp_path: Path, name: str, damage: str) -> None:
    store = Store(tmp_path)
    fill(store, 4)
    clean(tmp_path, 100 * BLOCK)
    path = tmp_path / name
    path.rename(tmp_path / "aside")
    if damage == "folder":
        path.mkdir()
    elif damage != "gone":
        path.write_bytes(b"" if damage == "empty" else b"\xff" * 3)
    assert size.estimate(tmp_path) is None
    store.keep_object(b"one more")
    clean_if_grown(tmp_path, 100 * BLOCK)
    assert damage == "folder" or size.estimate(tmp_path) == 5 * BLOCK


def test_the_store_is_counted_once_a_day_and_after_a_clock_jump(tmp_path: Path) -> None:
    fill(Store(tmp_path), 4)
    clean(tmp_path, 100 * BLOCK)
    for age in (90_000, -90_000):
        os.utime(tmp_path / "size", (time.time() - age,) * 2)
        assert size.estimate(tmp_path) is None
    clean_if_grown(tmp_path, 100 * BLOCK)
    assert size.estimate(tmp_path) == 4 * BLOCK


def test_long_notes_are_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size, "_RENEW_AT", 10)
    store = Store(tmp_path)
    fill(store, 12)
    clean(tmp_path, 100 * BLOCK)
    assert (tmp_path / "grown").stat().st_size == 0
    assert size.estimate(tmp_path) == 12 * BLOCK
    fill(store, 14)
    assert size.estimate(tmp_path) >= 14 * BLOCK


def test_nobody_waits_for_who_cleans(tmp_path: Path) -> None:
    paths = fill(Store(tmp_path), 10)
    with alone(tmp_path / "lock", without_locks=True) as mine:
        assert mine
        assert clean_if_grown(tmp_path, 10 * BLOCK) == 0
    assert clean_if_grown(tmp_path, 10 * BLOCK) == 2
    fill(Store(tmp_path), 20)
    with alone(tmp_path / "lock", without_locks=True):
        assert clean_if_grown(tmp_path, 10 * BLOCK) > 0, "who cleans may have been stopped: the store must not grow for ever"
    assert exist(paths)[0] == "."


def test_clean_up_of_a_store_that_is_not_there(tmp_path: Path) -> None:
    assert clean(tmp_path / "nothing", 1) == 0
    assert clean_if_grown(tmp_path / "nothing", 1) == 0
    assert not (tmp_path / "nothing").exists()
    (tmp_path / "file").write_text("")
    assert clean_if_grown(tmp_path / "file", 1) == 0
    assert holdings(tmp_path / "file")[0] == 0


WRITER = """
import sys
from pathlib import Path
from perfcc.store.cleaning import clean_if_grown
from perfcc.store.disk import Store
store, writer = Store(Path(sys.argv[1])), int(sys.argv[2])
for turn in range(100):
    name = store.keep_object(f"{writer} {turn}".encode() * 1000)
    assert name is not None
    content = store.load_object(name)
    assert content is None or content.startswith(f"{writer} {turn}".encode())
    clean_if_grown(store.path, int(sys.argv[3]))
"""


def test_writers_at_once_stay_below_the_limit(tmp_path: Path) -> None:
    limit = 100 * BLOCK
    command = (sys.executable, "-c", WRITER, str(tmp_path))
    writers = [subprocess.Popen([*command, str(writer), str(limit)]) for writer in range(4)]
    largest = 0
    while any(writer.poll() is None for writer in writers):
        largest = max(largest, holdings(tmp_path)[0])
    assert [writer.returncode for writer in writers] == [0] * 4
    assert largest <= 1.5 * limit, "these writers do nothing but write"
    assert [entry for entry in cleaning.entries(tmp_path) if not entry.kind] == []

"""Keys, counters and clean-up."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfcc.core.settings import Settings
from perfcc.core.unit import Semantics
from perfcc.store import cleaning, counters
from perfcc.store.cleaning import clean, clean_sometimes
from perfcc.store.counters import Counters
from perfcc.store.disk import Store
from perfcc.store.key import cpu_label, decision_key, digest, processors, tree_digest

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


def test_counters_add_up(tmp_path: Path) -> None:
    log = Counters(tmp_path / "counters")
    assert log.read() == {}
    assert log.add({"compiled": 1, "seconds": 0.25})
    assert log.add({"compiled": 2, "passed:link": 1})
    assert log.read() == {"compiled": 3.0, "seconds": 0.25, "passed:link": 1.0}


def test_damaged_lines_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"good 1\nbad\n\xff\xff 3\n-1\ngood -5\ngood 2\ngood 1e9\ncut 5 6")
    assert Counters(tmp_path).read() == {"good": 3.0}


@pytest.mark.parametrize(
    ("name", "amount"), [("two words", 1), ("", 1), ("new\nline", 1), ("negative", -1), ("nan", float("nan")), ("big", 1e300)]
)
def test_what_no_line_can_hold(tmp_path: Path, name: str, amount: float) -> None:
    with pytest.raises(ValueError, match="no counter"):
        Counters(tmp_path).add({name: amount})
    assert Counters(tmp_path).read() == {}


def test_long_log_is_folded_without_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "FOLD_AT", 500)
    log = Counters(tmp_path)
    for _ in range(200):
        log.add({"compiled": 1, "seconds": 0.5})
    assert log.read() == {"compiled": 200.0, "seconds": 100.0}
    assert log.path.stat().st_size < 600


def test_log_that_the_launcher_filled_is_folded_by_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "FOLD_AT", 500)
    (tmp_path / "log").write_bytes(b"passed:link 1\n" * 100)
    assert Counters(tmp_path).read() == {"passed:link": 100.0}
    assert (tmp_path / "log").read_bytes() == b"passed:link 100\n"
    assert Counters(tmp_path).read() == {"passed:link": 100.0}


def _count(path: str) -> None:
    for _ in range(300):
        Counters(Path(path)).add({"compiled": 1})


def test_processes_that_count_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_count, args=(str(tmp_path),)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert Counters(tmp_path).read() == {"compiled": 900.0}


def test_counters_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not Counters(tmp_path / "file").add({"a": 1})
    assert Counters(tmp_path / "file").read() == {}


# ---- clean-up


def fill(store: Store, count: int, size: int = 1000) -> list[Path]:
    """Objects, the first used longest ago."""
    paths = []
    for index in range(count):
        name = store.keep_object(bytes([index]) * size)
        assert name is not None
        path = store.object_path(name)
        os.utime(path, (1000 + index, 1000 + index))
        paths.append(path)
    return paths


def test_store_below_its_limit_is_left_alone(tmp_path: Path) -> None:
    paths = fill(Store(tmp_path), 5)
    assert clean(tmp_path, 5000) == 0
    assert all(path.exists() for path in paths)


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    paths = fill(store, 10)
    store.load_object(paths[0].parent.name + paths[0].name)
    assert clean(tmp_path, 9000) == 3
    assert [path.exists() for path in paths] == [True, False, False, False, *[True] * 6]


def test_counters_are_no_part_of_the_clean_up(tmp_path: Path) -> None:
    Counters(tmp_path / "counters").add({"a": 1})
    fill(Store(tmp_path), 3)
    clean(tmp_path, 0)
    assert Counters(tmp_path / "counters").read() == {"a": 1.0}
    assert [path for path in (tmp_path / "objects").rglob("*") if path.is_file()] == []


def test_left_behind_temporary_files_go(tmp_path: Path) -> None:
    folder = fill(Store(tmp_path), 1)[0].parent
    old, new = folder / ".new-old", folder / ".new-young"
    old.write_text("")
    new.write_text("")
    os.utime(old, (time.time() - 7200,) * 2)
    assert clean(tmp_path, 10_000) == 1
    assert not old.exists()
    assert new.exists()


def test_clean_up_runs_sometimes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = fill(Store(tmp_path), 3)
    assert clean_sometimes(tmp_path, 2500) == 1
    assert [path.exists() for path in paths] == [False, True, True]
    fill(Store(tmp_path), 3)
    assert clean_sometimes(tmp_path, 2500) == 0
    monkeypatch.setattr(cleaning, "_INTERVAL_SECONDS", 0.0)
    assert clean_sometimes(tmp_path, 2500) == 1


def test_clean_up_of_a_store_that_is_not_there(tmp_path: Path) -> None:
    assert clean(tmp_path / "nothing") == 0
    (tmp_path / "file").write_text("")
    assert clean_sometimes(tmp_path / "file") == 0

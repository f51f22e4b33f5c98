"""The store keeps what it was given, and survives everything that can happen to a directory."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import pickle
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfcc.core.decision import Decision, Outcome, Status
from perfcc.core.reason import Reason
from perfcc.store import files
from perfcc.store.disk import Store, output_key
from perfcc.store.key import digest
from tests.unit.explain import samples

KEY = digest("a kernel")
DECISION = samples.MATRIX.decisions[0]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def only_file(store: Store, kind: str) -> Path:
    found = [path for path in (store.path / kind).rglob("*") if path.is_file()]
    assert len(found) == 1
    return found[0]


def test_nothing_is_created_before_something_is_kept(store: Store) -> None:
    assert store.decision(KEY) is None
    assert store.load_object(KEY) is None
    assert store.outcome(Path("a.o")) is None
    assert store.outcomes(store.path) == []
    assert not store.path.exists()


@pytest.mark.parametrize("decision", [decision for unit in (samples.MATRIX, samples.FILTERS) for decision in unit.decisions])
def test_decision_comes_back(store: Store, decision: Decision) -> None:
    decided = decision.status is not Status.UNDECIDED
    assert store.keep_decision(KEY, decision) is decided
    assert store.decision(KEY) == (decision if decided else None)


def test_undecided_is_not_kept(store: Store) -> None:
    undecided = replace(DECISION, status=Status.UNDECIDED, reason=Reason("machine-busy"))
    assert not store.keep_decision(KEY, undecided)
    assert not store.path.exists()


def test_later_decision_replaces_the_earlier(store: Store) -> None:
    store.keep_decision(KEY, DECISION)
    other = replace(DECISION, function="other")
    store.keep_decision(KEY, other)
    assert store.decision(KEY) == other


def test_same_decision_same_bytes(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    store.keep_decision(KEY, DECISION)
    other.keep_decision(KEY, DECISION)
    assert only_file(store, "decisions").read_bytes() == only_file(other, "decisions").read_bytes()


@given(st.data())
def test_any_changed_byte_is_a_miss(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    store.keep_decision(KEY, DECISION)
    path = only_file(store, "decisions")
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    assert store.decision(KEY) is None


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b"{", b"\xff", b"[" * 100_000, b'{"kernel": 3}', pickle.dumps(DECISION)],
    ids=["empty", "fields", "list", "null", "cut", "bytes", "deep", "type", "pickle"],
)
def test_sealed_rubbish_is_a_miss(store: Store, body: bytes) -> None:
    store.keep_decision(KEY, DECISION)
    only_file(store, "decisions").write_bytes(files.seal(body, f"decisions {KEY}"))
    assert store.decision(KEY) is None


def test_unknown_field_and_reason_are_misses(store: Store) -> None:
    store.keep_decision(KEY, DECISION)
    path = only_file(store, "decisions")
    body = json.loads(path.read_bytes().split(b"\n", 1)[1])
    for change in ({"new_field": 1}, {"status": "shipped"}, {"reason": {"id": "no-such-reason"}}):
        path.write_bytes(files.seal(json.dumps({**body, **change}).encode(), f"decisions {KEY}"))
        assert store.decision(KEY) is None


def test_object_is_kept_under_its_digest(store: Store) -> None:
    name = store.keep_object(b"content")
    assert name == hashlib.blake2b(b"content", digest_size=32).hexdigest()
    assert store.object_path(name) == store.path / "objects" / name[:2] / name[2:]
    assert store.object_path(name).read_bytes() == b"content"
    assert store.load_object(name) == b"content"


def test_damaged_object_is_a_miss_and_is_mended(store: Store) -> None:
    name = store.keep_object(b"content")
    assert name is not None
    store.object_path(name).write_bytes(b"changed")
    assert store.load_object(name) is None
    assert not store.object_path(name).exists()
    store.object_path(name).write_bytes(b"cut")
    assert store.keep_object(b"content") == name
    assert store.load_object(name) == b"content"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 62 + "/x", "a" * 64 + "\n"])
def test_names_that_are_no_digests(store: Store, name: str) -> None:
    with pytest.raises(ValueError, match="not a key"):
        store.object_path(name)


def test_outcome_is_found_by_any_name_of_the_object(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "build" / "a.o"
    output.parent.mkdir()
    output.write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "build")
    assert store.keep_outcome(output, samples.MATRIX)
    monkeypatch.chdir(tmp_path)
    for name in ("build/a.o", "link/a.o", "build/../build/a.o"):
        assert store.outcome(Path(name)) == samples.MATRIX
    assert store.outcome(Path("build/b.o")) is None
    assert output_key(Path("link/a.o")) == output_key(output)


def test_outcomes_of_a_directory(store: Store, tmp_path: Path) -> None:
    for name in ("build/b.o", "build/sub/a.o", "builder/c.o", "build/gone.o"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
        store.keep_outcome(path, replace(samples.MATRIX, output=str(path)))
    store.keep_outcome(tmp_path / "build/relative.o", replace(samples.MATRIX, output="relative.o"))
    (tmp_path / "build/gone.o").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "build")
    wanted = [str(tmp_path / "build/b.o"), str(tmp_path / "build/sub/a.o")]
    assert [outcome.output for outcome in store.outcomes(tmp_path / "build")] == wanted
    assert [outcome.output for outcome in store.outcomes(tmp_path / "link")] == wanted
    assert len(store.outcomes(tmp_path)) == 3


@dataclass(frozen=True, slots=True)
class Answer:
    name: str
    paths: tuple[str, ...] = ()


def test_probe_comes_back_as_what_it_was(store: Store) -> None:
    assert store.keep_probe(KEY, Answer("g++", ("/usr/include",)))
    assert store.probe(KEY, Answer) == Answer("g++", ("/usr/include",))
    assert store.probe(KEY, Outcome) is None


def every_write_fails(store: Store) -> None:
    assert not store.keep_decision(KEY, DECISION)
    assert store.keep_object(b"content") is None
    assert not store.keep_outcome(Path("a.o"), samples.MATRIX)
    assert store.decision(KEY) is None


def test_store_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    every_write_fails(Store(tmp_path / "file" / "store"))


def test_store_on_a_read_only_place() -> None:
    every_write_fails(Store(Path("/proc/perfcc-store")))


def test_full_disk_keeps_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    """A file size limit of zero fails each write as a full disk does."""
    script = f"""
import resource, signal, sys
from pathlib import Path
from perfcc.store.disk import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(Store(Path({str(tmp_path)!r})).keep_object(b"content"))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True)
    assert done.stdout == "None\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size] == []
    assert list((tmp_path / "objects").rglob(".new-*")) == []


def _hammer(path: str, worker: int) -> None:
    store = Store(Path(path))
    for turn in range(40):
        store.keep_decision(KEY, replace(DECISION, function=f"{worker}-{turn}" * 50))
        store.keep_object(b"shared" * 1000)
        known = store.decision(KEY)
        assert known is not None
        number = known.function.split("-")[0]
        assert set(known.function.replace("-", "")) <= set("0123456789")
        assert number


def test_entries_that_changed_places_are_misses(store: Store) -> None:
    other = digest("another kernel")
    store.keep_decision(KEY, DECISION)
    store.keep_decision(other, replace(DECISION, function="other"))
    one, two = sorted((store.path / "decisions").rglob("*.json"))
    one.rename(two.with_suffix(".aside"))
    two.rename(one)
    two.with_suffix(".aside").rename(two)
    assert store.decision(KEY) is None
    assert store.decision(other) is None


def test_a_record_of_one_kind_is_none_of_another(store: Store) -> None:
    store.keep_probe(KEY, DECISION)
    path = only_file(store, "probes")
    (store.path / "decisions" / KEY[:2]).mkdir(parents=True)
    path.rename(store.path / "decisions" / KEY[:2] / path.name)
    assert store.decision(KEY) is None


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink(path, path)], ids=["folder", "pipe", "loop"])
def test_what_is_no_file_is_a_miss(store: Store, make: Callable[[Path], None]) -> None:
    path = store.path / "decisions" / KEY[:2] / f"{KEY[2:]}.json"
    path.parent.mkdir(parents=True)
    make(path)
    assert store.decision(KEY) is None


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_files_have_the_mode_that_the_umask_leaves(store: Store, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        store.keep_decision(KEY, DECISION)
    finally:
        os.umask(before)
    assert stat.S_IMODE(only_file(store, "decisions").stat().st_mode) == mode


def test_processes_that_write_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_hammer, args=(str(tmp_path), worker)) for worker in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert list(tmp_path.rglob(".new-*")) == []


@pytest.mark.parametrize(("age", "marked"), [(1800, False), (7200, True), (-1800, False), (-7200, True)])
def test_reading_marks_as_used_once_an_hour(store: Store, age: float, marked: bool) -> None:
    store.keep_decision(KEY, DECISION)
    path = only_file(store, "decisions")
    then = time.time() - age
    os.utime(path, (then, then))
    store.decision(KEY)
    assert (abs(path.stat().st_mtime - then) > 1) is marked
    assert (abs(path.stat().st_mtime - time.time()) < 60) is marked

"""The timing lock: many may compile, one may time, and nobody waits for ever."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from perfcc.verify import machine


def test_compiles_share_and_timing_excludes(tmp_path: Path) -> None:
    lock = tmp_path / "deep" / "lock"
    with machine.shared(lock), machine.shared(lock), machine.exclusive(lock, 0.05) as held:
        assert not held
    with machine.exclusive(lock, 0.05) as held, machine.exclusive(lock, 0.05) as again:
        assert held
        assert not again


def test_nobody_else_can_hold_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch(0o666)
    with machine.shared(lock), machine.exclusive(lock, 0.0):
        assert lock.stat().st_mode & 0o777 == 0o600
    lock.unlink()
    lock.symlink_to("elsewhere")
    with pytest.raises(OSError, match="symbolic links"), machine.shared(lock):
        pass


def test_patience_has_an_end(tmp_path: Path) -> None:
    with machine.shared(tmp_path / "lock"):
        start = time.monotonic()
        with machine.exclusive(tmp_path / "lock", 0.2) as held:
            assert not held
        assert 0.15 < time.monotonic() - start < 5


def test_who_waits_to_time_goes_before_who_comes_later_to_compile(tmp_path: Path) -> None:
    lock, order = tmp_path / "lock", []
    first, waiting = threading.Event(), threading.Event()

    def compiles() -> None:
        with machine.shared(lock):
            first.set()
            waiting.wait(5)
            time.sleep(0.1)

    def times() -> None:
        first.wait(5)
        waiting.set()
        with machine.exclusive(lock, 5) as held:
            order.append(f"timed {held}")

    def compiles_later() -> None:
        waiting.wait(5)
        time.sleep(0.05)
        with machine.shared(lock):
            order.append("compiled")

    threads = [threading.Thread(target=job) for job in (compiles, times, compiles_later)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert order == ["timed True", "compiled"]


def test_the_time_all_processors_were_busy_is_read_from_its_fields(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 20 30 9000 800 1 2 3 50 60\ncpu0 1 1 1 1 1 1 1 1 1 1\n", "ascii")
    assert machine.busy_seconds(str(stat)) == (100 + 20 + 30 + 1 + 2 + 3) / os.sysconf("SC_CLK_TCK")
    assert machine.busy_seconds(str(tmp_path / "none")) is None


def test_a_machine_that_others_use_is_not_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    start = time.monotonic()
    monkeypatch.setattr(machine, "busy_seconds", lambda: time.monotonic() - start)
    assert not machine.quiet(0.25)
    assert time.monotonic() - start < 5
    monkeypatch.setattr(machine, "busy_seconds", lambda: 7.0)
    assert machine.quiet(0.0)

"""The timing lock: many may compile, one may time, and nobody waits for ever."""

from __future__ import annotations

import time
from pathlib import Path

from perfcc.verify import machine


def test_compiles_share_and_timing_excludes(tmp_path: Path) -> None:
    lock = tmp_path / "deep" / "lock"
    with machine.shared(lock), machine.shared(lock), machine.exclusive(lock, 0.05) as held:
        assert not held
    with machine.exclusive(lock, 0.05) as held, machine.exclusive(lock, 0.05) as again:
        assert held
        assert not again


def test_patience_has_an_end(tmp_path: Path) -> None:
    with machine.shared(tmp_path / "lock"):
        start = time.monotonic()
        with machine.exclusive(tmp_path / "lock", 0.2) as held:
            assert not held
        assert 0.15 < time.monotonic() - start < 5


def test_pressure_is_a_share() -> None:
    with machine.pressure() as shares:
        time.sleep(0.05)
    known = machine.stalled_microseconds() is not None
    assert len(shares) == (1 if known else 0)
    assert all(share >= 0 for share in shares)


def test_a_kernel_that_does_not_tell(tmp_path: Path) -> None:
    assert machine.stalled_microseconds(str(tmp_path / "none")) is None

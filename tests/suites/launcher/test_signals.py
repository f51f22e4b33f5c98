"""A signal that stops the launcher stops what it has started, and is what it ends by."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

import pytest

STOPS = [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP]


def start(site, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(site.command(*arguments), cwd=site.work, env=site.environment(), stderr=subprocess.DEVNULL)


def children(pid: int) -> list[int]:
    """All descendants, as they are now."""
    found: list[int] = []
    todo = [pid]
    while todo:
        try:
            with open(f"/proc/{todo[0]}/task/{todo[0]}/children") as listed:
                under = [int(word) for word in listed.read().split()]
        except FileNotFoundError:
            under = []
        found += under
        todo = todo[1:] + under
    return found


def wait_until(condition, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("number", STOPS)
def test_while_the_compiler_runs(site, gcc, number):
    site.worker("(site / 'asked').touch()")
    os.mkfifo(site.work / "endless.h")  # the compiler waits for somebody to write
    (site.work / "kernel.cpp").write_text('#include "endless.h"\nvoid f() { for (;;) {} }\n')
    launcher = start(site, "-O2", "-c", "kernel.cpp")
    wait_until(lambda: len(children(launcher.pid)) >= 2)  # g++ and cc1plus
    driver, *under = children(launcher.pid)
    launcher.send_signal(number)
    try:
        assert launcher.wait(20) == -number
        assert gone(driver)
    finally:
        for pid in under:  # the driver leaves them to themselves
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert not (site.root / "asked").exists()
    assert not (site.work / "kernel.o").exists()


@pytest.mark.parametrize("number", STOPS)
def test_while_the_worker_runs(site, gcc, number):
    site.worker(
        "child = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        "(site / 'new').write_text(f'{os.getpid()} {child.pid}'); os.rename(site / 'new', site / 'pids')\ntime.sleep(1000)"
    )
    launcher = start(site, "-O2", "-c", "kernel.cpp")
    wait_until((site.root / "pids").exists)
    launcher.send_signal(number)
    assert launcher.wait(20) == -number
    assert all(gone(int(pid)) for pid in (site.root / "pids").read_text().split())
    assert (site.work / "kernel.o").exists()
    assert site.counters() == ["compiled:interrupted"]


def test_an_ignored_signal_stays_ignored(site, gcc):
    site.worker("(site / 'new').touch(); os.rename(site / 'new', site / 'asked'); time.sleep(1)")
    launcher = subprocess.Popen(
        site.command("-O2", "-c", "kernel.cpp"),
        cwd=site.work,
        env=site.environment(),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    wait_until((site.root / "asked").exists)
    launcher.send_signal(signal.SIGHUP)
    assert launcher.wait(20) == 0


def test_a_compiler_that_dies_by_a_signal(site):
    script = site.root / "g++"
    script.write_text("#!/bin/sh\nkill -9 $$\n")
    script.chmod(0o755)
    assert site.run(site.command(str(script), "-O2", "-c", "kernel.cpp")).code == -signal.SIGKILL


def test_children_of_a_caller_that_ignores_their_end(site, gcc):
    site.worker("(site / 'asked').touch()")
    launcher = subprocess.Popen(
        site.command("-O2", "-c", "kernel.cpp"),
        cwd=site.work,
        env=site.environment(),
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    assert launcher.wait(20) == 0
    assert (site.root / "asked").exists()

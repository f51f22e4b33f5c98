"""Many compiles at once, on one store, in two checkouts, and killed at any moment."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.stress import Plan, stress
from perfcc.store.cleaning import entries
from tests.suites.builds.project_builds import OBJECTS, PERFCC, Tree

AT_ONCE = 8


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# ---- how many workers


@pytest.fixture
def crowd(site, tmp_path):
    """``crowd(body)`` starts compiles at once whose workers run ``body``; slots of their own."""
    (tmp_path / "slots").mkdir()
    site.variables["TMPDIR"] = str(tmp_path / "slots")
    started: list[subprocess.Popen[bytes]] = []

    def start(body: str, count: int = AT_ONCE) -> list[subprocess.Popen[bytes]]:
        site.worker(body)
        for number in range(count):
            command = site.command("-O2", "-pipe", "-c", "kernel.cpp", "-o", f"kernel{number}.o")
            started.append(subprocess.Popen(command, cwd=site.work, env=site.environment()))
        return started

    yield start
    for process in started:
        process.kill()
        process.wait()


def slots() -> int:
    gibibytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 30
    return max(2, min(len(os.sched_getaffinity(0)), gibibytes))


def test_no_more_workers_than_processors(site, crowd):
    body = """
import tempfile
marker = Path(tempfile.mkstemp(dir=site, prefix='here-')[1])
time.sleep(0.3)
(site / f'count-{os.getpid()}').write_text(str(len(list(site.glob('here-*')))))
marker.unlink()
"""
    processes = crowd(body, slots() + AT_ONCE)
    assert [process.wait(60) for process in processes] == [0] * len(processes)
    counts = [int(path.read_text()) for path in site.root.glob("count-*")]
    assert len(counts) == len(processes), "everybody had a turn"
    assert max(counts) <= slots()


def test_a_killed_worker_and_a_killed_launcher_free_their_slots(site, crowd):
    processes = crowd("(site / f'pid-{os.getpid()}').write_text(str(os.getppid())); time.sleep(1000)", slots() + 2)
    for round in range(2):
        wait_until(lambda: len(list(site.root.glob("pid-*"))) >= slots())
        for path in site.root.glob("pid-*"):
            os.kill(int(path.name.partition("-")[2]) if round == 0 else int(path.read_text()), signal.SIGKILL)
            path.unlink()
    for process in processes[: slots()]:
        process.kill()
    wait_until(lambda: sum(process.poll() is not None for process in processes) >= slots())


def test_who_waits_can_be_stopped(site, crowd):
    processes = crowd("(site / f'pid-{os.getpid()}').touch(); time.sleep(1000)", slots() + 3)
    wait_until(lambda: len(list(site.root.glob("pid-*"))) == slots())
    wait_until(lambda: all((site.work / f"kernel{number}.o").exists() for number in range(len(processes))))
    for process in processes:
        process.terminate()
    assert [process.wait(20) for process in processes] == [-signal.SIGTERM] * len(processes)
    wait_until(lambda: not any(alive(int(path.name.partition("-")[2])) for path in site.root.glob("pid-*")))


def test_without_a_place_for_slots_there_is_no_limit(site, crowd):
    site.variables["TMPDIR"] = str(site.root / "nothing")
    processes = crowd("(site / f'ran-{os.getpid()}').touch()", 2)
    assert [process.wait(60) for process in processes] == [0, 0]
    assert len(list(site.root.glob("ran-*"))) == 2


# ---- kills


def test_a_killed_launcher_takes_its_compiler_along(site, gcc):
    """A compiler that goes on would write its object over that of the next compile."""
    site.worker("")
    os.mkfifo(site.work / "endless.h")
    (site.work / "kernel.cpp").write_text('#include "endless.h"\nvoid f() { for (;;) {} }\n')
    launcher = subprocess.Popen(site.command(gcc, "-O2", "-c", "kernel.cpp"), cwd=site.work, env=site.environment())
    under: list[int] = []
    try:
        wait_until(lambda: any(map(children, children(launcher.pid))))
        (driver,) = children(launcher.pid)
        under = children(driver)
        launcher.kill()
        launcher.wait()
        wait_until(lambda: not alive(driver))
    finally:
        launcher.kill()
        launcher.wait()
        for pid in under:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def test_what_a_killed_launcher_left_beside_an_object_goes(site, decided):
    command = decided(b"an object")
    left = site.work / ".kernel.o.perfcc"
    left.write_bytes(b"half an obj")
    assert site.run(command).files["kernel.o"] == b"an object"
    assert left.exists(), "it may be another's that is just being put in place"
    assert [path.name for path in site.work.iterdir() if "perfcc" in path.name] == [left.name]


# ---- builds


def test_builds_at_once_on_one_store(tmp_path, plain):
    """Two checkouts, each built with many jobs: from an empty store, then from a full one."""
    trees = [Tree.copy(tmp_path / name / "project", tmp_path / "store", PERFCC_MODE="identity") for name in ("one", "two")]
    for _ in range(2):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda tree: tree.make(str(PERFCC), "-B", "-j16"), trees))
        for tree in trees:
            assert tree.objects() == plain.objects()
            assert tree.answer() == plain.answer()
            assert [path.name for path in tree.path.iterdir() if "perfcc" in path.name] == []
    assert [entry.path for entry in entries(tmp_path / "store") if not entry.kind] == []


def test_one_tree_built_twice_at_once(tmp_path, plain):
    """The compilers themselves write the same objects: what matters is what is there in the end."""
    tree = Tree.copy(tmp_path / "project", PERFCC_MODE="identity")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: tree.run("make", "-B", "-j16", *(OBJECTS), f"CXX={PERFCC}", check=False), range(2)))
    tree.make(str(PERFCC), "-B")
    assert tree.objects() == plain.objects()
    assert tree.answer() == plain.answer()


# ---- everything together


def test_stress(tmp_path):
    """The small edition of `make stress`."""
    folder = tmp_path / "stress"
    folder.mkdir()
    plan = Plan(compiles=350, units=17, fresh=0.1, changed=0.03, limit="8M")
    result = stress(plan, folder)
    result.print()
    assert result.wrong == ()
    assert result.counts["rewritten objects"] > 0
    assert sum(count for name, count in result.counts.items() if name.startswith("killed:")) > 20
    assert result.figures["store at the end, MB"] < 8
    shutil.rmtree(folder)

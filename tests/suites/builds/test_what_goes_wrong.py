"""Killed workers, missing tools, a store that can't be written: the build succeeds with the original's object."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.suites.builds.project_builds import PERFCC, Tree, rewritten

pytestmark = pytest.mark.quiet

KILLS = 100


def in_namespace(*mounts: str) -> tuple[str, ...]:
    """A command that runs another one where these mounts hold, and only there."""
    return ("unshare", "-rm", "sh", "-c", " && ".join((*mounts, 'exec "$@"')), "sh")


def doctor(tree: Tree) -> dict[str, bool]:
    checks = json.loads(tree.run(str(PERFCC), "--doctor", "--format", "json", check=False).stdout)["checks"]
    return {check["name"]: check["found"] is not None for check in checks}


def assert_original(tree: Tree, plain: Tree) -> None:
    """The build succeeded with exactly the bare compiler's objects."""
    assert tree.objects() == plain.objects()
    assert tree.answer() == plain.answer()


def test_libclang_removed(fresh: Tree, plain: Tree) -> None:
    import clang

    empty = fresh.path.parent / "empty"
    empty.mkdir()
    fresh.wrapper = in_namespace(f"mount --bind {empty} {Path(next(iter(clang.__path__)))}")
    fresh.make()
    assert_original(fresh, plain)
    assert doctor(fresh)["libclang"] is False


def test_clang_missing(fresh: Tree, plain: Tree) -> None:
    from perfcc.verify.toolchain import find

    programs = {str(Path(find().clang).resolve()), *(str(path.resolve()) for path in Path("/usr/bin").glob("clang++*"))}
    fresh.wrapper = in_namespace(*(f"mount --bind /dev/null {program}" for program in sorted(programs)))
    fresh.make()
    assert_original(fresh, plain)
    assert doctor(fresh)["clang++"] is False
    assert rewritten(fresh.explain()) == []


def test_read_only_store(fresh: Tree, plain: Tree) -> None:
    fresh.store.mkdir()
    fresh.wrapper = in_namespace(f"mount -t tmpfs -o ro tmpfs {fresh.store}")
    fresh.environ["PERFCC_BUDGET"] = "0"
    fresh.make()
    assert_original(fresh, plain)
    assert doctor(fresh)["store"] is False


@pytest.mark.parametrize("size", ["0k", "4k", "16k", "64k"])
def test_full_store(fresh: Tree, plain: Tree, size: str) -> None:
    fresh.store.mkdir()
    fill = f"head -c 1m /dev/zero > {fresh.store}/filler 2>/dev/null; true"
    limit = f"mount -t tmpfs -o size={size if size != '0k' else '4k'} tmpfs {fresh.store}"
    fresh.wrapper = in_namespace(limit, *([f"({fill})"] if size == "0k" else []))
    fresh.environ["PERFCC_BUDGET"] = "0"
    fresh.make()
    assert_original(fresh, plain)


def test_python_missing(fresh: Tree, plain: Tree) -> None:
    fresh.environ["PERFCC_PYTHON"] = str(fresh.path / "no-such-python")
    fresh.make()
    assert_original(fresh, plain)


def test_worker_killed_at_random_moments(tmp_path: Path, plain: Tree, built: Tree) -> None:
    """The object is the original's, or, where the worker was done already, the finished rewrite: never anything between."""
    tree = Tree.copy(tmp_path / "project")
    chance = random.Random(20050612)
    originals = killed = 0
    finished = built.objects()["smooth.o"]
    for attempt in range(KILLS):
        output = tree.path / "smooth.o"
        output.unlink(missing_ok=True)
        store = tmp_path / f"store-{attempt}"
        moment = chance.uniform(0, 1.5) if attempt % 10 else chance.uniform(0, 12)
        compile_ = [str(PERFCC), "-O2", "-Wall", "-c", "-o", "smooth.o", "smooth.cpp"]
        environ = {**os.environ, "PERFCC_STORE": str(store)}
        with subprocess.Popen(compile_, cwd=tree.path, env=environ, stderr=subprocess.PIPE) as process:
            died = kill_worker_of(process, moment)
            errors = process.communicate(timeout=300)[1]
        assert process.returncode == 0, errors
        assert errors == b""
        content = output.read_bytes()
        killed += died
        originals += content == plain.objects()["smooth.o"]
        assert content == plain.objects()["smooth.o"] or (not died and is_finished(content, finished)), f"attempt {attempt}"
        assert [path.name for path in tree.path.iterdir() if "perfcc" in path.name] == []
    assert killed >= KILLS * 0.9
    assert originals >= killed


def is_finished(content: bytes, finished: bytes) -> bool:
    """A whole rewritten object: it holds its report, as the finished one does."""
    return b".perfcc" in content and b".perfcc" in finished


def kill_worker_of(launcher: subprocess.Popen[bytes], moment: float) -> bool:
    """Kills the launcher's worker ``moment`` seconds after it was started; False when it ended before."""
    worker = None
    while worker is None and launcher.poll() is None:
        worker = next(iter(workers(launcher.pid)), None)
        time.sleep(0.002)
    if worker is None:
        return False
    time.sleep(moment)
    try:
        os.kill(worker, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def workers(parent: int) -> Sequence[int]:
    """The launcher's descendants that run Python as its worker."""
    found: list[int] = []
    waiting = [parent]
    while waiting:
        pid = waiting.pop()
        try:
            waiting += [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
            if b"worker" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
        except OSError:
            continue
    return found

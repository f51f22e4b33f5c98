"""Compiles at once, and what kills them."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.stress_units import HEADERS, PERFCC, TREES, VERSIONS, Project, Unit, stripped
from perfcc.store.cleaning import holdings

PATIENCE = 300.0
"""Seconds that one compile may take, however busy the machine."""
_SUBREAPER = 36

Place = tuple[str, Unit, str]


@dataclass
class Running:
    place: Place
    process: subprocess.Popen[bytes]
    begun: float
    killed: bool = False


@dataclass
class Storm:
    """``jobs`` compiles at a time, of places drawn at random, while processes are killed and headers replaced."""

    project: Project
    jobs: int
    chance: random.Random
    killed: float
    changed: float
    limit: str
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    largest: int = 0
    slowest: float = 0.0
    running: dict[int, Running] = field(default_factory=dict)
    known: dict[tuple[Unit, int, bytes], bool] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)

    def run(self, todo: list[Place], quiet: bool = False) -> None:
        """Compiles every place. Not ``quiet``: among kills and changes."""
        if ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError("orphans can't be adopted")
        self.over.clear()
        waiting = list(reversed(todo))
        helpers = [threading.Thread(target=self._watch)]
        if not quiet:
            helpers += [threading.Thread(target=self._kill), threading.Thread(target=self._change)]
        compilers = [threading.Thread(target=self._compile_all, args=(waiting, quiet)) for _ in range(self.jobs)]
        for thread in (*helpers, *compilers):
            thread.start()
        for thread in compilers:
            thread.join()
        self.over.set()
        for thread in helpers:
            thread.join()

    # -- compiles

    def _compile_all(self, waiting: list[Place], quiet: bool) -> None:
        while True:
            with self.lock:
                busy = {one.place for one in self.running.values()}
                index = next((i for i in range(len(waiting) - 1, -1, -1) if waiting[i] not in busy), None)
                if index is None and not waiting:
                    return
                if index is not None:
                    place = waiting.pop(index)
                    one = self._start(place)
            if index is None:
                time.sleep(0.005)
                continue
            if not self._finish(one, quiet):
                with self.lock:
                    waiting.append(place)

    def _start(self, place: Place) -> Running:
        tree, unit, output = place
        command = [PERFCC, unit.compiler, *unit.words(output)]
        environ = {**self.project.environment(unit, self.project.store), "PERFCC_STORE_SIZE": self.limit}
        begun = time.monotonic()
        process = subprocess.Popen(
            command, cwd=self.project.root / tree, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.running[process.pid] = Running(place, process, begun)
        return self.running[process.pid]

    def _finish(self, one: Running, quiet: bool) -> bool:
        """False when it has to be compiled again."""
        try:
            report = one.process.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired:
            self._complain(one, f"still running after {PATIENCE:g} s")
            one.process.kill()
            report = one.process.communicate()[1]
        ended = time.monotonic()
        tree, unit, output = one.place
        path = self.project.root / tree / output
        status = one.process.returncode
        versions = self.project.seen(tree, unit, one.begun, ended)
        expected = [self.project.expected[unit, version] for version in versions]
        try:
            if status == 0:
                self._check(one, path, versions)
            elif not one.killed and all((status, report) != (item.status, item.report) for item in expected):
                self._complain(one, f"status {status}: {report.decode(errors='replace')[-300:]}")
        finally:
            with self.lock:
                del self.running[one.process.pid]
                self.counts["compiles"] += 1
                self.counts["finished" if status == 0 else "killed" if one.killed else "errors of the source"] += 1
                self.slowest = max(self.slowest, ended - one.begun)
        return status == 0 or not one.killed

    def _check(self, one: Running, path: Path, versions: set[int]) -> None:
        content = path.read_bytes() if path.is_file() else b""
        unit = one.place[1]
        what = {self._judge(unit, version, content, path) for version in versions}
        found = next((word for word in ("bare", "rewritten") if word in what), "")
        if found:
            with self.lock:
                self.counts[f"{found} objects"] += 1
        else:
            self._complain(one, f"not its object: {len(content)} bytes, versions {sorted(versions)}")

    def _judge(self, unit: Unit, version: int, content: bytes, path: Path) -> str:
        """``bare``, ``rewritten`` or nothing. A rewritten one must be what a store-less emission gives, and give the same answers."""
        wanted = self.project.expected[unit, version]
        if content == wanted.bare:
            return "bare" if wanted.status == 0 else ""
        if not wanted.emitted:
            return ""
        place = path.with_name(f".{path.name}.checked-{threading.get_ident()}")
        key = unit, version, content
        if key not in self.known:
            place.write_bytes(content)
            try:
                same = stripped(place) == wanted.emitted
                if same and not any(known and (old, at) == (unit, version) for (old, at, _), known in list(self.known.items())):
                    bare = place.with_suffix(".bare")
                    bare.write_bytes(wanted.bare)
                    same = self.project.answer(place) == self.project.answer(bare)
                    bare.unlink()
                    self.counts["programs run"] += 2
            finally:
                place.unlink()
            self.known[key] = same
        return "rewritten" if self.known[key] else ""

    def _complain(self, one: Running, what: str) -> None:
        with self.lock:
            self.wrong.append(f"{one.place[0]}/{one.place[1].source} -> {one.place[2]} ({one.place[1].kind}): {what}")

    # -- what happens meanwhile

    def _kill(self) -> None:
        own = random.Random(self.chance.random())
        kills = 0
        while not self.over.wait(own.expovariate(20)):
            with self.lock:
                if not self.running or kills > self.counts["compiles"] * self.killed:
                    continue
                one = own.choice(list(self.running.values()))
                victims = [one.process.pid, *descendants(one.process.pid)]
                victim = own.choice(victims)
                name = name_of(victim)
                if one.process.poll() is not None or not name:
                    continue
                one.killed = True
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                kills += 1
                self.counts[f"killed: {'launcher' if victim == one.process.pid else name}"] += 1

    def _change(self) -> None:
        """Headers change under the compilers' hands; every other one looks as old as the one before."""
        own = random.Random(self.chance.random())
        while not self.over.wait(own.expovariate(4)):
            if self.counts["headers changed"] > self.counts["compiles"] * self.changed:
                continue
            tree, header = own.choice(TREES), own.randrange(HEADERS)
            mtime = own.choice((1_600_000_000.0, time.time(), time.time() + 86400))
            self.project.set_version(tree, header, own.randrange(VERSIONS), mtime)
            self.counts["headers changed"] += 1

    def _watch(self) -> None:
        """The store's size, and orphans that have ended."""
        while not self.over.wait(0.3):
            self.largest = max(self.largest, holdings(self.project.store)[0])
            self.reap()

    def reap(self) -> None:
        for child in children(os.getpid()):
            with self.lock:
                if child not in self.running and state_of(child) == "Z":
                    try:
                        os.waitpid(child, os.WNOHANG)
                    except ChildProcessError:
                        continue


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:
            continue
    return found


def descendants(pid: int) -> Iterator[int]:
    for child in children(pid):
        yield child
        yield from descendants(child)


def name_of(pid: int) -> str:
    """What it runs; "" when it is gone. Python is the worker; perfcc below the launcher its warden, or about to become the compiler."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""

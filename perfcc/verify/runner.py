"""Runs perfcc-runner on a job and reads what it reports. Whatever a codelet does, the answer is a value."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfcc.cc import runtime
from perfcc.core.disturbance import heed
from perfcc.core.types import Variable
from perfcc.verify import job, machine
from perfcc.verify.job import Input, Options, Stored

RACE_STATUS = 66


@dataclass(frozen=True, slots=True)
class Report:
    """What one run of the runner said: its ``lines``, how it ended, and the input and phase it ended in.

    ``status`` is the exit status (negative: a signal), ``timed_out`` that it was ended from outside.
    """

    lines: tuple[dict[str, Any], ...]
    status: int
    timed_out: bool
    stderr: str
    sandbox: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return bool(self.lines) and self.lines[-1].get("done") is True

    @property
    def last(self) -> tuple[int, str]:
        """The input that was running when it ended, and which side; (-1, "") when none was."""
        for line in reversed(self.lines):
            if "phase" in line:
                return int(line["input"]), str(line["phase"])
            if "input" in line or "done" in line:
                break
        return -1, ""

    @property
    def results(self) -> tuple[dict[str, Any], ...]:
        return tuple(line for line in self.lines if "input" in line and "phase" not in line)

    def ending(self) -> str:
        """How it ended, in words."""
        if self.timed_out:
            return "did not end in time"
        if self.status < 0:
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(-self.status).name}"
        return f"exit status {self.status}"


@dataclass(frozen=True, slots=True)
class Runner:
    """The program and a folder for its jobs."""

    program: str
    scratch: Path
    variables: tuple[Variable, ...]
    lock: Path
    library_path: tuple[str, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)

    def run(
        self,
        inputs: Sequence[Input] | Stored,
        options: Options,
        original: Path,
        candidate: Path | None = None,
        threads: int = 1,
        environment: dict[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Report:
        """One process over all ``inputs``, ended after ``timeout`` seconds, beside no timing; a timing, which holds the lock, is alone."""
        timing = options.mode in ("time", "probe")
        with contextlib.nullcontext() if timing else machine.shared(self.lock), self._folder() as folder:
            path = job.write(folder, self.variables, inputs, options, original, candidate)
            process = self._start(path, threads, environment, not timing)
            timed_out = False
            spent = _children_seconds()
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                timed_out = True
                end(process)
                out, err = process.communicate()
            # Its own limit on processor time ends it by the same signal.
            if not timed_out and _children_seconds() - spent < options.cpu_seconds - 1:
                heed(process.returncode, "")
            return _report(out, process.returncode, timed_out, err)

    @contextlib.contextmanager
    def _folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="job-", dir=self.scratch) as name:
            yield Path(name)

    def _start(self, path: Path, threads: int, environment: dict[str, str] | None, passive: bool) -> subprocess.Popen[bytes]:
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ}
        libraries = [*self.library_path, *filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))]
        # Threads that spin for work hold up the others where there are more threads than processors; timed runs wait as shipped code will.
        waiting = {"OMP_WAIT_POLICY": "passive"} if passive else {"GOMP_SPINCOUNT": runtime.SPIN_COUNT}
        env = {
            **kept, "OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false", "LD_LIBRARY_PATH": ":".join(libraries),
            **self.extra, **waiting, **(environment or {}),
        }  # fmt: skip
        pipe = subprocess.PIPE
        words = [self.program, str(path)]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=env, start_new_session=True)


def _children_seconds() -> float:
    """The processor time of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and whatever it started (its own group)."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _parse(text: str) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def _report(out: bytes, status: int, timed_out: bool, err: bytes) -> Report:
    lines = [line for line in map(_parse, out.decode("utf-8", "replace").splitlines()) if line is not None]
    sandbox: tuple[str, ...] = ()
    if lines and "sandbox" in lines[0]:
        sandbox = tuple(map(str, lines.pop(0)["sandbox"]))
    return Report(tuple(lines), status, timed_out, err.decode("utf-8", "replace"), sandbox)

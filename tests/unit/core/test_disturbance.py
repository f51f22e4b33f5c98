"""Failures that tell of the machine, not of the input."""

from __future__ import annotations

import errno
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from perfcc.core.disturbance import Disturbed, heed, heed_error


@pytest.mark.parametrize(
    ("status", "errors"),
    [
        (-signal.SIGKILL, ""),
        (-signal.SIGTERM, ""),
        (1, "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"),
        (1, "clang++: error: unable to execute command: Killed\nclang++: error: linker command failed due to signal\n"),
        (1, "/tmp/x.s: fatal error: when writing output to : No space left on device"),
        (1, "cc1plus: out of memory allocating 65536 bytes\nvirtual memory exhausted: Cannot allocate memory"),
    ],
)
def test_disturbed(status: int, errors: str) -> None:
    with pytest.raises(Disturbed):
        heed(status, errors)


@pytest.mark.parametrize(
    ("status", "errors"),
    [(0, "No space left on device"), (1, "a.cpp:1:1: error: expected unqualified-id"), (-signal.SIGSEGV, ""), (-signal.SIGABRT, "")],
)
def test_the_inputs_own_failures(status: int, errors: str) -> None:
    heed(status, errors)


def test_errors() -> None:
    for code in (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.EROFS):
        with pytest.raises(Disturbed):
            heed_error(OSError(code, "no"))
    with pytest.raises(Disturbed):
        heed_error(MemoryError())
    with pytest.raises(Disturbed):
        heed_error(Disturbed("told already"))
    heed_error(FileNotFoundError(errno.ENOENT, "no"))
    heed_error(ValueError("no"))


def test_what_gcc_says_of_a_helper_that_was_killed(tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    assert compiler
    (tmp_path / "as").write_text("#!/bin/sh\nkill -9 $$\n")
    (tmp_path / "as").chmod(0o755)
    words = [compiler, f"-B{tmp_path}", "-c", "-x", "c++", "/dev/null", "-o", str(tmp_path / "a.o")]
    done = subprocess.run(words, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, check=False)
    with pytest.raises(Disturbed):
        heed(done.returncode, done.stderr)

"""The runner locks its codelets in, and says so; what a codelet does ends in a value, never in an exception."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

HEAD = '#include <stdio.h>\n#include <unistd.h>\n#include <fcntl.h>\n#include <errno.h>\n#include <signal.h>\n#include <sys/socket.h>\n'


def run(runner: Path, folder: Path, body: str, head: str = "", mode: str = "run") -> tuple[int, list[dict[str, object]], int]:
    """Exit status, report lines and the int that the codelet left behind, found by comparing with a codelet that leaves 1."""
    libraries = []
    for name, text in (("original", "*(int *)args[0] = 1;"), ("candidate", body)):
        source = folder / f"{name}.c"
        source.write_text(f"{HEAD}{head}\nvoid perfcc_codelet_run(void **args) {{ {text} }}\n", "utf-8")
        subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-o", str(source.with_suffix(".so")), str(source)], check=True)
        libraries.append(source.with_suffix(".so"))
    (folder / "data").write_bytes(bytes(4))
    (folder / "scratch").mkdir(exist_ok=True)
    first = libraries[0] if mode == "compare" else libraries[1]
    lines = [
        "perfcc-job 1", f"mode {mode}", f"original {first}", f"candidate {libraries[1]}", f"data {folder / 'data'}",
        f"scratch {folder / 'scratch'}", "cpu_seconds 2", "var scalar 4 x", "input 0", "block 0 4 4 1", "arg 0 0",
    ]  # fmt: skip
    (folder / "job").write_text("\n".join(lines) + "\n", "utf-8")
    done = subprocess.run([str(runner), str(folder / "job")], capture_output=True, text=True, timeout=60)
    report = [json.loads(line) for line in done.stdout.splitlines()]
    left = [str(line["candidate"]) for line in report if "candidate" in line]
    value = int.from_bytes(bytes.fromhex(left[0]), "little", signed=True) if left else 1
    return done.returncode, report, value


def test_what_is_on(runner: Path, tmp_path: Path) -> None:
    status, report, _ = run(runner, tmp_path, "")
    assert status == 0
    assert {"limits", "no-new-privileges", "seccomp"} <= set(report[0]["sandbox"])  # type: ignore[call-overload]
    assert report[-1] == {"done": True}


@pytest.mark.parametrize(
    "attempt",
    [
        "socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM",
        "execl(\"/bin/true\", \"true\", (char *)0) < 0 && errno == EPERM",
        "fork() < 0 && errno == EPERM",
        "kill(getppid(), 0) < 0 && errno == EPERM",
    ],
)
def test_what_is_refused(runner: Path, tmp_path: Path, attempt: str) -> None:
    _, report, value = run(runner, tmp_path, f"*(int *)args[0] = ({attempt}) ? 1 : -7;", mode="compare")
    assert value == 1, report
    assert any(line.get("equal") is True for line in report)


def test_a_write_outside_the_scratch_folder_fails(runner: Path, tmp_path: Path) -> None:
    _, report, _ = run(runner, tmp_path, "")
    landlock = "landlock" in report[0]["sandbox"]  # type: ignore[operator]
    target = tmp_path / "outside"
    run(runner, tmp_path, f'open("{target}", O_CREAT | O_WRONLY, 0600); open("{tmp_path}/scratch/inside", O_CREAT | O_WRONLY, 0600);')
    assert target.exists() is not landlock
    assert (tmp_path / "scratch" / "inside").exists()


def test_a_crash_and_an_endless_loop_end_the_process(runner: Path, tmp_path: Path) -> None:
    status, report, _ = run(runner, tmp_path, "*(volatile int *)0 = 1;")
    assert status < 0
    assert report[-1] == {"input": 0, "phase": "run"}
    status, report, _ = run(runner, tmp_path, "for (;;) *(volatile int *)args[0] = 1;")
    assert status < 0
    assert report[-1] == {"input": 0, "phase": "run"}


def test_what_a_codelet_prints_does_not_mix_with_the_report(runner: Path, tmp_path: Path) -> None:
    status, report, _ = run(runner, tmp_path, 'printf("{\\"done\\":true}\\n"); fflush(stdout); *(volatile int *)0 = 1;')
    assert status < 0
    assert {"done": True} not in report


def test_a_difference_is_told(runner: Path, tmp_path: Path) -> None:
    _, report, value = run(runner, tmp_path, "*(int *)args[0] = 5;", mode="compare")
    assert value == 5
    different = next(line for line in report if line.get("equal") is False)
    assert (different["variable"], different["index"], different["original"]) == ("x", 0, "01000000")


def test_a_bad_job_is_refused(runner: Path, tmp_path: Path) -> None:
    (tmp_path / "job").write_text("perfcc-job 1\nmode dance\n", "utf-8")
    done = subprocess.run([str(runner), str(tmp_path / "job")], capture_output=True, text=True)
    assert done.returncode == 2
    assert "unknown mode" in done.stderr

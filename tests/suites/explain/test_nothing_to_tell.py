"""What the verbs say where there is nothing to report, or where a setting is wrong: one line, for people."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PERFCC = Path(sys.executable).with_name("perfcc")
LOOP = "void twice(int *x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }\n"


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PERFCC_")}
    environ = kept | {"PERFCC_STORE": str(folder / "store")}
    return subprocess.run([str(PERFCC), *words], cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = run(tmp_path, "--explain", "kernel.o")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "perfcc: --explain: kernel.o: No such file or directory\n")


def test_a_folder_without_objects(tmp_path: Path) -> None:
    done = run(tmp_path, "--explain", ".")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("perfcc: nothing is known of .: ")
    assert done.stderr.count("\n") == 1


def test_a_wrong_setting_is_said_by_the_verbs_and_counted(tmp_path: Path) -> None:
    (tmp_path / "twice.cpp").write_text(LOOP)
    (tmp_path / "perfcc.toml").write_text("[rules]\nloop-tilin = false\n")
    built = run(tmp_path, "-O2", "-c", "twice.cpp")
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    line = f"{tmp_path / 'perfcc.toml'}: unknown rule 'loop-tilin'; did you mean 'loop-tiling'?"
    for verb in ("--explain", "--stats", "--doctor"):
        done = run(tmp_path, verb)
        assert (done.returncode, done.stderr) == (2, f"perfcc: {verb}: {line}\n")
    assert line in (tmp_path / "store" / "log").read_text()
    (tmp_path / "perfcc.toml").unlink()
    assert "a wrong setting or an error of perfcc, see 'log' in the store [worker-failed]" in run(tmp_path, "--stats").stdout

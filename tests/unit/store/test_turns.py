"""One process at a time searches a kernel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from perfcc.store.turns import Turns

KEY, OTHER = "0123456789abcdef" * 4, "f" * 64
HOLDER = """
import sys
from pathlib import Path
from perfcc.store.turns import Turns
turns = Turns(Path(sys.argv[1]))
print(turns.take(sys.argv[2]), flush=True)
sys.stdin.readline()
turns.give_back(sys.argv[2])
print("given back", flush=True)
sys.stdin.readline()
"""


def holder(store: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER, str(store), KEY]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


def test_a_turn_is_taken_once_until_it_is_given_back(tmp_path: Path) -> None:
    turns = Turns(tmp_path / "store")
    with holder(tmp_path / "store") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert not turns.take(KEY)
        assert turns.take(OTHER)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "given back\n"
        assert turns.take(KEY)
        process.stdin.write("\n")


def test_a_killed_process_leaves_no_turn_behind(tmp_path: Path) -> None:
    turns = Turns(tmp_path)
    with holder(tmp_path) as process:
        assert not turns.take(KEY)
        process.send_signal(signal.SIGKILL)
    assert turns.take(KEY)


def test_without_a_store_everybody_has_a_turn(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    turns = Turns(tmp_path / "file" / "store")
    assert turns.take(KEY)
    turns.give_back(KEY)
    assert os.listdir(tmp_path) == ["file"]

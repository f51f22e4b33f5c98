"""Stores that can't be used, or only in part: the build is the compiler's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from tests.suites.builds.project_builds import PERFCC

QUICK = {"PERFCC_MODE": "search", "PERFCC_BUDGET": "0"}
"""The worker looks at the unit and keeps everything but an object."""
WORDS = ("-O2", "-pipe", "-c", "kernel.cpp")


@pytest.fixture
def real(site, gcc):
    """``real(variables)`` compiles a unit with the real worker; the result is that of the last of ``times`` compiles."""
    bare = subprocess.run([gcc, *WORDS, "-o", "bare.o"], cwd=site.work, capture_output=True, check=True)
    original = (site.work / "bare.o").read_bytes()

    def build(times: int = 2, wrapper: tuple[str, ...] = (), **variables: str) -> None:
        del site.variables["PERFCC_PYTHON"]
        site.variables.update(QUICK, **variables)
        for _ in range(times):
            done = site.run([*wrapper, *site.command(gcc, *WORDS, "-o", "kernel.o")])
            assert (done.code, done.stdout, done.stderr) == (0, bare.stdout, bare.stderr)
            assert done.files["kernel.o"] == original
            assert sorted(done.files) == ["bare.o", "kernel.cpp", "kernel.o"]

    return build


def in_namespace(*mounts: str) -> tuple[str, ...]:
    return ("unshare", "-rm", "sh", "-c", " && ".join((*mounts, 'exec "$@"')), "sh")


def counters(site) -> dict[str, float]:
    done = subprocess.run([PERFCC, "--stats", "--format", "json"], env=site.environment(), capture_output=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)["counters"].get("compiled", {"parts": {}})["parts"]
    return found


@pytest.mark.parametrize("name", ["with space", "ünï", "'quoted\"", "-dash", "new\nline"])
def test_names(site, real, name):
    real(PERFCC_STORE=str(site.root / name))
    assert counters(site) == {"searched": 1, "nothing-to-do": 1}


def test_a_symbolic_link(site, real):
    (site.root / "elsewhere").mkdir()
    (site.root / "link").symlink_to("elsewhere")
    real(PERFCC_STORE=str(site.root / "link"))
    assert counters(site) == {"searched": 1, "nothing-to-do": 1}
    assert (site.root / "elsewhere" / "units").is_dir()


@pytest.mark.parametrize("what", ["file", "loop", "below a file", "broken link"])
def test_what_is_no_folder(site, real, what):
    path = site.root / "store"
    if what == "loop":
        path.symlink_to(path)
    elif what == "broken link":
        path.symlink_to("/proc/nothing/here")
    else:
        path.write_text("")
    real(times=1, PERFCC_STORE=str(path / "below" if what == "below a file" else path))


@pytest.mark.parametrize("part", ["units", "objects", "outputs", "probes", "counters", "log", "lock", "grown", "size", "links"])
def test_a_part_that_is_something_else(site, real, part):
    """A file where a folder belongs, a folder where a file belongs."""
    site.store.mkdir()
    path = site.store / part
    if part in ("log", "lock", "grown", "size"):
        path.mkdir()
    else:
        path.write_text("")
    real(times=1)


@pytest.mark.parametrize("part", ["", "units", "objects"])
def test_a_part_that_is_read_only(site, real, part):
    (site.store / part).mkdir(parents=True)
    real(times=1, wrapper=in_namespace(f"mount -t tmpfs -o ro tmpfs {site.store / part}"))


@pytest.mark.parametrize("kilobytes", [4, 8, 16, 28, 40])
def test_a_disk_that_is_full_after_some_kilobytes(site, real, kilobytes):
    """One write after the other is the one that fails."""
    site.store.mkdir()
    real(times=1, wrapper=in_namespace(f"mount -t tmpfs -o size={kilobytes}k tmpfs {site.store}"))


@pytest.mark.parametrize("kilobytes", [0, 16])
def test_a_temporary_folder_that_is_full(site, real, kilobytes):
    """The compiler does without one, by -pipe."""
    folder = site.root / "tmp"
    folder.mkdir()
    mount = f"mount -t tmpfs -o size={kilobytes + 64}k tmpfs {folder} && head -c 64k /dev/zero > {folder}/filler"
    real(times=1, wrapper=in_namespace(mount), TMPDIR=str(folder))


def test_a_build_tree_without_room_for_the_stored_object(site, decided):
    """The compiler's object fits, and stays."""
    command = decided(bytes(65536))
    assert site.run(command).files["kernel.o"] == bytes(65536)
    (site.work / "kernel.o").unlink()
    kept = site.root / "kept"
    shutil.copytree(site.work, kept)
    look = 'sh -c \'"$@" && ls -A && cp kernel.o ..\' sh'
    mount = f"mount -t tmpfs -o size=28k tmpfs {site.work} && cp -a {kept}/. {site.work} && cd {site.work}"
    done = site.run(["unshare", "-rm", "sh", "-c", f'{mount} && exec {look} "$@"', "sh", *command])
    assert (done.code, done.stdout, done.stderr) == (0, b"far\nkernel.cpp\nkernel.o\nnear.h\n", b"")
    assert (site.root / "kernel.o").read_bytes()[:4] == b"\x7fELF"


def test_members_of_a_group_share_a_store(site, real):
    """What one leaves with a common umask, another may replace."""
    before = os.umask(0o002)
    try:
        real()
    finally:
        os.umask(before)
    files = [path for path in site.store.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if not path.stat().st_mode & 0o020] == []
    assert [path for path in site.store.rglob("*") if path.is_dir() and not path.stat().st_mode & 0o020] == []


def test_a_limit_smaller_than_one_unit(site, real):
    real(times=3, PERFCC_STORE_SIZE="4k")
    assert counters(site) == {"searched": 3}
    assert [path for kind in ("units", "outputs", "probes") for path in (site.store / kind).rglob("*") if path.is_file()] == []


def test_the_verbs(site, real):
    real()

    def run(*words: str) -> str:
        return subprocess.run([PERFCC, *words], env=site.environment(), capture_output=True, text=True, check=True).stdout

    shown = json.loads(run("--stats", "--format", "json"))["store"]
    assert shown["limit"] == 2_000_000_000
    assert shown["size"] > 0
    assert shown["entries"]["units"] == 1
    assert f"of 2 GB in {sum(shown['entries'].values())} entries of {site.store}" in run("--stats")
    assert run("--clean") == f"0 files removed from {site.store}\n"
    run("--stats", "--zero")
    assert counters(site) == {}
    assert run("--clean", "--all") == f"{sum(shown['entries'].values())} files removed from {site.store}\n"
    assert json.loads(run("--stats", "--format", "json"))["store"]["size"] == 0
    assert site.run(site.command("-O2", "-c", "kernel.cpp", "-o", "kernel.o")).code == 0
    assert counters(site) == {"searched": 1}

"""The worker is asked the right thing, and whatever becomes of it, the compile stands."""

from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

SOURCE = '#include "near.h"\nint sum(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }\n'
KEEP = "(site / 'request').write_text(json.dumps(request))"


def asked(site) -> dict[str, object]:
    return json.loads((site.root / "request").read_text())


def compiled(site, compiler: str, *arguments: str):
    plain = site.run([compiler, "-O2", "-c", "kernel.cpp", "-o", "plain.o", *arguments])
    result = site.run(site.command(compiler, "-O2", "-c", "kernel.cpp", "-o", "kernel.o", *arguments))
    assert (result.code, result.stdout, result.stderr) == (plain.code, plain.stdout, plain.stderr)
    assert result.files["kernel.o"] == plain.files["plain.o"]
    return result


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_the_request(site, compiler):
    site.worker(KEEP)
    (site.work / "near.h").write_text("#include <stddef.h>\n")
    (site.work / "kernel.cpp").write_text(SOURCE)
    compiled(site, compiler)
    request = asked(site)
    assert request["version"] == 1
    assert request["argv"] == [compiler, "-O2", "-c", "kernel.cpp", "-o", "kernel.o"]
    assert os.path.isabs(request["compiler"])
    assert request["family"] == ("clang" if "clang" in compiler else "gcc")
    assert (request["cwd"], request["source"], request["source_index"]) == (str(site.work), "kernel.cpp", 3)
    assert (request["output"], request["language"], request["depfile"]) == ("kernel.o", "c++", None)
    assert (request["store"], len(request["key"]), request["tty"]) == (str(site.store), 64, False)
    names = request["dependencies"]
    assert {os.path.basename(name) for name in names} >= {"near.h", "stddef.h"}
    assert "kernel.cpp" not in names
    assert request["dependencies_complete"] is True
    assert site.counters() == ["compiled:searched"]


@pytest.mark.parametrize(("flag", "complete"), [("-MD", True), ("-MMD", False)])
def test_the_request_with_a_dependency_file(site, compiler, flag, complete):
    site.worker(KEEP)
    (site.work / "near.h").write_text("#include <stddef.h>\n")
    (site.work / "kernel.cpp").write_text(SOURCE)
    plain = site.run([compiler, "-O2", flag, "-c", "kernel.cpp"]).files["kernel.d"]
    assert site.run(site.command(compiler, "-O2", flag, "-c", "kernel.cpp")).files["kernel.d"] == plain
    request = asked(site)
    assert (request["depfile"], request["dependencies_complete"]) == ("kernel.d", complete)
    assert "near.h" in request["dependencies"]
    assert any("stddef.h" in name for name in request["dependencies"]) is complete


def test_a_response_file_is_expanded_in_the_request(site, gcc):
    site.worker(KEEP)
    (site.work / "args").write_text("-O2 -c 'kernel.cpp'")
    assert site.run(site.command("@args")).code == 0
    request = asked(site)
    assert request["argv"][request["source_index"]] == "kernel.cpp"
    assert request["argv"] == ["g++", "-O2", "-c", "kernel.cpp"]


def test_names_that_are_no_utf8(site, gcc):
    site.worker(KEEP)
    name = os.fsdecode(b"k\xff\xc3\xa9 \"x\".cpp")
    (site.work / name).write_text((site.work / "kernel.cpp").read_text())
    assert site.run(site.command("-O2", "-c", name, "-o", "k.o")).code == 0
    assert asked(site)["source"] == name


@pytest.mark.parametrize("source", ["int f(int x) { return x; }\n", '// for\nconst char *s = "while (1) do";\n'])
def test_a_unit_without_loops_needs_no_python(site, compiler, source):
    site.worker("(site / 'asked').touch()")
    (site.work / "kernel.cpp").write_text(source)
    compiled(site, compiler)
    assert not (site.root / "asked").exists()
    assert site.counters() == ["compiled:no-loops"]


def test_a_failed_compile_asks_nobody(site, compiler):
    site.worker("(site / 'asked').touch()")
    (site.work / "kernel.cpp").write_text("int f( { for (;;); }\n")
    assert site.run(site.command(compiler, "-O2", "-c", "kernel.cpp")).code == 1
    assert not (site.root / "asked").exists()
    assert site.counters() == ["compiled:failed"]


@pytest.mark.parametrize(
    "body",
    ["sys.exit(3)", "os.kill(os.getpid(), signal.SIGSEGV)", "os.kill(0, signal.SIGKILL)", "print('x' * 100000); sys.exit(1)", "os.abort()"],
)
def test_a_worker_that_ends_badly(site, gcc, body):
    site.worker(body)
    compiled(site, gcc)
    assert site.counters() == ["compiled:worker-failed"]


def test_a_worker_that_is_no_program(site, gcc):
    site.worker("").write_bytes(b"\0garbage")
    compiled(site, gcc)
    assert site.counters() == ["compiled:worker-failed"]


def test_python_is_missing(site, gcc):
    compiled(site, gcc)
    assert site.counters() == ["compiled:no-python"]


def test_a_worker_that_hangs_is_ended_with_all_it_started(site, gcc):
    site.variables["PERFCC_WORKER_LIMIT"] = "1"
    site.worker(
        "children = [subprocess.Popen(['sleep', '1000'], start_new_session=new) for new in (False, True)]\n"
        "(site / 'pids').write_text(' '.join(str(p) for p in [os.getpid(), *(c.pid for c in children)]))\n"
        "time.sleep(1000)"
    )
    started = time.monotonic()
    compiled(site, gcc)
    assert time.monotonic() - started < 30
    assert site.counters() == ["compiled:worker-timed-out"]
    assert [pid for pid in (site.root / "pids").read_text().split() if alive(int(pid))] == []


def test_what_a_worker_leaves_running_is_ended(site, gcc):
    site.worker("(site / 'pid').write_text(str(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid))")
    compiled(site, gcc)
    assert site.counters() == ["compiled:searched"]
    assert not alive(int((site.root / "pid").read_text()))


def test_the_workers_words_go_to_the_log(site, gcc):
    site.worker("print('said', flush=True); print('complained', file=sys.stderr)")
    compiled(site, gcc)
    assert (site.store / "log").read_text() == "said\ncomplained\n"


def test_the_worker_holds_no_pipe_of_ours_and_no_environment_of_the_compilers(site, gcc):
    site.worker(
        "(site / 'seen').write_text(json.dumps([sorted(os.listdir('/proc/self/fd')), os.getcwd(), os.environ.get('SUNPRO_DEPENDENCIES'),"
        " os.environ['PERFCC_DEPTH']]))"
    )
    compiled(site, gcc)
    descriptors, folder, listed, depth = json.loads((site.root / "seen").read_text())
    assert set(descriptors) <= {"0", "1", "2", "3"}  # 3 is the listing itself
    assert (folder, listed, depth) == ("/", None, "1")


@pytest.mark.parametrize("store", ["/dev/null/store", "/proc/store"])
def test_a_store_that_can_not_be_written(site, compiler, store):
    site.worker("")
    site.variables["PERFCC_STORE"] = store
    compiled(site, compiler)


def test_the_store_of_the_configuration_file(site, gcc):
    site.worker(KEEP)
    site.variables["PERFCC_STORE"] = ""
    (site.work / "perfcc.toml").write_text('store = "kept"  # beside this file\n')
    assert site.run(site.command("-O2", "-c", "kernel.cpp")).code == 0
    assert asked(site)["store"] == str(site.work / "kept")


def test_a_launcher_killed_outright_leaves_nothing_behind(site, gcc):
    site.worker(
        "child = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        "(site / 'new').write_text(f'{os.getpid()} {os.getppid()} {child.pid}'); os.rename(site / 'new', site / 'pids')\n"
        "time.sleep(1000)"
    )
    launcher = subprocess.Popen(site.command("-O2", "-c", "kernel.cpp"), cwd=site.work, env=site.environment())
    wait_until((site.root / "pids").exists)
    launcher.kill()
    launcher.wait()
    pids = [int(pid) for pid in (site.root / "pids").read_text().split()]
    wait_until(lambda: not any(alive(pid) for pid in pids))
    assert (site.work / "kernel.o").exists()


def test_the_folder_of_a_worker_that_is_stopped_goes_with_it(site, gcc):
    temporary = site.root / "temporary"
    temporary.mkdir()
    site.variables["TMPDIR"] = str(temporary)
    site.worker(
        "folder = Path(os.environ['TMPDIR'], f'perfcc-{os.getpid()}-x-scratch')\n"
        "(folder / 'deep').mkdir(parents=True); (folder / 'deep/file').touch(); (folder / 'link').symlink_to(site / 'store')\n"
        "(site / 'ready').touch(); time.sleep(1000)"
    )
    launcher = subprocess.Popen(site.command("-O2", "-c", "kernel.cpp"), cwd=site.work, env=site.environment())
    wait_until((site.root / "ready").exists)
    launcher.terminate()
    assert launcher.wait() == -15
    assert not list(temporary.glob("*-scratch"))
    assert site.store.is_dir()

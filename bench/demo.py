"""``make demo``: the legacy program built as it stands, built for speed by hand, and built by perfcc, side by side.

Exit status 0: same results to the last bit, at least ``OVER_O2`` times as fast as g++ -O2 and ``OVER_O3`` times as fast as
g++ -O3 -march=native, and every trap refused for the right reason.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import expectations
from program import (
    NATIVE,
    OURS,
    PERFCC,
    PLAIN,
    RACED,
    STORE,
    UNFUSED,
    Build,
    Failed,
    Run,
    build_program,
    differing,
    digests,
    environment,
    make,
    run_program,
)
from rich.console import Console
from rich.table import Table

OVER_O2 = 1.5
OVER_O3 = 1.2
ATTEMPTS = 3


def race(console: Console, runs: int, cores: frozenset[int]) -> dict[Build, list[Run]]:
    """Every build ``runs`` times, one after the other in turn, so that a slow spell of the machine meets all of them."""
    laps: dict[Build, list[Run]] = {build: [] for build in RACED}
    with console.status("running") as status:
        for lap in range(runs):
            for build in RACED:
                status.update(f"running, lap {lap + 1} of {runs}: {build.name}")
                laps[build].append(run_program(build, cores))
    return laps


def ratios(laps: dict[Build, list[Run]], base: Build) -> list[float]:
    """``base`` over perfcc, lap by lap."""
    return [old.seconds / new.seconds for old, new in zip(laps[base], laps[OURS], strict=True)]


def medians(runs: Iterable[Run]) -> dict[str, float]:
    """Median seconds a step."""
    all_runs = list(runs)
    return {step: statistics.median(run.steps[step] for run in all_runs) for step in all_runs[0].steps}


# -- showing -----------------------------------------------------------------------------------------------------


def show_whole(console: Console, laps: dict[Build, list[Run]]) -> None:
    table = Table(title="The whole program: median wall seconds", title_justify="left")
    for column in ("build", "seconds", "least to most", "build / perfcc", "least to most"):
        table.add_column(column, justify="left" if column == "build" else "right")
    for build in RACED:
        seconds = [run.seconds for run in laps[build]]
        row = [build.name, f"{statistics.median(seconds):.2f}", f"{min(seconds):.2f} to {max(seconds):.2f}"]
        if build is not OURS:
            by_lap = ratios(laps, build)
            row += [f"{median_ratio(laps, build):.2f}x", f"{min(by_lap):.2f} to {max(by_lap):.2f}"]
        table.add_row(*row)
    console.print(table)


def median_ratio(laps: dict[Build, list[Run]], base: Build) -> float:
    """Median of ``base`` over median of perfcc."""
    return statistics.median(run.seconds for run in laps[base]) / statistics.median(run.seconds for run in laps[OURS])


def show_steps(console: Console, laps: dict[Build, list[Run]], report: dict[str, Any]) -> None:
    done: dict[str, list[str]] = {}
    for kernel in expectations.kernels():
        done.setdefault(kernel.step, []).append(told(kernel, expectations.find(report, kernel)))
    table = Table(title="Step by step: median wall seconds", title_justify="left")
    for column in ("step", PLAIN.name, "-O3 native", "perfcc", "O2 / perfcc", "O3 / perfcc", "what perfcc did"):
        table.add_column(column, justify="left" if column in ("step", "what perfcc did") else "right", no_wrap=column == "step")
    plain, native, ours = (medians(laps[build]) for build in RACED)
    for step, seconds in ours.items():
        if step == "total":
            continue
        least = max(seconds, 1e-4)  # the clock of the program's own table shows four decimals
        figures = (f"{plain[step]:.3f}", f"{native[step]:.3f}", f"{seconds:.3f}")
        gains = (f"{plain[step] / least:.2f}x", f"{native[step] / least:.2f}x")
        table.add_row(step, *figures, *gains, "\n".join(done.get(step, [])))
    console.print(table)


def told(kernel: expectations.Kernel, decision: expectations.Decision | None) -> str:
    """What was done with a kernel, in one line."""
    if decision is None:
        return f"{kernel.file} {kernel.function}: nothing known"
    place = f"{kernel.file}:{decision['at']['line']} {kernel.function}"
    if decision["status"] != "rewritten":
        return f"{place}: {decision['status']}, {decision['reason']['id']}"
    return f"{place}: {' > '.join(step['rule'] for step in decision['steps'])}, {decision['speedup'] or 0:.1f}x when tested"


def show_traps(console: Console, report: dict[str, Any]) -> list[str]:
    """Prints the traps; returns what is wrong with the decisions about them."""
    wrong = []
    table = Table(title="Traps: loops that must be left alone", title_justify="left")
    for column in ("", "loop", "refused because", "cause at"):
        table.add_column(column)
    for trap in expectations.traps():
        decision = expectations.find(report, trap)
        fault = expectations.judge_trap(trap, decision)
        reason = (decision or {}).get("reason") or {}
        line = (reason.get("at") or {}).get("line", "?")
        if fault:
            wrong.append(f"trap {trap.file} {trap.function}: {fault}")
        why = fault or f"{reason['sentence']} [{reason['id']}]"
        table.add_row("NO" if fault else "ok", f"{trap.function}: {trap.what}", why, f"{trap.file}:{line}")
    console.print(table)
    return wrong


def explain() -> dict[str, Any]:
    """perfcc's own report on the program it built. Raises Failed."""
    command = [str(PERFCC), "--explain", str(OURS.program), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(PERFCC_STORE=str(STORE)))
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{done.stderr}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


# -- the whole ---------------------------------------------------------------------------------------------------


def prepare(console: Console, options: argparse.Namespace) -> list[str]:
    """Makes the data and all builds; returns what went wrong without stopping it.

    A kernel that a busy machine or a spent budget left undecided is looked at again in the next build: building goes on until none
    is left, ``ATTEMPTS`` times at most, and then once more to show what a build costs that searches nothing.
    """
    for _ in make(PLAIN, "data", options.jobs):
        pass
    plain = build_program(console, PLAIN, options.jobs)
    for build in (NATIVE, UNFUSED):
        build_program(console, build, options.jobs)
    if not options.warm:
        shutil.rmtree(STORE, ignore_errors=True)
    note = "with what an earlier search found" if options.warm else "every kernel is searched, once; this takes minutes"
    searched = build_program(console, OURS, options.jobs, note)
    for _ in range(1, ATTEMPTS):
        left = undecided(explain())
        if not left:
            break
        searched += build_program(console, OURS, options.jobs, f"{left} kernels were left undecided, once more")
    left = undecided(explain())
    objects = digests(OURS)
    again = build_program(console, OURS, options.jobs, "from its store")
    console.print(f"search {searched:.1f} s; a build from the store {again:.1f} s, {again / plain:.2f}x a build with g++ alone")
    if left:
        return [f"{left} kernels stayed undecided: is the machine busy?"]
    return [] if digests(OURS) == objects else ["two builds from the same store gave different objects"]


def undecided(report: dict[str, Any]) -> int:
    """Kernels that the next build would look at again."""
    return sum(decision["status"] == "undecided" for unit in report["units"] for decision in unit["decisions"])


def compare_results(console: Console, laps: dict[Build, list[Run]], cores: frozenset[int]) -> list[str]:
    """Says where results differ; returns what must not."""
    golden = laps[PLAIN][0]
    wrong = []
    for run in (*laps[PLAIN], *laps[OURS]):
        wrong += [f"perfcc and g++ -O2 differ in: {name}" for name in differing(golden, run)]
    wrong += [f"{UNFUSED.name} differs in: {name}" for name in differing(golden, run_program(UNFUSED, cores))]
    total = len(golden.results)
    fused = len(differing(golden, laps[NATIVE][0]))
    verdict = "the same to the last bit" if not wrong else "NOT the same"
    console.print(f"results: {total} lines, {verdict} with {PLAIN.name}, {OURS.name} and {UNFUSED.name}")
    console.print(f"results: {NATIVE.name} fuses multiplications with additions, which changes {fused} of them")
    return sorted(set(wrong))


def demo(console: Console, options: argparse.Namespace) -> list[str]:
    """The whole show; returns what is wrong."""
    cores = frozenset(sorted(os.sched_getaffinity(0))[: options.cores])
    wrong = prepare(console, options)
    report = explain()
    laps = race(console, options.runs, cores)
    wrong += compare_results(console, laps, cores)
    show_whole(console, laps)
    show_steps(console, laps, report)
    summary = report["summary"]
    console.print(f"{summary['nests']} loop nests: {summary['rewritten']} rewritten, {summary['left_alone']} left alone", highlight=False)
    wrong += show_traps(console, report)
    for base, least in ((PLAIN, OVER_O2), (NATIVE, OVER_O3)):
        found = median_ratio(laps, base)
        if found < least:
            wrong.append(f"{found:.2f}x over {base.name} on {len(cores)} cores: at least {least}x expected")
    return wrong


def shown(path: Path) -> Path:
    """``path`` as one would type it here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="runs of each build (5)")
    parser.add_argument("--jobs", type=int, default=2, help="compiles at once (2)")
    parser.add_argument("--cores", type=int, default=2, help="cores that the program may use (2)")
    parser.add_argument("--warm", action="store_true", help="keep what an earlier demo's search found")
    options = parser.parse_args()
    terminal = sys.stdout.isatty()
    console = Console(width=None if terminal else 150, highlight=False)
    try:
        wrong = demo(console, options)
    except Failed as failure:
        console.print(f"demo: {failure}", markup=False)
        return 2
    for fault in wrong:
        console.print(f"WRONG: {fault}", markup=False, style="red")
    if not wrong:
        console.print(f"All as promised. The whole story: {shown(PERFCC)} --explain {shown(OURS.program)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

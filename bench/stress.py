"""``make stress``: thousands of small compiles at once on one small store, among random SIGKILLs and headers that change.

Everything must be as if nothing had happened: every finished compile's object is the bare compiler's or the proved rewrite that a worker
without a store emits, and gives the same answers; exit statuses and reports are the compiler's; the store was never much larger than its
limit and holds no damaged entry; nothing is left behind in the build tree; no compile hung. Exit status 0 if so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.stress_storm import Place, Storm, descendants, name_of
from bench.stress_units import PAD, PERFCC, REWRITTEN, TREES, Project, make_units, outputs
from perfcc import _native
from perfcc.cc.compiler import CompilerInfo
from perfcc.core.settings import load
from perfcc.store import files
from perfcc.store.cleaning import clean, entries, holdings
from perfcc.store.disk import Store

RECENT = 40
"""Compiles are mostly of objects that were compiled lately."""


IDENTITY = 0.1


@dataclass(frozen=True)
class Plan:
    compiles: int = 10_000
    units: int = 120
    jobs: int = 16
    fresh: float = 0.03
    """The share of compiles that are of an object not compiled lately: those need a worker."""
    killed: float = 0.15
    """How many processes are killed, a compile."""
    changed: float = 0.01
    """How many headers change, a compile."""
    limit: str = "50M"
    seed: int = 20241201


@dataclass(frozen=True)
class Result:
    """``wrong`` has a line for each thing that was not as it must be."""

    counts: Counter[str]
    wrong: tuple[str, ...]
    figures: dict[str, float]

    def print(self) -> None:
        for name, value in {**self.figures, **dict(sorted(self.counts.items()))}.items():
            print(f"{value:>12,.6g}  {name}")
        for line in self.wrong[:50]:
            print(f"WRONG: {line}")
        print(f"{len(self.wrong)} wrong")


def stress(plan: Plan, root: Path) -> Result:
    """The whole test below ``root``, an empty folder."""
    others = {*descendants(os.getpid())}
    chance = random.Random(plan.seed)
    project = Project(root, make_units(plan.units, chance), root / "store")
    project.write()
    project.learn()
    limit = load(root, {"PERFCC_STORE_SIZE": plan.limit}).store_size
    storm = Storm(project, plan.jobs, chance, plan.killed, plan.changed, plan.limit)
    begun = time.monotonic()
    places = list(drawn(plan, project, chance))
    storm.run(places)
    seconds = time.monotonic() - begun
    compiles = storm.counts["compiles"]

    # Every object once more, in peace, is what it must be, and every rewrite is there.
    rewritten = storm.counts["rewritten objects"]
    last = sorted(set(places), key=places.index)
    storm.counts["bare objects"] += 0
    storm.run(last, quiet=True)
    wrong = [*storm.wrong, *missing_rewrites(project, last), *left_behind(project, others), *damaged(Store(project.store))]
    # The largest object that each of the writers may just have been adding.
    if storm.largest > limit + plan.jobs * (PAD + 65536):
        wrong.append(f"the store held {storm.largest:,} bytes, and its limit is {limit:,}")
    figures = {
        "seconds": seconds,
        "compiles a second": compiles / seconds,
        "slowest compile, seconds": storm.slowest,
        "largest store, MB": storm.largest / 1e6,
        "store at the end, MB": holdings(project.store)[0] / 1e6,
        "rewritten objects in the storm": rewritten,
        **{f"perfcc: {name}": value for name, value in counted(project).items()},
    }
    return Result(storm.counts, tuple(wrong), figures)


def drawn(plan: Plan, project: Project, chance: random.Random) -> Iterator[Place]:
    """Objects to compile, most of them again and again."""
    places = outputs(project.units)
    chance.shuffle(places)
    recent: list[Place] = []
    for number in range(plan.compiles):
        if not recent or chance.random() < plan.fresh:
            recent = [*recent, places[number % len(places)]][-RECENT:]
            yield recent[-1]
            continue
        place = chance.choice(recent)
        # A unit in identity mode needs a worker every time.
        yield place if place[1].kind != "identity" or chance.random() < IDENTITY else chance.choice(recent)


def missing_rewrites(project: Project, places: list[Place]) -> Iterator[str]:
    """Objects that are still the bare compiler's though their kernel has a decision."""
    for tree, unit, output in places:
        if unit.kind in REWRITTEN and b".perfcc" not in (project.root / tree / output).read_bytes():
            yield f"{tree}/{output}: the final build lost the rewrite"


def left_behind(project: Project, others: set[int]) -> Iterator[str]:
    """Files and processes of ours that nobody will remove; ``others`` are processes that were there before."""
    time.sleep(2)
    for pid in descendants(os.getpid()):
        if pid not in others and name_of(pid):
            yield f"process {pid} ({name_of(pid)}) is still there"
    for tree in TREES:
        for path in (project.root / tree).rglob("*perfcc*"):
            yield f"{path.relative_to(project.root)} is left in the build tree"
    for folder in (project.root / "tmp").glob("perfcc-*-scratch"):
        yield f"{folder.name} is left in the temporary folder"
    for entry in entries(project.store):
        if not entry.kind:
            os.utime(entry.path, (1, 1))
    clean(project.store, 0)
    for entry in entries(project.store):
        if not entry.kind:
            yield f"{entry.path} is left in the store"


def damaged(store: Store) -> Iterator[str]:
    """Entries that can't be read as what their names say."""

    def outcome(key: str) -> Path:
        return store.path / "outputs" / key[:2] / f"{key[2:]}.json"

    checks = {
        "units": lambda key: _native.read_manifest(store.path, key) is not None,
        "objects": lambda key: store.load_object(key) is not None,
        "decisions": lambda key: store.decision(key) is not None,
        "outputs": lambda key: files.unseal(outcome(key).read_bytes(), f"outputs {key}") is not None,
        "probes": lambda key: store.probe(key, CompilerInfo) is not None,
        "links": lambda key: True,
    }
    for entry in list(entries(store.path)):
        path = Path(entry.path)
        key = path.parent.name + path.name.removesuffix(".json")
        if not checks[entry.kind](key):
            yield f"{entry.path} is damaged"


def counted(project: Project) -> dict[str, float]:
    """perfcc's own counters."""
    environ = {**os.environ, "PERFCC_STORE": str(project.store)}
    done = subprocess.run([PERFCC, "--stats", "--format", "json"], env=environ, capture_output=True, check=True)
    groups = json.loads(done.stdout)["counters"]
    return {f"{group} {name}": value for group, entry in groups.items() for name, value in entry["parts"].items()}


def main() -> int:
    standard = Plan()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("compiles", "units", "jobs", "fresh", "killed", "changed", "limit", "seed"):
        value = getattr(standard, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value, help=f"default {value}")
    parser.add_argument("--keep", action="store_true", help="keep the folder that everything happened in")
    arguments = vars(parser.parse_args())
    keep = arguments.pop("keep")
    root = Path(tempfile.mkdtemp(prefix="perfcc-stress-")).resolve()
    try:
        result = stress(Plan(**arguments), root)
    finally:
        if keep:
            print(f"kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    result.print()
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

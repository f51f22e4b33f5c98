"""What the trials gave, for people: what perfcc did in each project, what it cost, and what stopped it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tests.real.trial import Built, Trial

MODES = ("search", "again", "identity")


def summary(trials: Iterable[Trial]) -> Iterator[str]:
    """Lines of text: a row for each build, then why loop nests were left alone and compiles passed through."""
    why: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    heads = ("searched", "stored", "nests", "rewritten")
    yield f"{'project':22} {'build':9} {'seconds':>8} {'ratio':>6} {'cpu':>6}  {' '.join(f'{head:>9}' for head in heads)}  tests"
    for trial in trials:
        bare = trial.made.get("bare")
        if bare is None:
            continue
        label = f"{trial.project.name} {trial.compiler}"
        yield f"{label:22} {'bare':9} {bare.seconds:8.1f} {'':6} {'':6}  {'':39}  {_tests(bare)}"
        for mode in MODES:
            built = trial.made.get(mode)
            if built is not None:
                yield f"{label:22} {mode:9} {_row(built, bare)}"
        search = trial.made.get("search")
        if search is not None:
            why.update(search.reasons())
            passed.update({name: int(number) for name, number in search.parts("passed").items()})
    yield "left alone: " + _counts(why)
    yield "passed through: " + _counts(passed)


def _row(built: Built, bare: Built) -> str:
    compiled = built.parts("compiled")
    stored = int(compiled.get("from-store", 0) + compiled.get("nothing-to-do", 0))
    seconds, cpu = built.seconds / max(bare.seconds, 0.1), built.cpu / max(bare.cpu, 0.1)
    figures = " ".join(f"{n:9}" for n in (int(compiled.get("searched", 0)), stored, len(built.decisions), len(built.rewritten())))
    return f"{built.seconds:8.1f} {seconds:5.1f}x {cpu:5.1f}x  {figures}  {'as bare' if built.tested == bare.tested else 'DIFFERENT'}"


def _tests(built: Built) -> str:
    tested = built.tested
    number = f"{len(tested.outcomes)} tests" if tested.outcomes else f"{len(tested.lines)} lines"
    return f"{number}, exit status {' '.join(map(str, tested.status))}"


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.most_common()) or "nothing"

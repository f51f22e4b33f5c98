"""Real projects: their own tests say of perfcc's build exactly what they say of the bare compiler's."""

from __future__ import annotations

import pytest

from tests.real.trial import Built, Trial

pytestmark = pytest.mark.quiet  # each build uses all cores by itself
BROKEN = ("worker-failed", "worker-timed-out", "no-python", "no-output")
BUGS = ("internal-error", "emit-failed", "tool-missing", "parse-error")


@pytest.mark.parametrize("mode", ["search", "again", "identity"])
def test_the_projects_own_tests_say_the_same(trial: Trial, mode: str) -> None:
    bare, built = trial.bare(), made(trial, mode)
    assert bare.tested.outcomes or bare.tested.lines, "the project's tests say nothing"
    assert built.tested == bare.tested, "\n".join(bare.tested.differences(built.tested))
    assert built.objects.keys() == bare.objects.keys()


@pytest.mark.parametrize("mode", ["search", "identity"])
def test_every_unit_was_looked_at_and_nothing_failed(trial: Trial, mode: str) -> None:
    built = made(trial, mode)
    compiled = built.parts("compiled")
    assert compiled.get("searched", 0) > 0
    assert {name: compiled[name] for name in BROKEN if name in compiled} == {}
    assert built.decisions
    assert faults(built) == []
    assert "Traceback" not in built.log, built.log


def test_identity_leaves_no_trace(trial: Trial) -> None:
    """A no-op was compiled into every unit that was looked at, and each object is the bare compiler's, byte for byte."""
    bare, built = trial.bare(), trial.identity()
    said = [(unit["output"], unit["reason"]) for unit in built.units]
    assert [(output, reason) for output, reason in said if reason is None or reason["id"] != "identity-same"] == []
    assert [name for name in bare.objects if built.objects[name] != bare.objects[name]] == []


def test_the_store_spares_the_second_build_the_search(trial: Trial) -> None:
    """The same objects again, without a search, but for units that a busy machine left undecided."""
    first, second = trial.search(), trial.again()
    open_ends = {unit["output"] for unit in first.units if any(d["status"] == "undecided" for d in unit["decisions"])}
    searches = second.parts("compiled")["searched"] - first.parts("compiled")["searched"]
    assert searches <= len(open_ends)
    settled = [name for name in first.objects if str(trial.tree / name) not in open_ends]
    assert [name for name in settled if first.objects[name] != second.objects[name]] == []


def made(trial: Trial, mode: str) -> Built:
    built: Built = getattr(trial, mode)()
    return built


def faults(built: Built) -> list[str]:
    """Reasons that are perfcc's own failures, with the place of each."""
    found = [(unit["source"], unit["reason"]) for unit in built.units]
    found += [(f"{d['at']['file']}:{d['at']['line']}", d["reason"]) for d in built.decisions]
    return [f"{place}: {reason['id']}: {reason['detail']}" for place, reason in found if reason and reason["id"] in BUGS]

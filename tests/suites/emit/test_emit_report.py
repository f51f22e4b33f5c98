"""The report travels in the object; when it can't be put there, the original object stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from perfcc.cc import section
from perfcc.cc.compiler import probe, translation_unit
from perfcc.core.decision import Decision, Outcome, Status
from perfcc.core.kernel import ParsedUnit
from perfcc.core.settings import Settings
from perfcc.pipeline import Context, emit_unit
from perfcc.store.disk import Store
from tests.suites.emit.emit_workshop import Workshop, span_of

KERNEL = "for (int i = 0; i < n; ++i) x[i] += 2;"
FAST = "{ for (int i = n; i-- > 0;) x[i] += 2; }"


def emitted(workshop: Workshop, tmp_path: Path) -> tuple[Outcome, Path | None]:
    """The outcome of emitting one rewrite through the pipeline, and the new object."""
    workshop.write("a.cpp", f"void add(int* x, int n) {{ {KERNEL} }}\n")
    invocation = workshop.invocation("a.cpp", "-O2")
    workshop.run(*invocation.argv)
    info = probe("g++", invocation)
    unit = translation_unit(invocation, info)
    span = span_of(unit.text, KERNEL.encode(), "a.cpp")
    decision = Decision("k", "add", span, Status.REWRITTEN, before=KERNEL, replacement=FAST, speedup=2.0)
    outcome = Outcome("a.cpp", "a.o", info.label, (decision,))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    context = Context(Settings(), Store(tmp_path / "store"), scratch, lambda text: None)
    done, new = emit_unit(outcome, ParsedUnit((), ()), unit, info, context)
    return done, None if new is None else new.object_path


def test_report_is_in_the_object(workshop: Workshop, tmp_path: Path) -> None:
    done, new = emitted(workshop, tmp_path)
    assert done.emitted
    assert new is not None
    assert len(section.read(new)) == 1


def test_report_that_cannot_be_attached(workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which("objcopy")
    script = workshop.write(
        "bin/objcopy", f'#!/bin/sh\ncase "$*" in *--add-section*) echo "no space" >&2; exit 1;; esac\nexec {real} "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    done, new = emitted(workshop, tmp_path)
    assert new is None
    assert not done.emitted
    (decision,) = done.decisions
    assert decision.status is Status.REJECTED
    assert decision.reason is not None
    assert (decision.reason.id, decision.reason.detail) == ("emit-failed", "SectionError: no space")

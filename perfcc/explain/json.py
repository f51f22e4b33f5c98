"""Outcomes as JSON: format ``perfcc-explain``, version 1, described by ``explain.schema.json`` beside this module."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from perfcc.core.candidate import Step
from perfcc.core.decision import Decision, Evidence, Outcome, SizeTiming, Tried
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.explain import select
from perfcc.explain.wording import valid

FORMAT = "perfcc-explain"
VERSION = 1


def render_json(outcomes: Iterable[Outcome]) -> str:
    """One JSON document, pure ASCII, with a final newline.

    Each (source, output) stands in it once, with exactly its own decisions in source order.
    """
    units = select.unique(outcomes)
    all_sites = select.sites(units)
    changed = select.rewritten(all_sites)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "summary": {
            "units": len(units),
            "nests": len(all_sites),
            "loops": sum(decision.loops for _, decision in all_sites),
            "rewritten": len(changed),
            "left_alone": len(all_sites) - len(changed),
            "reasons": dict(select.reasons(all_sites)),
        },
        "units": [_unit(unit) for unit in units],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _unit(outcome: Outcome) -> dict[str, Any]:
    return {
        "source": valid(outcome.source),
        "output": valid(outcome.output),
        "compiler": valid(outcome.compiler),
        "perfcc": valid(outcome.version),
        "emitted": outcome.emitted,
        "reason": _reason(outcome.reason),
        "seconds": _number(outcome.seconds),
        "settings": _pairs(outcome.settings),
        "decisions": [_decision(decision) for _, decision in select.sites((outcome,))],
    }


def _decision(decision: Decision) -> dict[str, Any]:
    return {
        "kernel": valid(decision.kernel),
        "function": valid(decision.function),
        "at": _span(decision.span),
        "loops": decision.loops,
        "status": decision.status.value,
        "reason": _reason(decision.reason),
        "hotness": {"score": _number(decision.hotness), "why": valid(decision.hotness_why)},
        "facts": _pairs(decision.facts),
        "steps": [_step(step) for step in decision.steps],
        "tried": [_tried(tried) for tried in decision.tried],
        "evidence": [_evidence(evidence) for evidence in decision.evidence],
        "speedup": _number(decision.speedup),
        "threshold": _number(decision.threshold),
        "timings": [_timing(timing) for timing in decision.timings],
        "guard": valid(decision.guard),
        "threads": decision.threads,
        "cached": decision.cached,
        "before": valid(decision.before),
        "replacement": valid(decision.replacement),
    }


def _reason(reason: Reason | None) -> dict[str, Any] | None:
    if reason is None:
        return None
    kind = reason.kind
    return {
        "id": reason.id,
        "stage": kind.stage,
        "sentence": kind.sentence,
        "detail": valid(reason.detail),
        "lift": kind.lift,
        "at": None if reason.at is None else _span(reason.at),
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "file": valid(span.file),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "begin": span.begin,
        "end": span.end,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "rule": step.rule,
        "loop": valid(step.loop),
        "category": step.category,
        "parameters": dict(step.parameters),
        "argument": valid(step.argument),
    }


def _tried(tried: Tried) -> dict[str, Any]:
    return {"steps": [_step(step) for step in tried.steps], "reason": _reason(tried.reason)}


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "stage": evidence.stage,
        "passed": evidence.passed,
        "summary": valid(evidence.summary),
        "figures": _pairs(evidence.figures),
        "seconds": _number(evidence.seconds),
    }


def _timing(timing: SizeTiming) -> dict[str, Any]:
    return {
        "work": _number(timing.work),
        "ratio": _number(timing.ratio),
        "low": _number(timing.low),
        "high": _number(timing.high),
        "pairs": timing.pairs,
        "verdict": timing.verdict,
    }


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[Mapping[str, str]]:
    """Pairs as a list, for their order matters and a name may occur twice."""
    return [{"name": valid(name), "value": valid(value)} for name, value in pairs]


def _number(value: float) -> float | None:
    """JSON has no infinity: null stands for a figure that isn't finite."""
    return value if math.isfinite(value) else None

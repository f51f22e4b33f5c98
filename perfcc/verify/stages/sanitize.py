"""Sanitize: the candidate under AddressSanitizer and UndefinedBehaviorSanitizer, arrays in blocks of exact size."""

from __future__ import annotations

from perfcc.core.candidate import Candidate
from perfcc.core.reason import Reason
from perfcc.verify.build import first_error
from perfcc.verify.builds import Builds
from perfcc.verify.session import Session, first_report
from perfcc.verify.stages.result import Result, failed, passed

STAGE = "sanitize"


def run(session: Session, candidate: Candidate, builds: Builds) -> Result:
    """Runs every input; the original ran on all of them without a report."""
    built = builds.get("sanitize")
    if built.path is None:
        words = f"with {session.toolchain.clang}: {first_error(built.diagnostics)}"
        return failed(STAGE, Reason("does-not-compile", session.kernel.span, words))
    inputs = (*session.inputs, *session.blocks(candidate))
    report = session.run_sanitized(inputs, built.path, 3 if candidate.threads else 1)
    if report.complete and len(report.results) == len(inputs) and "runtime error:" not in report.stderr:
        return passed(STAGE, "no report from AddressSanitizer or UndefinedBehaviorSanitizer", ("inputs", len(inputs)))
    labels = {item.id: item.label for item in inputs}
    at, _ = report.last
    return failed(STAGE, Reason("sanitizer-report", session.kernel.span, f"{first_report(report)} on input '{labels.get(at, '')}'"))

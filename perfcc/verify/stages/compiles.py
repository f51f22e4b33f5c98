"""Compiles: with the user's compiler and flags, and without a diagnostic that the original's codelet does not have."""

from __future__ import annotations

from perfcc.core.candidate import Candidate
from perfcc.core.reason import Reason
from perfcc.verify.build import first_error
from perfcc.verify.builds import Builds
from perfcc.verify.session import Session
from perfcc.verify.stages.result import Result, failed, passed

STAGE = "compiles"


def run(session: Session, candidate: Candidate, builds: Builds) -> Result:
    """Looks at the build that the comparison uses: it has -Wall on."""
    built = builds.get("zero")
    if built.path is None:
        return failed(STAGE, Reason("does-not-compile", session.kernel.span, first_error(built.diagnostics)))
    # The codelet holds the original's text too, so that its own warnings come again.
    before = session.original.get("zero").warnings
    if built.warnings > 2 * before:
        line = next((text for text in built.diagnostics.splitlines() if "warning: " in text), "")
        detail = f"new warning: {line.split('warning: ')[-1]}"
        return failed(STAGE, Reason("does-not-compile", session.kernel.span, detail))
    return passed(STAGE, "no new diagnostics", ("warnings", built.warnings), ("of the original", before))

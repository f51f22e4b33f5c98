"""The verifier of one kernel: the cascade of design section 6, behind core.protocols.Judge."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from perfcc.core.candidate import Candidate
from perfcc.core.decision import Accepted, Evidence, Rejected, Undecided, Verdict
from perfcc.core.facts import Facts
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.unit import TranslationUnit
from perfcc.verify import codelet, inputs
from perfcc.verify.build import Builder, flags_of
from perfcc.verify.builds import Builds
from perfcc.verify.codelet import Codelets, Splice, plain_splice
from perfcc.verify.runner import Runner
from perfcc.verify.session import Session
from perfcc.verify.stages import compiles, differential, race, sanitize, scope, timing
from perfcc.verify.stages.result import Result, timed
from perfcc.verify.toolchain import Toolchain

COMPILES_AT_ONCE = 2


@dataclass(slots=True)
class Verifier:
    """Judges the candidates of ``kernel``.

    ``scratch`` is a folder of its own that may be filled, ``threads`` how many threads a timed rewrite gets (0: all there are), ``lock``
    the machine-wide lock file. ``splice`` makes the text that would be shipped: what is checked is just that.
    ``with_timing`` False leaves the last stage out, and is for tests of the others only: what passes then is Accepted with a speed-up of 1.
    Call ``close`` (or use it as a context manager) when done.
    """

    kernel: Kernel
    facts: Facts
    unit: TranslationUnit
    scratch: Path
    toolchain: Toolchain
    threads: int
    lock: Path
    splice: Splice = plain_splice
    with_timing: bool = True
    _session: Session | None = None
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(COMPILES_AT_ONCE))
    _judged: int = 0
    _evidence: tuple[Evidence, ...] = ()

    def prepare(self) -> Reason | None:
        """Learns all about the original. A Reason when no candidate of this kernel can be judged."""
        kernel = self.kernel
        if not self.toolchain.runner or not self.toolchain.can_sanitize:
            missing = next((item.name for item in self.toolchain.missing), "a tool")
            return Reason("tool-missing", kernel.span, missing)
        if kernel.nest is None:
            return kernel.refusal or Reason("live-in-unsupported", kernel.span)
        shared = codelet.build(kernel)
        if isinstance(shared, Reason):
            return shared
        session = self._open(shared)
        reason = session.prepare()
        self._session = session if reason is None else None
        self._evidence = tuple(session.evidence)
        return reason

    def _open(self, shared: Codelets) -> Session:
        self.scratch.mkdir(parents=True, exist_ok=True)
        scratch = self.scratch.resolve()
        invocation = self.unit.invocation
        builder = Builder(invocation.compiler, flags_of(invocation), invocation.language, invocation.cwd, self.toolchain, self.lock)
        libraries = (self.toolchain.omp_directory, str(Path(self.toolchain.asan).parent))
        runner = Runner(self.toolchain.runner, scratch, shared.variables, self.lock, tuple(filter(None, libraries)))
        original = Builds(builder, self._pool, scratch, "original", shared.suffix, shared.original(), False)
        maker = inputs.maker(self.kernel, self.facts, shared.variables, shared.compared)
        return Session(self.kernel, shared, maker, builder, runner, self.toolchain, self._pool, scratch, original)

    def judge(self, candidate: Candidate) -> Verdict:
        """One candidate through the cascade, up to the first stage that says no. Call ``prepare`` first."""
        session = self._session
        if session is None:
            return Rejected(candidate, Reason("cannot-exercise", self.kernel.span, "the original was not prepared"))
        self._judged += 1
        text = session.codelets.candidate(candidate, self.splice)
        name = f"candidate{self._judged}"
        builds = Builds(session.builder, self._pool, session.directory, name, session.codelets.suffix, text, candidate.threads)
        evidence: list[Evidence] = []
        last: Result | None = None
        try:
            for stage in self._stages(session, candidate, builds):
                last = timed(stage)
                evidence.append(last.evidence)
                if last.reason is not None:
                    kind = Undecided if last.undecided else Rejected
                    return kind(candidate, last.reason, tuple(evidence))
        finally:
            builds.cancel()
        assert last is not None
        largest = max(last.timings, key=lambda timing: timing.work, default=None)
        if largest is not None and (session.best is None or largest.ratio > session.best.ratio):
            session.best = largest
        return Accepted(candidate, tuple(evidence), last.speedup, last.threshold, last.timings)

    def _stages(self, session: Session, candidate: Candidate, builds: Builds) -> Iterator[Callable[[], Result]]:
        """The stages in order; compiles begin as soon as the text is within scope, the timed ones once the bits are right."""
        threads = self.threads or len(os.sched_getaffinity(0))
        yield lambda: scope.run(session, candidate)
        builds.start("zero")
        if self.with_timing:
            session.original.start("time")
            builds.start("time")
        yield lambda: compiles.run(session, candidate, builds)
        if self.with_timing:
            yield lambda: timing.glance(session, candidate, builds, threads)
        builds.start("pattern", "sanitize")
        if candidate.threads:
            builds.start("race", "race-planted", "race-plain")
        yield lambda: differential.run(session, candidate, builds)
        yield lambda: sanitize.run(session, candidate, builds)
        if candidate.threads:
            yield lambda: race.run(session, candidate, builds)
        if self.with_timing:
            yield lambda: timing.run(session, candidate, builds, threads)

    def evidence(self) -> tuple[Evidence, ...]:
        """What ``prepare`` found."""
        return self._evidence

    def close(self) -> None:
        """Ends the compiles that are still wanted by nobody."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Verifier:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

"""What is known of one kernel's original, learnt once: its builds, its valid inputs, the edges they reach."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from perfcc.core.candidate import Candidate
from perfcc.core.decision import Evidence, SizeTiming
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.verify import machine, tiled
from perfcc.verify.build import Builder, first_error
from perfcc.verify.builds import Builds
from perfcc.verify.codelet import Codelets
from perfcc.verify.inputs import Maker, Shape, shapes
from perfcc.verify.job import Input, Options
from perfcc.verify.ladder import Ladder
from perfcc.verify.runner import Report, Runner
from perfcc.verify.toolchain import Toolchain

THREADS = (1, 2, 3, 5)
ADDRESS_BYTES = 8 << 30
MOST_VOID = 40
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:symbolize=0:allocator_may_return_null=1:exitcode=99:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "symbolize=0:print_stacktrace=0:exitcode=99",
}


@dataclass(slots=True)
class Session:
    """The original's side of every check.

    ``inputs`` are valid: the original runs on them without fault, and gives the same whatever unwritten memory holds.
    ``essential`` are a few of them that reach every edge; ``void`` says by id why an input was dropped. ``best``: the fastest candidate so
    far, at the largest size. ``patience``: seconds that a comparison may take; ``quiet_seconds``: what is left of those that may be spent
    on waiting for a quiet machine.
    """

    kernel: Kernel
    codelets: Codelets
    maker: Maker
    builder: Builder
    runner: Runner
    toolchain: Toolchain
    pool: ThreadPoolExecutor
    directory: Path
    original: Builds
    inputs: tuple[Input, ...] = ()
    essential: tuple[Input, ...] = ()
    sandbox: tuple[str, ...] = ()
    void: dict[int, str] = field(default_factory=dict)
    evidence: list[Evidence] = field(default_factory=list)
    patience: float = 10.0
    best: SizeTiming | None = None
    quiet_seconds: float = 12.0
    _ladder: Ladder | None = None
    _blocks: dict[Shape, tuple[Input, ...]] = field(default_factory=dict)

    def prepare(self) -> Reason | None:
        """Builds the original, makes inputs, drops the void ones, measures coverage. A Reason when this kernel can't be judged."""
        self.original.start("sanitize", "zero", "cover", "pattern")
        made = [self.maker.make(index, shape) for index, shape in enumerate(shapes(self.maker, THREADS, tiles=(32,)))]
        candidates = _distinct(item for item in made if item is not None)
        for kind in ("sanitize", "zero", "cover", "pattern"):
            built = self.original.get(kind)
            if built.path is None:
                words = f"the loop does not compile on its own: {first_error(built.diagnostics)}"
                return Reason("live-in-unsupported", self.kernel.span, words)
        return self._judge_inputs(candidates)

    @property
    def ladder(self) -> Ladder:
        """The inputs to time on."""
        if self._ladder is None:
            library = self.original.get("time").path
            assert library is not None
            self._ladder = Ladder(self.maker, self.runner, self.directory, library)
        return self._ladder

    def blocks(self, candidate: Candidate) -> tuple[Input, ...]:
        """Valid inputs on which several threads of ``candidate`` get something to do where they share blocks of iterations; else none."""
        nest = self.kernel.nest
        wanted = tiled.shapes(candidate.nest, nest, self.maker.roles) if candidate.threads and nest is not None else ()
        for shape in wanted:
            if shape not in self._blocks:
                made = self.maker.make(40000 + len(self._blocks), shape)
                self._blocks[shape] = tuple(self._stable(self._faultless([made]))) if made is not None else ()
        return tuple(item for shape in wanted for item in self._blocks[shape])

    def quiet(self, patience: float) -> bool:
        """Waits for a quiet machine, within what this kernel may wait altogether."""
        start = time.monotonic()
        found = machine.quiet(min(patience, self.quiet_seconds))
        self.quiet_seconds = max(0.0, self.quiet_seconds - (time.monotonic() - start))
        return found

    def _judge_inputs(self, candidates: list[Input]) -> Reason | None:
        valid = self._stable(self._faultless(candidates))
        if not valid:
            why = next(iter(self.void.values()), "no sizes fit")
            return Reason("cannot-exercise", self.kernel.span, why)
        missed, total, fresh = self._cover(valid)
        if missed:
            more = self._more_inputs(len(candidates))
            valid += self._stable(self._faultless(more))
            missed, total, fresh = self._cover(valid)
        reached = total - len(missed)
        summary = f"{len(valid)} valid inputs reach {reached} of {total} edges"
        figures = (
            ("inputs", str(len(valid))), ("void inputs", str(len(self.void))), ("edges", f"{reached}/{total}"),
            ("sandbox", " ".join(self.sandbox)),
        )  # fmt: skip
        self.evidence.append(Evidence("inputs", not missed, summary, figures))
        if missed:
            return Reason("edges-not-covered", self._place(missed), f"{len(missed)} of {total} edges")
        self.inputs = tuple(valid)
        self.essential = self._essential(valid, fresh)
        return None

    def _essential(self, valid: Sequence[Input], fresh: dict[int, int]) -> tuple[Input, ...]:
        """A few inputs that between them reach every edge and give several threads something to do."""
        by_need = [item for item in valid if fresh.get(item.id)]
        general = [item for item in valid if item.label.startswith(("prime", "unequal", "room", "wide"))]
        chosen = {item.id: item for item in (*general[:4], *by_need)}
        return tuple(chosen.values())

    def _more_inputs(self, first: int) -> list[Input]:
        kinds = ("random", "integers", "thresholds", "special", "equal", "wide", "zero")
        wanted = [Shape(f"more: {kind}, size {size}", size, skew, kind) for size in (4, 13, 29) for skew in (-2, 0, 4) for kind in kinds]
        made = [self.maker.make(first + 1000 + index, shape) for index, shape in enumerate(wanted)]
        return [item for item in made if item is not None]

    def _faultless(self, inputs: list[Input]) -> list[Input]:
        """Those on which the original runs without a report of the sanitizers, in blocks of exact size."""
        library = self.original.get("sanitize").path
        assert library is not None
        left, good, broken = list(inputs), [], 0
        while left and broken < MOST_VOID:
            report = self.run_sanitized(left, library, 1)
            self.sandbox = report.sandbox or self.sandbox
            ran = {int(line["input"]) for line in report.results}
            good += [item for item in left if item.id in ran]
            left = [item for item in left if item.id not in ran]
            if report.complete or not left:
                break
            at, _ = report.last
            culprit = next((item for item in left if item.id == at), left[0])
            self.void[culprit.id] = f"{culprit.label}: the original itself: {first_report(report)}"
            left.remove(culprit)
            broken += 1
        return good

    def run_sanitized(self, inputs: Sequence[Input], library: Path, threads: int) -> Report:
        """One run of a build of kind ``sanitize``."""
        environment = {"LD_PRELOAD": self.toolchain.asan, **SANITIZER_OPTIONS}
        return self.runner.run(inputs, Options("run", cpu_seconds=60), library, None, threads, environment, 60.0)

    def _stable(self, inputs: list[Input]) -> list[Input]:
        """Those on which the original gives the same whatever unwritten memory holds."""
        if not inputs:
            return []
        zero, pattern = self.original.get("zero").path, self.original.get("pattern").path
        assert zero is not None
        assert pattern is not None
        start = time.monotonic()
        report = self.compare(inputs, zero, pattern, 1, poison=0xA5)
        # A comparison that takes far longer than that of the original with itself has hung.
        self.patience = max(self.patience, 10.0 + 20.0 * (time.monotonic() - start))
        good = {int(line["input"]) for line in report.results if line.get("equal") is True}
        for item in inputs:
            if item.id not in good:
                self.void[item.id] = f"{item.label}: the original reads memory nobody wrote"
        return [item for item in inputs if item.id in good]

    def compare(
        self, inputs: Sequence[Input], original: Path, candidate: Path, threads: int, poison: int = 0, paged: bool = False
    ) -> Report:
        """One run of both sides on each input."""
        check_errno = any(call.errno_values for call in self.kernel.calls)
        options = Options("compare", paged=paged, poison=poison, check_errno=check_errno, cpu_seconds=60, address_bytes=ADDRESS_BYTES)
        return self.runner.run(inputs, options, original, candidate, threads, None, self.patience)

    def _cover(self, inputs: Sequence[Input]) -> tuple[list[tuple[int, int]], int, dict[int, int]]:
        """The edges missed (with the offset of their code), how many there are, and how many each input was the first to reach."""
        library = self.original.get("cover").path
        assert library is not None
        report = self.runner.run(inputs, Options("cover"), library)
        fresh = {int(line["input"]): len(line.get("edges", ())) for line in report.results}
        for line in report.lines:
            if "missed" in line:
                return [(int(edge), int(offset)) for edge, offset in line["missed"]], int(line["total"]), fresh
        return [(0, 0)], 1, fresh

    def _place(self, missed: list[tuple[int, int]]) -> Span:
        """The kernel's line of the first missed edge, where the symbolizer knows it; else the kernel."""
        library = self.original.get("cover").path
        if not self.toolchain.symbolizer or library is None:
            return self.kernel.span
        words = [self.toolchain.symbolizer, f"--obj={library}", "--output-style=GNU", "--functions=none", hex(missed[0][1])]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=20)
        except (OSError, subprocess.SubprocessError):
            return self.kernel.span
        found = re.search(r":(\d+)", done.stdout)
        return self._line(int(found.group(1))) if found else self.kernel.span

    def _line(self, line: int) -> Span:
        """The span of a line of the codelet, in the user's file."""
        span = self.kernel.span
        before = self.codelets.original().split(self.kernel.text)[0].count("\n")
        offset = line - 1 - before
        lines = self.kernel.text.split("\n")
        if not 0 <= offset < len(lines):
            return span
        begin = span.begin + sum(len(text.encode("utf-8", "surrogateescape")) + 1 for text in lines[:offset])
        size = len(lines[offset].encode("utf-8", "surrogateescape"))
        return Span(span.file, begin, begin + size, span.line + offset, 1 if offset else span.column, span.line + offset)


def _distinct(inputs: Iterable[Input]) -> list[Input]:
    """Without inputs that differ from an earlier one in random values alone: a kernel of constant sizes has many of those."""
    seen: set[tuple[object, ...]] = set()
    kept = []
    for item in inputs:
        sizes = tuple(len(block.content) for block in item.blocks)
        shape = (sizes, item.arguments, tuple(item.sizes.items()), tuple(item.scalars.items()))
        if shape not in seen or not item.label.startswith(("size", "tile", "large")):
            kept.append(item)
        seen.add(shape)
    return kept


def first_report(report: Report) -> str:
    """The sanitizer's own first words about what happened, or how the process ended."""
    for line in report.stderr.splitlines():
        found = re.search(r"(runtime error: .*|ERROR: \w+Sanitizer: [\w-]+(?: [\w-]+)*|Assertion .* failed)", line)
        if found:
            return re.sub(r"0x[0-9a-f]+", "an address", found.group(1))[:160]
    return report.ending()

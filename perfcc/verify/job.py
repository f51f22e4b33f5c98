"""Inputs as memory, and the job file that hands them to the runner (format: native/runner/job.cpp)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perfcc.core.types import Storage, Variable
from perfcc.verify import timing
from perfcc.verify.evaluate import Number


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of memory: its bytes at the start of a run. ``compared``: its bytes at the end matter."""

    content: bytes
    alignment: int
    compared: bool = True


@dataclass(frozen=True, slots=True)
class Input:
    """One set of arguments. ``arguments`` gives each variable a block and a byte offset into it; two that share a block overlap.

    ``scalars`` and ``sizes`` are what work expressions are evaluated on; ``label`` says what the input is for.
    """

    id: int
    label: str
    blocks: tuple[Block, ...]
    arguments: tuple[tuple[int, int], ...]
    scalars: dict[str, Number] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(len(block.content) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Options:
    """How the runner runs: see native/runner/job.hpp. Limits in seconds and bytes, 0 for none. ``sign_test``: pairs end when it decides."""

    mode: str
    paged: bool = False
    poison: int = 0
    wall: bool = False
    check_errno: bool = False
    seed: int = 1
    samples: int = 3
    pairs: int = 60
    limit_seconds: float = 0.0
    sign_test: bool = False
    cpu_seconds: int = 60
    address_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """Inputs in a data file of their own, for any number of jobs: what a job says of them is in ``records``."""

    data: Path
    records: tuple[str, ...]


def store(data: Path, inputs: Sequence[Input]) -> Stored:
    """Writes the inputs' content to ``data``."""
    lines: list[str] = []
    with data.open("wb") as file:
        for item in inputs:
            lines.append(f"input {item.id}")
            for block in item.blocks:
                file.write(bytes(-file.tell() % 64))
                lines.append(f"block {file.tell()} {len(block.content)} {block.alignment} {int(block.compared)}")
                file.write(block.content)
            lines.extend(f"arg {block} {offset}" for block, offset in item.arguments)
    return Stored(data, tuple(lines))


def write(
    directory: Path,
    variables: Sequence[Variable],
    inputs: Sequence[Input] | Stored,
    options: Options,
    original: Path,
    candidate: Path | None,
) -> Path:
    """Writes the job, and its data if they aren't stored already, into ``directory``; the job's path."""
    directory.mkdir(parents=True, exist_ok=True)
    stored = inputs if isinstance(inputs, Stored) else store(directory / "data", inputs)
    scratch = directory / "scratch"
    scratch.mkdir(exist_ok=True)
    lines = [
        "perfcc-job 1",
        f"mode {options.mode}",
        f"original {original}",
        f"candidate {candidate or original}",
        f"data {stored.data}",
        f"scratch {scratch}",
        f"paged {int(options.paged)}",
        f"poison {options.poison}",
        f"wall {int(options.wall)}",
        f"errno {int(options.check_errno)}",
        f"seed {options.seed}",
        f"samples {options.samples}",
        f"pairs {options.pairs}",
        f"limit_ms {round(1000 * options.limit_seconds)}",
        f"cpu_seconds {options.cpu_seconds}",
        f"address_bytes {options.address_bytes}",
    ]
    if options.sign_test:
        steps = (timing.LEAST_RATIO, timing.WIN, -timing.LOSS, timing.ACCEPT, -timing.REJECT)
        lines.append("sign_test " + " ".join(str(round(1000 * step)) for step in steps))
    for v in variables:
        assert v.element is not None
        lines.append(f"var {_KINDS[v.storage]} {v.element.bits // 8} {v.name}")
    lines += stored.records
    path = directory / "job"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


_KINDS = {Storage.SCALAR: "scalar", Storage.POINTER: "pointer", Storage.ARRAY: "array", Storage.VECTOR: "vector"}

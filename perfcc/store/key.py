"""Keys: a digest of everything that an answer depends on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from perfcc.core.settings import Settings
from perfcc.core.unit import Semantics


def digest(*parts: str) -> str:
    """BLAKE2b-256 of the parts, each marked off from the next, in hex."""
    hasher = hashlib.blake2b(digest_size=32)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.hexdigest()


def decision_key(
    kernel: str, compiler: str, flags: Sequence[str], semantics: Semantics, settings: Settings, rules: str, cpu: str, version: str
) -> str:
    """The key of a kernel's decision.

    ``kernel`` is Kernel.id, ``compiler`` CompilerInfo.identity, ``flags`` the words of the command line that can change a kernel's code
    (``cc.flags.decisive``), ``rules`` a digest of the rules that may be tried, ``cpu`` a label of the machine, ``version`` perfcc's own.
    Budget, mode and store don't decide what is right or fast.
    """
    return digest(
        "decision",
        version,
        kernel,
        compiler,
        repr(tuple(flags)),
        repr(semantics),
        repr((settings.fp, settings.threads, settings.rules_off)),
        rules,
        cpu,
    )


@cache
def cpu_label() -> str:
    """Model, instruction set and usable processors of this machine: a decision timed on another one is not taken over."""
    model = instructions = ""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if not model and name.strip() in ("model name", "CPU part"):
                model = " ".join(value.split())
            if not instructions and name.strip() in ("flags", "Features"):
                instructions = digest(*sorted(value.split()))[:12]
    except OSError:
        model = "unknown"
    return f"{os.uname().machine} {model or 'unknown'} {instructions} x{processors()}"


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0))


def tree_digest(folders: Sequence[Path], suffixes: Sequence[str] = (".py", ".toml", ".h")) -> str:
    """A digest of the source files under ``folders``: it changes when a rule or a check does."""
    parts: list[str] = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in suffixes and path.is_file():
                parts += [str(path.relative_to(folder)), hashlib.blake2b(path.read_bytes(), digest_size=32).hexdigest()]
    return digest(*parts)

"""Which builds the checks want of a codelet, made two at a time and kept while they are wanted."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from perfcc.verify.build import Builder, Built

COMPARE = ("-ffp-contract=off",)
ZERO = (*COMPARE, "-ftrivial-auto-var-init=zero", "-Wall")
PATTERN = (*COMPARE, "-ftrivial-auto-var-init=pattern", "-w")
SANITIZE = (
    "-O1", "-g1", "-shared-libsan", "-fsanitize=address,undefined", "-fno-sanitize=vptr,function", "-fno-sanitize-recover=all",
    "-D_GLIBCXX_ASSERTIONS", "-ffp-contract=off",
)  # fmt: skip
RACE = ("-g1", "-shared-libsan", "-fsanitize=thread", "-ffp-contract=off")
TIME = ("-w",)


@dataclass(slots=True)
class Builds:
    """The builds of one codelet text. ``threads``: the text holds OpenMP pragmas that are to work."""

    builder: Builder
    pool: ThreadPoolExecutor
    directory: Path
    name: str
    suffix: str
    text: str
    threads: bool
    _made: dict[str, Future[Built]] = field(default_factory=dict)

    def start(self, *kinds: str) -> None:
        """Begins those builds, if they aren't yet."""
        for kind in kinds:
            self._future(kind)

    def get(self, kind: str) -> Built:
        """That build, waiting for it if need be."""
        return self._future(kind).result()

    def _future(self, kind: str) -> Future[Built]:
        if kind not in self._made:
            self._made[kind] = self.pool.submit(self._recipe(kind), kind)
        return self._made[kind]

    def cancel(self) -> None:
        """Drops what has not begun."""
        for future in self._made.values():
            future.cancel()

    def _recipe(self, kind: str) -> Callable[[str], Built]:
        return {
            "zero": self._zero, "pattern": self._pattern, "sanitize": self._sanitize, "cover": self._cover, "time": self._time,
            "race": self._race, "race-plain": self._race, "race-planted": self._race,
        }[kind]  # fmt: skip

    def _source(self, kind: str, text: str) -> tuple[Path, Path]:
        source = self.directory / f"{self.name}.{kind}{self.suffix}"
        source.write_text(text, "utf-8", errors="surrogateescape")
        return source, source.with_suffix(".so")

    def _openmp(self) -> tuple[str, ...]:
        return ("-fopenmp", "-U_OPENMP") if self.threads else ()

    def _zero(self, kind: str) -> Built:
        return self._poisoned(kind, ZERO)

    def _pattern(self, kind: str) -> Built:
        return self._poisoned(kind, PATTERN)

    def _poisoned(self, kind: str, flags: tuple[str, ...]) -> Built:
        source, output = self._source(kind, self.text)
        built = self.builder.native(source, output, (*flags, *self._openmp()))
        if built.path is None and "trivial-auto-var-init" in built.diagnostics:
            return self.builder.clang(source, output, ("-O1", *(flag for flag in flags if flag not in ("-Wall", "-w"))))
        return built

    def _sanitize(self, kind: str) -> Built:
        return self.builder.clang(*self._source(kind, self.text), SANITIZE)

    def _cover(self, kind: str) -> Built:
        source, output = self._source(kind, self.text)
        allowed = source.with_suffix(".allow")
        names = {match for match in re.findall(r"\b([A-Za-z_]\w*)\s*\(", self.text) if not match.startswith("perfcc_codelet_")}
        functions = ["perfcc_codelet_run", *(name for name in sorted(names) if re.search(rf"\b{name}\s*\([^;{{}}]*\)\s*\{{", self.text))]
        allowed.write_text("\n".join(["src:*", *(f"fun:*{name}*" for name in functions)]) + "\n", "utf-8")
        flags = ("-O0", "-g1", "-fsanitize-coverage=trace-pc-guard,pc-table", f"-fsanitize-coverage-allowlist={allowed}")
        return self.builder.clang(source, output, flags)

    def _time(self, kind: str) -> Built:
        return self.builder.native(*self._source(kind, self.text), (*TIME, *self._openmp()))

    def _race(self, kind: str) -> Built:
        text = force_interleaving(self.text)
        if kind == "race-planted":
            planted = plant_race(text)
            if planted is None:
                return Built(None, "error: no parallel loop to plant a race in", 0)
            text = planted
        level = "-O0" if kind == "race-plain" else "-O1"
        return self.builder.clang(*self._source(kind, text), (level, *RACE))


_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b(?:[^\n\\]|\\\n|\\)*$", re.MULTILINE)
_WORKSHARE = re.compile(r"\bomp\s+(?:parallel\s+)?for\b")


def force_interleaving(text: str) -> str:
    """Every parallel loop with ``schedule(static, 1)``: neighbouring iterations run on different threads."""

    def one(match: re.Match[str]) -> str:
        pragma = match.group(0)
        if not _WORKSHARE.search(pragma):
            return pragma
        return re.sub(r"\bschedule\s*\([^)]*\)", "", pragma) + " schedule(static, 1)"

    return _PRAGMA.sub(one, text)


def plant_race(text: str) -> str | None:
    """The same text with a counter that every iteration of its first parallel loop adds to without care; None without such a loop."""
    for match in _PRAGMA.finditer(text):
        if not _WORKSHARE.search(match.group(0)):
            continue
        collapse = re.search(r"\bcollapse\s*\(\s*(\d+)\s*\)", match.group(0))
        place = _body(text, match.end(), int(collapse.group(1)) if collapse else 1)
        if place is None:
            continue
        begin, end = place
        planted = f"{text[:begin]}{{ ++perfcc_codelet_planted; {text[begin:end]} }}{text[end:]}"
        entry = planted.index("void **args)")
        line = planted.rfind("\n", 0, entry) + 1
        return f"{planted[:line]}int perfcc_codelet_planted;\n{planted[line:]}"
    return None


def _body(text: str, at: int, depth: int) -> tuple[int, int] | None:
    """Where the body of the ``depth``-th loop from ``at`` on begins and ends."""
    for _ in range(depth):
        found = re.compile(r"[\s{]*for\s*(?=\()").match(text, at)
        if found is None:
            return None
        at = _close(text, found.end())
        if at < 0:
            return None
    begin = at + len(text[at:]) - len(text[at:].lstrip())
    end = statement_end(text, begin)
    return None if end < 0 else (begin, end)


def statement_end(text: str, at: int) -> int:
    """Where the statement that begins at ``at`` ends; -1 when that can't be told."""
    at += len(text[at:]) - len(text[at:].lstrip())
    if text[at : at + 1] == "{":
        return _close(text, at)
    head = re.compile(r"(for|if|while)\s*(?=\()").match(text, at)
    if head is not None:
        inner = _close(text, head.end())
        end = -1 if inner < 0 else statement_end(text, inner)
        rest = re.compile(r"\s*else\b").match(text, end) if end >= 0 and head.group(1) == "if" else None
        return statement_end(text, rest.end()) if rest is not None else end
    depth = 0
    for index in range(at, len(text)):
        if text[index] in "([{":
            depth += 1
        elif text[index] in ")]}":
            depth -= 1
        elif text[index] == ";" and depth == 0:
            return index + 1
    return -1


_PAIRS = {"(": ")", "{": "}"}


def _close(text: str, at: int) -> int:
    """Just past the bracket that closes the one at ``at``."""
    opening = text[at]
    closing = _PAIRS[opening]
    depth = 0
    for index in range(at, len(text)):
        if text[index] == opening:
            depth += 1
        elif text[index] == closing:
            depth -= 1
            if depth == 0:
                return index + 1
    return -1

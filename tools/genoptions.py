"""The option table of the launcher, ``native/launcher/options.def``: the compilers' own lists of options, and what perfcc makes of each.

``genoptions.py`` writes the table from ``tools/options/*.txt`` (what each compiler knows: spelling and shape of the argument) and
``tools/options/judgements.toml`` (what perfcc makes of it). ``genoptions.py --read COMPILER...`` asks compilers first and rewrites
their lists. ``genoptions.py --check [COMPILER...]`` writes nothing: it fails when the table is not what the lists and judgements
give, and when a compiler knows an option that its list does not have, or takes its argument in another way.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
LISTS = ROOT / "tools" / "options"
TABLE = ROOT / "native" / "launcher" / "options.def"

NONE, JOINED, SEPARATE, EITHER, SEVERAL = "None", "Joined", "Separate", "JoinedOrSeparate", "Several"
# Options that end the driver before it looks at anything else, or change how it reads the rest: they are asked alone.
ALONE = re.compile(
    r"-(-?(help|version|autocomplete|completion|target-help|driver-mode|config|print|dump).*|E|S|M|MM|-|v|x|cc1.*|-param|###|)$"
)
BATCH = 200
END = "-no-such-option.o"


@dataclass(frozen=True)
class Judgement:
    """What perfcc makes of an option, or with ``family`` of all that begin so; ``shape`` where no list has it or lists differ."""

    spelling: str
    effect: str
    reason: str = ""
    family: bool = False
    shape: str = ""


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    spelling: str
    shape: str
    effect: str
    reason: str = ""


# What the compilers know.


def family(compiler: str) -> str:
    """Which list describes the compiler: "clang" or "gcc"."""
    return "clang" if "clang" in Path(compiler).name else "gcc"


def known(compiler: str) -> set[str]:
    """Every spelling the compiler's driver has, up to the ``=`` of those that take a value after one."""
    ask = "--autocomplete=-" if family(compiler) == "clang" else "--completion=-"
    text = subprocess.run([compiler, ask], capture_output=True, text=True, check=True).stdout
    words = {re.split(r"[\t ]", line)[0] for line in text.splitlines() if line.startswith("-")}
    names = {re.sub(r"(?<=[^-])=.*", "=", word) for word in words}
    # GCC reads --machine-X as -mX and --warn-X as -WX; the table does without, so that they are unknown.
    return {name for name in names if not re.match(r"--(machine|warn-|std[^=])|-$", name)}


def shapes(compiler: str, spellings: Iterable[str]) -> dict[str, str]:
    """How each option takes its argument, by trial: does the driver miss a file named by the next word, does it know a longer word?"""
    wanted = sorted(spellings)
    with tempfile.TemporaryDirectory() as folder:
        run = _Trial(compiler, folder)
        # GCC stops at an empty value, so those that end with = are what they look like.
        asked = [name for name in wanted if run.clang or not name.endswith(("=", ","))]
        eaten = dict.fromkeys(wanted, 0) | run.eaten(asked)
        joined = run.joined(asked)
    made = {}
    for name in wanted:
        count = eaten[name]
        if count > 1:
            made[name] = SEVERAL
        elif name.endswith(("=", ",")):
            made[name] = EITHER if count else JOINED
        elif count:
            made[name] = EITHER if name in joined else SEPARATE
        else:
            made[name] = JOINED if name in joined else NONE
    return made


class _Trial:
    def __init__(self, compiler: str, folder: str) -> None:
        self.compiler, self.folder = compiler, folder
        self.clang = family(compiler) == "clang"
        self.kind = "c" if self.clang else "o"  # GCC starts a compiler for a source that is not there

    def run(self, words: Sequence[str]) -> str:
        command = [self.compiler, "-###" if self.clang else "-c", *words]
        variables = {"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin"}
        done = subprocess.run(command, cwd=self.folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True)
        return done.stderr.decode(errors="replace")

    def eaten(self, names: Sequence[str]) -> dict[str, int]:
        """How many of the words that follow it each option takes."""
        made: dict[str, int] = {}
        for part in self.parts(names):
            words = [word for n, name in enumerate(part) for word in (name, f"zz{n}a.{self.kind}", f"zz{n}b.{self.kind}")]
            # Now and then clang takes a file that is not there for one that is, and plans its compile.
            missed = set(re.findall(r"(?:no such file or directory: '|\"-main-file-name\" \"|error: )zz(\d+[ab])\.[co]", self.run(words)))
            made |= {name: sum(f"{n}{letter}" not in missed for letter in "ab") for n, name in enumerate(part)}
        for name in set(names) - made.keys():
            errors = self.run([name, f"zza.{self.kind}", f"zzb.{self.kind}"])
            count = sum(bool(re.search(rf"zz{letter}\.[co]", errors)) for letter in "ab")
            made[name] = (2 - count) if count else 0  # a driver that ended before it looked for files says nothing
        return made

    def joined(self, names: Sequence[str]) -> set[str]:
        """The options that take the rest of their word."""
        unknown = re.compile(r"(?:unknown argument:?|unrecognized command-line option|unsupported option) '([^']*)zzq'")
        taken = {name for name in names if not ALONE.match(name)}
        together = list(self.parts(names, "zzq"))
        for part in together:
            taken -= set(unknown.findall(self.run([f"{name}zzq" for name in part])))
        for name in taken - {name for part in together for name in part}:
            if unknown.search(self.run([f"{name}zzq"])):
                taken.remove(name)
        first = {name for name in taken if not any(name[:n] in taken for n in range(2, len(name)))}
        return {name for name in taken if name in first or name.endswith(("=", "-", ","))}

    def parts(self, names: Sequence[str], suffix: str = "") -> Iterator[Sequence[str]]:
        """Batches of options that can be asked together: none of them ends the driver before it has seen the last word."""
        together = [name for name in names if not ALONE.match(name)]
        for start in range(0, len(together), BATCH):
            yield from self.halves(together[start : start + BATCH], suffix)

    def halves(self, part: Sequence[str], suffix: str) -> Iterator[Sequence[str]]:
        if not part:
            return
        words = (
            [f"{name}{suffix}" for name in part]
            if suffix
            else [word for name in part for word in (name, f"zz1.{self.kind}", f"zz1.{self.kind}")]
        )
        if END[1:] in self.run([*words, END if suffix else END[1:]]):
            yield part
        elif len(part) > 1:
            half = len(part) // 2
            yield from self.halves(part[:half], suffix)
            yield from self.halves(part[half:], suffix)


# The table.


def read_list(path: Path) -> dict[str, str]:
    """Spelling -> shape."""
    return dict(line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#"))


def lists() -> dict[str, dict[str, str]]:
    """The list of each kind of compiler."""
    return {path.stem: read_list(path) for path in sorted(LISTS.glob("*.txt"))}


def judgements() -> list[Judgement]:
    """Everything in judgements.toml, with ``[no-]`` written out both ways."""
    document: dict[str, Any] = tomllib.loads((LISTS / "judgements.toml").read_text("utf-8"))
    made: dict[str, Judgement] = {}
    for entry in document["judgement"]:
        for word in entry["options"].split():
            name, _, shape = word.partition("|")
            for spelling in {name.replace("[no-]", ""), name.replace("[no-]", "no-")}:
                if spelling in made:
                    raise SystemExit(f"judged twice: {spelling}")
                plain = spelling.removesuffix("*")
                made[spelling] = Judgement(plain, entry["effect"], entry.get("reason", ""), plain != spelling, shape)
    return list(made.values())


def rows() -> list[Row]:
    """The table, without the rows that a lookup can do without."""
    known_by = lists()
    judged = judgements()
    exact = {one.spelling: one for one in judged if not one.family}
    families = sorted((one for one in judged if one.family), key=lambda one: -len(one.spelling))
    made = {one.spelling: Row(one.spelling, JOINED, one.effect, one.reason) for one in families}
    for name in sorted({name for known in known_by.values() for name in known} | set(exact)):
        found = {known[name] for known in known_by.values() if name in known}
        one = exact.get(name)
        if one is not None:
            made[name] = Row(name, one.shape or _agreed(name, found), one.effect, one.reason)
        elif found & {SEPARATE, EITHER, SEVERAL}:
            made.setdefault(name, Row(name, EITHER if EITHER in found else SEPARATE, "Pass", "unknown-option"))
        elif not any(name.startswith(one.spelling) for one in families):
            made[name] = Row(name, JOINED if JOINED in found else NONE, "Pass", "unknown-option")
    table = sorted(made.values(), key=lambda row: row.spelling)
    return [row for row in table if not _told_already(row, made)]


def _agreed(name: str, found: set[str]) -> str:
    if len(found) == 1 and SEVERAL not in found:
        return found.pop()
    if found == {SEPARATE, EITHER}:
        return EITHER
    raise SystemExit(f"{name}: " + (f"the compilers differ: {sorted(found)}" if found else "no list has it") + ": write NAME|SHAPE")


def _told_already(row: Row, made: dict[str, Row]) -> bool:
    """The lookup gives the same without the row: by a shorter spelling, or by knowing none."""
    if row.shape not in (NONE, JOINED):
        return False
    for length in range(len(row.spelling) - 1, 1, -1):
        shorter = made.get(row.spelling[:length])
        if shorter is not None and shorter.shape in (JOINED, EITHER):
            return shorter.shape == JOINED and (shorter.effect, shorter.reason) == (row.effect, row.reason)
    return (row.effect, row.reason) == ("Pass", "unknown-option")


def text() -> str:
    """options.def."""
    lines = [
        "// Options of GCC and Clang: OPTION(spelling, argument, effect, reason). Made by tools/genoptions.py from the compilers' own",
        "// lists of options and tools/options/judgements.toml: edit that file and run it, in place of editing this one.",
        "//",
        "// argument  None                the option stands alone, spelled exactly so",
        "//           Joined              any argument follows in the same word, possibly empty",
        "//           Separate            the next word is the argument",
        "//           JoinedOrSeparate    in the same word if there is more of it, else the next word",
        "// effect    Neutral             changes nothing perfcc has to know about",
        "//           Preprocess          changes what the source text means: include paths, macros, language standard",
        "//           Semantics           changes what a rewrite may do (see perfcc/cc/options.py)",
        "//           Pass                the command line goes straight to the compiler, for that reason",
        "//           Compile, Output, Language, Optimise, Depend, DependAll, DependFile, DependTarget, Forward",
        "//                               what the driver does",
        "// The longest spelling that fits wins, an exact one before a joined one. What is not in this table is unknown, and passes.",
        "",
    ]
    lines += [f'OPTION("{row.spelling}", {row.shape}, {row.effect}, "{row.reason}")' for row in rows()]
    return "\n".join(lines) + "\n"


# The command.


def read(compiler: str) -> None:
    """Asks the compiler and writes its list; what the list has of other versions stays."""
    path = LISTS / f"{family(compiler)}.txt"
    list_ = (read_list(path) if path.exists() else {}) | shapes(compiler, known(compiler))
    head = "# Spelling and shape of the argument of every option that the compilers asked know. Made by tools/genoptions.py --read.\n"
    path.write_text(head + "".join(f"{name}\t{shape}\n" for name, shape in sorted(list_.items())), "utf-8")


def unlisted(compiler: str) -> Iterator[str]:
    """What the compiler knows that its list does not."""
    return (f"{compiler} knows {name}, which tools/options has not" for name in sorted(known(compiler) - lists()[family(compiler)].keys()))


def reshaped(compiler: str, names: Iterable[str] = ()) -> Iterator[str]:
    """Judged options (or ``names``) whose argument the compiler takes in another way than its list says."""
    listed = lists()[family(compiler)]
    matters = (
        set(names) or {one.spelling for one in judgements() if not one.family and one.effect != "Pass"} & known(compiler) & listed.keys()
    )
    found = shapes(compiler, matters)
    yield from (f"{compiler} takes {name} as {found[name]}, not {listed[name]}" for name in sorted(matters) if found[name] != listed[name])


def main(arguments: Sequence[str]) -> int:
    """``--read`` and ``--check`` as the module says."""
    verb, compilers = (arguments[0], arguments[1:]) if arguments and arguments[0] in ("--read", "--check") else ("", [])
    if arguments and not verb:
        print(__doc__)
        return 2
    if verb == "--check":
        found = [difference for compiler in compilers for difference in (*unlisted(compiler), *reshaped(compiler))]
        if TABLE.read_text("utf-8") != text():
            found.append("native/launcher/options.def is out of date: run tools/genoptions.py")
        print("\n".join(found), end="\n" if found else "")
        return 1 if found else 0
    for compiler in compilers:
        read(compiler)
    TABLE.write_text(text(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

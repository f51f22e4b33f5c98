"""Writes the pages of ``docs/`` that come from perfcc's own tables: the reasons, and a page for each rule's room.

``gendocs.py`` writes them, ``gendocs.py --check`` says which are out of date and fails.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from perfcc.core.reason import REASONS, ReasonKind  # noqa: E402

MADE = "<!-- Made by tools/gendocs.py: run `make docs` in place of editing. -->\n\n"
PASS_TABLE = ROOT / "native" / "launcher" / "reasons.def"
PASS_REASON = re.compile(r'^PASS_REASON\("([a-z-]+)", "([^"]*)"\)', re.M)
STAGES = {
    "frontend": "What the loop is made of",
    "analysis": "Legality",
    "rules": "Rules",
    "cc": "Compiling",
    "store": "The store",
    "verify": "Checks",
    "pipeline": "The build",
}
SAFETY = {
    "exact": "exact: legal by proof alone, no test at run time",
    "guarded": "guarded: legal by proof and by tests at run time; where one fails the original runs",
    "reassociates-fp": 'reassociates floating point: only where your flags or `fp = "reassociate"` allow it',
}


def pages(root: Path = ROOT) -> dict[str, str]:
    """Path relative to the repository -> text, for every page made here."""
    rooms = sorted(path.parent for path in (root / "rules").glob("*/rule.toml"))
    made = {"docs/reasons.md": reasons_page(), "docs/rules/README.md": rules_page(rooms)}
    for room in rooms:
        made[f"docs/rules/{room.name}.md"] = rule_page(room)
    return made


def reasons_page() -> str:
    """Every reason by stage: id, sentence, what lifts it."""
    lines = [
        "# Why a loop was left alone\n",
        "Every loop nest that perfcc does not rewrite has one of these reasons, with the line that caused it. "
        "The ids are those of `perfcc --explain` and `perfcc --stats`.\n",
    ]
    for stage, rows in groupby(sorted(REASONS.values(), key=_stage), key=lambda row: row.stage):
        lines += [f"## {STAGES[stage]}\n", "| reason | means | to lift it |", "| --- | --- | --- |"]
        lines += [f'| <a id="{row.id}"></a>`{row.id}` | {_cell(row.sentence)} | {_cell(row.lift)} |' for row in rows]
        lines.append("")
    lines += [
        "## Whole compiles that go straight to the compiler\n",
        "perfcc does not look at these at all; `perfcc --stats` counts them.\n",
        "| reason | means |",
        "| --- | --- |",
        *(f"| `{id}` | {_cell(sentence)} |" for id, sentence in PASS_REASON.findall(PASS_TABLE.read_text("utf-8"))),
    ]
    return MADE + "\n".join(lines).rstrip() + "\n"


def rules_page(rooms: list[Path]) -> str:
    """The list of rules."""
    lines = ["# Rules\n", "| rule | category | what it does |", "| --- | --- | --- |"]
    for room in rooms:
        rule = _rule(room)
        lines.append(f"| [{_cell(rule['title'])}]({room.name}.md) (`{room.name}`) | {_cell(rule['category'])} | {_cell(rule['what'])} |")
    return MADE + "\n".join(lines) + "\n"


def rule_page(room: Path) -> str:
    """One rule: what, why, how safe, references, and its cases in full."""
    rule = _rule(room)
    lines = [
        f"# {rule['title']}\n",
        f"Rule `{room.name}`, category {rule['category']}. Safety: {SAFETY[rule['safety']]}.\n",
        "## What it does\n",
        _text(rule["what"]),
        "## Why it helps\n",
        _text(rule["why"]),
    ]
    if rule.get("references"):
        lines += ["## References\n", *(f"- {reference}" for reference in rule["references"]), ""]
    if rule.get("refuses"):
        lines += ["## What it refuses with\n"]
        lines += [f"- [`{id}`](../reasons.md#{id}): {REASONS[id].sentence}" for id in rule["refuses"]] + [""]
    lines += _cases(room, "fires", "Where it applies")
    lines += _cases(room, "refuses", "Where it does not")
    return MADE + "\n".join(lines).rstrip() + "\n"


def _cases(room: Path, prefix: str, heading: str) -> list[str]:
    lines: list[str] = []
    for path in sorted((room / "cases").glob(f"{prefix}_*")):
        name = path.name.split(".")[0].removeprefix(f"{prefix}_").replace("_", " ").replace("-", " ")
        if path.suffix not in (".c", ".cpp", ".expected"):
            raise SystemExit(f"{path}: a case is a .c or .cpp file with an .expected file beside it")
        text = path.read_text("utf-8").strip("\n")
        if path.suffix == ".expected":
            lines += ["becomes\n", f"```cpp\n{text}\n```\n"]
        else:
            lines += [f"### {name.capitalize()}\n", *_reason_lines(text), f"```{'c' if path.suffix == '.c' else 'cpp'}\n{text}\n```\n"]
    return [f"## {heading}\n", *lines] if lines else []


def _reason_lines(text: str) -> Iterator[str]:
    """The reasons a case names, in words."""
    for id in dict.fromkeys(re.findall(r"// reason: ([a-z-]+)|/\* reason: ([a-z-]+)", text)):
        name = id[0] or id[1]
        yield f"Refused: {REASONS[name].sentence} ([`{name}`](../reasons.md#{name})).\n"


def _rule(room: Path) -> dict[str, Any]:
    rule = tomllib.loads((room / "rule.toml").read_text("utf-8"))
    lacking = [key for key in ("title", "category", "what", "why", "safety") if not rule.get(key)]
    if lacking:
        raise SystemExit(f"{room}/rule.toml lacks {', '.join(lacking)}")
    return rule


def _stage(row: ReasonKind) -> int:
    return list(STAGES).index(row.stage)


def _text(words: str) -> str:
    return " ".join(words.split()) + "\n"


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|")


def stale(root: Path = ROOT) -> list[str]:
    """Pages that differ from what would be written, are missing, or belong to no rule any more."""
    made = pages(root)
    wrong = [name for name, text in made.items() if not (root / name).is_file() or (root / name).read_text("utf-8") != text]
    left = [str(path.relative_to(root)) for path in (root / "docs" / "rules").glob("*.md")]
    return wrong + [name for name in left if name not in made]


def main(arguments: list[str]) -> int:
    """Write, or with ``--check`` compare."""
    if arguments == ["--check"]:
        wrong = stale()
        for name in wrong:
            print(f"{name} is out of date: run make docs", file=sys.stderr)
        return 1 if wrong else 0
    made = pages()
    (ROOT / "docs" / "rules").mkdir(parents=True, exist_ok=True)
    for name in stale():
        if name in made:
            (ROOT / name).write_text(made[name], "utf-8")
        else:
            (ROOT / name).unlink()
        print(f"{'wrote' if name in made else 'removed'} {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""What ``--doctor`` found, as text or JSON: one line a thing that perfcc needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfcc.explain import wording
from perfcc.explain.blocks import Page

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked for.

    ``found`` is where it is ("" when missing), ``version`` its own words, ``needed_for`` what is off without it, ``how`` how to get it.
    ``required`` tells that no kernel can be rewritten without it.
    """

    name: str
    found: str
    version: str = ""
    needed_for: str = ""
    how: str = ""
    required: bool = True


def healthy(checks: Sequence[Check]) -> bool:
    """True when nothing required is missing."""
    return all(check.found for check in checks if check.required)


def doctor_text(checks: Sequence[Check], console: Console) -> None:
    """What was found, then for each missing thing what that disables and how to get it, then the verdict."""
    page = Page(console, {})
    page.table(
        ("", "what", "version", "where"),
        [(_mark(check), check.name, check.version.split("\n")[0], check.found or "not found") for check in checks],
    )
    missing = [check for check in checks if not check.found]
    for check in missing:
        page.line("")
        page.line(f"{check.name} is missing", "bold red" if check.required else "bold yellow")
        page.field("disables", [check.needed_for] if check.needed_for else [])
        page.field("get it", [check.how] if check.how else [])
    page.line("")
    if healthy(checks):
        page.line("perfcc can rewrite programs here." + (" Some parts are off, see above." if missing else ""), "bold green")
    else:
        page.line("perfcc compiles as the real compiler does, but can't rewrite anything here until what is required is there.", "bold red")


def doctor_json(checks: Sequence[Check]) -> str:
    """``{"format": "perfcc-doctor", "version": 1, "healthy": ..., "checks": [...]}`` with a final newline."""
    rows = [
        {
            "name": check.name,
            "found": wording.valid(check.found) or None,
            "version": wording.valid(check.version),
            "required": check.required,
            "needed_for": check.needed_for,
            "how": check.how,
        }
        for check in checks
    ]
    return json.dumps({"format": "perfcc-doctor", "version": 1, "healthy": healthy(checks), "checks": rows}, indent=1) + "\n"


def _mark(check: Check) -> str:
    if check.found:
        return "ok"
    return "MISSING" if check.required else "absent"

"""A rule is found by name, and a new one needs two new paths and no edit elsewhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import perfcc
from perfcc.rules import discovery

NEW_RULE = '''"""Turns a loop around: a stand-in."""

from dataclasses import replace

from perfcc.core.proof import Legal
from perfcc.core.protocols import Match
from perfcc.rules.bounds import fresh
from perfcc.rules.tree import exchange, find

PHASE = 5


def match(kernel, nest, facts):
    yield Match("new-header", nest, nest.id)


def parameters(match, facts):
    yield ()


def legal(match, facts):
    return Legal("new-header", "nothing changes")


def rewrite(kernel, match, proof, parameters):
    loop, _ = fresh(find(match.nest, match.loop), match.nest)
    return exchange(match.nest, match.loop, loop)
'''
NEW_ROOM = """title = "New header"
category = "loop efficiency"
what = "Prints the header anew."
why = "It does not."
safety = "exact"
references = []
refuses = []
"""
USE = """
from perfcc.propose.from_rules import FromRules
from perfcc.rules.discovery import room, rules
from nests import saxpy
_, kernel, facts = saxpy()
found = FromRules(lambda kernel, nest: facts).propose(kernel, facts, ())
print(list(rules()), room("new-header").title)
print([c.name for c in found], [s.category for c in found for s in c.steps if s.rule == "new-header"][0])
"""


def test_a_new_rule_needs_two_new_paths_and_no_edit(tmp_path: Path) -> None:
    package = Path(perfcc.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(package, tmp_path / "perfcc", ignore=ignored)
    shutil.copytree(package.parent / "rules", tmp_path / "rules", ignore=ignored)
    shutil.copy(package.parent / "pyproject.toml", tmp_path)
    shutil.copy(Path(__file__).parent / "nests.py", tmp_path)
    (tmp_path / "perfcc" / "rules" / "catalogue" / "new_header.py").write_text(NEW_RULE, "utf-8")
    (tmp_path / "rules" / "new-header").mkdir()
    (tmp_path / "rules" / "new-header" / "rule.toml").write_text(NEW_ROOM, "utf-8")
    program = f"import sys; sys.path[:] = {[str(tmp_path), *sys.path]!r}\n{USE}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("['new-header', ")
    assert first.endswith("New header")
    assert "'new-header'" in second
    assert second.endswith("loop efficiency")


def test_every_rule_has_its_room_and_every_room_its_rule() -> None:
    rooms = {path.parent.name for path in (Path(perfcc.__file__).parent.parent / "rules").glob("*/rule.toml")}
    assert rooms == set(discovery.rules())
    for id in rooms:
        assert discovery.category(id)


def test_rules_come_in_the_order_of_their_phases() -> None:
    phases = [discovery.phase(rule) for rule in discovery.rules().values()]
    assert phases == sorted(phases)
    assert discovery.rules()


def test_a_missing_room_costs_the_report_a_word_only() -> None:
    assert discovery.category("no-such-rule") == ""


def test_code_is_found_without_reading_a_room() -> None:
    program = (
        "import sys\nfrom perfcc.rules.discovery import rules\nassert rules()\n"
        "print([m for m in ('tomllib', 'tomli', 'islpy', 'numpy', 'clang') if m in sys.modules])"
    )
    checkout = Path(perfcc.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=checkout)
    assert done.stdout.strip() == "[]"

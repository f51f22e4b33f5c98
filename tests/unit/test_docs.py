"""The pages say what the code says: made pages are current, every key is described, no link is dead."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

from perfcc.core import settings
from perfcc.core.reason import REASONS
from perfcc.core.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def gendocs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gendocs", ROOT / "tools" / "gendocs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_made_pages_are_current(gendocs: ModuleType) -> None:
    assert gendocs.stale() == [], "run make docs"


def test_a_page_that_is_out_of_date_missing_or_left_over_is_noticed(gendocs: ModuleType, tmp_path: Path) -> None:
    room(tmp_path)
    for name, text in gendocs.pages(tmp_path).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert gendocs.stale(tmp_path) == []
    (tmp_path / "docs" / "reasons.md").write_text("old", "utf-8")
    (tmp_path / "docs" / "rules" / "swap-loops.md").unlink()
    (tmp_path / "docs" / "rules" / "gone.md").write_text("", "utf-8")
    assert sorted(gendocs.stale(tmp_path)) == ["docs/reasons.md", "docs/rules/gone.md", "docs/rules/swap-loops.md"]


def test_a_rules_page_has_its_words_its_cases_and_its_reasons(gendocs: ModuleType, tmp_path: Path) -> None:
    room(tmp_path)
    pages = gendocs.pages(tmp_path)
    page = pages["docs/rules/swap-loops.md"]
    assert "# Loop swap\n" in page
    assert "int fires;" in page
    assert "- A book\n" in page
    assert "[`carried-dependence`](../reasons.md#carried-dependence)" in page
    assert "[Loop swap](swap-loops.md) (`swap-loops`)" in pages["docs/rules/README.md"]


def test_every_reason_is_on_the_page(gendocs: ModuleType) -> None:
    page = gendocs.reasons_page()
    assert "| `link` | it links, nothing is compiled |" in page
    assert [id for id in REASONS if f'<a id="{id}"></a>`{id}`' not in page] == []


@pytest.mark.parametrize("page", ["README.md", "docs/configuration.md"])
def test_every_key_is_described_with_its_default(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    for key in settings._KEYS:
        assert f"`{key}`" in text, key
    for field in fields(Settings):
        if field.name != "rules_off":
            default = f'"{field.default}"' if isinstance(field.default, str) else f"{field.default:g}"
            if field.name == "store_size":
                default = '"2G"'
                assert settings._size("2G", field.name, page) == field.default
            row = next(line for line in text.splitlines() if line.startswith((f"| `{field.name}` |", f"### `{field.name}` ")))
            assert f"`{default}`" in row
    for value in (*settings.MODES, *settings.FP_MODES):
        assert f"`{value}`" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_is_dead(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        path, _, anchor = target.partition("#")
        found = (page.parent / path) if path else page
        assert found.exists(), target
        assert not anchor or f'id="{anchor}"' in found.read_text("utf-8"), target


def test_the_makefile_has_every_target_that_the_pages_name() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for page in PAGES:
        for target in re.findall(r"\bmake (setup|demo|test|lint|bench|mutants|docs|clean|[a-z]+)`", page.read_text("utf-8")):
            assert re.search(rf"^{target}:", makefile, re.M), f"{page.name}: make {target}"


def room(root: Path) -> None:
    cases = root / "rules" / "swap-loops" / "cases"
    cases.mkdir(parents=True)
    (cases.parent / "rule.toml").write_text(
        'title = "Loop swap"\ncategory = "loop-efficiency"\nwhat = "Swaps."\nwhy = "It is faster."\n'
        'safety = "exact"\nrefuses = ["carried-dependence"]\nreferences = ["A book"]\n',
        "utf-8",
    )
    (cases / "fires_simply.cpp").write_text("int fires;\n", "utf-8")
    (cases / "refuses_carried.cpp").write_text("// reason: carried-dependence\nint refuses;\n", "utf-8")

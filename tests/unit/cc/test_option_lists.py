"""The option table against the compilers themselves."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from perfcc.cc import options

ROOT = Path(__file__).resolve().parents[3]
TAKES_NEXT = (options.Argument.SEPARATE, options.Argument.JOINED_OR_SEPARATE)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("genoptions", ROOT / "tools" / "genoptions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["genoptions"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("compiler", ["gcc-12", "clang-19"])
def test_compilers_know_what_the_lists_have(generator: ModuleType, compiler: str) -> None:
    assert shutil.which(compiler)
    assert list(generator.unlisted(compiler)) == []
    assert list(generator.reshaped(compiler)) == []


def test_the_table_is_what_lists_and_judgements_give(generator: ModuleType) -> None:
    assert generator.TABLE.read_text() == generator.text()


def test_a_compiler_with_new_options_is_noticed(generator: ModuleType, tmp_path: Path) -> None:
    newer = tmp_path / "gcc-99"
    newer.write_text('#!/bin/sh\ncase "$*" in --completion=-) gcc-12 "$@"; echo -fbrand-new;; *) exec gcc-12 "$@" ;; esac\n')
    newer.chmod(0o755)
    assert list(generator.unlisted(str(newer))) == [f"{newer} knows -fbrand-new, which tools/options has not"]


def test_an_argument_taken_in_another_way_is_noticed(generator: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = generator.lists()
    monkeypatch.setattr(generator, "lists", lambda: {**listed, "gcc": {**listed["gcc"], "-pipe": "Separate"}})
    assert list(generator.reshaped("gcc-12", ["-pipe", "-I"])) == ["gcc-12 takes -pipe as None, not Separate"]


def test_every_option_that_counts_takes_its_argument_as_the_compilers_say(generator: ModuleType) -> None:
    """A wrong shape would make a source of an argument. The two exceptions are asked for by their drivers alone, or need their value."""
    for known in generator.lists().values():
        for name, shape in known.items():
            row = options.find(name)
            if row is None or row.effect is options.Effect.PASS or name in ("-x", "-ftemplate-depth-"):
                continue
            assert (shape in ("Separate", "JoinedOrSeparate")) == (row.argument in TAKES_NEXT and row.spelling == name), name


def test_an_option_nobody_judged_passes(generator: ModuleType) -> None:
    judged = generator.judgements()
    exact = {one.spelling for one in judged if not one.family}
    families = tuple(one.spelling for one in judged if one.family)
    joined = tuple(
        row.spelling for row in options.table() if row.argument in (options.Argument.JOINED, options.Argument.JOINED_OR_SEPARATE)
    )
    for name in {name for known in generator.lists().values() for name in known} - exact:
        row = options.find(name)
        if not name.startswith((*families, *joined)):
            assert row is None or row.effect is options.Effect.PASS, name

"""Settings: their order of precedence, their errors, and where the store is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfcc.core import settings
from perfcc.core.settings import Settings, SettingsError, load


def test_defaults_stand_without_file_or_environment(tmp_path: Path) -> None:
    assert settings._from_table(Settings(), {}, "environment") == Settings()
    (tmp_path / "perfcc.toml").write_text("")
    assert load(tmp_path, {}) == Settings()


def test_the_file_is_found_upwards_and_the_nearest_wins(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "perfcc.toml").write_text("budget = 5\n")
    assert load(deep, {}).budget == 5
    (deep.parent / "perfcc.toml").write_text('mode = "apply"\n')
    assert load(deep, {}) == Settings(mode="apply")
    assert settings.find_file(deep) == deep.parent / "perfcc.toml"


def test_the_environment_beats_the_file(tmp_path: Path) -> None:
    (tmp_path / "perfcc.toml").write_text('mode = "apply"\nfp = "reassociate"\nthreads = 3\n')
    assert load(tmp_path, {"PERFCC_MODE": "off", "PERFCC_THREADS": "2"}) == Settings(mode="off", fp="reassociate", threads=2)


def test_variables_of_other_parts_of_perfcc_are_no_settings(tmp_path: Path) -> None:
    (tmp_path / "perfcc.toml").write_text("")
    assert load(tmp_path, {"PERFCC_CXX": "clang++", "HOME": "/x", "PERFCC_": "1"}) == Settings()


def test_rules_are_switched_off_by_id(tmp_path: Path) -> None:
    (tmp_path / "perfcc.toml").write_text("[rules]\nloop-tiling = false\nparallel-loop = true\ninteger-reduction = false\n")
    assert load(tmp_path, {}).rules_off == ("integer-reduction", "loop-tiling")
    assert load(tmp_path, {"PERFCC_RULES": "-parallel-loop, -loop-tiling"}).rules_off == ("loop-tiling", "parallel-loop")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mod = 'off'", "unknown key 'mod'; did you mean 'mode'?"),
        ("zzzzzz = 1", "unknown key 'zzzzzz'; the keys are mode,"),
        ("mode = 'fast'", "mode must be one of search, apply, off, identity, not 'fast'"),
        ("fp = 'fast'", "fp must be one of strict, reassociate"),
        ("budget = 'soon'", "budget must be a number, not 'soon'"),
        ("budget = -1", "budget must be a finite number of at least 0"),
        ("budget = inf", "budget must be a finite number of at least 0"),
        ("budget = nan", "budget must be a finite number of at least 0"),
        ("budget = true", "budget must be a finite number"),
        ("rules.loop-tilin = false", "unknown rule 'loop-tilin'; did you mean 'loop-tiling'?"),
        ("rules.zzzzzz = true", "unknown rule 'zzzzzz'; the rules are integer-reduction, "),
        ("rules = 'loop-tiling'", "rules must be rule ids with a minus, as in -loop-tiling, not 'loop-tiling'"),
        ("threads = 1.5", "threads must be a whole number, not 1.5"),
        ("store = 3", "store must be a string, not 3"),
        ("rules = 3", "rules must map rule ids to true or false"),
        ("[rules]\na = 1", "rules must map rule ids to true or false"),
        ("mode = ", "perfcc.toml: "),
    ],
)
def test_an_error_names_the_file_and_the_way_out_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "perfcc.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, {})
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_utf_8_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "perfcc.toml").write_bytes(b"store = '\xff'")
    with pytest.raises(SettingsError, match=r"perfcc\.toml"):
        load(tmp_path, {})


def test_an_error_in_the_environment_says_so(tmp_path: Path) -> None:
    (tmp_path / "perfcc.toml").write_text("")
    with pytest.raises(SettingsError, match=r"^environment: budget must be a number"):
        load(tmp_path, {"PERFCC_BUDGET": "x"})


def test_the_store_is_the_setting_or_the_cache_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Settings(store=str(tmp_path)).store_path() == tmp_path
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert Settings().store_path() == tmp_path / "cache" / "perfcc"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings().store_path() == tmp_path / ".cache" / "perfcc"
    assert Settings(store="~/s").store_path() == tmp_path / "s"


words = st.text(max_size=12)
values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), words, st.dictionaries(words, st.booleans()))


@given(st.dictionaries(st.one_of(st.sampled_from(settings._KEYS), words), values, max_size=4))
def test_any_table_gives_settings_or_a_one_line_error(table: dict[str, object]) -> None:
    message, made = "", Settings()
    try:
        made = settings._from_table(Settings(), table, "here")
    except SettingsError as error:
        message = str(error)
    assert message == "" or message.startswith("here: ")
    assert len(message.splitlines()) <= 1
    assert made.mode in settings.MODES
    assert 0 <= made.budget < float("inf")
    assert isinstance(made.threads, int)

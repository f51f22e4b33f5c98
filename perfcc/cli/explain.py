"""``perfcc --explain [FILE or DIR] [--format text|json]``: what was done, from the store and from the files themselves."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from perfcc.cc import section
from perfcc.cli.console import UsageError, console, here, split
from perfcc.core.codec import CodecError, loads
from perfcc.core.decision import Outcome
from perfcc.core.reason import Reason
from perfcc.core.settings import SettingsError
from perfcc.explain import select
from perfcc.explain.json import render_json
from perfcc.explain.text import render_text
from perfcc.explain.wording import RuleWords
from perfcc.rules.discovery import room, rules
from perfcc.store.disk import Store
from perfcc.store.key import processors
from perfcc.store.links import link_inputs
from perfcc.store.note import Note

FORMATS = ("text", "json")
HOW = "was it built with perfcc and this store? Where its objects were moved or deleted, ask for the source"
_HEADERS = (".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".H", ".HPP", ".inc", ".inl", ".ipp", ".ixx", ".tcc", ".tpp", ".txx")
_SOURCES = (".c", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP")


def run(arguments: list[str]) -> int:
    """Prints the report; 1 when there is nothing to report on, 2 for a bad command line."""
    try:
        positional, chosen = split(arguments, FORMATS)
        if len(positional) > 1:
            raise UsageError("one file or directory at a time")
        outcomes = collect(Path(positional[0] if positional else "."), Store(here().store_path()))
    except (UsageError, SettingsError, section.SectionError) as error:
        print(f"perfcc: --explain: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"perfcc: --explain: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    if not outcomes:
        where = positional[0] if positional else "this directory"
        print(f"perfcc: nothing is known of {where}: it carries no rewrites, and the store knows no part of it; {HOW}", file=sys.stderr)
        return 1
    if chosen == "json":
        sys.stdout.write(render_json(outcomes))
    else:
        render_text(outcomes, console(), catalogue(), os.getcwd())
    return 0


def collect(target: Path, store: Store) -> tuple[Outcome, ...]:
    """The outcomes behind a directory, a source, a header, an object, a library or an executable; each unit once.

    Of units that include a header, only what was decided on the header itself.
    """
    if target.is_dir():
        root = os.path.join(os.path.realpath(target), "")
        look(store, [note for note in store.notes() if os.path.realpath(note.output).startswith(root)])
        return current(store.outcomes(target), store)
    if target.suffix in _SOURCES:
        real = os.path.realpath(target)
        look(store, [note for note in store.notes() if os.path.realpath(note.source) == real])
        return current((outcome for outcome in store.all_outcomes() if os.path.realpath(outcome.source) == real), store)
    if target.suffix in _HEADERS:
        real = os.path.realpath(target)
        look(store, [note for note in store.notes() if real in map(os.path.realpath, note.dependencies)])
        return tuple(part for outcome in current(store.all_outcomes(), store) if (part := select.within(outcome, real)) is not None)
    places = list(parts(target, store))
    look(store, [note for path, member in places if (note := store.note(path, member)) is not None])
    known = current((outcome for path, member in places if (outcome := store.outcome(path, member)) is not None), store)
    told = {(outcome.source, os.path.basename(outcome.output)) for outcome in known}
    return (*known, *(outcome for outcome in travelling(target) if (outcome.source, outcome.output) not in told))


def look(store: Store, notes: list[Note]) -> None:
    """Puts outcomes in the place of the notes on units that nobody has looked at yet; those whose sources have changed are left out."""
    unchanged = []
    for note in notes:
        if note.holds():
            unchanged.append(note)
        else:
            print(f"perfcc: {note.source} or a header of it has changed since it was compiled; build it again", file=sys.stderr)
    if not unchanged:
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(processors(), len(unchanged))) as pool:
        for note, outcome in zip(unchanged, pool.map(partial(look_at, store), unchanged), strict=True):
            if store.note(Path(note.output), note.member) == note:
                store.keep_outcome(Path(note.output), outcome, note.member)


def look_at(store: Store, note: Note) -> Outcome:
    """What the worker would have found. A failure is the unit's reason."""
    from perfcc.cli.worker import parse_request, scratch_folder
    from perfcc.core.settings import load
    from perfcc.pipeline import Context, look_at_unit

    request = parse_request(note.request)
    try:
        settings = load(Path(note.source).parent, os.environ)
        with scratch_folder() as scratch:
            return look_at_unit(request, Context(settings, store, scratch, lambda line: None))
    except (SettingsError, OSError) as error:
        return Outcome(note.source, note.output, request.invocation.compiler, reason=Reason("internal-error", detail=str(error)))


def travelling(target: Path) -> Iterator[Outcome]:
    """The outcomes that lie in the file itself: those of units with rewrites, objects by their bare names. Raises SectionError, OSError."""
    for payload in section.read(target):
        try:
            yield loads(Outcome, payload)
        except CodecError as error:
            raise section.SectionError(f"{target}: written by another version of perfcc: {error}") from None


def parts(target: Path, store: Store, depth: int = 0) -> Iterator[tuple[Path, str]]:
    """What went into ``target``, through libraries that were linked with perfcc too: objects, and sources of one-step links."""
    inputs = link_inputs(store.path, target) if depth < 8 else None
    if inputs is None:
        yield target, ""
        return
    for path in inputs:
        if path.suffix in _SOURCES or store.outcome(target, str(path)) is not None or store.note(target, str(path)) is not None:
            yield target, str(path)
        else:
            yield from parts(path, store, depth + 1)


def current(outcomes: Iterable[Outcome], store: Store) -> tuple[Outcome, ...]:
    """The outcomes as far as they still hold. Of a source compiled straight into a program they do so while the last link names it, and
    its rewrites are there only if the program's own report says so: the link that puts them in may have failed."""
    found = []
    for outcome in outcomes:
        output = Path(outcome.output)
        inputs = link_inputs(store.path, output)
        if inputs is not None and os.path.realpath(outcome.source) not in map(os.path.realpath, inputs):
            continue
        found.append(outcome if inputs is None or not outcome.emitted or _tells_of(output, outcome) else replace(outcome, emitted=False))
    return tuple(found)


def _tells_of(program: Path, outcome: Outcome) -> bool:
    try:
        return any(told.source == outcome.source for told in travelling(program))
    except (section.SectionError, OSError):
        return False


def catalogue() -> dict[str, RuleWords]:
    """The rules' own words."""
    words = {}
    for id in rules():
        own = room(id)
        words[id] = RuleWords(own.title, own.category, own.why)
    return words

"""The frontend's one entry."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace

from perfcc.core.kernel import Kernel, ParsedUnit
from perfcc.core.reason import Reason
from perfcc.core.unit import TranslationUnit
from perfcc.frontend import collect
from perfcc.frontend import kinds as k
from perfcc.frontend.build import KernelBuilder, numbered
from perfcc.frontend.collect import Definition, definitions, function, holds_one, loop_offsets
from perfcc.frontend.expansions import Expansion, Expansions
from perfcc.frontend.files import Files, could_hold_kernels, is_compilers_own, may_hold_loop
from perfcc.frontend.libclang import DETAILED_PREPROCESSING_RECORD, Ast, Cursor, LibclangError
from perfcc.frontend.reach import Reach
from perfcc.frontend.source import SourceFile
from perfcc.frontend.unit import Unit, Whole

_INCLUDES = frozenset({"include", "include_next", "import"})


def parse(unit: TranslationUnit, headers: Sequence[str] | None = None) -> ParsedUnit:
    """The kernels of a unit's files.

    Looked at are the loops of the main file, and those of the project's own headers in functions that the unit can reach; each of them
    belongs to exactly one kernel. ``headers`` are the files that the compiler read besides the main one, where they are known: when none
    of the project's files has the words ``for``, ``while`` and ``do``, nothing is parsed, and ``includes`` are empty. Never raises for
    what the unit holds: a unit that libclang can't parse, or a missing libclang, gives a ParsedUnit with a refusal.
    """
    started = time.perf_counter()
    source = SourceFile(unit.invocation.source, unit.text)
    if not _worth_parsing(unit, source, headers):
        return ParsedUnit((), (), seconds=time.perf_counter() - started)
    try:
        parsed = _parse(unit, source)
    except LibclangError as error:
        parsed = ParsedUnit((), (), Reason("tool-missing", None, str(error)))
    except Exception as error:  # a defect here must look like a refusal, never like a failed build
        parsed = ParsedUnit((), (), Reason("internal-error", None, f"{type(error).__name__}: {error}"))
    return replace(parsed, seconds=time.perf_counter() - started)


def _worth_parsing(unit: TranslationUnit, source: SourceFile, headers: Sequence[str] | None) -> bool:
    if any(token.kind == "word" and token.text in collect.LOOP_WORDS for token in source.tokens):
        return True
    if headers is None:
        return "-include" in unit.clang_args or any(directive.name in _INCLUDES for directive in source.directives)
    return could_hold_kernels(headers, unit.clang_args, unit.invocation.cwd)


def _parse(request: TranslationUnit, source: SourceFile) -> ParsedUnit:
    args = _without_openmp(request.clang_args)
    cwd = request.invocation.cwd
    if cwd != os.getcwd():
        args.append(f"-working-directory={cwd}")
    with Ast(source.name, request.text, args, DETAILED_PREPROCESSING_RECORD, _folder(request)) as ast:
        files = Files(ast, source.name, args, cwd)
        problem = ast.first_error()
        if problem is not None:
            at = source.span(problem.offset, problem.offset + 1) if problem.offset is not None else None
            return ParsedUnit((), files.includes, Reason("parse-error", at, problem.message))
        if not ast.is_lp64():
            return ParsedUnit((), files.includes, Reason("parse-error", None, "perfcc knows 64-bit targets with a 64-bit long alone"))
        whole = Whole(ast, source, args, request.invocation.language, cwd)
        own = [name for name in files.includes if not is_compilers_own(name)]
        for name in own:
            whole.look_through(name)
        kernels = _kernels(whole, files)
        with_kernels = {kernel.span.file for kernel in kernels} - {source.name}
        return ParsedUnit(
            numbered(kernels),
            files.includes,
            None,
            any(whole.openmp_in(name) for name in own),
            texts=tuple((name, whole.text_of(name)) for name in sorted(with_kernels)),
        )


def _folder(request: TranslationUnit) -> str:
    """What to open the main file in, so that its neighbours get the names by which the compiler opens them.

    To Clang the folder of "main.cpp" is ".", to GCC it has no name. No option names a folder like this one, so it can be told again.
    """
    if request.family == "clang" or os.path.isabs(request.invocation.source):
        return ""
    return os.path.join(request.invocation.cwd, ".", "")


def _kernels(whole: Whole, files: Files) -> list[Kernel]:
    """The kernels of the main file, then those of each header, in the order they were included."""
    ast, main = whole.ast, whole.main
    heads = [name for name in files.project if may_hold_loop(whole.text_of(name))]
    uses = whole.expansions = {name: Expansions() for name in (main, *heads)}
    walked = {main, *files.project} if heads else {main}
    tops: list[tuple[str, Cursor]] = []

    def top(cursor: Cursor) -> None:
        if cursor.kind == k.MACRO_DEFINITION:
            whole.macros.add(cursor)
        elif cursor.kind == k.MACRO_EXPANSION:
            used = uses.get(ast.file_of(cursor) or "")
            if used is not None:
                used.add(Expansion(ast.spelling(cursor), *ast.extent(cursor)))
        elif cursor.kind < k.MACRO_DEFINITION:
            file = ast.file_of(cursor)
            if file in walked:
                tops.append((file, cursor))

    ast.visit_top(top)
    for used in uses.values():
        used.finish()
    units = {main: Unit(whole, main)}
    offsets = {main: loop_offsets(units[main])}
    reach = Reach(whole)

    def skip(file: str, begin: int, end: int) -> bool:
        return not heads and not holds_one(offsets[main], begin, end)

    def seen(file: str, cursor: Cursor, owner: Cursor | None) -> None:
        if heads:
            reach.declaration(file, cursor, owner)

    found: list[Definition] = []
    for definition in definitions(ast, tops, skip, seen):
        if definition.file == main:
            found.append(definition)
        elif definition.file in walked and not ast.in_system_header(definition.cursor):
            reach.function(definition)
    if heads:
        reach.close()
        found += [definition for definition in reach.functions() if definition.file in uses]
    return _build(whole, files, found, units, offsets)


def _build(
    whole: Whole, files: Files, found: list[Definition], units: dict[str, Unit], offsets: dict[str, list[int]]
) -> list[Kernel]:
    builders: dict[str, KernelBuilder] = {}
    kernels: list[Kernel] = []
    done: set[tuple[str, int]] = set()
    for definition in found:
        file = definition.file
        if (file, definition.begin) in done:
            continue
        done.add((file, definition.begin))
        if file not in units:
            units[file] = Unit(whole, file)
            offsets[file] = loop_offsets(units[file])
        site = function(units[file], definition, offsets[file])
        if site is not None:
            if file not in builders:
                builders[file] = KernelBuilder(units[file], files.refusal(units[file].source))
            kernels.extend(builders[file].kernels(site))
    return kernels


def _without_openmp(given: Sequence[str]) -> list[str]:
    """libclang hides the loops under OpenMP directives, so the unit is parsed as if the pragmas were comments; the text still shows them.

    ``_OPENMP`` keeps its meaning for conditional code; 201511 is GCC 12's.
    """
    args = [arg for arg in given if not arg.startswith("-fopenmp")]
    if any(arg == "-fopenmp" or arg.startswith("-fopenmp=") for arg in given):
        args.append("-D_OPENMP=201511")
    return args

"""The frontend's one entry."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence

from perfcc.core.kernel import Kernel, ParsedUnit
from perfcc.core.reason import Reason
from perfcc.core.unit import TranslationUnit
from perfcc.frontend import collect, openmp
from perfcc.frontend import kinds as k
from perfcc.frontend.build import KernelBuilder, numbered
from perfcc.frontend.libclang import DETAILED_PREPROCESSING_RECORD, Ast, Cursor, LibclangError
from perfcc.frontend.source import SourceFile
from perfcc.frontend.unit import Unit

_COMPILERS_OWN = re.compile(r"/(c\+\+/[0-9v]|lib(32|64|x32)?/(gcc|clang|llvm-[0-9]+)/)|/include/([a-z0-9_]+-linux-[a-z0-9]+/)?bits/")


def parse(unit: TranslationUnit) -> ParsedUnit:
    """The kernels of a unit's main file.

    Every loop written in the main file belongs to exactly one kernel; a file without the words ``for``, ``while`` and ``do`` is not
    even parsed, and its ``includes`` are empty. Never raises for what the unit holds: a unit that libclang can't
    parse, or a missing libclang, gives a ParsedUnit with a refusal.
    """
    started = time.perf_counter()
    source = SourceFile(unit.invocation.source, unit.text)
    if not any(token.kind == "word" and token.text in collect.LOOP_WORDS for token in source.tokens):
        return ParsedUnit((), (), seconds=time.perf_counter() - started)
    try:
        parsed = _parse(unit, source)
    except LibclangError as error:
        parsed = ParsedUnit((), (), Reason("tool-missing", None, str(error)))
    except Exception as error:  # a defect here must look like a refusal, never like a failed build
        parsed = ParsedUnit((), (), Reason("internal-error", None, f"{type(error).__name__}: {error}"))
    return ParsedUnit(parsed.kernels, parsed.includes, parsed.refusal, parsed.openmp_in_headers, time.perf_counter() - started)


def _parse(request: TranslationUnit, source: SourceFile) -> ParsedUnit:
    args = _without_openmp(request.clang_args)
    path = os.path.join(request.invocation.cwd, source.name)
    if request.invocation.cwd != os.getcwd():
        args.append(f"-working-directory={request.invocation.cwd}")
    with Ast(path, request.text, args, DETAILED_PREPROCESSING_RECORD) as ast:
        includes = ast.inclusions()
        problem = ast.first_error()
        if problem is not None:
            at = source.span(problem.offset, problem.offset + 1) if problem.offset is not None else None
            return ParsedUnit((), includes, Reason("parse-error", at, problem.message))
        if not ast.is_lp64():
            return ParsedUnit((), includes, Reason("parse-error", None, "perfcc knows 64-bit targets with a 64-bit long alone"))
        unit = Unit(ast, source, path, args, request.invocation.language)
        tops: list[Cursor] = []

        def top(cursor: Cursor) -> None:
            if cursor.kind in (k.MACRO_DEFINITION, k.MACRO_EXPANSION):
                unit.macros.add(cursor)
            elif cursor.kind < 500 and ast.in_main_file(cursor):
                tops.append(cursor)

        ast.visit_top(top)
        unit.macros.finish()
        for name in includes:
            if not _COMPILERS_OWN.search(name):
                unit.look_through(name)
        builder = KernelBuilder(unit)
        kernels: list[Kernel] = []
        for site in collect.functions(unit, tops, collect.loop_offsets(unit)):
            kernels.extend(builder.kernels(site))
        return ParsedUnit(numbered(kernels), includes, None, _openmp_in_headers(unit, includes))


def _without_openmp(given: Sequence[str]) -> list[str]:
    """libclang hides the loops under OpenMP directives, so the unit is parsed as if the pragmas were comments; the text still shows them.

    ``_OPENMP`` keeps its meaning for conditional code; 201511 is GCC 12's.
    """
    args = [arg for arg in given if not arg.startswith("-fopenmp")]
    if any(arg == "-fopenmp" or arg.startswith("-fopenmp=") for arg in given):
        args.append("-D_OPENMP=201511")
    return args


def _openmp_in_headers(unit: Unit, includes: tuple[str, ...]) -> bool:
    """The compiler's own library is left out: its OpenMP pragmas (parallel mode) only count when the program asks for them by a macro."""
    return any(openmp.in_header(unit.text_of(name)) for name in includes if not _COMPILERS_OWN.search(name))

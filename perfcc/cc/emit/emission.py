"""A unit with its rewrites, compiled by the user's own command."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from perfcc.cc import runtime
from perfcc.cc.compiler import CompilerInfo
from perfcc.cc.emit import checks
from perfcc.cc.emit.compile import Compiled, Refused, Text, compile_texts, depfile_of, refused, run
from perfcc.cc.emit.install import Beside
from perfcc.cc.flags import flags
from perfcc.cc.linked import original_object
from perfcc.cc.section import SectionError, run_objcopy
from perfcc.cc.splice import Replacement, splice
from perfcc.cc.symbols import bind_to_own, undefined
from perfcc.core.disturbance import heed_error
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation, TranslationUnit

# What compilers call by themselves; every C library or linker has them.
_ALWAYS_THERE = frozenset(("memcpy", "memmove", "memset", "memcmp", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_"))
# Flags that make errors of warnings: the original's were shown.
_STRICT = ("-Werror", "-Werror=", "-Wfatal-errors", "-pedantic-errors")
# The library's calls that regions and guards contain, beside those named GOMP_.
_OURS = ("omp_in_parallel", "omp_get_max_threads", "omp_get_num_threads", "omp_get_thread_num")
# GCC looks for one of that name in each folder in which it looks for a header; it may also be a folder of them.
_PRECOMPILED = (".gch", ".pch")
# A schedule other than static, whatever its modifier.
_HANDED_OUT = re.compile(r"\bschedule\s*\((?:[^():]*:)?\s*(?!static\b)\w|\bordered\b")


@dataclass(frozen=True, slots=True)
class Emitted:
    """``object_path`` lies in the scratch directory; ``dependencies`` are the files the unit was read from (real paths, sorted); ``shims``
    the OpenMP calls that were redirected; ``text`` what was compiled as the main file; ``beside`` the other outputs that changed."""

    object_path: Path
    dependencies: tuple[str, ...]
    shims: tuple[str, ...]
    text: bytes
    beside: tuple[Beside, ...] = ()


def emit(
    unit: TranslationUnit,
    info: CompilerInfo,
    replacements: Sequence[Replacement],
    prologue: str,
    scratch: Path,
    openmp_in_headers: bool = False,
    texts: Mapping[str, bytes] | None = None,
) -> Emitted | Reason:
    """Compiles the unit with its replacements into ``scratch``, an empty directory of its own.

    ``prologue`` is text for file scope before the source (the guard's header). A replacement belongs to the file its span names: one of
    ``texts``, the contents of headers by the names the compiler opens them by, or else the main file. The original's outputs must be in
    their places, unless the unit is linked in the same step: the object bounds what the new one may ask of the linker, and the list of
    dependencies must be the same. Every failure is a Reason; nothing outside ``scratch`` is written.
    """
    try:
        return _emit(unit, info, replacements, prologue, scratch, openmp_in_headers, texts or {})
    except Refused as failure:
        return failure.reason
    except (OSError, SectionError, ValueError, subprocess.SubprocessError) as error:
        heed_error(error)
        return Reason("emit-failed", detail=str(error))


def _emit(
    unit: TranslationUnit,
    info: CompilerInfo,
    replacements: Sequence[Replacement],
    prologue: str,
    scratch: Path,
    openmp_in_headers: bool,
    headers: Mapping[str, bytes],
) -> Emitted:
    invocation = unit.invocation
    threads = any(replacement.threads for replacement in replacements)
    awaken = threads and not unit.semantics.openmp
    original = undefined(original_object(invocation, info, scratch))
    shimmed = threads and "GOMP_parallel" not in original.strong
    items = [(item, headers.get(item.span.file, unit.text)) for item in replacements]
    checks.check_flags(invocation)
    checks.check_openmp(unit, info, items, threads, awaken, openmp_in_headers)
    checks.check_time(unit.text)

    head = (_stand_ins(replacements) if shimmed else "") + prologue
    texts = _spliced(unit, replacements, headers, head, awaken)
    if awaken:
        for text in texts:
            checks.check_sleep(text.original, _of(text.name, unit, replacements, headers))
    before, listing = _preprocess(invocation, info, scratch)
    checks.check_words(unit, items, head, listing)
    for text in texts:
        checks.check_read_once(text.name, listing, text.name == invocation.source)
    compiled = _compile(invocation, info, texts, awaken, scratch)
    _check_files(invocation, compiled, before, texts)
    new = compiled.object_path
    if threads:
        checks.check_definitions(original.own | undefined(new).own)
    shims = _redirect(new, original.strong | original.weak, shimmed)
    read = (*compiled.reads, *(text.name for text in texts))
    dependencies = tuple(sorted({os.path.realpath(os.path.join(invocation.cwd, name)) for name in read}))
    return Emitted(new, dependencies, shims, texts[0].copy, compiled.differing)


def _of(name: str, unit: TranslationUnit, replacements: Sequence[Replacement], headers: Mapping[str, bytes]) -> list[Replacement]:
    """The replacements that belong to the file of that name."""
    main = unit.invocation.source
    return [item for item in replacements if (item.span.file if item.span.file in headers else main) == name]


def _spliced(
    unit: TranslationUnit, replacements: Sequence[Replacement], headers: Mapping[str, bytes], head: str, mask: bool
) -> tuple[Text, ...]:
    """The rewritten texts: the main file, which has the head, and the headers that have replacements."""
    main = unit.invocation.source
    made = [Text(main, unit.text, splice(unit.text, _of(main, unit, replacements, headers), head, mask_openmp=mask))]
    for name in dict.fromkeys(item.span.file for item in replacements if item.span.file in headers):
        items = _of(name, unit, replacements, headers)
        made.append(Text(name, headers[name], splice(headers[name], items, "", mask_openmp=mask)))
    return tuple(made)


def _stand_ins(replacements: Sequence[Replacement]) -> str:
    """The shims' text, with those for loops whose iterations the library hands out only where there are such loops."""
    handed_out = any(_HANDED_OUT.search(item.text) for item in replacements)
    return ("#define PERFCC_RT_LOOPS\n" if handed_out else "") + runtime.text(runtime.OPENMP)


def _preprocess(invocation: Invocation, info: CompilerInfo, scratch: Path) -> tuple[tuple[str, ...], bytes]:
    """The files that the original is read from, in order, and its text with all its macros, from the compiler itself."""
    folder = scratch / "original"
    folder.mkdir()
    listing = folder / "original.i"
    words = [word for flag in flags(invocation.argv) if flag.name not in ("-c", "-o") for word in flag.words]
    argv = [invocation.argv[0], *words, "-w", "-E", "-dD", "-o", str(listing)]
    done = run(argv, invocation, info, {invocation.source: Path(invocation.cwd, invocation.source).read_bytes()}, folder)
    if done.code != 0 or not done.mapped:
        raise refused("the original's includes can't be listed")
    return done.reads, listing.read_bytes()


def _compile(invocation: Invocation, info: CompilerInfo, texts: tuple[Text, ...], awaken: bool, scratch: Path) -> Compiled:
    added = ["-w"]
    if info.family == "gcc" and not any(word.startswith("-frandom-seed") for word in invocation.argv):
        added.append(f"-frandom-seed={invocation.output}")
    if awaken:
        added += ["-fopenmp", "-U_OPENMP"]
        if "-pthread" not in invocation.argv:
            added.append("-U_REENTRANT")
    strict = [flag for flag in flags(invocation.argv) if flag.name in _STRICT]
    without = tuple(flag.index + offset for flag in strict for offset in range(len(flag.words)))
    folder = scratch / "new"
    folder.mkdir()
    return compile_texts(invocation, info, texts, tuple(added), without, folder)


def _check_files(invocation: Invocation, compiled: Compiled, before: tuple[str, ...], texts: tuple[Text, ...]) -> None:
    """The rewritten unit is read from the same files in the same order, and says so."""
    for name in (*before, *compiled.reads):
        if any(part.endswith(_PRECOMPILED) for part in Path(name).parts[-2:]):
            raise refused(f"{name} is a precompiled header, which may be of another text")
    rewritten = {text.name for text in texts}
    wanted = [name for name in before if name not in rewritten]
    for old, new in zip_longest(wanted, compiled.reads[: len(wanted)]):
        if old != new:
            raise refused(f"the rewritten unit does not read the same headers: {new or old}")
    depfile = depfile_of(invocation)
    if any(item.path == depfile for item in compiled.differing):
        raise refused("the rewritten unit's list of dependencies is another")


def _redirect(new: Path, before: frozenset[str], shimmed: bool) -> tuple[str, ...]:
    """Points the object's own OpenMP calls at the shims, then makes sure that nothing new is asked of the linker."""
    wanted = undefined(new)
    theirs = {name for name in before if name.startswith("omp_") and name not in _OURS}
    calls = sorted(wanted.openmp - theirs)
    if shimmed and calls:
        # A region whose calls go half to the user's own library and half to one found at run time would be wrong.
        shared = before.intersection(calls)
        if shared:
            raise Refused(Reason("openmp-unavailable", detail=f"the source calls {', '.join(sorted(shared)[:4])} itself"))
        missing = [name for name in calls if name not in runtime.shims()]
        if missing:
            raise refused(f"no stand-in for {', '.join(missing)}")
        run_objcopy(new, [f"--redefine-sym={name}=perfcc_rt_{name}" for name in calls])
        bind_to_own(new)
        wanted = undefined(new)
    extra = wanted.strong - before - _ALWAYS_THERE - (wanted.openmp if not shimmed else frozenset())
    if extra:
        raise refused(f"the rewrite needs {', '.join(sorted(extra)[:4])}")
    return tuple(calls) if shimmed else ()

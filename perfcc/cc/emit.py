"""The rewritten unit as an object that takes the original's place: same flags, same lines, same link line."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from perfcc import _native
from perfcc.cc import runtime
from perfcc.cc.compiler import CompilerInfo
from perfcc.cc.flags import Flag, flags
from perfcc.cc.linked import original_object
from perfcc.cc.macros import clash_before, clash_inside, macros, reserved, tells_place
from perfcc.cc.section import SectionError, run_objcopy
from perfcc.cc.splice import Replacement, around_original, names, splice
from perfcc.cc.symbols import undefined
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation, TranslationUnit

COMPILE_SECONDS = 600.0
# What the run-time headers call and what compilers call by themselves; every C library or linker has them.
_ALWAYS_THERE = frozenset(
    ("__errno_location", "getpid", "memcpy", "memmove", "memset", "memcmp", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_")
)
_DEPENDENCIES = ("-M", "-MM", "-MD", "-MMD", "-MG", "-MP", "-MF", "-MT", "-MQ", "-MJ")
_DROPPED = ("-o", "-Werror", "-Werror=", "-Wfatal-errors", "-pedantic-errors", "-save-temps", "-pipe", *_DEPENDENCIES)
# Flags that make the compiler write further files, named after the output or the source.
_SIDE_OUTPUT = (
    "-gsplit-dwarf",
    "--coverage",
    "-fprofile-arcs",
    "-ftest-coverage",
    "-fstack-usage",
    "-fcallgraph-info",
    "-flto",
    "-fopenacc",
)
Includes = tuple[tuple[str, str], ...]
# The library's calls that regions and guards contain, beside those named GOMP_.
_OURS = ("omp_in_parallel", "omp_get_max_threads", "omp_get_num_threads", "omp_get_thread_num")
# What the run-time headers refer to by its name in the object.
_REFERRED = frozenset(("dlsym", "getpid", "__errno_location"))
# A schedule other than static, whatever its modifier.
_HANDED_OUT = re.compile(r"\bschedule\s*\((?:[^():]*:)?\s*(?!static\b)\w|\bordered\b")
_TIMED = frozenset((b"__TIME__", b"__DATE__", b"__TIMESTAMP__"))


@dataclass(frozen=True, slots=True)
class Emitted:
    """``object_path`` lies in the scratch directory; ``dependencies`` are the files the unit was read from (real paths, sorted); ``shims``
    the OpenMP calls that were redirected; ``text`` what was compiled."""

    object_path: Path
    dependencies: tuple[str, ...]
    shims: tuple[str, ...]
    text: bytes


class _Refused(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


def emit(
    unit: TranslationUnit,
    info: CompilerInfo,
    replacements: Sequence[Replacement],
    prologue: str,
    scratch: Path,
    openmp_in_headers: bool = False,
) -> Emitted | Reason:
    """Compiles the unit with its replacements into ``scratch``, an empty directory of its own.

    ``prologue`` is text for file scope before the source (the guard's header). The original's object, at the invocation's output unless
    the unit is linked in the same step, bounds what the new one may ask of the linker. Every failure is a Reason; nothing outside
    ``scratch`` is written.
    """
    try:
        return _emit(unit, info, replacements, prologue, scratch, openmp_in_headers)
    except _Refused as refused:
        return refused.reason
    except (OSError, SectionError, ValueError, subprocess.SubprocessError) as error:
        return Reason("emit-failed", detail=str(error))


def _emit(
    unit: TranslationUnit,
    info: CompilerInfo,
    replacements: Sequence[Replacement],
    prologue: str,
    scratch: Path,
    openmp_in_headers: bool,
) -> Emitted:
    invocation = unit.invocation
    threads = any(replacement.threads for replacement in replacements)
    awaken = threads and not unit.semantics.openmp
    original = undefined(original_object(invocation, info, scratch))
    shimmed = threads and "GOMP_parallel" not in original.strong
    _check_flags(invocation)
    _check_openmp(unit, info, replacements, threads, awaken, openmp_in_headers)
    if _TIMED & set(names(unit.text)):
        raise _Refused(Reason("emit-failed", detail="the source uses __DATE__, __TIME__ or __TIMESTAMP__"))

    head = (_stand_ins(replacements) if shimmed else "") + prologue
    text = splice(unit.text, replacements, head, invocation.source, mask_openmp=awaken)
    if awaken and any(name == b"omp" for name in _outside(unit, replacements)):
        raise _Refused(Reason("openmp-in-headers", detail="the source mentions omp where perfcc can't put it to sleep"))
    depfile, before = _preprocess(invocation, info, scratch)
    _check_words(unit, replacements, head, scratch / "original.i")
    new, after = _compile(unit, info, text, awaken, scratch)
    if after != before:
        other = next((new for old, new in zip_longest(before, after) if old != new), None)
        raise _Refused(Reason("emit-failed", detail=f"the copy does not read the same headers: {other[1] if other else 'one less'}"))
    if threads:
        _check_definitions(original.own | undefined(new).own)
    shims = _redirect(new, original.strong | original.weak, shimmed)
    return Emitted(new, _dependencies(depfile, invocation), shims, text)


def _stand_ins(replacements: Sequence[Replacement]) -> str:
    """The shims' text, with those for loops whose iterations the library hands out only where there are such loops."""
    handed_out = any(_HANDED_OUT.search(item.text) for item in replacements)
    return ("#define PERFCC_RT_LOOPS\n" if handed_out else "") + runtime.text(runtime.OPENMP)


def _check_flags(invocation: Invocation) -> None:
    for flag in flags(invocation.argv):
        word = flag.words[0]
        if word.startswith(("@", "-fdump-", "-fprofile-", "-Wa,-a")) or flag.name.rstrip("=") in _SIDE_OUTPUT:
            raise _Refused(Reason("emit-failed", detail=f"the flag {word} is not supported"))


def _check_openmp(
    unit: TranslationUnit, info: CompilerInfo, replacements: Sequence[Replacement], threads: bool, awaken: bool, in_headers: bool
) -> None:
    if threads and info.family != "gcc":
        raise _Refused(Reason("openmp-unavailable", at=next(item.span for item in replacements if item.threads)))
    if awaken and in_headers:
        raise _Refused(Reason("openmp-in-headers"))
    if awaken and "-fopenmp-simd" in unit.invocation.argv:
        raise _Refused(Reason("openmp-in-headers", detail="-fopenmp-simd uses some pragmas that -fopenmp would turn into threads"))
    if threads and any("thread" in flag.value for flag in flags(unit.invocation.argv) if flag.name == "-fsanitize="):
        raise _Refused(Reason("openmp-unavailable", detail="ThreadSanitizer can't see into libgomp"))
    for item in replacements:
        original = unit.text[item.span.begin : item.span.end]
        if awaken and b"omp" in set(names(original)) | _pragma_words(original):
            raise _Refused(Reason("user-openmp", at=item.span))


def _check_words(unit: TranslationUnit, replacements: Sequence[Replacement], head: str, listing: Path) -> None:
    """Text that perfcc adds must mean the same whatever macros the unit has."""
    found = macros(listing.read_bytes(), unit.invocation.source)
    if word := reserved(unit.text, found):
        raise _Refused(Reason("emit-failed", detail=f"the source uses the name {word}, which is perfcc's own"))
    if word := clash_before(head, found):
        raise _Refused(Reason("emit-failed", detail=f"{word} is defined as a macro before the source begins"))
    for item in replacements:
        original = unit.text[item.span.begin : item.span.end]
        generated = b" ".join(around_original(item.text.encode("utf-8", "surrogateescape"), original))
        if word := clash_inside(generated, original, found):
            raise _Refused(Reason("macro-in-kernel", at=item.span, detail=f"{word} is defined as a macro in this unit"))
        if word := tells_place(generated, found):
            raise _Refused(Reason("macro-in-kernel", at=item.span, detail=f"{word} depends on where it stands"))


def _check_definitions(own: frozenset[str]) -> None:
    taken = sorted(name for name in own if name in _REFERRED or name.startswith(("GOMP_", "omp_")))
    if taken:
        raise _Refused(Reason("openmp-unavailable", detail=f"the source defines {', '.join(taken[:4])} itself"))


def _pragma_words(text: bytes) -> set[bytes]:
    return {b"omp"} if splice(text, (), "", "", mask_openmp=True) != text else set()


def _outside(unit: TranslationUnit, replacements: Sequence[Replacement]) -> list[bytes]:
    """The identifiers of the source outside the replaced spans, pragmas already put to sleep."""
    quiet = splice(unit.text, (), "", "", mask_openmp=True)
    offset = len(unit.text) - len(quiet)
    found: list[bytes] = []
    at = 0
    for item in sorted(replacements, key=lambda replacement: replacement.span.begin):
        found += names(quiet[at : item.span.begin - offset])
        at = item.span.end - offset
    return found + list(names(quiet[at:]))


def _is_dropped(flag: Flag) -> bool:
    return flag.name in _DROPPED or flag.name.startswith("-save-temps") or flag.words[0].startswith(("-Wp,-M", "-MF", "-MT", "-MQ", "-MJ"))


def _arguments(invocation: Invocation, info: CompilerInfo, source: str, folder: str) -> list[str]:
    """The user's argv with another source and without its outputs; ``folder``, the source's own, is searched first for "" includes."""
    arguments = [info.path, "-iquote", folder or "."]
    for flag in flags(invocation.argv):
        if flag.index == invocation.source_index:
            arguments.append(source)
        elif not _is_dropped(flag):
            arguments += flag.words
    return arguments


def _preprocess(invocation: Invocation, info: CompilerInfo, scratch: Path) -> tuple[Path, Includes]:
    """The original's dependency list and include tree, from the compiler itself; ``original.i`` lists its macros."""
    depfile = scratch / "original.d"
    arguments = [info.path]
    for flag in flags(invocation.argv):
        if not _is_dropped(flag) and flag.words[0] != "-c":
            arguments += flag.words
    arguments += ["-w", "-H", "-E", "-dD", "-o", str(scratch / "original.i"), "-MD", "-MF", str(depfile), "-MT", "x"]
    return depfile, _includes(_run(invocation, arguments, "the original's includes can't be listed"), invocation)


def _compile(unit: TranslationUnit, info: CompilerInfo, text: bytes, awaken: bool, scratch: Path) -> tuple[Path, Includes]:
    invocation = unit.invocation
    folder, base = os.path.split(invocation.source)
    source = scratch / base
    source.write_bytes(text)
    status = os.stat(Path(invocation.cwd, invocation.source))
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    new = scratch / "new.o"
    arguments = _arguments(invocation, info, str(source), folder)
    arguments += [*_prefix_maps(invocation, f"{scratch}{os.sep}", folder + os.sep if folder else ""), "-w"]
    if info.family == "gcc" and not any(word.startswith("-frandom-seed") for word in invocation.argv):
        arguments.append(f"-frandom-seed={invocation.output}")
    if awaken:
        arguments += ["-fopenmp", "-U_OPENMP"]
        if "-pthread" not in invocation.argv:
            arguments.append("-U_REENTRANT")
    report = _run(invocation, [*arguments, "-H", "-o", str(new)], "the rewritten unit does not compile")
    return new, _includes(report, invocation)


def _prefix_maps(invocation: Invocation, scratch: str, folder: str) -> list[str]:
    """Flags that give the copy the name the original has in debug information and in __BASE_FILE__, the user's own maps applied."""
    debug = _mapped(invocation, folder, "-fdebug-prefix-map=")
    macro = _mapped(invocation, folder, "-fmacro-prefix-map=")
    if debug == macro:
        return [f"-ffile-prefix-map={scratch}={debug}"]
    return [f"-fdebug-prefix-map={scratch}={debug}", f"-fmacro-prefix-map={scratch}={macro}"]


def _mapped(invocation: Invocation, folder: str, kind: str) -> str:
    """The source's folder under the user's own maps; the compilers try the last one first."""
    for flag in reversed(list(flags(invocation.argv))):
        old, equals, new = flag.value.rpartition("=") if flag.name in (kind, "-ffile-prefix-map=") else ("", "", "")
        if equals and folder.startswith(old):
            return new + folder[len(old) :]
    return folder


def _run(invocation: Invocation, arguments: list[str], failure: str) -> str:
    """The command's standard error. Refuses with ``failure`` and the first error when it fails."""
    environ = {key: value for key, value in os.environ.items() if key not in ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")}
    done = subprocess.run(arguments, cwd=invocation.cwd, env=environ, capture_output=True, timeout=COMPILE_SECONDS, check=False)
    report = done.stderr.decode("utf-8", "surrogateescape")
    if done.returncode != 0:
        first = next((line for line in report.splitlines() if "error" in line), "")
        raise _Refused(Reason("emit-failed", detail=f"{failure}: {first}" if first else failure))
    return report


def _includes(report: str, invocation: Invocation) -> Includes:
    """What -H printed: every file read, in order, with its depth. The copy may include the original, but nothing includes the copy."""
    found = re.findall(r"^(\.+|!|x) (.+)$", report, re.M)
    return tuple((mark, os.path.realpath(os.path.join(invocation.cwd, path))) for mark, path in found)


def _dependencies(depfile: Path, invocation: Invocation) -> tuple[str, ...]:
    """The prerequisites of a make rule, as sorted real paths."""
    rule = depfile.read_text("utf-8", "surrogateescape").replace("\\\n", " ").partition(":")[2]
    words = rule.replace("\\ ", "\0").replace("\\#", "#").replace("$$", "$").split()
    return tuple(sorted({os.path.realpath(os.path.join(invocation.cwd, word.replace("\0", " "))) for word in words}))


def _redirect(new: Path, before: frozenset[str], shimmed: bool) -> tuple[str, ...]:
    """Points the object's own OpenMP calls at the shims, then makes sure that nothing new is asked of the linker."""
    wanted = undefined(new)
    theirs = {name for name in before if name.startswith("omp_") and name not in _OURS}
    calls = sorted(wanted.openmp - theirs)
    if shimmed and calls:
        # A region whose calls go half to the user's own library and half to one found at run time would be wrong.
        shared = before.intersection(calls)
        if shared:
            raise _Refused(Reason("openmp-unavailable", detail=f"the source calls {', '.join(sorted(shared)[:4])} itself"))
        missing = [name for name in calls if name not in runtime.shims()]
        if missing:
            raise _Refused(Reason("emit-failed", detail=f"no stand-in for {', '.join(missing)}"))
        run_objcopy(new, [f"--redefine-sym={name}=perfcc_rt_{name}" for name in calls])
        wanted = undefined(new)
    extra = wanted.strong - before - _ALWAYS_THERE - (wanted.openmp if not shimmed else frozenset())
    if extra:
        raise _Refused(Reason("emit-failed", detail=f"the rewrite needs {', '.join(sorted(extra)[:4])}"))
    return tuple(calls) if shimmed else ()


@dataclass(frozen=True, slots=True)
class OutputState:
    """What an output looked like; a difference means that somebody else wrote it."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, output: Path) -> OutputState:
        status = os.stat(output)
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


def install(object_path: Path, output: Path, expected: OutputState) -> Reason | None:
    """Puts the object in the output's place, atomically, with its mode and time: what was edited since is newer still, as make must see.

    None, or why the output was left as it is.
    """
    try:
        if output.is_symlink() or not output.is_file():
            return Reason("output-changed", detail="the output is not a plain file")
        if OutputState.of(output) != expected:
            return Reason("output-changed")
        if not _native.replace_file(output, object_path.read_bytes()):
            return Reason("output-changed", detail="its folder can't be written, or somebody else wrote it just now")
    except OSError as error:
        return Reason("output-changed", detail=str(error))
    return None

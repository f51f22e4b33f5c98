"""The rewritten unit as an object that takes the original's place: same flags, same lines, same link line."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perfcc.cc import runtime
from perfcc.cc.compiler import CompilerInfo
from perfcc.cc.flags import Flag, flags
from perfcc.cc.section import SectionError, run_objcopy
from perfcc.cc.splice import Replacement, names, splice
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

    ``prologue`` is text for file scope before the source (the guard's header). The original's object must be at the invocation's output:
    its undefined symbols bound those of the new one. Every failure is a Reason; nothing outside ``scratch`` is written.
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
    original = undefined(Path(invocation.cwd, invocation.output))
    shimmed = threads and not original.openmp
    _check_flags(invocation)
    _check_openmp(unit, info, replacements, threads, awaken, openmp_in_headers)
    if _TIMED & set(names(unit.text)):
        raise _Refused(Reason("emit-failed", detail="the source uses __DATE__, __TIME__ or __TIMESTAMP__"))

    head = (runtime.text(runtime.OPENMP) if shimmed else "") + prologue
    text = splice(unit.text, replacements, head, invocation.source, mask_openmp=awaken)
    if awaken and any(name == b"omp" for name in _outside(unit, replacements)):
        raise _Refused(Reason("openmp-in-headers", detail="the source mentions omp where perfcc can't put it to sleep"))
    before = _dependencies(_preprocess(invocation, info, scratch), invocation)
    source, new = _compile(unit, info, text, awaken, scratch)
    after = _dependencies(scratch / "new.d", invocation)
    here = os.path.realpath(Path(invocation.cwd, invocation.source))
    differing = sorted((after ^ before) - {os.path.realpath(source), here})
    if differing:
        raise _Refused(Reason("emit-failed", detail=f"the copy reads other headers: {', '.join(differing[:4])}"))
    shims = _redirect(new, original.strong | original.weak, shimmed)
    return Emitted(new, tuple(sorted(before)), shims, text)


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
    for item in replacements:
        original = unit.text[item.span.begin : item.span.end]
        if awaken and b"omp" in set(names(original)) | _pragma_words(original):
            raise _Refused(Reason("user-openmp", at=item.span))


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


def _preprocess(invocation: Invocation, info: CompilerInfo, scratch: Path) -> Path:
    """The original's dependency list, from the compiler itself."""
    depfile = scratch / "original.d"
    arguments = [info.path]
    for flag in flags(invocation.argv):
        if not _is_dropped(flag) and flag.words[0] != "-c":
            arguments += flag.words
    _run(invocation, [*arguments, "-w", "-M", "-MF", str(depfile), "-MT", "x"], "the original's includes can't be listed")
    return depfile


def _compile(unit: TranslationUnit, info: CompilerInfo, text: bytes, awaken: bool, scratch: Path) -> tuple[Path, Path]:
    invocation = unit.invocation
    folder, base = os.path.split(invocation.source)
    source = scratch / base
    source.write_bytes(text)
    status = os.stat(Path(invocation.cwd, invocation.source))
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    new = scratch / "new.o"
    arguments = _arguments(invocation, info, str(source), folder)
    arguments += [f"-ffile-prefix-map={scratch}{os.sep}={folder + os.sep if folder else ''}", "-w"]
    if info.family == "gcc" and not any(word.startswith("-frandom-seed") for word in invocation.argv):
        arguments.append(f"-frandom-seed={invocation.output}")
    if awaken:
        arguments += ["-fopenmp", "-U_OPENMP"]
        if "-pthread" not in invocation.argv:
            arguments.append("-U_REENTRANT")
    arguments += ["-MD", "-MF", str(scratch / "new.d"), "-MT", "x", "-o", str(new)]
    _run(invocation, arguments, "the rewritten unit does not compile")
    return source, new


def _run(invocation: Invocation, arguments: list[str], failure: str) -> None:
    environ = {key: value for key, value in os.environ.items() if key not in ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")}
    done = subprocess.run(arguments, cwd=invocation.cwd, env=environ, capture_output=True, timeout=COMPILE_SECONDS, check=False)
    if done.returncode != 0:
        first = next((line for line in done.stderr.decode("utf-8", "replace").splitlines() if "error" in line), "")
        raise _Refused(Reason("emit-failed", detail=f"{failure}: {first}" if first else failure))


def _dependencies(depfile: Path, invocation: Invocation) -> frozenset[str]:
    """The prerequisites of a make rule, as real paths."""
    rule = depfile.read_text("utf-8", "surrogateescape").replace("\\\n", " ").partition(":")[2]
    words = rule.replace("\\ ", "\0").replace("\\#", "#").replace("$$", "$").split()
    return frozenset(os.path.realpath(os.path.join(invocation.cwd, word.replace("\0", " "))) for word in words)


def _redirect(new: Path, before: frozenset[str], shimmed: bool) -> tuple[str, ...]:
    """Points the object's own OpenMP calls at the shims, then makes sure that nothing new is asked of the linker."""
    wanted = undefined(new)
    calls = sorted(wanted.openmp - before)
    if shimmed and calls:
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
    """Puts the object in the output's place, atomically and with its mode. None, or why the output was left as it is."""
    temporary = output.with_name(f".{output.name}.perfcc-{os.getpid()}")
    try:
        if output.is_symlink() or not output.is_file():
            return Reason("output-changed", detail="the output is not a plain file")
        shutil.copyfile(object_path, temporary)
        shutil.copymode(output, temporary)
        if OutputState.of(output) != expected:
            return Reason("output-changed")
        os.replace(temporary, output)
    except OSError as error:
        return Reason("output-changed", detail=str(error))
    finally:
        temporary.unlink(missing_ok=True)
    return None

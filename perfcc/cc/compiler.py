"""The real compiler: what it is, where its headers are, and how libclang must be told to read a unit the same way."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from perfcc.cc.flags import Flag, flags, forwarded_macro
from perfcc.cc.semantics import semantics
from perfcc.core.disturbance import heed
from perfcc.core.unit import Invocation, TranslationUnit

PROBE_SECONDS = 20.0
# Variables that add include directories: libclang is given them as flags, so the probe runs without.
_PATH_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
_WIDTHS = ("-m32", "-m64", "-mx32")
# Flags that change the search path or the target's macros, hence the probe's answer.
_PROBED = (
    "--sysroot", "--sysroot=", "-isysroot", "-iwithsysroot", "-cxx-isystem", "-stdlib++-isystem", "-isystem-after", "--gcc-toolchain=",
    "--gcc-install-dir=", "--gcc-triple=", "-B", "-stdlib=", "-specs=", "-target", "--target=", "-nostdinc", "-nostdinc++",
    "-ansi", "-std=",
)  # fmt: skip
# Macros of x86 targets that have a fused multiply-add; other targets are taken to have one.
_FUSING = ("__FMA__", "__FMA4__", "__AVX512F__", "__FP_FAST_FMA", "__FP_FAST_FMAF")
_RELATIVE = (
    "-B", "--sysroot", "--sysroot=", "-isysroot", "-specs=", "-iwithsysroot", "-cxx-isystem", "-stdlib++-isystem", "-isystem-after",
    "--gcc-toolchain=", "--gcc-install-dir=",
)  # fmt: skip
_PARSED = ("-D", "-U", "-I", "-iquote", "-isystem", "-idirafter", "-include", "-imacros", "-iprefix", "-iwithprefix", "-iwithprefixbefore")
_PARSED_WORDS = frozenset(
    (
        "-ansi", "-std=", "-pthread", "-trigraphs", "-nostdinc", "-nostdinc++", "-fsigned-char", "-funsigned-char",
        "-fno-signed-char", "-fno-unsigned-char", "-fopenmp", "-fno-openmp", "-fopenmp-simd", "-fexceptions",
        "-fno-exceptions", "-frtti", "-fno-rtti", "-fpermissive", "-fshort-enums", "-fshort-wchar", "-fwrapv", "-fno-wrapv",
        "-ftrapv", "-ffast-math", "-fno-fast-math", "-fmath-errno", "-fno-math-errno", "-fno-builtin", "-fms-extensions",
        "-fgnu89-inline", "-fchar8_t", "-fno-char8_t", "-fPIC", "-fpic", "-fPIE", "-fpie", "-fno-operator-names",
        "-fno-access-control", "-fsized-deallocation", "-faligned-new", "-ffreestanding",
    )
)  # fmt: skip
# What GCC takes with a warning, or none, and clang makes an error.
_LENIENT = tuple(
    f"-Wno-error={name}"
    for name in (
        "implicit-int", "implicit-function-declaration", "int-conversion", "incompatible-function-pointer-types",
        "incompatible-pointer-types", "return-type", "return-mismatch", "c++11-narrowing", "register", "reserved-user-defined-literal",
    )
)  # fmt: skip
_STANDARDS = {
    199711: "gnu++98", 201103: "gnu++11", 201402: "gnu++14", 201703: "gnu++17", 202002: "gnu++20", 202302: "gnu++23",
}  # fmt: skip
_C_STANDARDS = {199409: "gnu89", 199901: "gnu99", 201112: "gnu11", 201710: "gnu17", 202000: "gnu2x", 202311: "gnu23"}


class CompilerError(RuntimeError):
    """The compiler can't be found or doesn't answer the probe."""


@dataclass(frozen=True, slots=True)
class CompilerInfo:
    """What one compiler is under one set of flags.

    ``family`` is ``gcc`` or ``clang``; ``version`` major.minor.patch; ``include_paths`` the system directories in search order;
    ``standard`` the dialect that holds when the user gives none; ``macros`` -D and -U flags for what -m flags change; ``identity``
    a digest of the executable; ``fuses`` tells that the target has a fused multiply-add.
    """

    path: str
    family: str
    version: str
    target: str
    include_paths: tuple[str, ...]
    standard: str
    macros: tuple[str, ...]
    identity: str
    fuses: bool = True

    @property
    def label(self) -> str:
        return f"{os.path.basename(self.path)} {self.version} ({self.target})"


def identity(compiler: str) -> str:
    """A digest of the executable's place, size and time of change. Raises CompilerError when it isn't there."""
    found = shutil.which(compiler)
    if found is None:
        raise CompilerError(f"{compiler}: not found")
    real = os.path.realpath(found)
    status = os.stat(real)
    return hashlib.blake2b(f"{found}\0{real}\0{status.st_size}\0{status.st_mtime_ns}".encode(), digest_size=16).hexdigest()


def probe_key(compiler: str, invocation: Invocation) -> str:
    """The store's key of a probe: same compiler, same language, same flags that the answer depends on."""
    parts = [identity(compiler), invocation.language, invocation.cwd if _relative(invocation) else "", *_probe_flags(invocation)]
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=32).hexdigest()


def probe(compiler: str, invocation: Invocation) -> CompilerInfo:
    """Asks the compiler itself. Costs one run of its preprocessor on nothing, two with -m flags. Raises CompilerError."""
    chosen = _probe_flags(invocation)
    macros, report = _run(compiler, invocation, chosen)
    tuning = tuple(word for word in chosen if word.startswith("-m") and word not in _WIDTHS)
    extra: tuple[str, ...] = ()
    if tuning:
        plain, _ = _run(compiler, invocation, tuple(word for word in chosen if word not in tuning))
        extra = _difference(plain, macros)
    family = "clang" if "__clang__" in macros else "gcc"
    return CompilerInfo(
        path=shutil.which(compiler) or compiler,
        family=family,
        version=_version(macros, family),
        target=_target(report),
        include_paths=_include_paths(report),
        standard=_standard(macros, invocation.language),
        macros=extra,
        identity=identity(compiler),
        fuses="x86_64" not in _target(report) or any(name in macros for name in _FUSING),
    )


def translation_unit(invocation: Invocation, info: CompilerInfo) -> TranslationUnit:
    """The unit as libclang must read it. Raises OSError when the source can't be read."""
    text = Path(invocation.cwd, invocation.source).read_bytes()
    meaning = semantics(invocation.argv)
    meaning = replace(meaning, contracts=meaning.contracts and info.fuses)
    return TranslationUnit(invocation, clang_arguments(invocation, info), meaning, text, info.family)


def clang_arguments(invocation: Invocation, info: CompilerInfo) -> tuple[str, ...]:
    """Flags for libclang 18 under which it sees the headers, macros and dialect of the real compiler."""
    arguments = ["-x", invocation.language, f"--target={info.target}", f"-std={info.standard}"]
    if os.path.realpath(os.getcwd()) != os.path.realpath(invocation.cwd):
        arguments += [f"-working-directory={invocation.cwd}"]
    arguments += ["-nostdinc"] + (["-nostdinc++"] if invocation.language == "c++" else [])
    arguments += _disguise(info, invocation.language) if info.family == "gcc" else []
    arguments += info.macros
    for flag in flags(invocation.argv):
        if flag.index != invocation.source_index and _is_parsed(flag):
            arguments += flag.words
    arguments += [word for flag in flags(invocation.argv) if (word := forwarded_macro(flag))]
    arguments += [f"-I{path}" for path in _listed("CPATH")]
    arguments += [word for path in _listed(_PATH_VARIABLES[2 if invocation.language == "c++" else 1]) for word in ("-isystem", path)]
    arguments += [word for path in info.include_paths for word in ("-isystem", path)]
    # Fortified wrappers of libc need GCC's __builtin_va_arg_pack and change nothing a kernel could see.
    arguments += ["-U_FORTIFY_SOURCE", "-w", *_LENIENT]
    return tuple(arguments)


def _disguise(info: CompilerInfo, language: str) -> list[str]:
    """Makes clang look like that GCC to #if, and papers over what clang lacks in glibc's headers for it."""
    words = [f"-fgnuc-version={info.version}", "-U__clang__", "-D__malloc__(...)=__malloc__"]
    if language == "c":
        words += ["-D_Float32=float", "-D_Float64=double", "-D_Float32x=double", "-D_Float64x=long double", "-D_Float128=__float128"]
    return words


def _is_parsed(flag: Flag) -> bool:
    return flag.name in _PARSED or flag.name in _PARSED_WORDS or flag.name in _WIDTHS or (flag.name.startswith("-O") and not flag.value)


def _probe_flags(invocation: Invocation) -> tuple[str, ...]:
    words: list[str] = []
    for flag in flags(invocation.argv):
        if flag.name in _PROBED or flag.name.startswith("-m"):
            words += flag.words
    return tuple(words)


def _relative(invocation: Invocation) -> bool:
    return any(not flag.value.startswith("/") for flag in flags(invocation.argv) if flag.name in _RELATIVE)


def _listed(variable: str) -> Iterable[str]:
    value = os.environ.get(variable)
    return [path or "." for path in value.split(os.pathsep)] if value else []


def _run(compiler: str, invocation: Invocation, words: tuple[str, ...]) -> tuple[dict[str, str], str]:
    environ = {key: value for key, value in os.environ.items() if key not in _PATH_VARIABLES}
    environ["LC_ALL"] = "C"
    command = [compiler, *words, "-E", "-dM", "-v", "-x", invocation.language, "/dev/null"]
    try:
        done = subprocess.run(command, cwd=invocation.cwd, env=environ, capture_output=True, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompilerError(f"{compiler}: {error}") from None
    report = done.stderr.decode("utf-8", "surrogateescape")
    heed(done.returncode, report)
    if done.returncode != 0:
        raise CompilerError(f"{compiler}: the probe failed: {report.strip().splitlines()[-1:]}")
    macros: dict[str, str] = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        name, _, value = line.removeprefix("#define ").partition(" ")
        macros[name] = value
    return macros, report


def _difference(plain: dict[str, str], tuned: dict[str, str]) -> tuple[str, ...]:
    defined = [f"-D{name}={value}" for name, value in sorted(tuned.items()) if plain.get(name) != value and "(" not in name]
    return (*defined, *(f"-U{name}" for name in sorted(plain.keys() - tuned.keys())))


def _version(macros: dict[str, str], family: str) -> str:
    names = ("__clang_major__", "__clang_minor__", "__clang_patchlevel__")
    if family == "gcc":
        names = ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__")
    return ".".join(macros.get(name, "0") for name in names)


def _target(report: str) -> str:
    match = re.search(r"^Target: (\S+)", report, re.M)
    if match is None:
        raise CompilerError("the compiler does not name its target")
    return match[1]


def _include_paths(report: str) -> tuple[str, ...]:
    _, start, rest = report.partition("#include <...> search starts here:\n")
    inside, end, _ = rest.partition("End of search list.")
    if not start or not end:
        raise CompilerError("the compiler does not list its include directories")
    paths = (line.strip().removesuffix(" (framework directory)") for line in inside.splitlines())
    return tuple(path for path in paths if path)


def _standard(macros: dict[str, str], language: str) -> str:
    name, table, oldest = ("__cplusplus", _STANDARDS, "gnu++98") if language == "c++" else ("__STDC_VERSION__", _C_STANDARDS, "gnu89")
    year = int(macros.get(name, "0").rstrip("L") or 0)
    best = max((key for key in table if key <= year), default=0)
    dialect = table.get(best, oldest)
    return dialect.replace("gnu++", "c++").replace("gnu", "c") if "__STRICT_ANSI__" in macros else dialect

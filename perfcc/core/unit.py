"""A compile as the command line gave it, and what its flags mean for legality."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Invocation:
    """One eligible compile of one source file.

    ``argv`` is the real compiler's, ``argv[0]`` included and untouched. ``source_index`` is the source's position in ``argv``.
    ``output`` is the object's path as given (or derived); relative paths are relative to ``cwd``. ``language`` is ``c`` or ``c++``.
    ``linked``: the user's command compiles and links in one step, so there is no file at ``output``; ``argv`` compiles this source alone.
    """

    argv: tuple[str, ...]
    compiler: str
    cwd: str
    source: str
    source_index: int
    output: str
    language: str
    depfile: str | None = None
    linked: bool = False


@dataclass(frozen=True, slots=True)
class Semantics:
    """What the user's flags allow, as the analyses need it.

    ``reassociate``: floating-point sums may be reordered. ``math_errno``: maths functions set errno. ``strict_aliasing``: type-based
    aliasing rules hold. ``wrapv``: signed overflow wraps. ``trapping``: -ftrapv or a sanitizer watches overflow. ``openmp``: the user
    compiles with -fopenmp. ``contracts``: the compiler may fuse a product and a sum into one rounding. ``excess_precision``: it
    computes with x87.
    """

    reassociate: bool = False
    math_errno: bool = True
    strict_aliasing: bool = True
    wrapv: bool = False
    trapping: bool = False
    openmp: bool = False
    contracts: bool = False
    excess_precision: bool = False


@dataclass(frozen=True, slots=True)
class TranslationUnit:
    """What the frontend needs to parse a unit the way the real compiler does.

    ``clang_args`` are the include paths, defines, target and standard, without source and output. ``family`` is the compiler's, ``gcc`` or
    ``clang``: it decides how headers are named.
    """

    invocation: Invocation
    clang_args: tuple[str, ...]
    semantics: Semantics
    text: bytes
    family: str = "gcc"

"""Units that include GCC's headers of vector intrinsics, which no Clang can parse."""

from __future__ import annotations

import os
from dataclasses import replace

from perfcc.core.kernel import ParsedUnit
from perfcc.core.unit import TranslationUnit

HEADER = "xmmintrin.h"


def with_clangs_intrinsics(unit: TranslationUnit, parsed: ParsedUnit) -> TranslationUnit | None:
    """The unit with Clang's own headers in front of GCC's, where it was one of GCC's that could not be parsed; else None.

    Their bodies are made of the compiler's builtins; both declare the same functions and types.
    """
    if unit.family != "gcc" or parsed.refusal is None or parsed.refusal.id != "parse-error":
        return None
    arguments = unit.clang_args
    for index, folder in enumerate(arguments):
        if index and arguments[index - 1] == "-isystem" and f" in {folder}/" in parsed.refusal.detail and _holds(folder):
            break
    else:
        return None
    from perfcc.verify.toolchain import clang_headers

    headers = clang_headers()
    if not _holds(headers):
        return None
    return replace(unit, clang_args=(*arguments[: index - 1], "-isystem", headers, *arguments[index - 1 :]))


def _holds(folder: str) -> bool:
    return bool(folder) and os.path.isfile(os.path.join(folder, HEADER))

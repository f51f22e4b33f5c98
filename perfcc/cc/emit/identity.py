"""``mode = "identity"``: a rewrite that changes nothing, compiled like any other."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from perfcc.cc.compiler import CompilerInfo
from perfcc.cc.emit.compile import Refused, Text, compile_texts
from perfcc.cc.emit.install import Beside
from perfcc.cc.linked import original_object
from perfcc.cc.splice import lengthened, untouched
from perfcc.core.disturbance import heed_error
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.core.unit import TranslationUnit


@dataclass(frozen=True, slots=True)
class Injected:
    """A unit compiled with a no-op in it. ``places``: where in its texts something was put; ``same`` and ``differing``: the names of the
    outputs that are, and are not, what the original compile left; ``beside`` the differing ones but for the object."""

    object_path: Path
    places: int
    same: tuple[str, ...]
    differing: tuple[str, ...]
    beside: tuple[Beside, ...]


def inject(
    unit: TranslationUnit, info: CompilerInfo, spans: Sequence[Span], scratch: Path, texts: Mapping[str, bytes] | None = None
) -> Injected | Reason:
    """Compiles the unit with a no-op at its top and around each of ``spans``, or at its end alone, by the user's command as it is.

    ``texts`` holds the headers that some of the spans lie in, by the names the compiler opens them by. Nothing outside ``scratch``, an
    empty folder, is written. Every failure is a Reason.
    """
    main = unit.invocation.source
    at_end = _shows_offsets(unit, info)
    if at_end:
        spans, texts = (), {}
    made = []
    for name, original in {main: unit.text, **(texts or {})}.items():
        inside = [span for span in spans if span.file == name]
        if inside or name == main:
            # Anything before a header's guard would hide the guard from the compiler.
            copy = lengthened(original) if at_end else untouched(original, inside, top=name == main)
            made.append((Text(name, original, copy), len(inside) + (name == main)))
    try:
        folder = scratch / "new"
        folder.mkdir()
        compiled = compile_texts(unit.invocation, info, tuple(text for text, _ in made), (), (), folder)
        wanted = original_object(unit.invocation, info, scratch)
        changed = {item.path.name for item in compiled.differing}
        if wanted.read_bytes() != compiled.object_path.read_bytes():
            changed.add(os.path.basename(unit.invocation.output))
    except Refused as failure:
        return failure.reason
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        heed_error(error)
        return Reason("emit-failed", detail=str(error))
    names = sorted(path.name for path in compiled.outputs)
    return Injected(
        compiled.object_path,
        sum(places for _, places in made),
        tuple(name for name in names if name not in changed),
        tuple(name for name in names if name in changed),
        compiled.differing,
    )


def _shows_offsets(unit: TranslationUnit, info: CompilerInfo) -> bool:
    """The object tells where in the file things stand, whatever ``#line`` says: Clang's map of covered regions has lines, and its bitcode
    offsets of assembly."""
    return info.family == "clang" and any(word == "-fcoverage-mapping" or word.startswith("-flto") for word in unit.invocation.argv)

"""What must hold before a rewritten text may be compiled: flags, pragmas and names that mean the same in it."""

from __future__ import annotations

from collections.abc import Sequence

from perfcc.cc.compiler import CompilerInfo
from perfcc.cc.emit.compile import Refused, refused
from perfcc.cc.flags import flags
from perfcc.cc.macros import clash_before, clash_inside, macros, reserved, tells_place
from perfcc.cc.splice import Replacement, around_original, names, splice
from perfcc.core.reason import Reason
from perfcc.core.unit import Invocation, TranslationUnit

# Flags under which the compiler writes more than code and debug information: what would be counted or listed is the rewritten text.
_SIDE_OUTPUT = ("--coverage", "-coverage", "-ftest-coverage", "-fstack-usage", "-fcallgraph-info", "-flto", "-fopenacc")
_TIMED = frozenset((b"__TIME__", b"__DATE__", b"__TIMESTAMP__"))
# What the run-time headers refer to by its name in the object.
_REFERRED = frozenset(("dlsym", "getpid", "__errno_location"))

Originals = Sequence[tuple[Replacement, bytes]]
"""Each replacement with the text of the file it belongs to."""


def check_flags(invocation: Invocation) -> None:
    for flag in flags(invocation.argv):
        word = flag.words[0]
        if word.startswith(("@", "-fdump-", "-fprofile-", "-save-temps", "-Wa,-a")) or flag.name.rstrip("=") in _SIDE_OUTPUT:
            raise refused(f"the flag {word} is not supported")


def check_openmp(unit: TranslationUnit, info: CompilerInfo, items: Originals, threads: bool, awaken: bool, in_headers: bool) -> None:
    """Threads can be had, and -fopenmp would wake nothing of the user's."""
    if threads and info.family != "gcc":
        raise Refused(Reason("openmp-unavailable", at=next(item.span for item, _ in items if item.threads)))
    if awaken and in_headers:
        raise Refused(Reason("openmp-in-headers"))
    if awaken and "-fopenmp-simd" in unit.invocation.argv:
        raise Refused(Reason("openmp-in-headers", detail="-fopenmp-simd uses some pragmas that -fopenmp would turn into threads"))
    if threads and any("thread" in flag.value for flag in flags(unit.invocation.argv) if flag.name == "-fsanitize="):
        raise Refused(Reason("openmp-unavailable", detail="ThreadSanitizer can't see into libgomp"))
    for item, source in items:
        original = source[item.span.begin : item.span.end]
        if awaken and b"omp" in set(names(original)) | _pragma_words(original):
            raise Refused(Reason("user-openmp", at=item.span))


def check_sleep(text: bytes, replacements: Sequence[Replacement]) -> None:
    """Outside the replaced spans nothing is left that -fopenmp could wake, once the text's pragmas are put to sleep."""
    if any(name == b"omp" for name in _outside(text, replacements)):
        raise Refused(Reason("openmp-in-headers", detail="the source mentions omp where perfcc can't put it to sleep"))


def check_time(text: bytes) -> None:
    if _TIMED & set(names(text)):
        raise refused("the source uses __DATE__, __TIME__ or __TIMESTAMP__")


def check_words(unit: TranslationUnit, items: Originals, head: str, listing: bytes) -> None:
    """Text that perfcc adds must mean the same whatever macros the unit has; ``listing`` is what -E -dD wrote."""
    found = macros(listing, unit.invocation.source)
    for text in {unit.text, *(source for _, source in items)}:
        if word := reserved(text, found):
            raise refused(f"the source uses the name {word}, which is perfcc's own")
    if word := clash_before(head, found):
        raise refused(f"{word} is defined as a macro before the source begins")
    for item, source in items:
        original = source[item.span.begin : item.span.end]
        generated = b" ".join(around_original(item.text.encode("utf-8", "surrogateescape"), original))
        if word := clash_inside(generated, original, found):
            raise Refused(Reason("macro-in-kernel", at=item.span, detail=f"{word} is defined as a macro in this unit"))
        if word := tells_place(generated, found):
            raise Refused(Reason("macro-in-kernel", at=item.span, detail=f"{word} depends on where it stands"))


def check_definitions(own: frozenset[str]) -> None:
    taken = sorted(name for name in own if name in _REFERRED or name.startswith(("GOMP_", "omp_")))
    if taken:
        raise Refused(Reason("openmp-unavailable", detail=f"the source defines {', '.join(taken[:4])} itself"))


def check_read_once(name: str, listing: bytes, main: bool) -> None:
    """The file is read exactly once: a replacement is made for one reading of the text."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "surrogateescape")
    if listing.count(b'"' + quoted + b'" 1') != (0 if main else 1):
        raise refused(f"{name} is included more than once" if not main else f"{name} includes itself")


def _pragma_words(text: bytes) -> set[bytes]:
    return {b"omp"} if splice(text, (), "", mask_openmp=True) != text else set()


def _outside(text: bytes, replacements: Sequence[Replacement]) -> list[bytes]:
    """The identifiers of the source outside the replaced spans, pragmas already put to sleep."""
    quiet = splice(text, (), "", mask_openmp=True)
    offset = len(text) - len(quiet)
    found: list[bytes] = []
    at = 0
    for item in sorted(replacements, key=lambda replacement: replacement.span.begin):
        found += names(quiet[at : item.span.begin - offset])
        at = item.span.end - offset
    return found + list(names(quiet[at:]))

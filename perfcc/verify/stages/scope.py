"""Scope: the candidate's text uses nothing beyond the original's words, an allow-list of calls, and OpenMP."""

from __future__ import annotations

import re

from perfcc.core.candidate import Candidate
from perfcc.core.reason import Reason
from perfcc.verify.session import Session
from perfcc.verify.stages.result import Result, failed, passed

STAGE = "scope"
_ALLOWED = re.compile(
    r"perfcc_\w+|omp_\w+|(__builtin_)?(f?abs|sqrt|fma|floor|ceil|min|max|fmin|fmax|assume_aligned|expect|prefetch|add_overflow|mul_overflow|"
    r"sub_overflow)[fl]?|sizeof|alignof|size|data|std|static_cast"
)
_KEYWORDS = frozenset(
    ["if", "for", "while", "switch", "return", "sizeof", "alignof", "else", "do", "case", "char", "short", "int", "long", "float", "double"]
)
_TYPES = frozenset(
    ["_Bool", "bool", "signed", "unsigned", "void", "const", "size_t", "ptrdiff_t", "wchar_t", "char16_t", "char32_t", "char8_t"]
)
_FORBIDDEN = re.compile(
    r"\b(asm|__asm__|__asm|static|extern|thread_local|__thread|goto|throw|new|delete|syscall|reinterpret_cast|const_cast|dlopen|dlsym|system|"
    r"__attribute__|_Static_assert|template|class|struct|union|namespace|using|operator|alloca|__builtin_alloca)\b|"
    r"#\s*(include|define|undef|import)"
)
_PRAGMA = re.compile(r"#\s*pragma\s+(?!omp\b|GCC\s+(ivdep|unroll)\b)")
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")


def run(session: Session, candidate: Candidate) -> Result:
    """Rejects what the words alone give away."""
    original = _bare(session.kernel.text)
    rewrite = _bare(f"{candidate.guard}\n{candidate.fast}")
    known = set(re.findall(r"[A-Za-z_]\w*|#\s*\w+", original))
    for pattern in (_FORBIDDEN, _PRAGMA):
        for found in pattern.finditer(_without_pragmas(rewrite)):
            if found.group(0) not in known:
                return failed(STAGE, Reason("out-of-scope", session.kernel.span, found.group(0).strip()))
    called = {name for name in _CALL.findall(_without_pragmas(rewrite)) if name not in _KEYWORDS}
    fresh = sorted(name for name in called if name not in known and not _ALLOWED.fullmatch(name) and not _is_cast(name))
    if fresh:
        return failed(STAGE, Reason("out-of-scope", session.kernel.span, f"calls {fresh[0]}"))
    return passed(STAGE, "calls nothing the original does not, beyond maths and OpenMP", ("calls", " ".join(sorted(called)) or "none"))


def _is_cast(name: str) -> bool:
    return name in _TYPES or bool(re.fullmatch(r"u?int\d+_t", name))


def _without_pragmas(text: str) -> str:
    return re.sub(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b(?:[^\n\\]|\\\n|\\)*$", "", text, flags=re.MULTILINE)


def _bare(text: str) -> str:
    """Without comments and the content of literals."""
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", " ", text, flags=re.DOTALL)

"""Pragmas that tell the compiler something of the loop that follows, and of nothing else."""

from __future__ import annotations

import re

from perfcc.core.span import Span
from perfcc.frontend.unit import Unit

_HINT = re.compile(r"(GCC\s+(unroll|ivdep|novector)|clang\s+loop|(no)?unroll(_and_jam)?|ivdep|simd|(no)?vector)\b")


def hint_before(unit: Unit, begin: int) -> Span | None:
    """The pragma that stands right before the loop at ``begin``, as a directive, an operator or a macro's use; None for none."""
    source = unit.source
    index = source.token_index(begin)
    after = source.tokens[index - 1].end if index else 0
    for directive in source.directives_in(after, begin):
        if directive.name == "pragma" and _HINT.match(directive.rest):
            return source.span(directive.begin, directive.end)
    if index >= 4 and source.tokens[index - 4].text == "_Pragma":
        return source.span(source.tokens[index - 4].begin, after)
    use = unit.expansions.ending_at.get(after)
    if use is not None and "_Pragma" in unit.macros.words_behind({use.name}):
        return source.span(use.begin, use.end)
    return None

"""Where a statement ends in the text: libclang leaves out the final semicolon of most."""

from __future__ import annotations

from perfcc.frontend import kinds as k
from perfcc.frontend.tree import Node
from perfcc.frontend.unit import Unit

_ENDS_WITH_BODY = frozenset(
    {k.FOR_STMT, k.WHILE_STMT, k.RANGE_FOR_STMT, k.IF_STMT, k.SWITCH_STMT, k.LABEL_STMT, k.CASE_STMT, k.DEFAULT_STMT}
)


def statement_end(unit: Unit, node: Node) -> int:
    """The offset just past the statement's last byte, its ``;`` included."""
    while node.kind in _ENDS_WITH_BODY or k.is_openmp_directive(node.kind):
        inner = [child for child in node.children if child.kind >= k.UNEXPOSED_EXPR]
        if not inner:
            break
        node = inner[-1]
    end = unit.end_of(node)
    if node.kind in (k.COMPOUND_STMT, k.TRY_STMT):
        return end
    source = unit.source
    if node.kind in (k.NULL_STMT, k.DECL_STMT) and source.text[end - 1 : end] == b";":
        return end
    index = source.token_index(end)
    if index < len(source.tokens) and source.tokens[index].text == ";":
        return source.tokens[index].end
    return end

"""Which parts of a template depend on its parameters, and so mean something else in each instantiation."""

from __future__ import annotations

import re

from perfcc.frontend import kinds as k
from perfcc.frontend.libclang import Ast, Cursor
from perfcc.frontend.tree import Node
from perfcc.frontend.unit import Unit
from perfcc.frontend.uses import Uses

_NAMES = frozenset({k.DECL_REF_EXPR, k.MEMBER_REF_EXPR, k.TYPE_REF, k.TEMPLATE_REF, k.VARIABLE_REF})
_UNKNOWN_TYPE = re.compile(r"type-parameter-|<dependent|\bauto\b|\bdecltype\(")


def first_dependent(root: Node) -> tuple[Node, str] | None:
    """The first part at or below ``root`` that depends on a template parameter, and its name; None when all means the same everywhere.

    The language binds what does not depend when it reads the template ([temp.nondep]). Static members, methods and enumerators of a
    class template count as dependent: they may be specialised one by one ([temp.expl.spec]); its data members can't be.
    """
    found = next(((node, name) for node in root.walk() if (name := _dependence(node))), None)
    while found is not None:
        smaller = next(((node, name) for child in found[0].children for node in child.walk() if (name := _dependence(node))), None)
        if smaller is None:
            break
        found = smaller
    return found


def _dependence(node: Node) -> str:
    """What makes the node itself depend on a parameter; "" for nothing."""
    ast = node.ast
    if node.kind == k.OVERLOADED_DECL_REF or node.kind in k.TEMPLATE_PARAMETERS:
        return node.spelling or "a template parameter"
    if k.UNEXPOSED_EXPR <= node.kind <= k.LAST_EXPR or node.kind in (k.VAR_DECL, k.PARM_DECL):
        spelling = ast.type_spelling(ast.canonical_type(ast.type(node.cursor)))
        if _UNKNOWN_TYPE.search(spelling):
            return node.spelling or ast.type_spelling(ast.type(node.cursor))
    if node.kind in _NAMES:
        declared = ast.referenced(node.cursor)
        if declared is None or _depends(ast, declared):
            return node.spelling or "a name"
    return ""


def hidden_names(unit: Unit, uses: Uses) -> set[str]:
    """The words of a template's function that the tree shows no variable for: what is resolved later only may mention one all the same."""
    body = uses.body
    shown = {node.begin for nodes in uses.mentions.values() for node in nodes}
    shown |= {unit.ast.location(node.cursor) for node in body.walk() if node.kind in (k.VAR_DECL, k.PARM_DECL)}
    tokens = unit.source.tokens_in(body.begin, body.end)
    return {token.text for token in tokens if token.kind == "word" and token.begin not in shown}


def in_template(ast: Ast, declared: Cursor) -> bool:
    """The declaration is part of a template, or of something inside one."""
    parent = ast.parent(declared)
    while parent is not None and parent.kind != k.TRANSLATION_UNIT:
        if parent.kind in k.TEMPLATES:
            return True
        parent = ast.parent(parent)
    return False


def _depends(ast: Ast, declared: Cursor) -> bool:
    if declared.kind in k.TEMPLATE_PARAMETERS:
        return True
    if declared.kind in (k.PARM_DECL, k.FIELD_DECL, k.TYPEDEF_DECL, k.TYPE_ALIAS_DECL) or _is_local(ast, declared):
        # What its type is goes by the names it is declared with: a member class may be specialised too.
        named = [ast.referenced(child) for child in ast.children(declared) if child.kind == k.TYPE_REF]
        return any(type is None or _depends(ast, type) for type in named)
    return in_template(ast, declared)


def _is_local(ast: Ast, declared: Cursor) -> bool:
    parent = ast.parent(declared) if declared.kind == k.VAR_DECL else None
    return parent is not None and (parent.kind in k.FUNCTIONS or parent.kind == k.FUNCTION_TEMPLATE)

"""Calls inside a kernel: library maths, functions of the unit whose bodies are seen, and why any other call stops a rewrite."""

from __future__ import annotations

from perfcc.core.kernel import CallEffect
from perfcc.frontend import kinds as k
from perfcc.frontend import library
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.purity import Impure, Purity
from perfcc.frontend.refusal import Refused
from perfcc.frontend.tree import Node, strip
from perfcc.frontend.unit import Unit


class Calls:
    """The callees of one kernel, by the name under which its expressions mention them."""

    def __init__(self, unit: Unit, purity: Purity) -> None:
        self._unit = unit
        self._ast = unit.ast
        self._purity = purity
        self.effects: dict[str, CallEffect] = {}
        self._names: dict[int, str] = {}
        self._cursors: dict[str, Cursor] = {}

    def effect(self, node: Node, callee: Cursor | None) -> CallEffect:
        """What a call of a scalar function may do. Raises Refused for all but pure ones."""
        stopped = call_refusal(self._unit, node, callee)
        if stopped is not None:
            raise stopped
        assert callee is not None
        name = self._ast.spelling(callee)
        if is_library(self._unit, callee):
            found = library.effect(name, self._unit.language)
            if found is None:
                raise self._unit.refuse("unknown-call", node, name)
            return self._keep(callee, found, name)
        try:
            found = self._purity.effect(callee)
        except Impure as impure:
            raise self._unit.refuse(impure.reason, node, f"{name}: {impure.detail}" if impure.detail else name) from None
        first = node.children[0] if node.children else None
        named = strip(first) if first is not None else None
        if named is not None and named.kind == k.MEMBER_REF_EXPR and named.expressions:
            raise self._unit.refuse("unmodelled-expression", node, f"static {name}, called through an object")
        if named is not None and any(child.kind in (k.NAMESPACE_REF, k.TYPE_REF, k.TEMPLATE_REF) for child in named.children):
            raise self._unit.refuse("unmodelled-expression", node, f"a qualified name: {name}")
        return self._keep(callee, found, name)

    def _keep(self, callee: Cursor, effect: CallEffect, name: str) -> CallEffect:
        key = self._ast.key(callee)
        known = self._names.get(key)
        if known is not None:
            return self.effects[known]
        while name in self.effects:
            if self.effects[name].header and self.effects[name].errno_values == effect.errno_values and effect.header:
                self._names[key] = name  # overloads of one library function
                return self.effects[name]
            name += "'"
        if name != effect.callee:
            effect = CallEffect(name, effect.pure, effect.errno_values, effect.may_throw, effect.definition, effect.header)
        self._names[key] = name
        self._cursors[name] = callee
        self.effects[name] = effect
        return effect

    def cursor_of(self, name: str) -> Cursor:
        """The callee that an effect's name stands for. Raises KeyError."""
        return self._cursors[name]


def is_library(unit: Unit, callee: Cursor) -> bool:
    """True for built-in functions and those of the C and C++ libraries: in std, or with C's linkage, declared in a system header.

    Any project's headers may be system headers (``-isystem``) and declare an ``int log(int)`` of their own.
    """
    ast = unit.ast
    if ast.spelling(callee).startswith("__builtin_"):
        return True
    if not unit.whole.hosted or ast.spelling(callee) in unit.whole.weak:
        return False
    if ast.place(callee).file is None:
        return True
    name = unit.whole.qualified_name(callee)
    if not ast.in_system_header(callee):
        return False
    return name.startswith(("std::", "__gnu_cxx::")) or ("::" not in name and ast.mangled(callee) == name)


def call_refusal(unit: Unit, node: Node, callee: Cursor | None) -> Refused | None:
    """Why a call stops the loop around it, going by the callee's name and kind alone; ``None`` when it may yet be pure."""
    ast, refuse = unit.ast, unit.refuse
    if callee is None or callee.kind in (k.VAR_DECL, k.PARM_DECL, k.FIELD_DECL):
        if callee is None and any(child.kind == k.OVERLOADED_DECL_REF for child in node.walk()):
            return refuse("dependent-type", node)
        return refuse("callback", node, "a call through a pointer")
    name = ast.spelling(callee)
    result = unit.types.canonical(ast.type(node.cursor))
    if name in ("operator<<", "operator>>") and ("basic_ostream" in result or "basic_istream" in result):
        return refuse("io-in-loop", node, "stream " + name.removeprefix("operator"))
    owner = ast.parent(callee)
    owner_name = unit.whole.qualified_name(owner) if owner is not None else ""
    method = callee.kind in (k.CXX_METHOD, k.CONSTRUCTOR, k.DESTRUCTOR, k.CONVERSION_FUNCTION)
    if method and owner_name.startswith("std::"):
        return _std_method_refusal(unit, node, name, owner_name)
    if method and ast.lib.clang_CXXMethod_isVirtual(callee):
        return refuse("callback", node, f"virtual {name}")
    if callee.kind == k.CONSTRUCTOR:
        return refuse("unmodelled-type", node, owner_name)
    if name == "operator()":
        return refuse("callback", node, owner_name or "a functor")
    if is_library(unit, callee):
        if name in library.INPUT_OUTPUT:
            return refuse("io-in-loop", node, name)
        if name in library.ALLOCATION:
            return refuse("allocation-in-loop", node, name)
        if name.startswith(("sto", "operator new")) and owner_name.startswith("std"):
            return refuse("may-throw", node, name)
        if library.effect(name, unit.language) is None:
            return refuse("unknown-call", node, name)
        return None
    if method and not ast.lib.clang_CXXMethod_isStatic(callee):
        return refuse("unknown-effects", node, f"method {name}")
    return None


def _std_method_refusal(unit: Unit, node: Node, name: str, owner: str) -> Refused:
    refuse = unit.refuse
    if any(word in owner for word in ("ostream", "istream", "fstream", "stringstream", "basic_ios", "ios_base")):
        return refuse("io-in-loop", node, f"{owner}::{name}")
    if owner.startswith("std::function"):
        return refuse("callback", node, "std::function")
    if owner.startswith(("std::atomic", "std::__atomic")):
        return refuse("atomic-access", node, owner)
    if name in ("at", "value"):
        return refuse("may-throw", node, f"{owner}::{name}")
    if name == "operator[]" and owner in ("std::map", "std::unordered_map"):
        return refuse("container-modified", node, f"operator[] of {owner} may insert")
    if name in library.GROWTH or (name in ("operator=", "operator+=") and "basic_string" in owner):
        return refuse("container-modified", node, f"{owner}::{name}")
    if "basic_string" in owner:
        return refuse("unmodelled-type", node, "std::string")
    return refuse("unmodelled-type", node, f"{owner}::{name}")

"""What a kernel's text needs outside its unit: types, enumerations, constants. Everything is written anew from canonical types."""

from __future__ import annotations

from perfcc.core.types import ScalarType, Storage
from perfcc.frontend import kinds as k
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.library import STD_TYPES
from perfcc.frontend.tree import Node
from perfcc.frontend.unit import Unit


class Needs:
    """Collects definitions (each complete, in any order) and standard headers."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._ast = unit.ast
        self.definitions: dict[str, None] = {}
        self.headers: set[str] = set()

    def constant(self, declared: Cursor, scalar: ScalarType, value: str, node: Node) -> None:
        """A ``const`` variable with a constant value."""
        self._unqualified(node)
        if scalar.spelling in ("unsigned int", "unsigned long", "unsigned long long"):
            value += "u" if scalar.spelling == "unsigned int" else "ull"
        elif scalar.spelling in ("long", "long long") and value == str(-(1 << 63)):
            value = "(-9223372036854775807LL - 1)"
        self._add(f"static const {scalar.spelling} {self._ast.spelling(declared)} = {value};")

    def enumerator(self, declared: Cursor, node: Node) -> None:
        parent = self._ast.parent(declared)
        if parent is None or parent.kind != k.ENUM_DECL:
            raise self._unit.refuse("unmodelled-expression", node)
        if any(child.kind == k.NAMESPACE_REF for child in node.children):
            raise self._unit.refuse("unmodelled-expression", node, "a qualified name")
        self._enumeration(parent)

    def _enumeration(self, declared: Cursor) -> None:
        ast = self._ast
        members = [child for child in ast.children(declared) if child.kind == k.ENUM_CONSTANT_DECL]
        listed = ", ".join(f"{ast.spelling(m)} = {ast.lib.clang_getEnumConstantDeclValue(m)}" for m in members)
        name = ast.spelling(declared)
        anonymous = not name or "(" in name
        scoped = bool(ast.lib.clang_EnumDecl_isScoped(declared))
        underlying = ""
        scalar = self._unit.types.scalar(ast.lib.clang_getEnumDeclIntegerType(declared))
        if scoped and scalar is not None:
            underlying = f" : {scalar.spelling}"
        head = "enum class" if scoped else "enum"
        self._add(f"{head} {'' if anonymous else name}{underlying} {{ {listed} }};")

    def types_in(self, node: Node) -> None:
        """The types that the text of ``node`` itself (a declaration or a cast) names."""
        references = [child for child in node.children if child.kind == k.TYPE_REF]
        for child in references:
            self._type(child)
        if not references:
            self._hidden_type(node)

    def _hidden_type(self, node: Node) -> None:
        """libclang shows no reference to a type that a using-declaration brought in, such as ``std::int64_t``."""
        ast = self._ast
        type = ast.type(node.cursor)
        scalar = self._unit.types.scalar(type)
        name = ast.type_spelling(type).removeprefix("const ").split("::")[-1]
        if scalar is None or name in (scalar.spelling, "bool") or not name.isidentifier() or self._unit.types.is_enum(type):
            return
        tokens = self._unit.source_at(node).tokens_in(node.begin, node.end)
        for before, token in zip([None, *tokens], tokens, strict=False):
            if token.text == name:
                if before is None or before.text != "::":
                    self._add(f"typedef {scalar.spelling} {name};")
                elif name in STD_TYPES:
                    self.headers.add(STD_TYPES[name])
                return

    def reference(self, node: Node) -> None:
        """The type that one reference names."""
        self._type(node)

    def _type(self, reference: Node) -> None:
        unit, ast = self._unit, self._ast
        declared = ast.referenced(reference.cursor)
        if declared is None:
            raise unit.refuse("unmodelled-type", reference)
        name = ast.spelling(declared)
        if self._qualifier(reference):
            header = STD_TYPES.get(name)
            if header is None or not ast.in_system_header(declared):
                raise unit.refuse("unmodelled-type", reference, f"a qualified name: {name}")
            self.headers.add(header)
            return
        if declared.kind == k.ENUM_DECL:
            self._enumeration(declared)
        elif declared.kind in (k.TYPEDEF_DECL, k.TYPE_ALIAS_DECL):
            self._typedef(declared, name, reference)
        else:
            raise unit.refuse("unmodelled-type", reference, name)

    def _typedef(self, declared: Cursor, name: str, reference: Node) -> None:
        unit, ast = self._unit, self._ast
        type = ast.lib.clang_getTypedefDeclUnderlyingType(declared)
        shape = unit.types.shape(type)
        if shape.storage is Storage.OTHER or shape.element is None or shape.is_reference:
            raise unit.refuse("unmodelled-type", reference, f"{name} is {shape.why}")
        if unit.types.is_enum(type):
            owner = ast.lib.clang_getTypeDeclaration(ast.canonical_type(type))
            self._enumeration(owner)
            inner = ast.spelling(owner)
            if inner == name:  # typedef enum { ... } name
                if unit.language == "c":
                    self._add(f"typedef enum {name} {name};")
                return
            spelling = shape.element.spelling if not inner or "(" in inner else f"enum {inner}"
            self._add(f"typedef {spelling} {name};")
        elif shape.storage is Storage.SCALAR:
            const = "const " if shape.is_const else ""
            self._add(f"typedef {const}{shape.element.spelling} {name};")
        elif shape.storage is Storage.POINTER and not shape.dims:
            self._add(f"typedef {unit.types.canonical(type)} {name};")
        elif shape.storage is Storage.ARRAY:
            const = "const " if shape.is_const else ""
            extents = "".join(f"[{'' if n is None else n}]" for n in shape.dims)
            self._add(f"typedef {const}{shape.element.spelling} {name}{extents};")
        elif shape.storage is Storage.VECTOR:
            self.headers.add("<vector>")
            const = "const " if shape.is_const else ""
            self._add(f"typedef {const}std::vector<{shape.element.spelling}> {name};")
        else:
            raise unit.refuse("unmodelled-type", reference, name)

    def _qualifier(self, node: Node) -> bool:
        source = self._unit.source_at(node)
        index = source.token_index(node.begin)
        return index > 0 and source.tokens[index - 1].text == "::"

    def _unqualified(self, node: Node) -> None:
        if any(child.kind in (k.NAMESPACE_REF, k.TYPE_REF) for child in node.children):
            raise self._unit.refuse("unmodelled-expression", node, "a qualified name")

    def _add(self, line: str) -> None:
        self.definitions.setdefault(line)

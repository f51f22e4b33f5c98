"""What building one kernel needs and collects."""

from __future__ import annotations

from perfcc.core.ir import Access
from perfcc.core.reason import Reason
from perfcc.core.types import Storage
from perfcc.frontend import kinds as k
from perfcc.frontend.calls import Calls, call_refusal
from perfcc.frontend.expansions import Expansion
from perfcc.frontend.expressions import Address
from perfcc.frontend.libclang import Cursor
from perfcc.frontend.needs import Needs
from perfcc.frontend.purity import Purity
from perfcc.frontend.refusal import Refused
from perfcc.frontend.tree import Node, strip
from perfcc.frontend.unit import Unit
from perfcc.frontend.uses import Uses
from perfcc.frontend.variables import Variables


class Context:
    """One kernel under construction: ``[begin, end)`` are its bytes."""

    def __init__(self, unit: Unit, uses: Uses, purity: Purity, begin: int, end: int) -> None:
        self.unit = unit
        self.uses = uses
        self.begin = begin
        self.end = end
        self.variables = Variables(unit, uses, begin, end)
        self.needs = Needs(unit)
        self.calls = Calls(unit, purity)
        self.headers: set[str] = set()
        self.aliases: dict[int, Address] = {}
        self.place_aliases: dict[int, Access] = {}
        self._roots: dict[int, set[Node]] = {}

    def declared_inside(self, declaration: Cursor) -> bool:
        ast = self.unit.ast
        return ast.file_of(declaration) == self.unit.path and self.begin <= ast.extent(declaration)[0] < self.end

    # -- macros --------------------------------------------------------------------------------------------------

    def macro_root(self, node: Node) -> Expansion | None:
        """The macro's use that ``node`` is the whole of. Raises Refused when the macro hasn't the form of one expression."""
        use = self.unit.expansions.outermost.get(node.begin)
        if use is None or self.unit.end_of(node) != use.end:
            return None
        macros = self.unit.macros
        if not macros.is_expression_like(use.name):
            raise self.unit.refuse("macro-in-kernel", node, use.name)
        if macros.begins_with_operator(use.name) and strip(node).kind != k.UNARY_OPERATOR:
            raise self.unit.refuse("macro-in-kernel", node, use.name)
        self._roots.setdefault(use.begin, set()).add(node)
        return use

    def check_macros(self) -> None:
        """Raises Refused unless every macro's use in the kernel is one expression, or specifiers of a type."""
        for use in self.unit.expansions.uses_in(self.begin, self.end):
            count = len(self._roots.get(use.begin, ()))
            if count == 1 or (count == 0 and self.unit.macros.is_type_like(use.name)):
                continue
            raise Refused(Reason("macro-in-kernel", self.unit.source.span(use.begin, use.end), use.name))

    # -- reasons -------------------------------------------------------------------------------------------------

    def refusal_of(self, node: Node) -> Refused:
        """The most telling reason why an expression has no model."""
        refuse = self.unit.refuse
        for below in node.walk():
            found = self._refusal_at(below)
            if found is not None:
                return found
        inner = strip(node)
        if inner.kind in (k.DECL_REF_EXPR, k.MEMBER_REF_EXPR):
            return self._name_refusal(inner)
        ast = self.unit.ast
        type = ast.canonical_type(ast.type(node.cursor))
        if type.kind in (k.T_RECORD, k.T_COMPLEX, k.T_VECTOR, k.T_EXT_VECTOR):
            return refuse("unmodelled-type", node, ast.type_spelling(type))
        return refuse("unmodelled-expression", node)

    def _refusal_at(self, node: Node) -> Refused | None:
        refuse, ast = self.unit.refuse, self.unit.ast
        match node.kind:
            case k.CALL_EXPR:
                return call_refusal(self.unit, node, ast.referenced(node.cursor))
            case k.THROW_EXPR:
                return refuse("may-throw", node, "throw")
            case k.NEW_EXPR | k.DELETE_EXPR:
                return refuse("allocation-in-loop", node, "new" if node.kind == k.NEW_EXPR else "delete")
            case k.LAMBDA_EXPR:
                return refuse("unmodelled-expression", node, "a lambda")
            case k.STMT_EXPR:
                return refuse("unmodelled-expression", node, "a statement expression")
            case k.OVERLOADED_DECL_REF:
                return refuse("dependent-type", node)
            case k.DECL_REF_EXPR | k.MEMBER_REF_EXPR if node.expressions == []:
                declared = ast.referenced(node.cursor)
                if declared is not None and declared.kind in (k.VAR_DECL, k.PARM_DECL, k.FIELD_DECL):
                    shape = self.unit.types.shape_of(declared)
                    if shape.is_atomic:
                        return refuse("atomic-access", node, node.spelling)
                    if shape.is_volatile:
                        return refuse("volatile-access", node, node.spelling)
        return None

    def _name_refusal(self, node: Node) -> Refused:
        declared = self.unit.ast.referenced(node.cursor)
        if declared is None:
            return self.unit.refuse("dependent-type", node)
        if node.kind == k.MEMBER_REF_EXPR and node.expressions:
            return self.member_refusal(node, declared)
        shape = self.unit.types.shape_of(declared)
        if shape.storage is Storage.OTHER:
            return self.unit.refuse("unmodelled-type", node, f"{node.spelling} is {shape.why}")
        return self.unit.refuse("unmodelled-expression", node, f"{node.spelling} used as a whole")

    def member_refusal(self, node: Node, declared: Cursor) -> Refused:
        shape = self.unit.types.shape_of(declared)
        if shape.is_atomic or shape.is_volatile:
            return self.unit.refuse("atomic-access" if shape.is_atomic else "volatile-access", node, node.spelling)
        return self.unit.refuse("unmodelled-type", node, f"member {node.spelling} of an object")

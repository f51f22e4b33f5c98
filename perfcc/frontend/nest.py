"""From loop statements to a core/ir nest, all or nothing."""

from __future__ import annotations

from dataclasses import replace

from perfcc.core.ir import (
    Access,
    Assign,
    Block,
    Cast,
    Declare,
    Evaluate,
    Expr,
    FloatConst,
    If,
    IntConst,
    Jump,
    Loop,
    Stmt,
    Unary,
    VarRef,
    expressions,
    statements,
)
from perfcc.core.span import Span
from perfcc.core.types import ScalarType, Storage, TypeKind, Variable
from perfcc.frontend import kinds as k
from perfcc.frontend.context import Context
from perfcc.frontend.expressions import Expressions, converted
from perfcc.frontend.header import Header, check_own, read_header
from perfcc.frontend.ranges import statement_end
from perfcc.frontend.tree import Node, strip

MAX_NESTING = 60
INT = ScalarType("int", TypeKind.SIGNED, 32)


class NestBuilder:
    """Builds one kernel's nest. ``build`` raises Refused with the first reason, in source order, why it can't."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._unit = context.unit
        self._ast = context.unit.ast
        self._values = Expressions(context)
        self._loops = 0
        self._running: list[str] = []  # the loop variables of the loops around the current statement
        self._frozen: dict[str, Node] = {}  # scalars that an alias's address uses, which must keep their values
        self._frozen_bases: dict[str, Node] = {}
        self._depth = 0

    def build(self, node: Node) -> Loop:
        nest = self._loop(node)
        self._context.check_macros()
        self._check_aliases(nest)
        return nest

    def _check_aliases(self, nest: Loop) -> None:
        """What a pointer declared in the loop was computed from must not change while the pointer is in use."""
        for stmt in statements(nest):
            match stmt:
                case Assign(target=VarRef(var=var)) | Loop(var=var) if var.id in self._frozen:
                    why = f"a pointer computed from {var.name}, which changes"
                    raise self._unit.refuse("unmodelled-expression", self._frozen[var.id], why)
                case Assign(target=Access(base=base)) if base.id in self._frozen_bases:
                    why = f"a pointer computed from {base.name}, which changes"
                    raise self._unit.refuse("unmodelled-expression", self._frozen_bases[base.id], why)
                case _:
                    pass

    # -- loops ---------------------------------------------------------------------------------------------------

    def _loop(self, node: Node) -> Loop:
        if node.kind != k.FOR_STMT:
            raise self._not_counted(node)
        if node.begin in self._unit.expansions.outermost:
            raise self._unit.refuse("macro-in-kernel", node)
        header = read_header(self._context, self._values, node)
        id = f"L{self._loops}"
        self._loops += 1
        self._running.append(header.var.id)
        body = self._block(header.body)
        self._running.pop()
        loop = Loop(
            id=id,
            var=header.var,
            lower=header.lower,
            bound=header.bound,
            relation=header.relation,
            step=header.step,
            body=body,
            declares_var=header.declares_var,
            span=self._unit.source.span(node.begin, statement_end(self._unit, node)),
        )
        self._check_invariants(loop, node, header)
        check_own(self._context, node, header.var)
        return loop

    def _not_counted(self, node: Node) -> Exception:
        for below in node.walk():
            if below.kind == k.CALL_EXPR:
                found = self._context.refusal_of(below)
                if found.reason.id == "io-in-loop":
                    return found
        kind = {k.WHILE_STMT: "while", k.DO_STMT: "do", k.RANGE_FOR_STMT: "a range-based for"}.get(node.kind, "")
        return self._unit.refuse("not-counted", node, kind)

    def _check_invariants(self, loop: Loop, node: Node, header: Header) -> None:
        """Nothing in the body may write the loop variable, or what the bound reads."""
        scalars, bases = written(loop.body)
        if loop.var.id in scalars:
            raise self._unit.refuse("loop-variable-written", self._write_of(header.body, loop.var), loop.var.name)
        for expr in expressions(loop.bound):
            match expr:
                case VarRef(var=var) if var.id in scalars or var.id == loop.var.id:
                    raise self._unit.refuse("bound-written", node, var.name)
                case Access(base=base) if base.id in bases:
                    raise self._unit.refuse("bound-written", node, base.name)
                case _:
                    pass

    def _write_of(self, body: Node, var: Variable) -> Node:
        """The first statement in the loop's body that mentions the variable as something to write."""
        for node in body.walk():
            if node.kind in (k.COMPOUND_ASSIGNMENT, k.UNARY_OPERATOR, k.BINARY_OPERATOR, k.FOR_STMT) and node.expressions:
                lib = self._ast.lib
                writes = node.kind == k.COMPOUND_ASSIGNMENT or (
                    lib.clang_getCursorUnaryOperatorKind(node.cursor) in k.INCREMENT
                    if node.kind == k.UNARY_OPERATOR
                    else node.kind == k.BINARY_OPERATOR and lib.clang_getCursorBinaryOperatorKind(node.cursor) == 22
                )
                if writes and node.expressions[0].kind == k.DECL_REF_EXPR and node.expressions[0].spelling == var.name:
                    return node
        return body

    # -- statements ----------------------------------------------------------------------------------------------

    def _block(self, node: Node) -> Block:
        if node.kind == k.COMPOUND_STMT:
            if node.begin in self._unit.expansions.outermost or self._unit.source.text[node.end - 1 : node.end] != b"}":
                raise self._unit.refuse("macro-in-kernel", node)
            items: list[Stmt] = []
            for child in node.children:
                items.extend(self._statement(child))
            return Block(tuple(items), self._unit.span(node))
        end = statement_end(self._unit, node)
        return Block(tuple(self._statement(node)), self._unit.source.span(node.begin, end))

    def _statement(self, node: Node) -> list[Stmt]:
        self._depth += 1
        try:
            if self._depth > MAX_NESTING:
                raise self._unit.refuse("unmodelled-statement", node, "nested too deeply")
            return self._statement_of(node)
        finally:
            self._depth -= 1

    def _statement_of(self, node: Node) -> list[Stmt]:
        refuse = self._unit.refuse
        if node.kind <= k.LAST_EXPR:
            return self._expression_statement(node)
        use = self._unit.expansions.outermost.get(node.begin)
        if use is not None and node.kind != k.DECL_STMT:
            raise refuse("macro-in-kernel", node, use.name)
        span = self._unit.source.span(node.begin, statement_end(self._unit, node))
        match node.kind:
            case k.FOR_STMT | k.WHILE_STMT | k.DO_STMT | k.RANGE_FOR_STMT:
                return [self._loop(node)]
            case k.COMPOUND_STMT:
                return [self._block(node)]
            case k.IF_STMT:
                return [self._if(node)]
            case k.DECL_STMT:
                return self._declarations(node)
            case k.NULL_STMT:
                return []
            case k.CONTINUE_STMT:
                return [Jump("continue", 0, span)]
            case k.BREAK_STMT | k.RETURN_STMT | k.GOTO_STMT | k.INDIRECT_GOTO_STMT:
                word = {k.BREAK_STMT: "break", k.RETURN_STMT: "return"}.get(node.kind, "goto")
                raise refuse("early-exit", node, word)
            case k.ASM_STMT | k.MS_ASM_STMT:
                raise refuse("inline-assembly", node)
            case k.SWITCH_STMT:
                raise refuse("unmodelled-statement", node, "switch")
            case k.TRY_STMT:
                raise refuse("unmodelled-statement", node, "try")
            case k.LABEL_STMT:
                raise refuse("unmodelled-statement", node, "a label")
            case kind if k.is_openmp_directive(kind):
                raise refuse("user-openmp", node)
            case _:
                raise refuse("unmodelled-statement", node)

    def _if(self, node: Node) -> If:
        parts = [child for child in node.children if child.kind >= k.UNEXPOSED_EXPR]
        if not 2 <= len(parts) <= 3 or parts[0].kind > k.LAST_EXPR:
            raise self._unit.refuse("unmodelled-statement", node, "a declaration in an if")
        if len(parts) == 3 and self._has_initialiser(node):
            raise self._unit.refuse("unmodelled-statement", node, "an if with an initialiser")
        condition = self._values.value(parts[0])
        then = self._block(parts[1])
        other = self._block(parts[2]) if len(parts) == 3 else None
        return If(condition, then, other, self._unit.source.span(node.begin, statement_end(self._unit, node)))

    def _has_initialiser(self, node: Node) -> bool:
        """``if constexpr``, or a ``;`` inside the parentheses."""
        source = self._unit.source
        index = source.token_index(node.begin) + 1
        if source.tokens[index].text != "(":
            return True
        close = source.close_of(index)
        return any(token.text == ";" for token in source.tokens[index:close])

    # -- expression statements -----------------------------------------------------------------------------------

    def _expression_statement(self, node: Node) -> list[Stmt]:
        inner = node
        while inner.kind == k.PAREN_EXPR or (inner.kind == k.UNEXPOSED_EXPR and len(inner.expressions) == 1):
            inner = inner.expressions[0]
        span = self._unit.source.span(node.begin, statement_end(self._unit, node))
        lib = self._ast.lib
        self._context.macro_root(node)
        if inner.kind == k.BINARY_OPERATOR and lib.clang_getCursorBinaryOperatorKind(inner.cursor) == 22:
            return list(self._assignments(inner, span))
        if inner.kind == k.COMPOUND_ASSIGNMENT:
            target, value = inner.expressions
            op = k.ASSIGN[lib.clang_getCursorBinaryOperatorKind(inner.cursor)]
            return [self._assign(target, op, self._values.value(value), span, inner)]
        if inner.kind == k.UNARY_OPERATOR and lib.clang_getCursorUnaryOperatorKind(inner.cursor) in k.INCREMENT:
            op = k.INCREMENT[lib.clang_getCursorUnaryOperatorKind(inner.cursor)]
            return [self._assign(inner.expressions[0], op, IntConst(1, INT), span, inner)]
        if self._is_void_constant(inner):
            return []
        stopped = self._context.refusal_of(inner)
        if stopped.reason.id != "unmodelled-expression":
            raise stopped
        return [Evaluate(self._values.value(node), span)]

    def _is_void_constant(self, node: Node) -> bool:
        """``(void)0``, what ``assert`` becomes under NDEBUG, and ``(void)x``, which silences a warning."""
        if node.kind not in (k.CSTYLE_CAST, k.STATIC_CAST) or self._ast.type(node.cursor).kind != k.T_VOID:
            return False
        return strip(node.expressions[0]).kind in (k.INTEGER_LITERAL, k.DECL_REF_EXPR) if len(node.expressions) == 1 else False

    def _assignments(self, node: Node, span: Span) -> list[Assign]:
        """``x = e;``, or ``x = y = 0;`` as one assignment each.

        The outer assignment's text does the inner ones too, so these are printed anew beside it; done twice they change nothing.
        """
        target, value = node.expressions
        inner = value
        while inner.kind in (k.PAREN_EXPR, k.UNEXPOSED_EXPR) and len(inner.expressions) == 1:
            inner = inner.expressions[0]
        if inner.kind != k.BINARY_OPERATOR or self._ast.lib.clang_getCursorBinaryOperatorKind(inner.cursor) != 22:
            return [self._assign(target, "=", self._values.value(value), span, node)]
        before = self._assignments(inner, span)
        last = before[-1]
        plain = last.value
        while isinstance(plain, Cast | Unary):
            plain = plain.operand
        place = self._values.place(target)
        scalar = self._unit.types.scalar(self._ast.type(target.cursor))
        scalars = isinstance(place, VarRef) and all(isinstance(stmt.target, VarRef) for stmt in before)
        if not isinstance(plain, IntConst | FloatConst) or scalar is None or not scalars:
            raise self._unit.refuse("unmodelled-expression", node, "an assignment inside an expression")
        return [*(replace(stmt, span=None) for stmt in before), Assign(place, "=", converted(last.value, scalar, None), span)]

    def _assign(self, target: Node, op: str, value: Expr, span: Span, node: Node) -> Assign:
        if self._context.unit.types.scalar(self._ast.type(target.cursor)) is None:
            if self._context.unit.types.is_pointer(self._ast.type(target.cursor)):
                raise self._unit.refuse("unmodelled-expression", node, "a pointer is changed")
            raise self._context.refusal_of(target)
        place = self._values.place(target)
        return Assign(place, op, value, span)

    # -- declarations --------------------------------------------------------------------------------------------

    def _declarations(self, node: Node) -> list[Stmt]:
        made: list[Stmt] = []
        declared = [child for child in node.children if child.kind == k.VAR_DECL]
        if len(declared) != len(node.children):
            raise self._unit.refuse("unmodelled-statement", node, "a declaration")
        if len(declared) > 1 and any(self._unit.types.is_pointer(self._ast.type(child.cursor)) for child in declared):
            raise self._unit.refuse("unmodelled-statement", node, "several pointers declared at once")
        for child in declared:
            made.extend(self._declaration(child, node))
        return made

    def _declaration(self, node: Node, statement: Node) -> list[Stmt]:
        refuse, ast = self._unit.refuse, self._ast
        if ast.lib.clang_Cursor_getStorageClass(node.cursor) in (2, 3):
            raise refuse("unmodelled-statement", node, "a static or extern variable")
        initialiser = ast.initialiser(node.cursor)
        init = Node(ast, initialiser, node) if initialiser is not None else None
        self._context.needs.types_in(node)
        shape = self._unit.types.shape(ast.type(node.cursor))
        if shape.storage is Storage.OTHER and init is not None:
            stopped = self._context.refusal_of(init)
            if stopped.reason.id in ("io-in-loop", "allocation-in-loop", "callback"):
                raise stopped
        if shape.is_reference and shape.storage is not Storage.OTHER:
            if shape.storage is not Storage.SCALAR or init is None:
                raise refuse("unmodelled-type", node, f"{node.spelling} is a reference declared in the loop")
            return self._reference(node, init)
        if shape.storage is Storage.POINTER and init is not None:
            return self._alias(node, init)
        if shape.storage is Storage.VECTOR:
            raise refuse("allocation-in-loop", node, f"{node.spelling} is {self._unit.types.canonical(ast.type(node.cursor))}")
        variable = self._context.variables.get(node.cursor, node)
        span = self._unit.span(statement)
        if variable.storage is Storage.ARRAY:
            if init is not None:
                self._constant_list(init, node)
            if None in variable.dims:
                raise refuse("unmodelled-type", node, f"{node.spelling} has an unknown extent")
            return [Declare(variable, None, span)]
        if variable.storage is not Storage.SCALAR:
            raise refuse("unmodelled-type", node, node.spelling)
        return [Declare(variable, None if init is None else self._values.value(init), span)]

    def _constant_list(self, init: Node, node: Node) -> None:
        """Only constants may stand in a local array's initialiser."""
        literals = (k.INTEGER_LITERAL, k.FLOATING_LITERAL, k.CHARACTER_LITERAL)
        for below in init.walk():
            if below.kind not in (k.INIT_LIST_EXPR, k.UNEXPOSED_EXPR, k.UNARY_OPERATOR, *literals):
                raise self._unit.refuse("unmodelled-expression", node, "an array's initialiser")

    def _alias(self, node: Node, init: Node) -> list[Stmt]:
        """``double *row = a + i * n;``: uses of ``row`` become accesses of ``a``; the declaration stays as text."""
        ast = self._ast
        stopped = self._context.refusal_of(init)
        if stopped.reason.id in ("allocation-in-loop", "callback", "unknown-call", "io-in-loop"):
            raise stopped
        address = self._values.address(init)
        if len(address.base.dims) > 1:
            raise self._unit.refuse("unmodelled-type", node, f"pointer {node.spelling} into the rows of {address.base.name}")
        self._freeze(node, (*address.subscripts, *(() if address.offset is None else (address.offset,))))
        variable = self._context.variables.get(node.cursor, node)
        self._context.aliases[ast.key(node.cursor)] = address
        return [Declare(variable, None, self._unit.span(node.parent or node))]

    def _reference(self, node: Node, init: Node) -> list[Stmt]:
        """``double &x = a[i];``: uses of ``x`` become accesses of ``a``; the declaration stays as text."""
        while init.kind == k.UNEXPOSED_EXPR and len(init.expressions) == 1:
            init = init.expressions[0]
        same = self._unit.types.scalar(self._ast.type(init.cursor)) == self._unit.types.shape(self._ast.type(node.cursor)).element
        if not same or init.kind not in (k.ARRAY_SUBSCRIPT_EXPR, k.CALL_EXPR, k.UNARY_OPERATOR):
            raise self._unit.refuse("unmodelled-type", node, f"{node.spelling} is a reference declared in the loop")
        place = self._values.place(init)
        if not isinstance(place, Access):
            raise self._unit.refuse("unmodelled-type", node, f"{node.spelling} is a reference declared in the loop")
        self._freeze(node, place.subscripts)
        variable = self._context.variables.get(node.cursor, node)
        self._context.place_aliases[self._ast.key(node.cursor)] = place
        return [Declare(variable, None, self._unit.span(node.parent or node))]

    def _freeze(self, node: Node, tops: tuple[Expr, ...]) -> None:
        """What an alias was computed from must keep its value, and the alias itself must not be passed on."""
        if self._ast.key(node.cursor) in self._context.uses.escaped:
            raise self._unit.refuse("unmodelled-type", node, f"{node.spelling} is passed on")
        for top in tops:
            for expr in expressions(top):
                match expr:
                    case VarRef(var=var) if var.id not in self._running:
                        self._frozen.setdefault(var.id, node)
                    case Access(base=base):
                        self._frozen_bases.setdefault(base.id, node)
                    case _:
                        pass


def written(stmt: Stmt) -> tuple[set[str], set[str]]:
    """The ids of the scalars and of the bases of memory that ``stmt`` writes, the loop variables inside included."""
    scalars: set[str] = set()
    bases: set[str] = set()
    for inner in statements(stmt):
        match inner:
            case Assign(target=VarRef(var=var)):
                scalars.add(var.id)
            case Assign(target=Access(base=base)):
                bases.add(base.id)
            case Declare(var=var):
                scalars.add(var.id)
            case Loop(var=var):
                scalars.add(var.id)
            case _:
                pass
    return scalars, bases

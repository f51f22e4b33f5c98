"""Loop nests built by hand, with real spans into a source text, for tests of the rules that need no parser."""

from __future__ import annotations

from perfcc.core.facts import Facts, LoopFacts
from perfcc.core.ir import Access, Assign, Binary, Block, ContainerSize, Expr, IntConst, Loop, VarRef
from perfcc.core.kernel import Kernel
from perfcc.core.span import Span
from perfcc.core.types import ScalarType, Scope, Storage, TypeKind, Variable

INT = ScalarType("int", TypeKind.SIGNED, 32)
UINT = ScalarType("unsigned int", TypeKind.UNSIGNED, 32)
SIZE = ScalarType("unsigned long", TypeKind.UNSIGNED, 64)
DOUBLE = ScalarType("double", TypeKind.FLOAT, 64)


def scalar(name: str, type: ScalarType = INT, scope: Scope = Scope.PARAMETER, **more: object) -> Variable:
    return Variable(name, name, type.spelling, Storage.SCALAR, type, scope, **more)  # type: ignore[arg-type]


def pointer(name: str, type: ScalarType = DOUBLE) -> Variable:
    return Variable(name, name, f"{type.spelling} *", Storage.POINTER, type, Scope.PARAMETER)


def vector(name: str, type: ScalarType = DOUBLE) -> Variable:
    return Variable(name, name, f"std::vector<{type.spelling}> &", Storage.VECTOR, type, Scope.PARAMETER, is_reference=True)


class Source:
    """One function's text; ``span`` finds the nth occurrence of a piece of it."""

    def __init__(self, text: str, file: str = "case.cpp") -> None:
        self.text, self.file = text, file

    def span(self, piece: str, nth: int = 0) -> Span:
        begin = -1
        for _ in range(nth + 1):
            begin = self.text.index(piece, begin + 1)
        line = self.text.count("\n", 0, begin) + 1
        column = begin - (self.text.rfind("\n", 0, begin) + 1) + 1
        return Span(self.file, begin, begin + len(piece), line, column, line + piece.count("\n"))

    def kernel(self, nest: Loop, piece: str, **more: object) -> Kernel:
        return Kernel("k", "f", "c++", self.span(piece), piece, nest, None, **more)  # type: ignore[arg-type]


def counted(id: str, var: Variable, bound: Expr, body: Block, span: Span | None = None, **more: object) -> Loop:
    """``for (var = 0; var < bound; ++var) body``."""
    settings = {"relation": "<", "step": 1, "lower": IntConst(0), **more}
    return Loop(id, var, bound=bound, body=body, span=span, **settings)  # type: ignore[arg-type]


def facts(*loops: LoopFacts, **more: object) -> Facts:
    return Facts(loops, (), (), **more)  # type: ignore[arg-type]


def saxpy() -> tuple[Source, Kernel, Facts]:
    """``y[i] += a * x[i]`` over ``int i`` on two pointers."""
    loop_text = "for (int i = 0; i < n; i++)\n    y[i] += a * x[i];"
    source = Source(f"void f(int n, double a, const double *x, double *y) {{\n  {loop_text}\n}}\n")
    i, n, a = scalar("i", scope=Scope.LOCAL, declared_in_kernel=True), scalar("n"), scalar("a", DOUBLE)
    x, y = pointer("x"), pointer("y")
    subscript = (VarRef(i, INT),)
    product = Binary("*", VarRef(a), Access(x, subscript, DOUBLE))
    stmt = Assign(Access(y, subscript, DOUBLE), "+=", product, source.span("y[i] += a * x[i];"))
    bound = VarRef(n, INT, source.span("n", source.text[: source.text.index("i < n")].count("n")))
    nest = counted("L0", i, bound, Block((stmt,)), source.span(loop_text))
    kernel = source.kernel(nest, loop_text, variables=(i, n, a, x, y))
    return source, kernel, facts(LoopFacts("L0", 0, VarRef(n, INT), VarRef(n, INT), ()))


def size_of(base: Variable) -> ContainerSize:
    return ContainerSize(base, SIZE)

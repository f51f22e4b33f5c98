"""Loop nests written in Python, and an interpreter that runs them in any order of a loop's iterations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from perfcc.core.facts import Holds, NoOverlap, NoWrap, Obligation, Untouched
from perfcc.core.ir import (
    Access,
    Assign,
    Binary,
    Block,
    Cast,
    Conditional,
    ContainerSize,
    Declare,
    Expr,
    If,
    IntConst,
    Jump,
    Loop,
    Stmt,
    Unary,
    VarRef,
    expressions,
    own_expressions,
    statements,
)
from perfcc.core.kernel import CallEffect, Kernel
from perfcc.core.span import Span
from perfcc.core.types import ScalarType, Scope, Storage, TypeKind, Variable

INT = ScalarType("int", TypeKind.SIGNED, 32)
LONG = ScalarType("long", TypeKind.SIGNED, 64)
UNSIGNED = ScalarType("unsigned int", TypeKind.UNSIGNED, 32)
SIZE = ScalarType("unsigned long", TypeKind.UNSIGNED, 64)
UCHAR = ScalarType("unsigned char", TypeKind.UNSIGNED, 8)
DOUBLE = ScalarType("double", TypeKind.FLOAT, 64)
FLOAT = ScalarType("float", TypeKind.FLOAT, 32)
BOOL = ScalarType("bool", TypeKind.BOOL, 8)

_places = count(1)


def span() -> Span:
    """A fresh place: nodes with one are the user's own."""
    place = next(_places)
    return Span("nest.c", place, place + 1, place, 1, place)


def scalar(name: str, type: ScalarType = INT, scope: Scope = Scope.LOCAL, **more: bool) -> Variable:
    return Variable(name, name, type.spelling, Storage.SCALAR, type, scope, **more)


def pointer(name: str, type: ScalarType = DOUBLE, scope: Scope = Scope.PARAMETER, **more: bool) -> Variable:
    return Variable(name, name, type.spelling + " *", Storage.POINTER, type, scope, **more)


def array(name: str, *dims: int, type: ScalarType = DOUBLE, scope: Scope = Scope.GLOBAL) -> Variable:
    return Variable(name, name, type.spelling, Storage.ARRAY, type, scope, dims=dims)


def vector(name: str, type: ScalarType = DOUBLE, scope: Scope = Scope.PARAMETER, reference: bool = True) -> Variable:
    return Variable(name, name, f"std::vector<{type.spelling}>", Storage.VECTOR, type, scope, is_reference=reference)


Value = Expr | Variable | int


def expr(value: Value) -> Expr:
    if isinstance(value, int):
        return IntConst(value, INT, span())
    if isinstance(value, Variable):
        return VarRef(value, value.element, span())
    return value


def binary(op: str, left: Value, right: Value, type: ScalarType = INT) -> Expr:
    return Binary(op, expr(left), expr(right), type, span())


def add(left: Value, right: Value, type: ScalarType = INT) -> Expr:
    return binary("+", left, right, type)


def sub(left: Value, right: Value, type: ScalarType = INT) -> Expr:
    return binary("-", left, right, type)


def mul(left: Value, right: Value, type: ScalarType = INT) -> Expr:
    return binary("*", left, right, type)


def cast(value: Value, type: ScalarType) -> Expr:
    return Cast(expr(value), type, span())


def at(base: Variable, *subscripts: Value) -> Access:
    return Access(base, tuple(expr(s) for s in subscripts), base.element, span())


def size(base: Variable) -> Expr:
    return ContainerSize(base, SIZE, span())


def assign(target: Variable | Access, value: Value, op: str = "=") -> Assign:
    place = VarRef(target, target.element, span()) if isinstance(target, Variable) else target
    return Assign(place, op, expr(value), span())


def declare(var: Variable, init: Value | None = None) -> Declare:
    return Declare(var, None if init is None else expr(init), span())


def when(condition: Expr, then: Sequence[Stmt], other: Sequence[Stmt] | None = None) -> If:
    return If(condition, block(then), None if other is None else block(other), span())


def block(items: Iterable[Stmt]) -> Block:
    return Block(tuple(items), span())


def loop(
    var: Variable,
    lower: Value,
    bound: Value,
    *body: Stmt,
    step: int = 1,
    relation: str | None = None,
    declares: bool = True,
    id: str | None = None,
) -> Loop:
    return Loop(
        id or var.name, var, expr(lower), expr(bound), relation or ("<" if step > 0 else ">"), step, block(body), declares, span=span()
    )


def kernel(nest: Loop, dead_after: Iterable[str] = (), calls: Sequence[CallEffect] = ()) -> Kernel:
    """The kernel that has ``nest`` as its whole, with every variable it mentions outside a declaration as a live-in."""
    seen: dict[str, Variable] = {}
    for stmt in statements(nest):
        for part in _mentions(stmt):
            seen[part.id] = part
    return Kernel("k", "f", "c", span(), "", nest, None, tuple(seen.values()), dead_after=tuple(dead_after), calls=tuple(calls))


def _mentions(stmt: Stmt) -> Iterable[Variable]:
    for whole in own_expressions(stmt):
        for part in expressions(whole):
            if isinstance(part, VarRef):
                yield part.var
            elif isinstance(part, (Access, ContainerSize)):
                yield part.base


# ---- running -----------------------------------------------------------------------------------------------------


class Endless(Exception):
    """The nest ran for too long."""


class _Jumped(Exception):
    def __init__(self, kind: str) -> None:
        self.kind = kind


@dataclass
class Machine:
    """Memory by address (one unit an element), scalars by id; ``where`` gives each base's address.

    With ``special`` and ``order``, the iterations of that loop run in that order, on the classes of scalars given.
    """

    where: dict[str, int]
    scalars: dict[str, int]
    memory: dict[int, int] = field(default_factory=dict)
    steps: int = 0
    limit: int = 800
    special: str | None = None
    order: list[int] | None = None
    private: tuple[Variable, ...] = ()
    lastprivate: tuple[Variable, ...] = ()
    reductions: tuple[tuple[str, str], ...] = ()
    path: list[tuple[str, int]] = field(default_factory=list)
    trace: list[tuple[tuple[tuple[str, int], ...], int, bool]] = field(default_factory=list)

    def load(self, address: int) -> int:
        self.trace.append((tuple(self.path), address, False))
        return self.memory.get(address, (address * 7 + 3) % 23)

    def store(self, address: int, value: int) -> None:
        self.trace.append((tuple(self.path), address, True))
        self.memory[address] = value

    def address(self, access: Access) -> int:
        total = 0
        for k, subscript in enumerate(access.subscripts):
            row = access.base.dims[k] if k else 1
            assert row is not None
            total = total * row + self.value(subscript)
        return self.where[access.base.id] + total

    def value(self, e: Expr) -> int:
        match e:
            case IntConst(value=value):
                return value
            case VarRef(var=var):
                return self.scalars[var.id]
            case Access():
                return self.load(self.address(e))
            case Cast(operand=operand):
                return self.value(operand)
            case Unary(op="-", operand=operand):
                return -self.value(operand)
            case Conditional(condition=condition, then=then, other=other):
                return self.value(then) if self.value(condition) else self.value(other)
            case Binary(op=op, left=left, right=right):
                return _apply(op, self.value(left), self.value(right))
        raise NotImplementedError(e)

    def run(self, stmt: Stmt) -> None:
        self.steps += 1
        if self.steps > self.limit:
            raise Endless
        match stmt:
            case Block(items=items):
                for item in items:
                    self.run(item)
            case Assign(target=target, op=op, value=value):
                right = self.value(value)
                if isinstance(target, VarRef):
                    self.scalars[target.var.id] = right if op == "=" else _apply(op[:-1], self.scalars[target.var.id], right)
                else:
                    place = self.address(target)
                    self.store(place, right if op == "=" else _apply(op[:-1], self.load(place), right))
            case Declare(var=var, init=init):
                if init is not None:
                    self.scalars[var.id] = self.value(init)
            case If(condition=condition, then=then, other=other):
                if self.value(condition):
                    self.run(then)
                elif other is not None:
                    self.run(other)
            case Jump(kind=kind):
                raise _Jumped(kind)
            case Loop():
                self.loop(stmt)
            case _:
                raise NotImplementedError(stmt)

    def loop(self, stmt: Loop) -> None:
        values: list[int] = []
        value, bound = self.value(stmt.lower), self.value(stmt.bound)
        while _apply(stmt.relation, value, bound):
            values.append(value)
            value += stmt.step
            if len(values) > self.limit:
                raise Endless
        if stmt.id == self.special and self.order is not None:
            self.at_once(stmt, values)
        else:
            for value_now in values:
                if not self.iteration(stmt, value_now):
                    return
        self.scalars[stmt.var.id] = value

    def iteration(self, stmt: Loop, value: int) -> bool:
        self.scalars[stmt.var.id] = value
        self.path.append((stmt.id, value if stmt.step > 0 else -value))
        try:
            self.run(stmt.body)
        except _Jumped as jump:
            return jump.kind == "continue"
        finally:
            self.path.pop()
        return True

    def at_once(self, stmt: Loop, values: list[int]) -> None:
        """Runs the iterations in the given order, with private scalars poisoned and reductions split, as threads might."""
        assert self.order is not None
        ranks = self.order
        order = sorted(range(len(values)), key=lambda k: ranks[k % len(ranks)] * 1000 + k)
        before, last = dict(self.scalars), {}
        partial: dict[str, list[int]] = {id: [] for id, _ in self.reductions}
        for index in order:
            self.scalars = dict(before)
            for variable in (*self.private, *self.lastprivate):
                self.scalars[variable.id] = -987
            for id, op in self.reductions:
                self.scalars[id] = _identity(op)
            self.iteration(stmt, values[index])
            for id, _ in self.reductions:
                partial[id].append(self.scalars[id])
            if index == len(values) - 1:
                last = {variable.id: self.scalars[variable.id] for variable in self.lastprivate}
        self.scalars = before | last
        for id, op in self.reductions:
            for part in partial[id]:
                self.scalars[id] = _apply(op, self.scalars[id], part)


def _identity(op: str) -> int:
    return {"+": 0, "*": 1, "|": 0, "^": 0, "&": -1, "min": 1 << 62, "max": -(1 << 62)}[op]


def _apply(op: str, left: int, right: int) -> int:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left // right
        case "%":
            return left % right
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "min":
            return min(left, right)
        case "max":
            return max(left, right)
        case "<":
            return int(left < right)
        case "<=":
            return int(left <= right)
        case ">":
            return int(left > right)
        case ">=":
            return int(left >= right)
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
    raise NotImplementedError(op)


def met(obligation: Obligation, machine: Machine) -> bool:
    """Evaluates a guard as the generated code would: at entry, in unbounded arithmetic."""
    match obligation:
        case Holds(left=left, relation=relation, right=right):
            return bool(_apply(relation, machine.value(left), machine.value(right)))
        case NoWrap(expr=e, bits=bits, signed=signed):
            low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
            return low <= machine.value(e) <= high
        case NoOverlap():
            first = _range(obligation.left, obligation.left_lowest, obligation.left_extent, machine)
            second = _range(obligation.right, obligation.right_lowest, obligation.right_extent, machine)
            return first[1] <= second[0] or second[1] <= first[0]
        case Untouched():
            return True
    raise NotImplementedError(obligation)


def _range(base: Variable, lowest: Expr | None, extent: Expr | None, machine: Machine) -> tuple[int, int]:
    start = machine.where[base.id]
    if extent is None:
        total = 1
        for size in base.dims:
            assert size is not None
            total *= size
        return start, start + total
    return start + (machine.value(lowest) if lowest is not None else 0), start + machine.value(extent)


# ---- reading -----------------------------------------------------------------------------------------------------


def show(node: Expr | Stmt, indent: str = "") -> str:
    """A nest as C, for the message of a failing test."""
    match node:
        case IntConst(value=value):
            return str(value)
        case VarRef(var=var):
            return var.name
        case Access(base=base, subscripts=subscripts):
            return base.name + "".join(f"[{show(s)}]" for s in subscripts)
        case Binary(op=op, left=left, right=right):
            return f"({show(left)} {op} {show(right)})"
        case Assign(target=target, op=op, value=value):
            return f"{indent}{show(target)} {op} {show(value)};\n"
        case Block(items=items):
            return "".join(show(item, indent) for item in items)
        case If(condition=condition, then=then, other=other):
            tail = "" if other is None else f"{indent}else\n{show(other, indent + '  ')}"
            return f"{indent}if {show(condition)}\n{show(then, indent + '  ')}{tail}"
        case Jump(kind=kind):
            return f"{indent}{kind};\n"
        case Loop(var=var, lower=lower, bound=bound, relation=relation, step=step, body=body, declares_var=declares):
            name = var.name
            head = f"{'int ' if declares else ''}{name} = {show(lower)}; {name} {relation} {show(bound)}; {name} += {step}"
            return f"{indent}for ({head})\n{show(body, indent + '  ')}"
    return repr(node)

"""Expressions as integer polynomials, with what must hold for the machine's arithmetic to agree with the integers'."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from perfcc.analysis.atoms import NO_LOOPS, Atom, Atoms, type_range
from perfcc.analysis.express import expression
from perfcc.analysis.poly import Poly
from perfcc.analysis.scan import Scan
from perfcc.core.ir import Access, Binary, Call, Cast, Conditional, ContainerSize, Expr, FloatConst, IntConst, Opaque, Unary, VarRef
from perfcc.core.types import ScalarType, Storage, TypeKind, Variable

INT = ScalarType("int", TypeKind.SIGNED, 32)
SIZE = ScalarType("unsigned long", TypeKind.UNSIGNED, 64)
_LARGEST_VECTOR = (1 << 63) - 1
_MAX_DEGREE = 6


@dataclass(frozen=True, slots=True)
class Need:
    """``poly`` must lie within ``[low, high]`` wherever the term that has this need is evaluated; ``type`` is the type that makes it so."""

    poly: Poly
    low: int | None
    high: int | None
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Term:
    """An expression's value: ``poly`` itself if ``exact``, else ``poly`` wrapped into ``type``; both under ``needs``.

    ``low`` and ``high`` bound ``poly`` in every iteration that runs.
    """

    poly: Poly
    type: ScalarType
    exact: bool
    low: int | None
    high: int | None
    needs: frozenset[Need] = frozenset()


@dataclass(slots=True)
class Reader:
    """Translates expressions at one place of the nest.

    ``loop_of`` maps the ids of the loop variables in force to their loops; ``known`` maps scalars with exactly one definition, in
    force here, to its value. ``salt`` keeps
    values read at different times apart: an atom that writes in the nest may change is the same only under the same salt.
    """

    atoms: Atoms
    scan: Scan
    wrapv: bool = False
    loop_of: dict[str, str] = field(default_factory=dict)
    known: dict[str, Term] = field(default_factory=dict)

    def read(self, expr: Expr, salt: str = "") -> Term | None:
        """The expression as a term; None when it is no integer."""
        match expr:
            case IntConst(value=value, type=type):
                return Term(Poly.number(value), type or (INT if -(1 << 31) <= value < 1 << 31 else SIZE), True, value, value)
            case VarRef(var=var):
                return self._variable(var, salt)
            case ContainerSize(base=base, type=type):
                varies = self.scan.varies(base) & frozenset(self.scan.unknown)
                key = f"size({base.id})" + (salt if varies else "")
                entry = None if varies else ContainerSize(base, type or SIZE)
                return self._unknown(Atom(key, varies, 0, _LARGEST_VECTOR, entry), type or SIZE)
            case Cast(operand=operand, type=type):
                inner = self.read(operand, salt)
                if inner is None or type is None or not _integral(type):
                    return self._opaque(expr, salt)
                return self.convert(inner, type)
            case Unary(op=op, operand=operand):
                inner = self.read(operand, salt)
                if inner is None or op not in ("-", "+"):
                    return self._opaque(expr, salt)
                type = expr.type or _promoted(inner.type)
                inner = self.convert(inner, type)
                return inner if op == "+" else self._result(inner.poly.scaled(-1), type, (inner,), expr)
            case Binary():
                return self._binary(expr, salt)
            case Access() | Call() | Conditional():
                return self._opaque(expr, salt)
            case FloatConst() | Opaque():
                return self._opaque(expr, salt)
        return None

    # ---- conversions -------------------------------------------------------------------------------------------

    def convert(self, term: Term, type: ScalarType) -> Term:
        """The value converted to an integer type.

        Conversion is a ring homomorphism, so a wrapped value need only be settled to widen it.
        """
        if type.kind is TypeKind.BOOL and term.type.kind is not TypeKind.BOOL:
            value = self._unknown(Atom(f"bool({term.poly.text()})", self.atoms.loops(term.poly), 0, 1), type)
            return replace(value, needs=self.settle(term).needs)
        if not term.exact and type.bits > term.type.bits:
            term = self.settle(term)
        return replace(term, type=type, exact=term.exact and _fits(term, type))

    def settle(self, term: Term) -> Term:
        """The same value as an exact term, under the need that it does not wrap."""
        if term.exact or _fits(term, term.type):
            return replace(term, exact=True)
        low, high = type_range(term.type)
        return self.within(term, low, high)

    def within(self, term: Term, low: int, high: int) -> Term:
        """The term as an exact one, under the need that its polynomial lies in ``[low, high]``."""
        need = Need(term.poly, low, high, term.type)
        return Term(term.poly, term.type, True, _greatest(term.low, low), _least(term.high, high), term.needs | {need})

    def subscript(self, term: Term) -> Term:
        """A subscript's value. One that executes is in bounds, so a 64-bit one can't have come from a wrapped small number."""
        if term.type.bits == 64 and term.low is not None and term.high is not None and term.low >= -(1 << 63) and term.high < 1 << 63:
            return replace(term, exact=True)
        return self.settle(term)

    # ---- leaves ------------------------------------------------------------------------------------------------

    def _variable(self, var: Variable, salt: str) -> Term | None:
        type = var.element
        if type is None or not _integral(type) or var.storage is not Storage.SCALAR:
            return None
        if var.id in self.loop_of:
            loop = self.loop_of[var.id]
            return self._unknown(Atom(f"loop({loop})", frozenset((loop,)), *type_range(type), loop=loop), type)
        if var.id in self.known:
            return self.known[var.id]
        varies = self.scan.varies(var)
        key = var.id + (salt if varies else "")
        return self._unknown(Atom(key, varies, *type_range(type), None if varies else VarRef(var, type)), type)

    def _unknown(self, atom: Atom, type: ScalarType) -> Term:
        return Term(self.atoms.add(atom), type, True, atom.low, atom.high)

    def _opaque(self, expr: Expr, salt: str) -> Term | None:
        """A value the polynomials can't hold: an atom of its own that stands still while everything it is made of does."""
        type = expr.type
        if type is None or not _integral(type):
            return None
        key, loops = self._signature(expr, salt)
        return self._unknown(Atom(key, loops, *type_range(type)), type)

    def _signature(self, expr: Expr, salt: str) -> tuple[str, frozenset[str]]:
        match expr:
            case IntConst(value=value):
                return str(value), NO_LOOPS
            case FloatConst(text=text):
                return text, NO_LOOPS
            case VarRef(var=var):
                if var.id in self.loop_of:
                    return f"loop({self.loop_of[var.id]})", frozenset((self.loop_of[var.id],))
                if var.id in self.known:
                    poly = self.known[var.id].poly
                    return f"({poly.text()})", self.atoms.loops(poly)
                varies = self.scan.varies(var)
                return var.id + (salt if varies else ""), varies
            case ContainerSize(base=base):
                varies = frozenset(self.scan.unknown)
                return f"size({base.id})" + (salt if varies else ""), varies
            case Access(base=base, subscripts=subscripts):
                varies = self.scan.varies(base)
                parts, loops = self._all(subscripts, salt)
                return f"{base.id}[{parts}]" + (salt if varies else ""), loops | varies
            case Unary(op=op, operand=operand):
                part, loops = self._signature(operand, salt)
                return f"{op}({part})", loops
            case Cast(operand=operand, type=type):
                part, loops = self._signature(operand, salt)
                return f"({type.spelling if type else '?'})({part})", loops
            case Binary(op=op, left=left, right=right):
                parts, loops = self._all((left, right), salt)
                return f"{op}({parts})", loops
            case Conditional(condition=condition, then=then, other=other):
                parts, loops = self._all((condition, then, other), salt)
                return f"?({parts})", loops
            case Call(callee=callee, arguments=arguments):
                parts, loops = self._all(arguments, salt)
                return f"{callee}({parts})", loops
        return f"opaque{salt}#{id(expr)}", frozenset(self.scan.chain)

    def _all(self, parts: tuple[Expr, ...], salt: str) -> tuple[str, frozenset[str]]:
        pairs = [self._signature(part, salt) for part in parts]
        return ",".join(key for key, _ in pairs), frozenset(loop for _, loops in pairs for loop in loops)

    # ---- operators ---------------------------------------------------------------------------------------------

    def _binary(self, expr: Binary, salt: str) -> Term | None:
        left, right = self.read(expr.left, salt), self.read(expr.right, salt)
        if left is None or right is None:
            return self._opaque(expr, salt)
        type = expr.type or common_type(left.type, right.type)
        if not _integral(type):
            return None
        match expr.op:
            case "+" | "-" | "*":
                left, right = self.convert(left, type), self.convert(right, type)
                if expr.op == "*" and left.poly.degree + right.poly.degree > _MAX_DEGREE:
                    return self._opaque(expr, salt)
                poly = left.poly * right.poly if expr.op == "*" else left.poly + right.poly.scaled(1 if expr.op == "+" else -1)
                return self._result(poly, type, (left, right), expr)
            case "<<":
                number = right.poly.value
                if number is None or not 0 <= number < type.bits or not right.exact:
                    return self._opaque(expr, salt)
                left = self.convert(left, type)
                return self._result(left.poly.scaled(1 << number), type, (left,), expr)
            case "/" | "%" | ">>" | "&":
                return self._quotient(expr, left, right, type, salt)
        return self._opaque(expr, salt)

    def _quotient(self, expr: Binary, left: Term, right: Term, type: ScalarType, salt: str) -> Term | None:
        number = right.poly.value
        if number is None or not right.exact:
            return self._opaque(expr, salt)
        by = {"/": number, "%": number, ">>": 1 << min(max(number, 0), 63), "&": number + 1}[expr.op]
        if by <= 0 or number < 0 or (expr.op == "&" and by & (by - 1)) or (expr.op == ">>" and number >= type.bits):
            return self._opaque(expr, salt)
        value = self.settle(self.convert(left, type))
        if expr.op in ("/", "%") and (value.low is None or value.low < 0):  # C truncates, isl floors: they agree from 0 up
            value = self.within(value, 0, type_range(type)[1])
        floor = self._floor(value.poly, by)
        if expr.op in ("%", "&"):
            return Term(value.poly - floor.scaled(by), type, True, 0, by - 1, value.needs | right.needs)
        low, high = (None if end is None else end // by for end in (value.low, value.high))
        return Term(floor, type, True, low, high, value.needs | right.needs)

    def _floor(self, poly: Poly, by: int) -> Poly:
        if poly.value is not None:
            return Poly.number(poly.value // by)
        low, high = self.atoms.range(poly)
        entry = Binary("/", expression(poly, self.atoms), IntConst(by)) if self.atoms.at_entry(poly) else None
        atom = Atom(
            f"floor(({poly.text()})/{by})",
            self.atoms.loops(poly),
            None if low is None else low // by,
            None if high is None else high // by,
            entry if low is not None and low >= 0 else None,
            (poly, by),
        )
        return self.atoms.add(atom)

    def _result(self, poly: Poly, type: ScalarType, parts: tuple[Term, ...], node: Expr) -> Term:
        """Signed overflow in the user's own arithmetic is undefined, so an iteration that runs has none (unless -fwrapv defines it)."""
        least, greatest = type_range(type)
        if type.kind is TypeKind.UNSIGNED and poly.constant > greatest // 2:  # adding the greatest value is subtracting 1
            poly = poly.plus(-greatest - 1)
        low, high = self.atoms.range(poly)
        assumed = type.kind is TypeKind.SIGNED and type.bits >= 32 and not self.wrapv and node.span is not None
        if assumed and all(part.exact for part in parts):
            low, high = _greatest(low, least), _least(high, greatest)
        needs = frozenset(need for part in parts for need in part.needs)
        exact = low is not None and high is not None and least <= low and high <= greatest
        return Term(poly, type, exact, low, high, needs)


def _fits(term: Term, type: ScalarType) -> bool:
    least, greatest = type_range(type)
    return term.low is not None and term.high is not None and least <= term.low and term.high <= greatest


def _greatest(left: int | None, right: int) -> int:
    return right if left is None else max(left, right)


def _least(left: int | None, right: int) -> int:
    return right if left is None else min(left, right)


def _integral(type: ScalarType) -> bool:
    return type.is_integer or type.kind is TypeKind.BOOL


def _promoted(type: ScalarType) -> ScalarType:
    return INT if type.bits < 32 else type


def common_type(left: ScalarType, right: ScalarType) -> ScalarType:
    """The usual arithmetic conversions, for nodes that carry no type."""
    left, right = _promoted(left), _promoted(right)
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return left if left.kind is TypeKind.UNSIGNED else right

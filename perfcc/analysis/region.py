"""Iteration domains: what a loop header says about its variable, and proofs and guards over them."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfcc.analysis.affine import Need, Reader, Term, common_type
from perfcc.analysis.atoms import Atom, Atoms, type_range
from perfcc.analysis.express import expression
from perfcc.analysis.match import same
from perfcc.analysis.poly import Poly
from perfcc.analysis.presburger import Constraint, Solver, System
from perfcc.core.facts import Holds, NoWrap, Obligation
from perfcc.core.ir import Binary, Call, Conditional, Expr, IntConst, Loop
from perfcc.core.reason import Reason
from perfcc.core.types import TypeKind

_MINMAX_CALLS = {"std::min": "min", "std::max": "max"}
Alternatives = tuple[Need, ...]


@dataclass(slots=True)
class Header:
    """A loop's variable: at least each of ``lows``, at most each of ``highs``, ``origin`` plus a multiple of the step.

    ``needs`` (one of each group) must hold for that to be so. ``wild`` says why nothing at all is known about the variable.
    """

    loop: Loop
    atom: str
    lows: list[Poly] = field(default_factory=list)
    highs: list[Poly] = field(default_factory=list)
    origin: Poly | None = None
    needs: list[Alternatives] = field(default_factory=list)
    wild: Reason | None = None

    def constraints(self) -> list[Constraint]:
        """The header as constraints on the variable."""
        if self.wild is not None:
            return []
        variable = Poly.atom(self.atom)
        result = [Constraint(variable - low) for low in self.lows] + [Constraint(high - variable) for high in self.highs]
        if self.origin is not None and abs(self.loop.step) > 1:
            result.append(Constraint(variable - self.origin, modulus=abs(self.loop.step)))
        return result


def operands(expr: Expr, op: str) -> list[Expr]:
    """The operands of a nested ``min`` (``max``): made by a rule, a call of std::min, or written as a conditional.

    The expression itself if it is none.
    """
    match expr:
        case Binary(op=o, left=left, right=right) if o == op:
            return operands(left, op) + operands(right, op)
        case Call(callee=callee, arguments=(left, right)) if _MINMAX_CALLS.get(callee) == op:
            return operands(left, op) + operands(right, op)
        case Conditional(condition=Binary(op=relation, left=a, right=b), then=then, other=other) if relation in ("<", "<=", ">", ">="):
            smaller_first = relation in ("<", "<=")
            if same(a, then) and same(b, other) and smaller_first == (op == "min"):
                return operands(then, op) + operands(other, op)
            if same(a, other) and same(b, then) and smaller_first == (op == "max"):
                return operands(then, op) + operands(other, op)
    return [expr]


def header(loop: Loop, reader: Reader) -> Header:
    """Reads a loop's header where it stands."""
    atom = f"loop({loop.id})"
    result = Header(loop, atom)
    type = loop.var.element
    low, high = type_range(type) if type is not None and type.is_integer else (None, None)
    reader.atoms.add(Atom(atom, frozenset((loop.id,)), low, high, loop=loop.id))
    if type is None or not type.is_integer:
        result.wild = Reason("not-counted", loop.span, f"'{loop.var.name}' is no integer")
        return result
    up = loop.step > 0
    if {"<": up, "<=": up, ">": not up, ">=": not up, "!=": abs(loop.step) == 1}.get(loop.relation) is not True:
        result.wild = Reason("not-counted", loop.span, f"'{loop.var.name}' steps away from its bound")
        return result
    salt = f"@{loop.id}"
    starts = _terms(reader, loop.lower, "max" if up else "min", salt)
    ends = _terms(reader, loop.bound, "min" if up else "max", salt)
    made = loop.fresh or loop.span is None
    least, greatest = type_range(type)
    for start in starts:
        start = reader.settle(reader.convert(start, type))
        (result.lows if up else result.highs).append(start.poly)
        result.needs += [(need,) for need in start.needs]
    alternatives: list[Need] = []
    fits: list[Need] = []
    for end in ends:
        compared = common_type(type, end.type)
        if compared.kind is TypeKind.UNSIGNED and type.kind is TypeKind.SIGNED and not loop.fresh:
            result.needs += [(Need(poly, 0, None, compared),) for poly in (result.lows if up else result.highs)]
        settled = reader.settle(reader.convert(end, compared))
        result.needs += [(need,) for need in settled.needs]
        poly = settled.poly
        if loop.relation == "!=":
            lengths = [poly - low for low in result.lows] if up else [high - poly for high in result.highs]
            result.needs += [(Need(length, 0, None, type),) for length in lengths]
        strict = loop.relation in ("<", ">", "!=")
        inside = poly.plus((-1 if up else 1) if strict else 0)
        (result.highs if up else result.lows).append(inside)
        alternatives.append(Need(inside.plus(loop.step), least, greatest, type))
        fits.append(Need(poly, least, greatest, type))
    undefined = type.kind is TypeKind.SIGNED and type.bits >= 32 and not reader.wrapv and not made
    if alternatives and not undefined:
        result.needs.append(tuple(alternatives))
    if fits and made:
        result.needs.append(tuple(fits))
    if len(starts) == 1:
        result.origin = (result.lows if up else result.highs)[0]
    return result


def _terms(reader: Reader, expr: Expr, op: str, salt: str) -> list[Term]:
    return [term for part in operands(expr, op) if (term := reader.read(part, salt)) is not None]


@dataclass(slots=True)
class Region:
    """A place in the nest: the headers around it, outermost first, and the conditions in force there, all of them if ``exact``."""

    headers: tuple[Header, ...]
    conditions: tuple[Constraint, ...] = ()
    exact: bool = True

    @property
    def loops(self) -> tuple[str, ...]:
        return tuple(header.loop.id for header in self.headers)

    def constrain(self, system: System, side: str = "s") -> None:
        """Adds the domain's constraints to a system."""
        for head in self.headers:
            for constraint in head.constraints():
                system.add(constraint, side)
        for constraint in self.conditions:
            system.add(constraint, side)


@dataclass(slots=True)
class Prover:
    """Decides conditions over regions: by isl for good, or by an obligation on entry values."""

    atoms: Atoms
    solver: Solver

    def nonnegative(self, poly: Poly, region: Region) -> bool:
        """True when ``poly >= 0`` in every iteration of the region."""
        low, _ = self.atoms.range(poly)
        if low is not None and low >= 0:
            return True
        if poly.value is not None:
            return poly.value >= 0
        system = System(self.atoms)
        region.constrain(system)
        system.add(Constraint(poly.scaled(-1).plus(-1)))
        return self.solver.empty(system.text())

    def meet(self, need: Need, region: Region) -> list[Obligation] | None:
        """What must be checked at entry for the need to be met throughout the region; None when no check can tell."""
        obligations: list[Obligation] = []
        for end, bound in ((1, need.high), (-1, need.low)):
            if bound is None or self.nonnegative((Poly.number(bound) - need.poly).scaled(end), region):
                continue
            reached = self.extremes(need.poly, region, end > 0)
            if not reached:
                return None
            best, given = reached[0]
            if best.value is not None and (bound - best.value) * end < 0:
                return None
            obligations += given
            if (need.low, need.high) == type_range(need.type):
                obligations.append(NoWrap(expression(best, self.atoms), need.type.bits, need.type.kind is TypeKind.SIGNED))
            else:
                obligations.append(Holds(expression(best, self.atoms), "<=" if end > 0 else ">=", IntConst(bound)))
        return obligations

    def meet_any(self, needs: Alternatives, region: Region) -> list[Obligation] | None:
        """The cheapest way to meet one of the needs."""
        answers = [answer for need in needs if (answer := self.meet(need, region)) is not None]
        return min(answers, key=len) if answers else None

    def extremes(self, poly: Poly, region: Region, greatest: bool) -> list[tuple[Poly, list[Obligation]]]:
        """Polynomials over entry values that bound ``poly`` from above (below) in the region, likeliest tightest first, with what
        they rest on."""
        results = self._extremes(poly, list(region.headers), region, greatest, 8)
        looser = {
            id(one)
            for one in results
            for other in results
            if (gap := (one[0] - other[0]).value) is not None and (gap > 0 if greatest else gap < 0) and len(other[1]) <= len(one[1])
        }
        results = [one for one in results if id(one) not in looser]
        return sorted(results, key=lambda pair: (len(pair[1]), pair[0].degree, len(pair[0].terms)))

    def _extremes(
        self, poly: Poly, headers: list[Header], region: Region, greatest: bool, limit: int
    ) -> list[tuple[Poly, list[Obligation]]]:
        while headers and headers[-1].atom not in poly.atoms():
            headers = headers[:-1]
        if not headers:
            return [(poly, [])] if self.atoms.at_entry(poly) else []
        head = headers[-1]
        if head.wild is not None or poly.degree_in(head.atom) != 1:
            return []
        factor = poly.coefficient(head.atom)
        sign = self._sign(factor, region)
        if sign is None:
            return []
        positive, given = sign
        ends = head.highs if positive == greatest else head.lows
        results: list[tuple[Poly, list[Obligation]]] = []
        for end in ends:
            for bound, more in self._extremes(poly.replaced(head.atom, end), headers[:-1], region, greatest, limit // max(len(ends), 1)):
                results.append((bound, given + more))
            if len(results) >= limit:
                break
        return results

    def _sign(self, factor: Poly, region: Region) -> tuple[bool, list[Obligation]] | None:
        low, high = self.atoms.range(factor)
        if low is not None and low >= 0:
            return True, []
        if high is not None and high <= 0:
            return False, []
        if self.nonnegative(factor, region):
            return True, []
        if self.nonnegative(factor.scaled(-1), region):
            return False, []
        if not self.atoms.at_entry(factor):
            return None
        lead = max(factor.terms, key=lambda term: len(term[0]))[1]
        if lead > 0:
            return True, [Holds(expression(factor, self.atoms), ">=", IntConst(0))]
        return False, [Holds(expression(factor, self.atoms), "<=", IntConst(0))]

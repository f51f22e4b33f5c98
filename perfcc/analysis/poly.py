"""Integer polynomials over named atoms: the normal form of bounds and subscripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

Monomial = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Poly:
    """A polynomial with integer coefficients.

    ``terms`` is sorted, without zeros; a monomial is the sorted tuple of its atoms, ``()`` the constant.
    """

    terms: tuple[tuple[Monomial, int], ...] = ()

    @staticmethod
    def of(terms: Iterable[tuple[Monomial, int]]) -> Poly:
        """The sum of the given terms, equal monomials added up."""
        total: dict[Monomial, int] = {}
        for monomial, factor in terms:
            total[monomial] = total.get(monomial, 0) + factor
        return Poly(tuple(sorted((m, f) for m, f in total.items() if f)))

    @staticmethod
    def number(value: int) -> Poly:
        return Poly((((), value),)) if value else Poly()

    @staticmethod
    def atom(name: str) -> Poly:
        return Poly((((name,), 1),))

    def __add__(self, other: Poly) -> Poly:
        return Poly.of(self.terms + other.terms)

    def __sub__(self, other: Poly) -> Poly:
        return self + other.scaled(-1)

    def __mul__(self, other: Poly) -> Poly:
        return Poly.of((tuple(sorted(m1 + m2)), f1 * f2) for m1, f1 in self.terms for m2, f2 in other.terms)

    def scaled(self, factor: int) -> Poly:
        return Poly(tuple((m, f * factor) for m, f in self.terms)) if factor else Poly()

    def plus(self, number: int) -> Poly:
        return self + Poly.number(number)

    @property
    def constant(self) -> int:
        """The constant term."""
        return next((f for m, f in self.terms if not m), 0)

    @property
    def value(self) -> int | None:
        """The number this is, if it is one."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def degree(self) -> int:
        return max((len(m) for m, _ in self.terms), default=0)

    def atoms(self) -> frozenset[str]:
        return frozenset(a for m, _ in self.terms for a in m)

    def degree_in(self, atom: str) -> int:
        return max((m.count(atom) for m, _ in self.terms), default=0)

    def coefficient(self, atom: str) -> Poly:
        """What multiplies ``atom``; the polynomial must be of degree at most 1 in it."""
        return Poly.of((tuple(a for a in m if a != atom), f) for m, f in self.terms if atom in m)

    def without(self, atom: str) -> Poly:
        """The terms that ``atom`` does not occur in."""
        return Poly(tuple((m, f) for m, f in self.terms if atom not in m))

    def replaced(self, atom: str, by: Poly) -> Poly:
        """This polynomial with ``by`` in the place of ``atom``."""
        total = Poly()
        for monomial, factor in self.terms:
            part = Poly(((tuple(a for a in monomial if a != atom), factor),))
            for _ in range(monomial.count(atom)):
                part = part * by
            total = total + part
        return total

    def divided(self, by: Poly) -> tuple[Poly, Poly]:
        """Quotient and remainder by the leading monomial of ``by`` (graded order); both polynomials, with integer coefficients."""
        lead, factor = max(by.terms, key=_graded)
        quotient, rest = Poly(), self
        for monomial, number in sorted(self.terms, key=_graded, reverse=True):
            left = _without(monomial, lead)
            if left is not None and number % factor == 0 and (monomial, number) in rest.terms:
                part = Poly(((left, number // factor),))
                quotient, rest = quotient + part, rest - part * by
        return quotient, rest

    def text(self, name: Callable[[str], str] = str) -> str:
        """For people: ``2*n*m + i - 1``."""
        parts: list[str] = []
        for monomial, factor in sorted(self.terms, key=_graded, reverse=True):
            body = "*".join(name(a) for a in monomial)
            size = abs(factor)
            word = body if body and size == 1 else f"{size}*{body}" if body else str(size)
            parts.append(("-" if factor < 0 else "") + word if not parts else (" - " if factor < 0 else " + ") + word)
        return "".join(parts) or "0"


def _graded(term: tuple[Monomial, int]) -> tuple[int, Monomial]:
    return (len(term[0]), term[0])


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    rest = list(monomial)
    for atom in part:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)

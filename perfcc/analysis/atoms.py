"""The unknowns of a nest: loop variables, parameters, and values that are data to the analysis."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfcc.analysis.poly import Monomial, Poly
from perfcc.core.ir import Expr
from perfcc.core.types import ScalarType, TypeKind

NO_LOOPS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Atom:
    """One unknown integer.

    ``loops`` are the loops whose iterations may change it: two occurrences are equal whenever all of them stand still. ``low`` and
    ``high`` bound it by its type.
    ``expr`` gives its value at the kernel's entry (None where it has none there). ``quotient`` (p, c) makes it ``floor(p / c)``.
    ``loop`` is set for a loop variable.
    """

    key: str
    loops: frozenset[str] = NO_LOOPS
    low: int | None = None
    high: int | None = None
    expr: Expr | None = None
    quotient: tuple[Poly, int] | None = None
    loop: str | None = None


@dataclass(slots=True)
class Atoms:
    """The table of a nest's atoms by key."""

    by_key: dict[str, Atom] = field(default_factory=dict)

    def add(self, atom: Atom) -> Poly:
        self.by_key.setdefault(atom.key, atom)
        return Poly.atom(atom.key)

    def __getitem__(self, key: str) -> Atom:
        return self.by_key[key]

    def loops(self, poly: Poly) -> frozenset[str]:
        """The loops whose iterations may change the polynomial's value."""
        return frozenset(loop for key in poly.atoms() for loop in self.by_key[key].loops)

    def at_entry(self, poly: Poly) -> bool:
        """True when the value can be computed before the nest starts."""
        return all(self.by_key[key].expr is not None and not self.by_key[key].loops for key in poly.atoms())

    def range(self, poly: Poly) -> tuple[int | None, int | None]:
        """Interval arithmetic over the atoms' type ranges; ``None`` is unbounded."""
        low: int | None = 0
        high: int | None = 0
        for monomial, factor in poly.terms:
            lo, hi = self._monomial(monomial)
            lo, hi = (None if lo is None else lo * factor, None if hi is None else hi * factor)
            if factor < 0:
                lo, hi = hi, lo
            low = None if low is None or lo is None else low + lo
            high = None if high is None or hi is None else high + hi
        return low, high

    def _monomial(self, monomial: Monomial) -> tuple[int | None, int | None]:
        low: int | None = 1
        high: int | None = 1
        for key in monomial:
            atom = self.by_key[key]
            if None in (low, high, atom.low, atom.high):
                nonnegative = low is not None and low >= 0 and atom.low is not None and atom.low >= 0
                low, high = (0 if nonnegative else None), None
                continue
            corners = [a * b for a in (low, high) for b in (atom.low, atom.high) if a is not None and b is not None]
            low, high = min(corners), max(corners)
        return low, high


def type_range(type: ScalarType) -> tuple[int, int]:
    """The least and greatest value of an integer (or bool) type."""
    if type.kind is TypeKind.BOOL:
        return 0, 1
    if type.kind is TypeKind.UNSIGNED:
        return 0, (1 << type.bits) - 1
    return -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1

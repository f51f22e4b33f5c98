"""Questions to isl: is a system of integer constraints empty, and where is a point of it?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from perfcc.analysis.atoms import NO_LOOPS, Atoms
from perfcc.analysis.poly import Monomial, Poly

_OPERATIONS = 40_000_000
_QUESTIONS = 12_000
_SMALL = 1 << 33
_T = TypeVar("_T")


class BudgetError(Exception):
    """The analysis of a nest hit its limit of time, size or isl operations."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """``poly relation 0`` with ``>=``, ``=`` or ``!=``; with a ``modulus``, ``poly`` is a multiple of it."""

    poly: Poly
    relation: str = ">="
    modulus: int = 0


class Solver:
    """One isl context with a bound on its work. Raises BudgetError from every method once that is spent.

    Questions and isl operations are counted, so that a busy machine decides as a quiet one does; ``seconds`` of processor time are the
    last resort.
    """

    def __init__(self, seconds: float) -> None:
        import islpy

        self._isl = islpy
        self._context = islpy.Context()
        self._context.set_max_operations(_OPERATIONS)
        self._deadline = time.process_time() + seconds
        self._answers: dict[str, bool] = {}
        self._asked = 0

    def empty(self, text: str) -> bool:
        """True when the set, in isl's notation, holds no integer point."""
        known = self._answers.get(text)
        if known is None:
            known = self._answers[text] = self._ask(text, lambda s: bool(s.is_empty()))
        return known

    def point(self, text: str) -> list[int]:
        """The coordinates of some point of a set that is not empty."""

        def coordinates(s: Any) -> list[int]:
            point = s.sample_point()
            kind = self._isl.dim_type.set
            return [point.get_coordinate_val(kind, i).to_python() for i in range(point.get_space().dim(kind))]

        return self._ask(text, coordinates)

    def _ask(self, text: str, action: Callable[[Any], _T]) -> _T:
        self._asked += 1
        if self._asked > _QUESTIONS or time.process_time() > self._deadline:
            raise BudgetError("too many dependences to decide" if self._asked > _QUESTIONS else "time limit")
        try:
            return action(self._isl.Set.read_from_str(self._context, text))
        except self._isl.Error as error:
            if "maximal number of operations" in str(error):
                raise BudgetError("limit of isl operations") from None
            raise


@dataclass(slots=True)
class System:
    """A conjunction under construction. ``side`` tells the instances of a pair apart; atoms that no loop changes are shared by both."""

    atoms: Atoms
    parts: list[str] = field(default_factory=list)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    loops: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, constraint: Constraint, side: str = "s") -> None:
        left = self.linear(constraint.poly, side)
        if constraint.modulus:
            self.parts.append(f"({left}) mod {constraint.modulus} = 0")
        elif constraint.relation == "!=":
            self.parts.append(f"({left} < 0 or {left} > 0)")
        else:
            self.parts.append(f"{left} {constraint.relation} 0")

    def linear(self, poly: Poly, side: str) -> str:
        """The polynomial in isl's notation; a product of unknowns becomes an unknown of its own."""
        words = [str(f) if not m else f"{f}*{self._factor(m, side)}" for m, f in poly.terms]
        return "(" + " + ".join(words) + ")" if words else "0"

    def share(self, fixed: frozenset[str]) -> list[str]:
        """What is equal on both sides when the loops in ``fixed`` stand still."""
        equal = []
        for (key, side), name in self.names.items():
            other = self.names.get((key, "d"))
            if side == "s" and other is not None and self.loops[key] <= fixed:
                equal.append(f"{name} = {other}")
        return equal

    def text(self, extra: list[str] | None = None) -> str:
        """The set over all names, in order of first use."""
        body = " and ".join(self.parts + (extra or [])) or "true"
        return "{ [" + ", ".join(self.names.values()) + "] : " + body + " }"

    def name(self, key: str, side: str) -> str:
        """The isl name of an atom on that side, with its type's range stated at first use."""
        atom = self.atoms[key]
        new = (key, side if atom.loops else "") not in self.names
        known = self._named(key, side, atom.loops)
        if new and atom.loop is None:
            if atom.low is not None and (atom.low >= 0 or atom.low >= -_SMALL):
                self.parts.append(f"{known} >= {atom.low}")
            if atom.high is not None and atom.high <= _SMALL:
                self.parts.append(f"{known} <= {atom.high}")
        return known

    def _named(self, key: str, side: str, loops: frozenset[str]) -> str:
        place = (key, side if loops else "")
        if place not in self.names:
            self.names[place] = f"x{len(self.names)}"
            self.loops[key] = loops
        return self.names[place]

    def _factor(self, monomial: Monomial, side: str) -> str:
        if len(monomial) == 1:
            quotient = self.atoms[monomial[0]].quotient
            if quotient is not None:
                return f"floor({self.linear(quotient[0], side)}/{quotient[1]})"
            return self.name(monomial[0], side)
        loops = frozenset(loop for key in monomial for loop in self.atoms[key].loops) or NO_LOOPS
        new = ("*".join(monomial), side if loops else "") not in self.names
        name = self._named("*".join(monomial), side, loops)
        low, _ = self.atoms.range(Poly(((monomial, 1),)))
        if new and low is not None and low >= 0:
            self.parts.append(f"{name} >= 0")
        return name

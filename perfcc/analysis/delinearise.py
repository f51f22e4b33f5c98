"""Subscripts such as ``i*n + j`` back to rows and columns, under proof that no column leaves its row.

With strides s0 > s1 > ... > 1 and, for every k >= 1, ``0 <= x_k`` and ``(x_k + 1) * s_k <= s_(k-1)``, two subscripts ``sum x_k * s_k``
are equal
exactly when all their x_k are (mixed radix); so each x_k may be compared by itself. Grosser et al., "Optimistic Delinearization of
Parametrically Sized Arrays", ICS 2015.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import gcd

from perfcc.analysis.express import expression
from perfcc.analysis.model import Ref
from perfcc.analysis.poly import Poly
from perfcc.analysis.region import Prover, Region
from perfcc.core.facts import Holds, Obligation
from perfcc.core.ir import IntConst
from perfcc.core.types import Storage, Variable

_MAX_DIMS = 4
_MAX_SHAPES = 6
_TINY = 8


@dataclass(frozen=True, slots=True)
class Place:
    """A subscript split over the dimensions of its base's shape; comparing two places dimension by dimension needs both their
    ``obligations``."""

    dims: tuple[Poly, ...]
    obligations: tuple[Obligation, ...] = ()


@dataclass(slots=True)
class Shapes:
    """The places of the references of a nest, by identity; a reference without one may be anywhere in its base."""

    prover: Prover
    places: dict[Ref, Place] = field(default_factory=dict)

    def fit(self, base: Variable, refs: list[Ref]) -> None:
        """Finds the shape that most of a base's references fit, with the least to check at run time."""
        usable = [ref for ref in refs if ref.subscripts]
        if any(len(ref.subscripts) > 1 for ref in usable):
            for ref in usable:
                place = self._array(base, ref)
                if place is not None:
                    self.places[ref] = place
            return
        flat = {ref: ref.subscripts[0].poly for ref in usable if ref.subscripts[0] is not None}
        best: dict[Ref, Place] = {}
        for strides in _strides(list(flat.values()), self.prover):
            fitted = {ref: place for ref, poly in flat.items() if (place := self._split(poly, strides, ref.region)) is not None}
            if _merit(fitted) > _merit(best):
                best = fitted
            if len(fitted) == len(flat) and not any(place.obligations for place in fitted.values()):
                break
        self.places.update(best)

    # ---- one-dimensional storage -------------------------------------------------------------------------------

    def _split(self, poly: Poly, strides: tuple[Poly, ...], region: Region) -> Place | None:
        """The subscript over the strides (outermost first; the last, 1, left out)."""
        if not strides:
            return Place((poly,))
        quotient, rest = poly.divided(strides[0])
        best: Place | None = None
        for shift in (0, 1, -1):
            inner = self._split(rest - strides[0].scaled(shift), strides[1:], region)
            if inner is None:
                continue
            bound = self._row(inner.dims[0], strides[0], strides[1] if len(strides) > 1 else Poly.number(1), region)
            if bound is None:
                continue
            place = Place((quotient.plus(shift), *inner.dims), inner.obligations + bound)
            if not place.obligations:
                return place
            if best is None or len(place.obligations) < len(best.obligations):
                best = place
        return best

    def _row(self, inner: Poly, outer_stride: Poly, stride: Poly, region: Region) -> tuple[Obligation, ...] | None:
        """What keeps ``0 <= inner`` and ``(inner + 1) * stride <= outer_stride``; None if nothing can."""
        obligations: list[Obligation] = []
        if not self.prover.nonnegative(inner, region):
            reached = self.prover.extremes(inner, region, False)
            if not reached or self._hopeless(reached[0][0]):
                return None
            obligations += reached[0][1]
            obligations.append(Holds(IntConst(0), "<=", expression(reached[0][0], self.prover.atoms)))
        length, rest = outer_stride.divided(stride)
        if not rest.terms and self.prover.nonnegative(length - inner.plus(1), region):
            return tuple(obligations)
        reached = self.prover.extremes(inner, region, True)
        if not reached or not self.prover.atoms.at_entry(outer_stride):
            return None
        for most, given in reached:
            left, right = (most.plus(1), length) if not rest.terms else (most.plus(1) * stride, outer_stride)
            if not self._hopeless(right - left):
                atoms = self.prover.atoms
                return (*obligations, *given, Holds(expression(left, atoms), "<=", expression(right, atoms)))
        return None

    def _hopeless(self, difference: Poly) -> bool:
        """True when ``difference >= 0`` can only fail, or holds for nothing but tiny sizes: its leading terms are negative."""
        if difference.value is not None:
            return difference.value < 0
        _, high = self.prover.atoms.range(difference)
        if high is not None and high < 0:
            return True
        degree = difference.degree
        falling = all(factor < 0 for monomial, factor in difference.terms if len(monomial) == degree)
        return falling and (degree > 1 or difference.constant < _TINY)

    # ---- arrays of arrays --------------------------------------------------------------------------------------

    def _array(self, base: Variable, ref: Ref) -> Place | None:
        """Dimension by dimension, where inner subscripts stay in their dimension; one that is data does, or the program is undefined."""
        sizes = base.dims
        if base.storage is not Storage.ARRAY or len(sizes) != len(ref.subscripts):
            return None
        atoms = self.prover.atoms
        obligations: list[Obligation] = []
        polys = [term.poly for term in ref.subscripts if term is not None]
        if len(polys) < len(sizes):
            return None
        for poly, size in zip(polys[1:], sizes[1:], strict=True):
            if size is None:
                return None
            for wanted in (poly, Poly.number(size - 1) - poly):
                if self.prover.nonnegative(wanted, ref.region):
                    continue
                reached = self.prover.extremes(wanted, ref.region, False)
                if reached and self._hopeless(reached[0][0]):
                    return None
                if reached:
                    obligations += [*reached[0][1], Holds(IntConst(0), "<=", expression(reached[0][0], atoms))]
                elif any(atoms[key].loop is not None for key in wanted.atoms()):
                    return None
        return Place(tuple(polys), tuple(obligations))


def flattened(base: Variable, polys: tuple[Poly, ...]) -> Poly | None:
    """The element number of ``base[p0][p1]...`` counted from its first element; None where an inner extent is unknown."""
    total = Poly()
    for k, poly in enumerate(polys):
        if k:
            size = base.dims[k] if k < len(base.dims) else None
            if size is None:
                return None
            total = total.scaled(size)
        total = total + poly
    return total


def _merit(places: dict[Ref, Place]) -> tuple[int, int]:
    return len(places), -sum(len(place.obligations) for place in places.values())


def _strides(polys: list[Poly], prover: Prover) -> Iterator[tuple[Poly, ...]]:
    """Candidate shapes: the parametric factors of the loop variables, largest first, as they are and with those left out that others
    make up."""
    found: list[Poly] = []
    for poly in polys:
        for atom in sorted(poly.atoms()):
            if not prover.atoms[atom].loops or poly.degree_in(atom) != 1:
                continue
            factor = poly.coefficient(atom)
            if factor.value is None and prover.atoms.at_entry(factor):
                factor = _primitive(factor)
                if factor not in found:
                    found.append(factor)
    found.sort(key=lambda p: (p.degree, len(p.terms), p.terms), reverse=True)
    shapes: list[tuple[Poly, ...]] = [tuple(found)]
    for left_out in found:
        shapes.append(tuple(p for p in found if p is not left_out))
    if len(found) > 2:
        shapes += [(p,) for p in found]
    for shape in list(dict.fromkeys(shapes))[:_MAX_SHAPES]:
        if len(shape) < _MAX_DIMS and bool(shape) == bool(found):
            yield shape


def _primitive(poly: Poly) -> Poly:
    """The polynomial without its integer content, its leading factor positive."""
    content = 0
    for _, factor in poly.terms:
        content = gcd(content, factor)
    lead = max(poly.terms, key=lambda term: (len(term[0]), term[0]))[1]
    content = content if lead > 0 else -content
    return Poly(tuple((m, f // content) for m, f in poly.terms))

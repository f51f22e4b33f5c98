"""How far each base is touched, over values known at the kernel's entry."""

from __future__ import annotations

from dataclasses import dataclass, field

from perfcc.analysis.delinearise import flattened
from perfcc.analysis.express import extreme
from perfcc.analysis.model import Model, Ref
from perfcc.analysis.poly import Poly
from perfcc.analysis.region import Region
from perfcc.core.facts import Extent, Obligation
from perfcc.core.ir import Expr, IntConst
from perfcc.core.types import Storage, Variable

_MOST_ELEMENTS = 1 << 17


@dataclass(frozen=True, slots=True)
class Touched:
    """Elements ``[lowest, count)`` of a base hold everything the nest touches through it, under ``obligations``."""

    lowest: Expr | None
    count: Expr
    obligations: tuple[Obligation, ...] = ()


@dataclass(slots=True)
class Extents:
    """Extents by base, worked out when asked for."""

    model: Model
    known: dict[str, Touched | None] = field(default_factory=dict)

    def of(self, base: Variable) -> Touched | None:
        """What the whole nest touches through ``base``; None where that depends on data."""
        if base.id not in self.known:
            self.known[base.id] = self._touched([ref for ref in self.model.refs if ref.base.id == base.id])
        return self.known[base.id]

    def all(self) -> tuple[Extent, ...]:
        """The extents of all live-in bases, in order of first reference."""
        results = []
        bases = {ref.base.id: ref.base for ref in self.model.refs}
        for base in bases.values():
            if base.storage is Storage.SCALAR or base.id in self.model.scan.declared:
                continue
            touched = self.of(base)
            results.append(Extent(base.id, touched.count, touched.lowest) if touched else Extent(base.id, None))
        return tuple(results)

    def _touched(self, refs: list[Ref]) -> Touched | None:
        lowest: list[tuple[Poly, Region]] = []
        highest: list[tuple[Poly, Region]] = []
        obligations: list[Obligation] = []
        for ref in refs:
            ends = self._ends(ref)
            if ends is None or ref.needs is None:
                return None
            low, high, given = ends
            lowest.append((low, ref.region))
            highest.append((high.plus(1), ref.region))
            obligations += [*ref.needs, *given]
            for loop in ref.loops:
                obligations += self.model.header_needs[loop]
        if not lowest:
            return None
        atoms = self.model.atoms
        least = extreme(self._needed(lowest, -1), atoms, "min")
        zero = isinstance(least, IntConst) and least.value == 0
        return Touched(None if zero else least, extreme(self._needed(highest, 1), atoms, "max"), tuple(dict.fromkeys(obligations)))

    def _needed(self, ends: list[tuple[Poly, Region]], sign: int) -> list[Poly]:
        """The ends without those that another one exceeds wherever their own access takes place."""
        kept: list[tuple[Poly, Region]] = []
        for poly, region in {poly: (poly, region) for poly, region in ends}.values():
            if any(self._exceeds(other, poly, region, sign) for other, _ in kept):
                continue
            kept = [(other, place) for other, place in kept if not self._exceeds(poly, other, place, sign)]
            kept.append((poly, region))
        return [poly for poly, _ in kept]

    def _exceeds(self, one: Poly, other: Poly, region: Region, sign: int) -> bool:
        return self.model.prover.nonnegative((one - other).scaled(sign), region)

    def _ends(self, ref: Ref) -> tuple[Poly, Poly, list[Obligation]] | None:
        polys = tuple(term.poly for term in ref.subscripts if term is not None)
        if not polys or len(polys) < len(ref.subscripts):
            return None
        flat = flattened(ref.base, polys)
        if flat is None:
            return None
        prover = self.model.prover
        low, high = prover.extremes(flat, ref.region, False), prover.extremes(flat, ref.region, True)
        if low and high:
            return low[0][0], high[0][0], low[0][1] + high[0][1]
        term = ref.subscripts[0]
        if len(polys) > 1 or term is None or term.low is None or term.high is None or term.high - term.low >= _MOST_ELEMENTS:
            return None
        return Poly.number(term.low), Poly.number(term.high), []

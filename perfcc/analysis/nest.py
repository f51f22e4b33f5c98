"""One loop nest from end to end: model, dependences, aliasing, scalars, effects, then the facts of each loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from perfcc.analysis import accesses, alias, rounding, work
from perfcc.analysis.delinearise import Shapes
from perfcc.analysis.dependence import Found, find
from perfcc.analysis.effects import Effects, effects
from perfcc.analysis.extents import Extents
from perfcc.analysis.liveness import Liveness, liveness
from perfcc.analysis.model import Model, Ref, build
from perfcc.analysis.presburger import BudgetError
from perfcc.analysis.reasons import carried, nonaffine
from perfcc.analysis.scalars import Scalars, classify
from perfcc.core.facts import Facts, LoopFacts, Obligation
from perfcc.core.ir import Block, Loop, loops
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.types import Storage, TypeKind
from perfcc.core.unit import Semantics

_SECONDS = 20.0
_T = TypeVar("_T")


def analyse(kernel: Kernel, nest: Loop, semantics: Semantics, seconds: float = _SECONDS) -> Facts:
    """All facts about the nest. Never raises for a nest it can't handle: every loop then has the reason as its blocker."""
    unstable = rounding.unstable(kernel, nest, semantics)
    if unstable is not None:
        return _refused(nest, unstable)
    try:
        return _Nest.of(kernel, nest, semantics, seconds).facts()
    except BudgetError as error:
        return _refused(nest, Reason("analysis-budget", nest.span, str(error)))


def _refused(nest: Loop, reason: Reason) -> Facts:
    found = tuple(LoopFacts(loop.id, depth, None, None, (reason,)) for loop, depth in _depths(nest))
    return Facts(found, (), (), reorder_blockers=(reason,))


@dataclass(slots=True)
class _Nest:
    kernel: Kernel
    nest: Loop
    semantics: Semantics
    model: Model
    shapes: Shapes
    extents: Extents
    dependences: list[Found]
    live: Liveness

    @staticmethod
    def of(kernel: Kernel, nest: Loop, semantics: Semantics, seconds: float) -> _Nest:
        model = build(kernel, nest, semantics, seconds)
        shapes = Shapes(model.prover)
        bases = {ref.base.id: ref.base for ref in model.refs if ref.base.storage is not Storage.SCALAR}
        for base in bases.values():
            refs = [ref for ref in model.refs if ref.base.id == base.id]
            if any(ref.write for ref in refs):
                shapes.fit(base, refs)
        written = {id for id in model.scan.writes if id not in model.scan.declared}
        at_exit = frozenset(written - set(kernel.dead_after))
        return _Nest(kernel, nest, semantics, model, shapes, Extents(model), find(model, shapes), liveness(nest, at_exit))

    def facts(self) -> Facts:
        bands = tuple(_bands(self.nest))
        whole = alias.apart(self.model, self.extents, self.model.refs)
        return Facts(
            loops=tuple(self.loop(loop, depth) for loop, depth in _depths(self.nest)),
            dependences=tuple(dict.fromkeys(found.dependence for found in self.dependences)),
            accesses=accesses.facts(self.model),
            permutable=bands,
            order_obligations=_unique([*whole.obligations, *self.needs(self.model.refs, tuple(self.model.headers))]),
            reorder_blockers=_unique([*whole.blockers, *self.reorder(bands)]),
            extents=self.extents.all(),
        )

    # ---- one loop ----------------------------------------------------------------------------------------------

    def loop(self, loop: Loop, depth: int) -> LoopFacts:
        refs = self.model.inside(loop.id)
        does: Effects = effects(self.kernel, loop, self.semantics)
        scalars: Scalars = classify(self.model, loop, self.live)
        kept_apart = alias.apart(self.model, self.extents, refs)
        head = self.model.headers[loop.id]
        blockers = [
            *([head.wild] if head.wild is not None else []),
            *does.blockers,
            *scalars.blockers,
            *carried([found for found in self.dependences if found.level == loop.id], self.model, loop.id),
            *self.packed(refs),
            *kept_apart.blockers,
        ]
        around = self.model.scan.chain[loop.id]
        related = tuple(id for id, chain in self.model.scan.chain.items() if loop.id in chain or id in around)
        obligations = [*kept_apart.obligations, *scalars.obligations, *self.needs(refs, related)]
        return LoopFacts(
            loop=loop.id,
            depth=depth,
            trip_count=work.trip_count(self.model, loop),
            work=work.work(self.model, loop),
            blockers=_unique(blockers),
            obligations=() if blockers else _unique(obligations),
            private=tuple(scalars.private),
            lastprivate=tuple(scalars.lastprivate),
            reductions=tuple(scalars.reductions),
            errno_values=does.errno_values,
            uneven=work.uneven(self.model, loop),
            floating_point=does.floating_point,
        )

    def needs(self, refs: list[Ref], around: tuple[str, ...]) -> list[Obligation]:
        """What the dependences between these references rest on, and the headers of the loops around them."""
        result = [obligation for loop in around for obligation in self.model.header_needs[loop]]
        written = {ref.base.id for ref in refs if ref.write}
        for ref in refs:
            if ref.base.id in written:
                result += ref.needs or []
                place = self.shapes.places.get(ref)
                result += place.obligations if place is not None else ()
        return result

    def packed(self, refs: list[Ref]) -> list[Reason]:
        """std::vector<bool> keeps several elements in a word, so that even different ones can't be written at once."""
        return [
            Reason("carried-dependence", ref.span, f"'{ref.base.name}' packs its elements into shared words")
            for ref in refs
            if ref.write and ref.base.storage is Storage.VECTOR and (ref.base.element is None or ref.base.element.kind is TypeKind.BOOL)
        ]

    # ---- reordering --------------------------------------------------------------------------------------------

    def reorder(self, bands: tuple[tuple[str, ...], ...]) -> list[Reason]:
        """What forbids any change of order within the bands of two loops and more."""
        blockers: list[Reason] = []
        for band in bands:
            if len(band) < 2:
                continue
            innermost = self.model.scan.loops[band[-1]]
            blockers += effects(self.kernel, innermost, self.semantics).blockers
            scalars = classify(self.model, innermost, self.live)
            blockers += scalars.blockers
            for variable in scalars.lastprivate:
                blockers.append(Reason("scalar-carried", innermost.span, f"'{variable.name}' is needed after the loop"))
            for reduction in scalars.reductions:
                element = reduction.var.element
                signed = element is not None and element.kind is TypeKind.SIGNED and element.bits >= 32
                if signed and reduction.op in ("+", "*") and not self.semantics.wrapv:
                    blockers.append(Reason("scalar-carried", innermost.span, f"signed sum in '{reduction.var.name}'"))
            for id in band:
                head = self.model.headers[id]
                if head.wild is not None:
                    blockers.append(head.wild)
                if not head.loop.declares_var and head.loop.var.id in self.live.after.get(id, frozenset()):
                    blockers.append(Reason("scalar-carried", head.loop.span, f"'{head.loop.var.name}' is needed after the loop"))
        for ref in self.model.refs:
            if ref.write and ref.base.storage is not Storage.SCALAR and nonaffine(ref, self.model):
                which = "subscript-wrap" if ref.needs is None else "nonaffine-write"
                blockers.append(Reason(which, ref.span, f"'{ref.base.name}'"))
        return blockers


def _bands(loop: Loop) -> list[tuple[str, ...]]:
    """Maximal runs of loops with nothing but the next loop in their bodies."""
    band = [loop]
    while (inner := _only_loop(band[-1].body)) is not None:
        band.append(inner)
    results = [tuple(member.id for member in band)]
    direct = list(loops(band[-1].body))
    deeper = {id(found) for inner in direct for found in loops(inner.body)}
    for inner in direct:
        if id(inner) not in deeper:
            results += _bands(inner)
    return results


def _only_loop(block: Block) -> Loop | None:
    if len(block.items) != 1:
        return None
    item = block.items[0]
    if isinstance(item, Loop):
        return item
    return _only_loop(item) if isinstance(item, Block) else None


def _depths(loop: Loop, depth: int = 0) -> list[tuple[Loop, int]]:
    results = [(loop, depth)]
    direct = list(loops(loop.body))
    deeper = {id(found) for inner in direct for found in loops(inner.body)}
    for inner in direct:
        if id(inner) not in deeper:
            results += _depths(inner, depth + 1)
    return results


def _unique(items: list[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(items))

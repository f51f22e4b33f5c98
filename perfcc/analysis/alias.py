"""Which bases may share memory, and what to check at entry where that isn't known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from perfcc.analysis.extents import Extents, Touched
from perfcc.analysis.model import Model, Ref
from perfcc.analysis.scan import in_memory
from perfcc.core.facts import NoOverlap, Obligation, Untouched
from perfcc.core.reason import Reason
from perfcc.core.types import ScalarType, Scope, Storage, TypeKind, Variable
from perfcc.core.unit import Semantics


@dataclass(frozen=True, slots=True)
class Apart:
    """The answer for some references: what to check, and what can't be."""

    obligations: tuple[Obligation, ...] = ()
    blockers: tuple[Reason, ...] = ()


def apart(model: Model, extents: Extents, refs: list[Ref]) -> Apart:
    """Everything that must not overlap for dependences between different bases of these references to be none.

    Memory that decides bounds, subscripts or addresses anywhere in the nest is kept apart from every write of the nest.
    """
    asker = _Asker(model, extents)
    asker.pairs(refs, refs)
    deciding = [ref for ref in model.refs if ref.base.id in model.data]
    asker.pairs(deciding, model.refs)
    asker.objects(refs)
    return Apart(tuple(dict.fromkeys(asker.obligations)), tuple(asker.blockers))


def types_alias(left: ScalarType | None, right: ScalarType | None, semantics: Semantics) -> bool:
    """True when an object may be reached as either type: [basic.lval]/11, C11 6.5/7, read generously (same width is enough for
    integers)."""
    if left is None or right is None or not semantics.strict_aliasing or left.aliases_anything or right.aliases_anything:
        return True
    return (left.kind is TypeKind.FLOAT) == (right.kind is TypeKind.FLOAT) and left.bits == right.bits


def may_overlap(left: Variable, right: Variable, semantics: Semantics) -> bool:
    """True unless the elements of two different bases are provably distinct."""
    if not types_alias(left.element, right.element, semantics):
        return False
    if left.is_restrict and right.is_restrict and Scope.MEMBER not in (left.scope, right.scope):
        return False
    for one, other in ((left, right), (right, left)):
        if one.is_restrict and one.scope is not Scope.MEMBER and other.storage is not Storage.POINTER and _object(other):
            return False
    if Storage.POINTER in (left.storage, right.storage):
        return True
    kinds = {left.storage, right.storage}
    if _object(left) and _object(right):
        # an object's members lie in whatever holds the object, a global array of characters for example
        scopes = {left.scope, right.scope}
        return Scope.MEMBER in scopes and not scopes & {Scope.LOCAL, Scope.PARAMETER} and Storage.VECTOR not in kinds
    if Storage.VECTOR in kinds and len(kinds) == 2:  # elements on the heap against a declared object
        other = right if left.storage is Storage.VECTOR else left
        return not _object(other)
    return True


def _object(base: Variable) -> bool:
    """True for a variable that is its own object: not a pointer, not a reference, not an array parameter (a pointer in disguise)."""
    if base.is_reference or base.storage in (Storage.POINTER, Storage.OTHER):
        return False
    return not (base.storage is Storage.ARRAY and base.scope is Scope.PARAMETER)


@dataclass(slots=True)
class _Asker:
    model: Model
    extents: Extents
    obligations: list[Obligation]
    blockers: list[Reason]
    asked: set[frozenset[str]]

    def __init__(self, model: Model, extents: Extents) -> None:
        self.model, self.extents = model, extents
        self.obligations, self.blockers, self.asked = [], [], set()

    def pairs(self, left: list[Ref], right: list[Ref]) -> None:
        first, second = _bases(left), _bases(right)
        written = {ref.base.id for ref in [*left, *right] if ref.write}
        for a in first.values():
            for b in second.values():
                pair = frozenset((a.id, b.id))
                if self.apart_by_birth(a, b):
                    continue
                if len(pair) == 2 and pair not in self.asked and pair & written and may_overlap(a, b, self.model.semantics):
                    self.asked.add(pair)
                    self.keep_apart(a, b, [*left, *right])

    def apart_by_birth(self, a: Variable, b: Variable) -> bool:
        """True when one is an array made anew inside the nest and the other comes from outside it."""
        scan = self.model.scan
        inner = [base.id in scan.declared and base.storage is Storage.ARRAY and not base.is_reference for base in (a, b)]
        outer = [base.id not in scan.declared and base.id not in scan.pointer_writes for base in (a, b)]
        return (inner[0] and (outer[1] or inner[1])) or (inner[1] and outer[0])

    def keep_apart(self, a: Variable, b: Variable, refs: list[Ref]) -> None:
        ends = [self.whole(base) for base in (a, b)]
        if None in ends:
            place = next((ref.span for ref in refs if ref.write and ref.base.id in (a.id, b.id)), None)
            self.block(Reason("possible-overlap", place, f"'{a.name}' and '{b.name}'"))
            return
        (left, left_needs), (right, right_needs) = (end or (None, ()) for end in ends)
        self.obligations += [*left_needs, *right_needs]
        self.obligations.append(
            NoOverlap(
                a,
                b,
                left.count if left else None,
                right.count if right else None,
                left.lowest if left else None,
                right.lowest if right else None,
            )
        )

    def whole(self, base: Variable) -> tuple[Touched | None, tuple[Obligation, ...]] | None:
        """The range that stands for a base in a guard: its touched elements, or (None) its whole object; None altogether if
        neither can be had."""
        if base.id in self.model.scan.pointer_writes or (base.id in self.model.scan.declared and base.storage is not Storage.ARRAY):
            return None
        sized = base.storage in (Storage.VECTOR, Storage.SCALAR) or (
            base.storage is Storage.ARRAY and base.scope is not Scope.PARAMETER and None not in base.dims and bool(base.dims)
        )
        if sized:
            return None if base.id in self.model.scan.declared else (None, ())
        touched = self.extents.of(base)
        return None if touched is None else (touched, touched.obligations)

    def objects(self, refs: list[Ref]) -> None:
        """Vector headers and pointers that live in memory, against writes that may reach any object."""
        semantics = self.model.semantics
        held = {
            ref.base.id: ref.base
            for ref in self.model.refs
            if ref.base.storage in (Storage.VECTOR, Storage.POINTER) and in_memory(ref.base)
        }
        held.update({id: base for id, base in self.model.sized.items() if in_memory(base)})
        for ref in self.model.refs:
            element = ref.base.element
            if not ref.write or (semantics.strict_aliasing and element is not None and not element.aliases_anything):
                continue
            for object in held.values():
                if object.id == ref.base.id and object.storage is Storage.VECTOR:
                    continue
                if ref.base.storage is Storage.SCALAR and not ref.base.is_reference:
                    continue
                self.untouched(ref, object)

    def untouched(self, ref: Ref, object: Variable) -> None:
        end = self.whole(ref.base)
        if end is None:
            self.block(Reason("possible-overlap", ref.span, f"'{ref.base.name}' and the object '{object.name}' itself"))
            return
        touched, needs = end
        self.obligations += needs
        self.obligations.append(
            Untouched(ref.base, object, touched.count if touched else None, touched.lowest if touched else None)
        )

    def block(self, reason: Reason) -> None:
        if reason not in self.blockers:
            self.blockers.append(reason)


def _bases(refs: Iterable[Ref]) -> dict[str, Variable]:
    return {ref.base.id: ref.base for ref in refs}

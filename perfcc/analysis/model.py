"""The nest as the dependence analysis sees it: references to memory in textual order, each with its domain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from perfcc.analysis.affine import Reader, Term, common_type
from perfcc.analysis.atoms import Atoms
from perfcc.analysis.match import conjuncts, whole
from perfcc.analysis.poly import Poly
from perfcc.analysis.presburger import Constraint, Solver
from perfcc.analysis.region import Header, Prover, Region, header
from perfcc.analysis.scan import Scan, in_memory, scan
from perfcc.core.facts import Obligation
from perfcc.core.ir import (
    Access,
    Assign,
    Binary,
    Block,
    ContainerSize,
    Declare,
    Expr,
    If,
    Jump,
    Loop,
    Stmt,
    VarRef,
    expressions,
    own_expressions,
)
from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.core.types import Storage, Variable
from perfcc.core.unit import Semantics


@dataclass(eq=False, slots=True)
class Ref:
    """One reference to memory.

    ``subscripts`` are None where they are no integers; scalars in memory have none. ``needs`` is what its subscripts rest on, None if
    it can't be had.
    """

    base: Variable
    subscripts: tuple[Term | None, ...]
    write: bool
    span: Span | None
    region: Region
    order: int
    needs: list[Obligation] | None = field(default_factory=list)

    @property
    def loops(self) -> tuple[str, ...]:
        return self.region.loops


@dataclass(slots=True)
class Model:
    """Everything the later analyses share.

    ``sized`` are the vectors whose header the nest reads, ``data`` the ids of bases whose elements decide bounds or subscripts.
    """

    kernel: Kernel
    nest: Loop
    semantics: Semantics
    atoms: Atoms
    scan: Scan
    prover: Prover
    refs: list[Ref] = field(default_factory=list)
    headers: dict[str, Header] = field(default_factory=dict)
    regions: dict[str, Region] = field(default_factory=dict)
    header_needs: dict[str, list[Obligation]] = field(default_factory=dict)
    data: set[str] = field(default_factory=set)
    sized: dict[str, Variable] = field(default_factory=dict)

    def inside(self, loop: str) -> list[Ref]:
        """The references in that loop, its bound's included."""
        return [ref for ref in self.refs if loop in ref.loops]


def build(kernel: Kernel, nest: Loop, semantics: Semantics, seconds: float) -> Model:
    """Walks the nest and proves (or turns into obligations) what its subscripts and bounds rest on. Raises BudgetError."""
    atoms, found = Atoms(), scan(nest, frozenset(effect.callee for effect in kernel.calls if effect.pure))
    model = Model(kernel, nest, semantics, atoms, found, Prover(atoms, Solver(seconds)))
    reader = Reader(atoms, found, semantics.wrapv or semantics.trapping)
    _Walk(model, reader).loop(nest, Region(()))
    return model


@dataclass(slots=True)
class _Walk:
    model: Model
    reader: Reader
    count: int = 0

    def loop(self, loop: Loop, region: Region) -> None:
        self.reads(loop.lower, region, loop.span)
        head = header(loop, self.reader)
        obligations: list[Obligation] = []
        for group in head.needs:
            met = self.model.prover.meet_any(group, region)
            if met is None:
                which = "not-counted" if loop.relation == "!=" else "subscript-wrap"
                head.wild = head.wild or Reason(which, loop.span, f"loop variable '{loop.var.name}'")
            else:
                obligations += met
        self.note(loop.lower, loop.bound)
        inner = Region((*region.headers, head), region.conditions, region.exact and head.wild is None)
        self.model.headers[loop.id], self.model.regions[loop.id] = head, inner
        self.model.header_needs[loop.id] = obligations
        outer_loops, outer_known = dict(self.reader.loop_of), dict(self.reader.known)
        self.reads(loop.bound, inner, loop.span)
        self.reader.loop_of[loop.var.id] = loop.id
        self.reader.known.pop(loop.var.id, None)
        self.block(loop.body, inner)
        self.reader.loop_of, self.reader.known = outer_loops, outer_known

    def block(self, block: Block, region: Region) -> None:
        known = dict(self.reader.known)
        for item in block.items:
            self.statement(item, region)
            if isinstance(item, If):
                if _leaves(item.then) and item.other is None:
                    region = self.narrowed(region, item.condition, False)
                elif item.other is not None and _leaves(item.other):
                    region = self.narrowed(region, item.condition, True)
        self.reader.known = known

    def statement(self, stmt: Stmt, region: Region) -> None:
        match stmt:
            case Block():
                self.block(stmt, region)
            case Loop():
                self.loop(stmt, region)
            case If(condition=condition, then=then, other=other):
                self.reads(condition, region, stmt.span)
                self.block(then, self.narrowed(region, condition, True))
                if other is not None:
                    self.block(other, self.narrowed(region, condition, False))
            case Assign(target=target, op=op, value=value):
                self.reads(value, region, stmt.span)
                if isinstance(target, Access):
                    for subscript in target.subscripts:
                        self.reads(subscript, region, stmt.span)
                    if op != "=":
                        self.access(target, False, region, stmt.span)
                    self.access(target, True, region, stmt.span)
                else:
                    if op != "=":
                        self.scalar(target.var, False, region, stmt.span)
                    self.scalar(target.var, True, region, stmt.span)
                    self.define(target.var, value if op == "=" else None, stmt)
            case Declare(var=var, init=init):
                if init is not None:
                    self.reads(init, region, stmt.span)
                    self.scalar(var, True, region, stmt.span)
                    self.define(var, init, stmt)
            case _:
                for expr in own_expressions(stmt):
                    self.reads(expr, region, stmt.span)

    # ---- references --------------------------------------------------------------------------------------------

    def reads(self, expr: Expr, region: Region, span: Span | None) -> None:
        for part in expressions(expr):
            match part:
                case Access():
                    self.access(part, False, region, span)
                case VarRef(var=var):
                    self.scalar(var, False, region, part.span or span)
                case ContainerSize(base=base):
                    self.model.sized[base.id] = base
                case _:
                    pass

    def access(self, access: Access, write: bool, region: Region, span: Span | None) -> None:
        self.note(*access.subscripts)
        terms: list[Term | None] = []
        needs: list[Obligation] | None = []
        for subscript in access.subscripts:
            term = self.reader.read(subscript)
            if term is not None:
                term = self.reader.subscript(term)
                for need in sorted(term.needs, key=str):
                    met = self.model.prover.meet(need, region)
                    needs = None if met is None or needs is None else needs + met
            terms.append(term)
        if needs is None or self.moves(access.base):
            terms = [None] * len(terms)
        self.count += 1
        self.model.refs.append(Ref(access.base, tuple(terms), write, access.span or span, region, self.count, needs))

    def scalar(self, var: Variable, write: bool, region: Region, span: Span | None) -> None:
        if var.storage is Storage.SCALAR and in_memory(var):
            self.count += 1
            self.model.refs.append(Ref(var, (), write, span, region, self.count))

    def moves(self, base: Variable) -> bool:
        """True when the pointer itself changes in the nest, so that nothing is known of where its elements are."""
        return base.storage is not Storage.ARRAY and (base.id in self.model.scan.pointer_writes or base.id in self.model.scan.declared)

    def note(self, *exprs: Expr) -> None:
        """Remembers what memory decides bounds and subscripts."""
        for expr in exprs:
            for part in expressions(expr):
                if isinstance(part, (Access, ContainerSize)):
                    self.model.data.add(part.base.id)
                elif isinstance(part, VarRef):
                    self.model.data.add(part.var.id)

    def define(self, var: Variable, value: Expr | None, stmt: Stmt) -> None:
        """A scalar with this one definition stands for its value in the rest of the block."""
        self.reader.known.pop(var.id, None)
        type = var.element
        if value is None or type is None or not type.is_integer or var.storage is not Storage.SCALAR:
            return
        if self.model.scan.unknown or in_memory(var) or self.model.scan.write_count.get(var.id) != 1:
            return
        self.count += 1
        term = self.reader.read(value, f"@def{self.count}")
        if term is not None:
            self.note(value)
            self.reader.known[var.id] = self.reader.convert(term, type)

    # ---- conditions --------------------------------------------------------------------------------------------

    def narrowed(self, region: Region, condition: Expr, holds: bool) -> Region:
        """The region where the condition holds (or fails), as far as it is affine in exact integers; the rest is left out."""
        self.count += 1
        found = [self.constraint(part, region, f"@if{self.count}") for part in conjuncts(condition, holds)]
        new = tuple(c for c in found if c is not None)
        return replace(region, conditions=region.conditions + new, exact=region.exact and whole(condition, holds) and None not in found)

    def constraint(self, comparison: Binary, region: Region, salt: str) -> Constraint | None:
        left, right = self.reader.read(comparison.left, salt), self.reader.read(comparison.right, salt)
        if left is None or right is None:
            return None
        type = common_type(left.type, right.type)
        left, right = self.reader.convert(left, type), self.reader.convert(right, type)
        if not (left.exact and right.exact):
            return None
        if any(self.model.prover.meet(need, region) != [] for need in left.needs | right.needs):
            return None
        if any(self.data_only(key) for key in (right.poly - left.poly).atoms()):
            return None
        self.note(comparison.left, comparison.right)
        difference: Poly = right.poly - left.poly
        match comparison.op:
            case "<":
                return Constraint(difference.plus(-1))
            case "<=":
                return Constraint(difference)
            case ">":
                return Constraint(difference.scaled(-1).plus(-1))
            case ">=":
                return Constraint(difference.scaled(-1))
            case "==":
                return Constraint(difference, "=")
            case "!=":
                return Constraint(difference, "!=")
        return None

    def data_only(self, key: str) -> bool:
        """True for an atom whose value is data: a condition on it would narrow nothing."""
        atom = self.model.atoms[key]
        return atom.loop is None and atom.quotient is None and bool(atom.loops)


def _leaves(block: Block) -> bool:
    """True when control never reaches the block's end."""
    for item in block.items:
        if isinstance(item, Jump):
            return True
        if isinstance(item, Block) and _leaves(item):
            return True
        if isinstance(item, If) and item.other is not None and _leaves(item.then) and _leaves(item.other):
            return True
    return False

"""How each access moves as each loop advances."""

from __future__ import annotations

from perfcc.analysis.delinearise import flattened
from perfcc.analysis.model import Model, Ref
from perfcc.analysis.poly import Poly
from perfcc.analysis.reasons import nonaffine
from perfcc.core.facts import AccessFact
from perfcc.core.ir import ContainerSize, VarRef
from perfcc.core.types import Storage


def facts(model: Model) -> tuple[AccessFact, ...]:
    """One fact an array reference, in textual order."""
    return tuple(_fact(ref, model) for ref in model.refs if ref.base.storage is not Storage.SCALAR)


def _fact(ref: Ref, model: Model) -> AccessFact:
    polys = tuple(term.poly for term in ref.subscripts if term is not None)
    whole = polys and len(polys) == len(ref.subscripts)
    flat = flattened(ref.base, polys) if whole else None
    numbers: list[tuple[str, int | None]] = []
    words: list[tuple[str, str]] = []
    for head in ref.region.headers:
        stride = None if flat is None else _stride(flat, head.loop.id, ref, model)
        numbers.append((head.loop.id, None if stride is None else stride.value))
        words.append((head.loop.id, "?" if stride is None else stride.text(lambda key: _name(key, model))))
    return AccessFact(ref.base.name, ref.write, ref.span, tuple(numbers), tuple(words), flat is not None and not nonaffine(ref, model))


def _stride(flat: Poly, loop: str, ref: Ref, model: Model) -> Poly | None:
    """Elements moved by one iteration of the loop; a tile's point loops move along with the loop over tiles."""
    for head in reversed(ref.region.headers):
        if head.loop.id == loop:
            break
        start = head.origin
        if start is not None and start.degree == 1 and len(start.terms) == 1 and flat.degree_in(head.atom) == 1:
            outer = model.atoms[start.terms[0][0][0]].loop
            if outer == loop and abs(model.headers[loop].loop.step) > 1:
                flat = flat.replaced(head.atom, start)
    head = model.headers[loop]
    if flat.degree_in(head.atom) > 1:
        return None
    for key in flat.atoms():
        atom = model.atoms[key]
        if atom.loop is None and loop in atom.loops:
            return None
    return flat.coefficient(head.atom).scaled(head.loop.step)


def _name(key: str, model: Model) -> str:
    atom = model.atoms[key]
    if atom.loop is not None:
        return model.headers[atom.loop].loop.var.name
    if isinstance(atom.expr, VarRef):
        return atom.expr.var.name
    if isinstance(atom.expr, ContainerSize):
        return f"{atom.expr.base.name}.size()"
    return "?"

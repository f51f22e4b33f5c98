"""Polynomials back to expressions that a guard can evaluate at the kernel's entry, in unbounded arithmetic."""

from __future__ import annotations

from perfcc.analysis.atoms import Atoms
from perfcc.analysis.poly import Poly
from perfcc.core.ir import Binary, Expr, IntConst


def expression(poly: Poly, atoms: Atoms) -> Expr:
    """The polynomial as an expression over entry values. Raises ValueError for an atom without one."""
    result: Expr | None = None
    ordered = sorted(poly.terms, key=lambda term: (len(term[0]), term[1] > 0, term[0]), reverse=True)
    for monomial, factor in ordered:
        product: Expr | None = None
        for key in monomial:
            value = atoms[key].expr
            if value is None:
                raise ValueError(f"{key} has no value at entry")
            product = value if product is None else Binary("*", product, value)
        size = abs(factor)
        if product is None:
            part: Expr = IntConst(size)
        else:
            part = product if size == 1 else Binary("*", IntConst(size), product)
        if result is None:
            result = part if factor > 0 else Binary("-", IntConst(0), part)
        else:
            result = Binary("+" if factor > 0 else "-", result, part)
    return result if result is not None else IntConst(0)


def extreme(polys: list[Poly], atoms: Atoms, op: str) -> Expr:
    """``min`` or ``max`` of several polynomials."""
    result = expression(polys[0], atoms)
    for poly in polys[1:]:
        result = Binary(op, result, expression(poly, atoms))
    return result

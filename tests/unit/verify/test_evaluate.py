"""Expressions evaluated as C does, and intervals that hold every value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perfcc.core.ir import Access, Binary, Cast, IntConst, Unary, VarRef
from perfcc.core.types import ScalarType, Scope, Storage, TypeKind, Variable
from perfcc.verify.evaluate import Environment, Ranges, convert, evaluate, interval

INT = ScalarType("int", TypeKind.SIGNED, 32)
BYTE = ScalarType("unsigned char", TypeKind.UNSIGNED, 8)
N = Variable("n", "n", "int", Storage.SCALAR, INT, Scope.PARAMETER)
M = Variable("m", "m", "int", Storage.SCALAR, INT, Scope.PARAMETER)
P = Variable("p", "p", "const int *", Storage.POINTER, INT, Scope.PARAMETER)


def expressions() -> st.SearchStrategy[Binary | IntConst | VarRef | Unary]:
    leaves = st.one_of(st.integers(-9, 9).map(IntConst), st.just(VarRef(N)), st.just(VarRef(M)))
    operators = st.sampled_from(["+", "-", "*", "/", "%", "&", "<", "==", "min", "max", "|"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.builds(Binary, operators, inner, inner), st.builds(Unary, st.just("-"), inner)),
        max_leaves=8,
    )


@given(expressions(), st.integers(-20, 20), st.integers(-20, 20), st.integers(0, 5), st.integers(0, 5))
def test_a_value_lies_in_its_interval(expr: Binary, n: int, m: int, dn: int, dm: int) -> None:
    value = evaluate(expr, Environment({"n": n, "m": m}))
    found = interval(expr, Ranges({"n": (n - dn, n + dn), "m": (m - dm, m + dm)}))
    if value is not None and found is not None:
        assert found[0] <= value <= found[1]


def test_division_truncates() -> None:
    env = Environment({"n": -7})
    assert evaluate(Binary("/", VarRef(N), IntConst(2)), env) == -3
    assert evaluate(Binary("%", VarRef(N), IntConst(2)), env) == -1
    assert evaluate(Binary("/", VarRef(N), IntConst(0)), env) is None


def test_conversions_wrap() -> None:
    assert convert(-1, BYTE) == 255
    assert convert(1 << 31, INT) == -(1 << 31)
    assert evaluate(Cast(IntConst(300), BYTE), Environment()) == 44


def test_memory_has_no_value_but_a_range() -> None:
    load = Access(P, (VarRef(N),))
    assert evaluate(load, Environment({"n": 0})) is None
    assert interval(load, Ranges(elements={"p": (0, 8)})) == (0, 8)
    assert interval(load, Ranges()) is None

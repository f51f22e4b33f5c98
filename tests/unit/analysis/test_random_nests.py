"""Random nests against brute force: a loop said to be parallel gives the same answer in any order of its iterations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from perfcc.analysis import analyse
from perfcc.core.facts import Facts
from perfcc.core.ir import Binary, Expr, IntConst, Jump, Loop, Stmt, VarRef, loops
from perfcc.core.types import Variable
from perfcc.core.unit import Semantics
from tests.unit.analysis.loopnests import (
    INT,
    Endless,
    Machine,
    add,
    array,
    assign,
    at,
    binary,
    expr,
    kernel,
    loop,
    met,
    mul,
    pointer,
    scalar,
    show,
    sub,
    when,
)

N, M = scalar("n"), scalar("m")
TEMPS = (scalar("t"), scalar("u"))
BASES = (pointer("p", INT), pointer("q", INT), array("a", 40, type=INT))
GRID = array("g", 8, 9, type=INT)
VARS = (scalar("i"), scalar("j"), scalar("k"))


@st.composite
def affine(draw: st.DrawFn, open_vars: tuple[Variable, ...]) -> Expr:
    """A subscript such as programs have: a variable, shifted, scaled, or a row and a column."""
    pick = draw(st.sampled_from(("var", "shift", "row", "scaled", "mixed", "constant", "reverse")))
    var = draw(st.sampled_from(open_vars))
    other = draw(st.sampled_from(open_vars))
    number = draw(st.integers(-2, 3))
    parameter = draw(st.sampled_from((N, M)))
    match pick:
        case "var":
            return add(var, 0)
        case "shift":
            return add(var, number)
        case "row":
            return add(add(mul(add(var, draw(st.integers(-1, 1))), parameter), other), number)
        case "scaled":
            return add(mul(var, draw(st.sampled_from((2, 3)))), number)
        case "mixed":
            return add(var, mul(other, draw(st.sampled_from((-1, 1, 2)))))
        case "reverse":
            return sub(sub(parameter, 1), var)
    return add(number, draw(st.sampled_from((0, 1))))


@st.composite
def access(draw: st.DrawFn, open_vars: tuple[Variable, ...]) -> Expr:
    if draw(st.integers(0, 4)) == 0:
        first, second = draw(st.sampled_from(open_vars)), draw(st.sampled_from(open_vars))
        return at(GRID, add(first, draw(st.integers(-1, 1))), add(second, draw(st.integers(-1, 1))))
    base = draw(st.sampled_from(BASES))
    if draw(st.integers(0, 7)) == 0:
        return at(base, at(draw(st.sampled_from(BASES)), draw(affine(open_vars))))
    return at(base, draw(affine(open_vars)))


@st.composite
def operand(draw: st.DrawFn, open_vars: tuple[Variable, ...]) -> Expr | Variable | int:
    return draw(st.one_of(access(open_vars), st.sampled_from(TEMPS), st.sampled_from(open_vars), st.integers(0, 3)))


@st.composite
def statement(draw: st.DrawFn, open_vars: tuple[Variable, ...]) -> Stmt:
    kind = draw(st.sampled_from(("store", "store", "store", "update", "temp", "sum", "if", "extreme", "skip")))
    match kind:
        case "store":
            return assign(draw(access(open_vars)), add(draw(operand(open_vars)), draw(operand(open_vars))))
        case "update":
            return assign(draw(access(open_vars)), draw(operand(open_vars)), "+=")
        case "temp":
            return assign(draw(st.sampled_from(TEMPS)), add(draw(operand(open_vars)), 1))
        case "sum":
            return assign(draw(st.sampled_from(TEMPS)), draw(access(open_vars)), draw(st.sampled_from(("+=", "-=", "|=", "^="))))
        case "extreme":
            temp, value = draw(st.sampled_from(TEMPS)), draw(access(open_vars))
            return when(binary(draw(st.sampled_from(("<", ">"))), value, temp), [assign(temp, value)])
        case "skip":
            condition = binary(draw(st.sampled_from(("==", "!=", "<"))), draw(st.sampled_from(open_vars)), draw(operand(open_vars)))
            return when(condition, [Jump("continue", 0, None)])
    left, right = draw(st.sampled_from(open_vars)), draw(operand(open_vars))
    condition = binary(draw(st.sampled_from(("==", "!=", "<", ">="))), left, right)
    then = [draw(statement(open_vars))]
    return when(condition, then, [draw(statement(open_vars))] if draw(st.booleans()) else None)


@st.composite
def nest(draw: st.DrawFn, depth: int, open_vars: tuple[Variable, ...] = ()) -> Loop:
    var = VARS[len(open_vars)]
    limits = [N, M, add(N, -1), 4] + list(open_vars) + [add(outer, 1) for outer in open_vars]
    bound = draw(st.sampled_from(limits))
    lower = draw(st.sampled_from([0, 0, 1, *open_vars]))
    inside = (*open_vars, var)
    body: list[Stmt] = []
    if depth > 1:
        body += draw(st.lists(statement(inside), max_size=1))
        body.append(draw(nest(depth - 1, inside)))
        body += draw(st.lists(statement(inside), max_size=1))
    else:
        body += draw(st.lists(statement(inside), min_size=1, max_size=3))
    if draw(st.integers(0, 5)) == 0:
        return tiled(var, bound, body, draw(st.sampled_from((2, 3))))
    step = draw(st.sampled_from((1, 1, 1, 2, -1)))
    declares = draw(st.booleans())
    if step < 0:
        return loop(var, sub(bound, 1), lower, *body, step=step, relation=">=", declares=declares)
    return loop(var, lower, bound, *body, step=step, relation=draw(st.sampled_from(("<", "<=", "<"))), declares=declares)


def tiled(var: Variable, bound: Expr | Variable | int, body: list[Stmt], tile: int) -> Loop:
    """A loop cut into tiles, with the headers that loop-tiling makes."""
    block = scalar(var.name * 2)
    end = Binary("min", Binary("+", VarRef(block, INT), IntConst(tile)), expr(bound))
    point = replace(loop(var, block, 0, *body), bound=end, fresh=True, span=None)
    return replace(loop(block, 0, bound, point, step=tile), fresh=True, span=None)


@dataclass(frozen=True)
class Setting:
    """Values of the parameters and places of the bases; they may overlap."""

    n: int
    m: int
    q: int

    def machine(self) -> Machine:
        where = {"p": 1000, "q": 1000 + self.q, "a": 5000, "g": 9000}
        return Machine(where, {"n": self.n, "m": self.m, "t": 5, "u": 7, "i": -11, "j": -12, "k": -13})


def allowed(facts: Facts, id: str, setting: Setting) -> bool:
    entry = facts.loop(id)
    return not entry.blockers and all(met(obligation, setting.machine()) for obligation in entry.obligations)


SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@SETTINGS
@given(st.data())
def test_parallel_loops_give_the_same_answer_in_any_order(data: st.DataObject) -> None:
    root = data.draw(st.integers(1, 3).flatmap(nest))
    note("\n" + show(root))
    facts = analyse(kernel(root), root, Semantics())
    setting = Setting(data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5)), data.draw(st.sampled_from((0, 1, 3, 8, 200))))
    order = data.draw(st.permutations(range(7)))
    plain = setting.machine()
    try:
        plain.run(root)
    except Endless:
        assume(False)
    for one in loops(root):
        if not allowed(facts, one.id, setting):
            continue
        entry = facts.loop(one.id)
        other = setting.machine()
        other.special, other.order = one.id, list(order)
        other.private, other.lastprivate = entry.private, entry.lastprivate
        other.reductions = tuple((r.var.id, r.op) for r in entry.reductions)
        other.run(root)
        assert other.memory == plain.memory, (one.id, entry)
        live = {"t", "u"} | {inner.var.id for inner in loops(root) if not inner.declares_var}
        for id in live:
            assert other.scalars[id] == plain.scalars[id], (id, entry)


@SETTINGS
@given(st.data())
def test_every_dependence_is_listed(data: st.DataObject) -> None:
    root = data.draw(st.integers(1, 3).flatmap(nest))
    note("\n" + show(root))
    facts = analyse(kernel(root), root, Semantics())
    setting = Setting(data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5)), data.draw(st.sampled_from((0, 1, 3, 8, 200))))
    assume(not any(reason.id in ("possible-overlap", "analysis-budget") for reason in facts.reorder_blockers))
    machine = setting.machine()
    if not all(met(obligation, machine) for obligation in facts.order_obligations):
        return
    machine = setting.machine()
    try:
        machine.run(root)
    except Endless:
        assume(False)
    listed = {(tuple(d.loops), tuple(d.directions)) for d in facts.dependences}
    for loops_of, directions in _directions(machine):
        assert any(_covers(loops_of, directions, *entry) for entry in listed), (loops_of, directions, sorted(listed))


def _directions(machine: Machine) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The direction vectors of all true dependences that some loop carries, by comparing every pair of accesses to one address."""
    by_address: dict[int, list[tuple[tuple[tuple[str, int], ...], bool]]] = {}
    for path, address, write in machine.trace:
        by_address.setdefault(address, []).append((path, write))
    found: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for events in by_address.values():
        for at_first, (first, wrote) in enumerate(events):
            for second, writes in events[at_first + 1 :]:
                if not (wrote or writes):
                    continue
                common = []
                for (left, before), (right, after) in zip(first, second, strict=False):
                    if left != right:
                        break
                    common.append((left, "<" if before < after else "=" if before == after else ">"))
                if any(direction != "=" for _, direction in common):
                    found.add((tuple(id for id, _ in common), tuple(direction for _, direction in common)))
    return found


def _covers(loops_of: tuple[str, ...], directions: tuple[str, ...], listed: tuple[str, ...], given_directions: tuple[str, ...]) -> bool:
    return listed == loops_of and all(given in ("*", true) for given, true in zip(given_directions, directions, strict=True))


def test_the_checker_sees_a_wrong_claim() -> None:
    """A prefix sum run out of order must differ, or the property above proves nothing."""
    (i, *_), p = VARS, BASES[0]
    root = loop(i, 1, N, assign(at(p, i), add(at(p, i), at(p, sub(i, 1)))))
    plain, other = Setting(5, 5, 200).machine(), Setting(5, 5, 200).machine()
    plain.run(root)
    other.special, other.order = "i", [6, 5, 4, 3, 2, 1, 0]
    other.run(root)
    assert plain.memory != other.memory

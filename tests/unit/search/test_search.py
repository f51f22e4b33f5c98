"""The search: every candidate one verdict, one decision, deterministic, within its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from perfcc.core.candidate import Candidate, Step
from perfcc.core.decision import Accepted, Decision, Evidence, Rejected, SizeTiming, Status, Undecided, Verdict
from perfcc.core.facts import Dependence, DependenceKind, Facts, LoopFacts
from perfcc.core.ir import Binary, Block, Cast, IntConst, Loop, VarRef
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Refusal
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.core.types import ScalarType, Scope, Storage, TypeKind, Variable
from perfcc.search.search import refused, search
from perfcc.search.words import fact_pairs, words

INT = ScalarType("int", TypeKind.SIGNED, 32)
I = Variable("i", "i", "int", Storage.SCALAR, INT, Scope.LOCAL, declared_in_kernel=True)  # noqa: E741
N = Variable("n", "n", "int", Storage.SCALAR, INT, Scope.PARAMETER)
SPAN = Span("f.cpp", 10, 40, 3, 5, 4)
NEST = Loop("L0", I, IntConst(0), VarRef(N), "<", 1, Block(()), span=SPAN)
KERNEL = Kernel("k", "f", "c++", SPAN, "for (...) ;", NEST, None)
FACTS = Facts((LoopFacts("L0", 0, VarRef(N), VarRef(N), ()),), (), ())


def made(name: str) -> Candidate:
    return Candidate("k", (Step(name, "L0"),), NEST, f"fast {name}", "1", VarRef(N), (), True)


class Offers:
    """A proposer with a list of generations, which notes what it was told."""

    def __init__(self, *generations: Iterable[str]) -> None:
        self.generations = [tuple(made(name) for name in names) for names in generations]
        self.told: list[tuple[Verdict, ...]] = []

    def propose(self, kernel: Kernel, facts: Facts, tried: tuple[Verdict, ...]) -> Iterable[Candidate]:
        self.told.append(tried)
        return self.generations[len(self.told) - 1] if len(self.told) <= len(self.generations) else ()


class Judges:
    """A judge with fixed speed-ups by candidate name; 0 rejects, negative is undecided."""

    def __init__(self, speeds: dict[str, float], unable: Reason | None = None, tick: Callable[[], None] = lambda: None) -> None:
        self.speeds, self.unable, self.tick = speeds, unable, tick
        self.judged: list[str] = []

    def prepare(self) -> Reason | None:
        return self.unable

    def judge(self, candidate: Candidate) -> Verdict:
        self.tick()
        self.judged.append(candidate.name)
        speed = self.speeds[candidate.name]
        if speed > 0:
            return Accepted(candidate, (Evidence("timing", True, "faster"),), speed, 100.0)
        if speed < 0:
            return Undecided(candidate, Reason("machine-busy"))
        return Rejected(candidate, Reason("different-result"), (Evidence("compiles", True, ""), Evidence("differential", False, "")))

    def evidence(self) -> tuple[Evidence, ...]:
        return (Evidence("inputs", True, "made"),)


def run(proposers: list[Offers], judge: Judges, budget: float = 100.0, clock: Callable[[], float] = lambda: 0.0) -> Decision:
    return search(KERNEL, FACTS, proposers, judge, budget, clock, lambda best: f"text of {best.candidate.name}")


def test_the_fastest_accepted_candidate_wins_and_the_rest_are_kept_with_their_reasons() -> None:
    decision = run([Offers(["a", "b", "c"])], Judges({"a": 1.5, "b": 2.5, "c": 0}))
    assert decision.status is Status.REWRITTEN
    assert [step.rule for step in decision.steps] == ["b"]
    assert (decision.speedup, decision.threshold, decision.replacement) == (2.5, 100.0, "text of b")
    assert [(t.steps[0].rule, t.reason.id) for t in decision.tried] == [("a", "beaten"), ("c", "different-result")]
    assert [e.stage for e in decision.evidence] == ["inputs", "timing"]
    assert decision.before == KERNEL.text


def test_generations_end_when_one_brings_nothing_faster() -> None:
    offers = Offers(["a"], ["b"], ["c"], ["d"])
    judge = Judges({"a": 1.5, "b": 2.0, "c": 1.9, "d": 9.0})
    decision = run([offers], judge)
    assert judge.judged == ["a", "b", "c"]
    assert decision.speedup == 2.0
    assert [len(told) for told in offers.told] == [0, 1, 2]


def test_generations_go_on_while_nothing_is_accepted() -> None:
    judge = Judges({"a": 0, "b": 0, "c": 1.3})
    assert run([Offers(["a"], ["b"], ["c"])], judge).speedup == 1.3


def test_a_text_is_judged_once_whoever_proposes_it() -> None:
    judge = Judges({"a": 1.5, "b": 1.2})
    run([Offers(["a", "a"], ["a"]), Offers(["a", "b"])], judge)
    assert judge.judged == ["a", "b"]


def test_the_budget_ends_the_search_with_what_was_found() -> None:
    now = [0.0]
    judge = Judges({"a": 1.2, "b": 9.0}, tick=lambda: now.__setitem__(0, now[0] + 60))
    decision = run([Offers(["a", "b"])], judge, 30.0, lambda: now[0])
    assert judge.judged == ["a"]
    assert (decision.status, decision.speedup) == (Status.REWRITTEN, 1.2)


def test_a_budget_spent_before_the_first_verdict_decides_nothing() -> None:
    decision = run([Offers(["a"])], Judges({"a": 2.0}), 0.0)
    assert (decision.status, decision.reason and decision.reason.id) == (Status.UNDECIDED, "budget-spent")


def test_nothing_accepted_and_something_undecided_is_undecided() -> None:
    decision = run([Offers(["a", "b"])], Judges({"a": 0, "b": -1}))
    assert (decision.status, decision.reason and decision.reason.id) == (Status.UNDECIDED, "machine-busy")
    assert len(decision.tried) == 2


def test_all_rejected_gives_the_reason_of_the_one_that_got_furthest() -> None:
    decision = run([Offers(["a"])], Judges({"a": 0}))
    assert (decision.status, decision.reason and decision.reason.id) == (Status.REJECTED, "different-result")
    assert [e.stage for e in decision.evidence] == ["inputs", "compiles", "differential"]


def test_a_judge_that_cant_judge_rejects_every_candidate_without_running_one() -> None:
    judge = Judges({}, unable=Reason("cannot-exercise"))
    decision = run([Offers(["a", "b"])], judge)
    assert (decision.status, decision.reason and decision.reason.id) == (Status.REJECTED, "cannot-exercise")
    assert [t.reason.id for t in decision.tried] == ["cannot-exercise"] * 2
    assert judge.judged == []


class Refusing(Offers):
    def refusals(self, kernel: Kernel, facts: Facts) -> tuple[tuple[str, Refusal], ...]:
        return (("L0", Refusal("loop-tiling", Reason("no-reuse", SPAN))), ("L0", Refusal("parallel-loop", Reason("scalar-carried", SPAN))))


def test_no_candidate_is_a_refusal_for_what_ties_the_loop() -> None:
    decision = run([Refusing()], Judges({}))
    assert (decision.status, decision.reason and decision.reason.id) == (Status.REFUSED, "scalar-carried")
    assert [(t.steps[0].rule, t.reason.id) for t in decision.tried] == [("loop-tiling", "no-reuse"), ("parallel-loop", "scalar-carried")]
    blocked = replace(FACTS, loops=(replace(FACTS.loops[0], blockers=(Reason("may-throw", SPAN),)),))
    assert refused(KERNEL, blocked, [Refusing()]).reason == Reason("may-throw", SPAN)
    assert refused(KERNEL, FACTS).reason == Reason("no-rule", SPAN)


def test_a_kernel_the_frontend_left_alone_keeps_its_reason() -> None:
    left = replace(KERNEL, nest=None, refusal=Reason("io-in-loop", SPAN))
    decision = refused(left, None)
    assert (decision.status, decision.reason) == (Status.REFUSED, Reason("io-in-loop", SPAN))


def test_the_same_verdicts_give_the_same_decision() -> None:
    speeds = {"a": 1.4, "b": 1.4, "c": 0}
    decisions = [run([Offers(["a", "b", "c"])], Judges(speeds)) for _ in range(2)]
    assert decisions[0] == decisions[1]
    assert decisions[0].steps[0].rule == "a"


def test_facts_are_told_in_words() -> None:
    carried = Dependence(DependenceKind.FLOW, "a", None, None, ("L0",), ("<",), (2,))
    pairs = dict(fact_pairs(NEST, replace(FACTS, dependences=(carried,))))
    assert pairs["iterations of i"] == "n"
    assert pairs["dependence"] == "flow on a (i 2)"
    assert dict(fact_pairs(NEST, FACTS))["dependence"] == "none between iterations"
    assert words(Binary("*", Binary("-", VarRef(N), IntConst(1)), Cast(VarRef(I), INT))) == "(n - 1) * i"


def accepted(name: str, steps: int, low: float, ratio: float, high: float) -> Accepted:
    candidate = replace(made(name), steps=tuple(Step(name, f"L{step}") for step in range(steps)))
    small = SizeTiming(1e3, 9.0, 9.0, 9.0, 8, "accept")
    return Accepted(candidate, (), ratio, 100.0, (SizeTiming(1e6, ratio, low, high, 8, "accept"), small))


class Gives(Judges):
    """A judge with verdicts made beforehand."""

    def __init__(self, *verdicts: Accepted) -> None:
        super().__init__({})
        self.verdicts = list(verdicts)

    def judge(self, candidate: Candidate) -> Verdict:
        return self.verdicts.pop(0)


def winner(*verdicts: Accepted) -> str:
    return run([Offers([verdict.candidate.name for verdict in verdicts])], Gives(*verdicts)).steps[0].rule


def test_where_noise_hides_the_difference_the_simpler_one_wins() -> None:
    assert winner(accepted("long", 3, 1.8, 2.1, 2.3), accepted("short", 1, 1.7, 2.0, 2.2)) == "short"
    assert winner(accepted("short", 1, 1.7, 2.0, 2.2), accepted("long", 3, 1.8, 2.1, 2.3)) == "short"
    assert winner(accepted("first", 2, 1.7, 2.0, 2.2), accepted("second", 2, 1.8, 2.1, 2.3)) == "first"


def test_a_clearly_faster_one_wins_whatever_its_steps() -> None:
    assert winner(accepted("short", 1, 1.7, 1.8, 1.9), accepted("long", 3, 1.9, 2.1, 2.3)) == "long"
    assert winner(accepted("long", 3, 1.9, 2.1, 2.3), accepted("short", 1, 1.7, 1.8, 1.85)) == "long"

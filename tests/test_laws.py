"""Laws of the algebra, over generated trees: what must hold whatever the rules and the evidence are."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rulebook.checks import Check
from rulebook.evidence.bundle import Evidence
from rulebook.expression.nodes import (
    AllOf,
    AnyOf,
    AtLeast,
    Common,
    FormulaOf,
    Invert,
    Leaf,
    MisbehaviorIf,
    Node,
    NoneOf,
    Not,
    Numeric,
    parts_of,
)
from rulebook.interpreter.evaluate import evaluate
from rulebook.languages.formula import read_formula
from rulebook.outcome import Measurement, Misbehavior, Outcome, Skipped, Unmeasured, binary, student_fault
from rulebook.services.ports import machine_ports

PORTS = machine_ports()
EVIDENCE = Evidence()


class Scripted(Check):
    """A check whose outcome is given."""

    outcome: object

    def measure(self, evidence: object, ports: object) -> Outcome:
        return self.outcome  # type: ignore[return-value]


def common(weight: float = 1.0, **more: object) -> Common:
    return Common("scripted", "laws.yaml", (), weight=weight, **more)  # type: ignore[arg-type]


def leaf(outcome: Outcome, weight: float = 1.0) -> Leaf:
    return Leaf(common(weight), Scripted.model_construct(outcome=outcome))


def came(node: Node) -> Outcome:
    outcome = evaluate(node, EVIDENCE, PORTS).outcome
    assert outcome is not None
    return outcome


scores = st.floats(0, 1, allow_nan=False)
measurements = st.one_of(
    st.booleans().map(binary),
    st.builds(Measurement, score=scores, passed=st.booleans()),
)
faults = st.just(student_fault("it wrote nothing"))
unmeasured = st.sampled_from([Unmeasured("harness", "no log"), Unmeasured("fixture", "no git")])
outcomes = st.one_of(measurements, measurements, faults, unmeasured, st.just(Skipped("not asked")))
with_misbehavior = st.one_of(outcomes, outcomes, outcomes, st.just(Misbehavior("a link")))
weights = st.sampled_from([0.0, 0.5, 1.0, 3.0])


def groups(parts: st.SearchStrategy[Node], *, negation: bool = True) -> st.SearchStrategy[Node]:
    """Every combinator over generated parts; a formula is left out where a law needs more than monotony."""
    several = st.lists(parts, min_size=1, max_size=4).map(tuple)
    threshold = st.sampled_from([0.25, 0.5, 1.0])
    made = [
        st.builds(AllOf, st.just(common()), several, st.just("decisive"), st.booleans()),
        st.builds(AnyOf, st.just(common()), several, st.just("decisive"), st.booleans()),
        st.builds(AllOf, st.just(common()), several, st.sampled_from(["min", "mean"]), st.just(False)),
        several.flatmap(lambda p: st.builds(AtLeast, st.just(common()), st.integers(1, len(p)), st.just(p))),
        st.builds(
            lambda t, how, p: Numeric(common(threshold=t), how, p),
            threshold,
            st.sampled_from(["weighted", "mean", "min", "max", "product"]),
            several,
        ),
    ]
    if negation:
        made += [
            st.builds(Not, st.just(common()), parts),
            st.builds(NoneOf, st.just(common()), several),
            st.builds(lambda t, p: Invert(common(threshold=t), p), threshold, parts),
        ]
    return st.one_of(made)


def trees(leaves: st.SearchStrategy[Outcome], *, negation: bool = True) -> st.SearchStrategy[Node]:
    return st.recursive(st.builds(leaf, leaves, weights), lambda parts: groups(parts, negation=negation), max_leaves=10)


def leaves_of(node: Node) -> list[Leaf]:
    return [node] if isinstance(node, Leaf) else [found for part in parts_of(node) for found in leaves_of(part)]


def with_leaf(node: Node, old: Leaf, new: Leaf) -> Node:
    """The tree with one leaf, found by identity, replaced."""
    if node is old:
        return new
    match node:
        case Leaf():
            return node
        case Not() | Invert() | MisbehaviorIf():
            return replace(node, part=with_leaf(node.part, old, new))
        case FormulaOf():
            return replace(node, let=tuple((name, with_leaf(part, old, new)) for name, part in node.let))
        case _:
            return replace(node, parts=tuple(with_leaf(part, old, new) for part in node.parts))


def scripted(found: Leaf) -> Outcome:
    assert isinstance(found.check, Scripted)
    return found.check.outcome  # type: ignore[return-value]


@given(trees(outcomes))
def test_an_unmeasured_part_is_bracketed_by_its_pass_and_its_failure(tree: Node) -> None:
    result = came(tree)
    if not isinstance(result, Measurement):
        return
    for found in leaves_of(tree):
        if not isinstance(scripted(found), Unmeasured):
            continue
        passing = came(with_leaf(tree, found, replace(found, check=Scripted.model_construct(outcome=binary(True)))))
        failing = came(with_leaf(tree, found, replace(found, check=Scripted.model_construct(outcome=binary(False)))))
        if isinstance(passing, Measurement) and isinstance(failing, Measurement):
            assert min(passing.passed, failing.passed) <= result.passed <= max(passing.passed, failing.passed)
            low, high = sorted((passing.score, failing.score))
            # a failure that is certain all the same has the score of the part that decided it, and no more is claimed
            assert not result.passed or low - 1e-9 <= result.score <= high + 1e-9


@given(trees(outcomes))
def test_twice_negated_is_as_before(tree: Node) -> None:
    once, twice = came(tree), came(Not(common(), Not(common(), tree)))
    assert type(once) is type(twice)
    if isinstance(once, Measurement) and isinstance(twice, Measurement):
        assert twice.passed == (once.passed and not once.student_fault)


@given(trees(st.one_of(faults, unmeasured)))
def test_no_negation_makes_a_pass_of_what_the_student_spoiled(tree: Node) -> None:
    result = came(tree)
    assert not (isinstance(result, Measurement) and result.passed)


@given(trees(outcomes))
def test_without_a_measured_part_there_is_no_number(tree: Node) -> None:
    for found in leaves_of(tree):
        if isinstance(scripted(found), Measurement):
            gone = Scripted.model_construct(outcome=Unmeasured("harness", "gone"))
            tree = with_leaf(tree, found, replace(found, check=gone))
    assert not isinstance(came(tree), Measurement)


@given(trees(with_misbehavior))
def test_misbehaviour_that_was_seen_wins(tree: Node) -> None:
    trace = evaluate(tree, EVIDENCE, PORTS)
    seen = any(isinstance(part.outcome, Misbehavior) for part in trace.walk())
    assert isinstance(trace.outcome, Misbehavior) == seen


@given(trees(with_misbehavior))
def test_no_part_is_lost(tree: Node) -> None:
    def count(node: Node) -> int:
        return 1 + sum(count(part) for part in parts_of(node))

    assert len(list(evaluate(tree, EVIDENCE, PORTS).walk())) == count(tree)


@given(trees(with_misbehavior))
def test_every_score_is_a_finite_number(tree: Node) -> None:
    for part in evaluate(tree, EVIDENCE, PORTS).walk():
        if isinstance(part.outcome, Measurement):
            assert math.isfinite(part.outcome.score)


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_groups_agree_with_and_and_or(passes: list[bool]) -> None:
    parts = tuple(leaf(binary(passed)) for passed in passes)
    answers: list[tuple[Node, bool]] = [
        (AllOf(common(), parts), all(passes)),
        (AnyOf(common(), parts), any(passes)),
        (NoneOf(common(), parts), not any(passes)),
    ]
    for node, expected in answers:
        outcome = came(node)
        assert isinstance(outcome, Measurement)
        assert outcome.passed == expected


@given(st.lists(st.tuples(scores, weights), min_size=1, max_size=5), scores)
def test_a_weight_of_zero_moves_nothing(parts: list[tuple[float, float]], other: float) -> None:
    counted = [*parts, (0.5, 1.0)]
    for how in ("weighted", "sum", "mean"):
        nodes = tuple(leaf(Measurement(score, True), weight) for score, weight in counted)
        with_zero = (*nodes, leaf(Measurement(other, True), 0.0))
        before, after = came(Numeric(common(), how, nodes)), came(Numeric(common(), how, with_zero))
        assert isinstance(before, Measurement)
        assert isinstance(after, Measurement)
        assert before.score == after.score


@given(measurements, unmeasured)
def test_a_formula_that_reads_what_is_unmeasured_is_unmeasured(found: Measurement, gone: Unmeasured) -> None:
    let = (("a", leaf(found)), ("b", leaf(gone)))
    assert isinstance(came(FormulaOf(common(), let, read_formula("a + b", "number"))), Unmeasured)
    only = came(FormulaOf(common(threshold=0.0), let, read_formula("a", "number")))
    assert isinstance(only, Measurement)
    assert only.score == found.score


@given(st.lists(st.one_of(measurements, faults), min_size=1, max_size=4))
def test_spoiling_a_penalty_does_not_pay(found: list[Outcome]) -> None:
    parts = (leaf(Measurement(1.0, True), 1.0), *(leaf(outcome, -1.0) for outcome in found))
    result = came(Numeric(common(threshold=0.1), "sum", parts))
    assert isinstance(result, Measurement)
    if any(isinstance(part, Measurement) and part.student_fault for part in found):
        assert result.score == 0
        assert not result.passed
        assert result.student_fault


@settings(max_examples=50)
@given(trees(with_misbehavior))
def test_a_tree_is_evaluated_to_the_same_twice(tree: Node) -> None:
    assert evaluate(tree, EVIDENCE, PORTS) == evaluate(tree, EVIDENCE, PORTS)


def test_a_required_failure_is_no_pass_whatever_the_threshold() -> None:
    required = Leaf(common(required=True), Scripted.model_construct(outcome=binary(False)))
    result = came(Numeric(common(threshold=0.0), "weighted", (required, leaf(binary(True)))))
    assert isinstance(result, Measurement)
    assert (result.score, result.passed) == (0.0, False)


def test_a_fault_beside_what_could_not_be_told_helps_no_negation() -> None:
    fault = leaf(student_fault("it wrote nothing"), 3.0)
    unsure = Numeric(common(threshold=0.25), "weighted", (fault, leaf(Unmeasured("harness", "no log"), 0.5)))
    both = AllOf(common(), (unsure, leaf(binary(False), 1.0)))
    assert came(Not(common(), leaf(binary(False), 1.0))).passed  # type: ignore[union-attr]
    found = came(Not(common(), both))
    assert isinstance(found, Measurement)
    assert (found.passed, found.student_fault) == (False, True)

"""What one scorer comes to in two runs: what is paired, lost, fixed and broken, verdicts and gates."""

import math

import pytest
from msgspec import UNSET

from rulebook.measures.row_scores import RowFailure, RowScores
from rulebook.report.compared import Change, Compared
from rulebook.report.comparison_gates import ComparisonGate, GateVerdict, gate_verdicts
from rulebook.report.comparison_report import output_text
from rulebook.report.paired_scores import Pairing, settled

FAILED = RowFailure("TimeoutError", "too late")
Row = float | list[float] | None


def of(row: Row) -> RowScores:
    if row is None:
        return FAILED
    return [(score, None) for score in (row if isinstance(row, list) else [row])]


def pairing(a: list[Row], b: list[Row], *, threshold: float = 1.0, lower: bool = False, name: str = "s") -> Pairing:
    found = Pairing(name, threshold, lower_is_better=lower)
    for number, (before, after) in enumerate(zip(a, b, strict=True), start=1):
        found.add(number, of(before), of(after))
    return found


def compared(a: list[Row], b: list[Row], **options: object) -> Compared:
    (found,) = settled([pairing(a, b, **options)], 0.95)  # type: ignore[arg-type]
    return found


def test_rows_count_that_both_runs_measured() -> None:
    found = compared([1.0, None, 0.0, None, 1.0], [0.0, 1.0, None, None, 1.0])
    assert found.figures is not None
    assert (found.rows, found.figures.mean_a, found.figures.mean_b, found.figures.difference) == (2, 1.0, 0.5, -0.5)
    assert (found.lost, found.gained, found.neither) == ((3,), (2,), 1)
    assert (found.broken, found.fixed) == ([Change(1, 1.0, 0.0)], [])
    assert [(told.row, told.type, told.message) for told in found.told] == [(3, "TimeoutError", "too late")]


def test_a_row_that_falls_short_by_a_rounding_error_passes() -> None:
    assert compared([0.1, 0.0], [1 - 9 / 10, 1 - 9 / 10], threshold=0.1).broken == []
    assert compared([0.3], [0.1 + 0.2], threshold=0.3, lower=True).broken == []


def test_the_verdicts() -> None:
    worse = [1.0] * 20, [1.0] * 10 + [0.0] * 10
    assert compared(*worse).verdict == "worse"
    assert compared(*reversed(worse)).verdict == "better"
    assert compared([1.0] * 20, [1.0] * 15 + [0.0] * 5).verdict == "inconclusive"  # p 0.0625
    assert compared([0.5] * 20, [0.5] * 20).verdict == "inconclusive"
    assert compared([1.0] * 20, [None] * 20).verdict == "not measured"
    assert compared([], []).verdict == "not measured"
    assert compared([0.0], [1.0]).verdict == "inconclusive"


def test_scores_between_0_and_1_are_judged_too() -> None:
    a = [0.5 + 0.01 * (i % 7) for i in range(60)]
    b = [each + 0.02 * (i % 5) for i, each in enumerate(a)]
    found = compared(a, b)
    assert found.figures is not None
    assert (found.verdict, found.figures.test, found.figures.rose, found.figures.fell) == ("better", "bca-bootstrap", 48, 0)
    assert found.interval is not None
    assert found.figures.difference == pytest.approx(0.04)
    assert 0 < found.interval.low < 0.04 < found.interval.high


def test_less_can_be_better() -> None:
    found = compared([3.0] * 20, [1.0] * 10 + [3.0] * 10, threshold=2.0, lower=True)
    assert (found.verdict, found.gain, len(found.fixed), len(found.broken)) == ("better", 1.0, 10, 0)
    assert compared([1.0] * 20, [1.0] * 10 + [3.0] * 10, threshold=2.0, lower=True).verdict == "worse"


def test_the_threshold_says_what_is_fixed_and_broken() -> None:
    a, b = [0.4, 0.5, 0.9, 0.5], [0.5, 0.4, 0.6, 0.5]
    found = compared(a, b, threshold=0.5)
    assert (found.fixed, found.broken) == ([Change(1, 0.4, 0.5)], [Change(2, 0.5, 0.4)])
    assert compared(a, b).broken == []


def test_several_results_of_a_row_are_one_draw() -> None:
    found = compared([[1.0, 0.0], [0.25] * 4, 1.0], [[1.0, 1.0, 1.0], 0.75, [0.0, 0.5]])
    assert found.figures is not None
    assert (found.rows, found.figures.mean_a, found.figures.difference) == (3, 1.75 / 3, pytest.approx(0.25 / 3))
    assert (found.fixed, found.broken) == ([Change(1, 0.5, 1.0)], [Change(3, 1.0, 0.25)])


def test_a_row_of_no_scores_is_lost_as_one_that_failed_is() -> None:
    found = compared([1.0, [], []], [[], 1.0, []])
    assert (found.lost, found.gained, found.neither) == ((1,), (2,), 1)
    assert (found.told[0].type, found.verdict) == ("no score", "not measured")


def test_a_candidate_that_fails_where_it_would_be_wrong_is_not_better() -> None:
    a: list[Row] = [0.0] * 8 + [1.0] * 20 + [1.0] * 8
    better: list[Row] = [1.0] * 8 + [1.0] * 20 + [1.0] * 8
    hiding: list[Row] = [1.0] * 8 + [1.0] * 20 + [None] * 8
    assert compared(a, better).verdict == "better"
    found = compared(a, hiding)
    assert found.figures is not None
    assert found.figures.chance < 0.05  # the rows that are left would have said so
    assert found.verdict == "inconclusive"
    assert found.if_lost is not None
    assert (found.if_lost.score, found.if_lost.difference, found.if_lost.chance) == (0.0, 0.0, 1.0)


def test_a_candidate_that_would_be_worse_with_what_it_hides_is_not_better() -> None:
    found = compared([0.0] * 8 + [1.0] * 30, [1.0] * 8 + [None] * 30)
    assert found.if_lost is not None
    assert found.if_lost.difference == pytest.approx(-22 / 38)
    assert (found.chance, found.verdict) == (1.0, "inconclusive")


def test_a_candidate_that_is_better_whatever_the_lost_rows_hold_is_better() -> None:
    found = compared([0.0] * 20 + [1.0], [1.0] * 20 + [None])
    assert found.verdict == "better"
    assert found.if_lost is not None
    assert found.if_lost.difference == pytest.approx(19 / 21)
    assert found.chance == found.if_lost.chance


def test_the_worst_score_is_one_that_there_is_where_scores_are_no_shares() -> None:
    points = compared([10.0] * 8 + [70.0], [20.0] * 8 + [None])
    assert points.if_lost is not None
    assert points.if_lost.score == 10.0
    seconds = compared([20.0] * 8 + [5.0], [10.0] * 8 + [None], lower=True)
    assert seconds.if_lost is not None
    assert (seconds.if_lost.score, seconds.if_lost.difference) == (20.0, pytest.approx((-80 + 15) / 9))
    shares = compared([0.6] * 8 + [0.5], [0.4] * 8 + [None], lower=True)
    assert shares.if_lost is not None
    assert shares.if_lost.score == 1.0


def test_many_scorers_make_no_verdict_by_chance() -> None:
    a, b = [1.0] * 20, [1.0] * 14 + [0.0] * 6  # p 0.03125
    assert compared(a, b).verdict == "worse"
    found = settled([pairing(a, b, name="one"), pairing(a, a, name="two"), pairing(a, [None] * 20, name="none")], 0.95)
    assert [each.verdict for each in found] == ["inconclusive", "inconclusive", "not measured"]
    assert found[0].chance == pytest.approx(0.0625)  # of two: one that measured nothing is no test
    assert settled([pairing(a, b), pairing(a, a)], 0.9)[0].verdict == "worse"


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_what_is_no_score_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="is no score"):
        compared([score], [1.0])
    with pytest.raises(ValueError, match="is no score"):
        compared([1.0], [[1.0, score]])


def test_an_output_is_told_as_far_as_it_is_short() -> None:
    assert output_text("x" * 1_000) == "x" * 1_000
    assert output_text("x" * 1_001) == "x" * 999 + "…"
    assert output_text({"b": None, "a": "é"}) == '{"a": "é", "b": null}'
    assert (output_text(None), output_text(UNSET)) == ("null", None)


def verdicts(found: Compared, *gates: ComparisonGate, lost: int = 0, only_a: list[str] | None = None) -> list[str]:
    said = gate_verdicts(gates, [found], only_a or [], lost)
    return [f"{each.scorer} {each.figure}: {each.words}" + ("" if each.is_met else " (no)") for each in said]


def test_a_gate_asks_that_no_scorer_is_worse_and_none_loses_rows() -> None:
    same = compared([1.0] * 3, [1.0] * 3)
    assert verdicts(same, ComparisonGate()) == ["s verdict: inconclusive", "s lost: B lost 0 rows, at most 0"]
    worse = compared([1.0] * 20, [0.0] * 20)
    assert verdicts(worse, ComparisonGate("s")) == ["s verdict: worse (no)", "s lost: B lost 0 rows, at most 0"]
    hiding = compared([1.0] * 3, [1.0, None, 1.0])
    assert verdicts(hiding, ComparisonGate()) == ["s verdict: inconclusive", "s lost: B lost 1 row, more than 0 (no)"]
    assert verdicts(hiding, ComparisonGate(), lost=1)[1] == "s lost: B lost 1 row, at most 1"
    silent = compared([1.0], [None])
    assert verdicts(silent, ComparisonGate(), lost=1)[0] == "s measured: no row was measured in both (no)"
    assert verdicts(same, ComparisonGate(), only_a=["gone"])[2:] == ["gone measured: B does not have it (no)"]
    assert verdicts(same, ComparisonGate("gone"), only_a=["gone"]) == ["gone measured: B does not have it (no)"]


@pytest.mark.parametrize(
    ("most_worse", "said"),
    [
        (0.02, "s change: -0.02 is at least -0.02"),
        (0.019, "s change: -0.02 is less than -0.019 (no)"),
        (0.0, "s change: -0.02 is less than +0 (no)"),
        (-0.1, "s change: -0.02 is less than +0.1 (no)"),
    ],
)
def test_a_gate_may_bound_the_change(most_worse: float, said: str) -> None:
    found = compared([1.0] * 25 + [0.0] * 25, [1.0] * 24 + [0.0] * 26)
    assert verdicts(found, ComparisonGate("s", most_worse))[0] == said


def test_a_bound_is_meant_as_it_is_written() -> None:
    found = compared([0.8], [0.7])  # as floats they differ by 0.10000000000000009
    assert verdicts(found, ComparisonGate("s", 0.1))[0] == "s change: -0.1 is at least -0.1"


def test_a_bound_holds_for_what_gets_better_where_less_is_better() -> None:
    found = compared([1.0] * 4, [1.0, 1.0, 1.0, 2.0], lower=True)
    assert verdicts(found, ComparisonGate("s", 0.2))[0] == "s change: -0.25 is less than -0.2, as less is better (no)"
    assert verdicts(found, ComparisonGate("s", 0.25))[0] == "s change: -0.25 is at least -0.25, as less is better"


def test_what_is_asked_twice_is_said_once() -> None:
    found = compared([1.0], [1.0])
    assert gate_verdicts([ComparisonGate(), ComparisonGate("s")], [found], [], 0) == (
        GateVerdict("s", "verdict", True, "inconclusive"),
        GateVerdict("s", "lost", True, "B lost 0 rows, at most 0"),
    )

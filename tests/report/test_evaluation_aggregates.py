"""What scores add up to: exact means and percentiles, intervals, gates, and that nothing depends on the order."""

import math
import random
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulebook.measures.row_scores import RowFailure
from rulebook.report.evaluation_gates import verdicts_of
from rulebook.report.evaluation_interval import student_t
from rulebook.report.evaluation_scores import MOST_VALUES, Scores
from rulebook.report.evaluation_tally import Summary, Tally
from rulebook.spec.gate_parts import PERCENTS, Bounds, Gate

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def summary_of(*rows: list[float] | None, threshold: float = 1.0) -> Summary:
    tally = Tally("s", threshold)
    for row in rows:
        tally.add(RowFailure("E", "") if row is None else [(score, None) for score in row])
    return tally.summary()


@given(st.lists(FINITE, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_mean_is_exact_and_does_not_depend_on_the_order(values: list[float], shuffled: random.Random) -> None:
    values = values + values[:2]
    mean = summary_of(*[[value] for value in values]).mean
    exact = sum(map(Fraction, values)) / len(values)
    assert mean == pytest.approx(float(exact), rel=1e-15, abs=5e-324)
    again = list(values)
    shuffled.shuffle(again)
    assert summary_of(*[[value] for value in again]).mean == mean


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_percentiles_are_those_of_the_standard_library(values: list[float]) -> None:
    found = summary_of(*[[value] for value in values]).percentiles
    wanted = statistics.quantiles(values, n=100, method="inclusive")
    assert list(found) == pytest.approx([wanted[percent - 1] for percent in PERCENTS], rel=1e-12, abs=1e-15)


def test_many_different_scores_give_the_same_as_counted_ones() -> None:
    values = [n / (MOST_VALUES + 999) for n in range(MOST_VALUES + 1000)]
    random.Random(7).shuffle(values)
    scores = Scores()
    for value in [*values, 0.0, 1.0]:
        scores.add(value)
    found = scores.sorted()
    assert (found.count, found.least(), found.most()) == (len(values) + 2, 0.0, 1.0)
    assert found.mean() == math.fsum([*values, 1.0]) / found.count
    assert found.reaching(1.0) == 2
    assert found.reaching(0.5) == sum(value >= 0.5 for value in values) + 1
    assert found.percentile(50) == pytest.approx(0.5)


def test_many_scores_of_which_the_first_are_0_are_not_taken_for_yes_and_no() -> None:
    tally = Tally("s")
    tally.add_single([0.0] * 5 + [n / MOST_VALUES for n in range(MOST_VALUES + 1)])
    interval = tally.summary().interval
    assert interval is not None
    assert interval.method == "student-t"


@pytest.mark.parametrize(
    ("degrees", "factor"),
    [(1, 12.7062), (2, 4.3027), (5, 2.5706), (10, 2.2281), (29, 2.0452), (120, 1.9799), (5000, 1.9604)],
)
def test_the_factor_is_that_of_the_tables(degrees: int, factor: float) -> None:
    assert student_t(degrees) == pytest.approx(factor, abs=6e-5)


@pytest.mark.parametrize(
    ("passed", "rows", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (1, 1, 0.2065, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_the_interval_of_yes_and_no_is_wilsons(passed: int, rows: int, low: float, high: float) -> None:
    interval = summary_of(*[[1.0]] * passed, *[[0.0]] * (rows - passed)).interval
    assert interval is not None
    assert interval.method == "wilson"
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=6e-5)


def test_the_interval_of_other_scores_is_students() -> None:
    values = [0.2, 0.4, 0.4, 0.7]
    interval = summary_of(*[[value] for value in values]).interval
    half = student_t(3) * statistics.stdev(values) / 2
    assert interval is not None
    assert (interval.low, interval.high, interval.method) == (
        pytest.approx(0.425 - half),
        pytest.approx(0.425 + half),
        "student-t",
    )
    assert summary_of([0.99], [0.5], [1.0]).interval.high == 1.0  # type: ignore[union-attr]
    assert summary_of([5.0], [9.0], [1.0]).interval.low < 0  # type: ignore[union-attr]


def test_where_chance_cannot_be_told_there_is_no_interval() -> None:
    assert summary_of([0.3]).interval is None
    assert summary_of([0.3], [0.3], [0.3]).interval is None
    assert summary_of([1e308], [-1e308]).interval is None
    assert summary_of().interval is None


def test_a_row_is_one_draw_however_many_scores_it_gives() -> None:
    rows = [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    many = summary_of(*rows)
    single = summary_of([1.0], [0.0], [1.0], [0.0], [0.5, 0.5])  # the last row makes it no longer one score a row
    assert many.interval is not None
    assert single.interval is not None
    half = student_t(3) * math.sqrt(4 * 0.25 * 4 / 3) / 4
    assert many.interval.high == pytest.approx(min(1.0, 0.5 + half))
    assert (many.scores, many.rows) == (12, 4)


def test_a_pass_is_a_score_that_reaches_the_threshold() -> None:
    rows = [[0.2], [0.8], [1.0], None]
    assert summary_of(*rows).pass_rate == pytest.approx(1 / 3)
    assert summary_of(*rows, threshold=0.8).pass_rate == pytest.approx(2 / 3)
    # as for a check: what falls short by a rounding error has reached it
    assert summary_of([1 - 9 / 10], threshold=0.1).pass_rate == 1.0
    assert summary_of([0.1 - 1e-6], threshold=0.1).pass_rate == 0.0


def met(gate: Gate, *rows: list[float] | None) -> list[tuple[str, bool]]:
    return [(each.figure, each.is_met) for each in verdicts_of([gate], [summary_of(*rows)])]


def test_a_gate_is_met_at_its_border_and_not_beyond() -> None:
    rows = [[0.0], [0.5], [1.0]]
    assert met(Gate("s", {"mean": Bounds(0.5, 0.5)}), *rows) == [("mean", True), ("unmeasured", True)]
    assert met(Gate("s", {"mean": Bounds(min=0.51)}), *rows) == [("mean", False), ("unmeasured", True)]
    assert met(Gate("s", {"p50": Bounds(max=0.49)}), *rows)[0] == ("p50", False)
    assert met(Gate("s", {"pass_rate": Bounds(min=0.3), "p5": Bounds(max=0.1)}), *rows)[:2] == [
        ("pass_rate", True),
        ("p5", True),
    ]


def test_a_gate_is_met_but_for_a_rounding_error() -> None:
    mean = Gate("s", {"mean": Bounds(0.1, 0.1)})
    assert met(mean, [1 - 9 / 10]) == [("mean", True), ("unmeasured", True)]
    assert met(Gate("s", {"mean": Bounds(max=0.3)}), [0.1 + 0.2])[0] == ("mean", True)
    assert met(mean, [0.1 - 1e-6])[0] == met(mean, [0.1 + 1e-6])[0] == ("mean", False)


def test_a_row_that_could_not_be_measured_breaks_a_gate_unless_it_allows_it() -> None:
    rows = [[1.0], None]
    assert met(Gate("s", {"mean": Bounds(min=0.5)}), *rows) == [("mean", True), ("unmeasured", False)]
    assert met(Gate("s", {"mean": Bounds(min=0.5)}, 1), *rows) == [("mean", True), ("unmeasured", True)]


@pytest.mark.parametrize("rows", [(), (None,), ([],)], ids=["no row", "a failure", "no score"])
def test_what_was_never_measured_meets_nothing(rows: tuple[list[float] | None, ...]) -> None:
    assert met(Gate("s", {"mean": Bounds(max=1.0)}, 9), *rows)[0] == ("mean", False)
    assert met(Gate("s", {"p95": Bounds(max=1.0)}, 9), *rows)[0] == ("p95", False)
    assert met(Gate("s", {}, 9), *rows)[0] == ("scores", False)

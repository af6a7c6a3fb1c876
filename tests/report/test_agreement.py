"""Agreement of two raters: published examples, and the figures of other programs, hard-coded with their source."""

import pytest

from rulebook.report.agreement import agreement_of, kappa_of, quadratic_weights, share_of

# statsmodels 0.15.0, `stats.inter_rater.cohens_kappa(table, wt=None)`: kappa, kappa_low, kappa_upp
STATSMODELS = [
    # "Cohen's kappa" of an encyclopedia: two readers of 50 proposals
    ([[20, 5], [10, 15]], 0.4, 0.151092290476661, 0.6489077095233389),
    # the same agreement, 60 of 100, by other marginals: the two tables that textbooks set side by side
    ([[45, 15], [25, 15]], 0.13043478260869554, -0.06293827779258965, 0.3238078430099807),
    ([[25, 35], [5, 35]], 0.25925925925925924, 0.10802896398337367, 0.4104895545351448),
    # Fleiss, Cohen and Everitt 1969, table 1, of 200 rows
    ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], 0.4285714285714285, 0.32329979345440496, 0.533843063688452),
    # Agresti, Categorical Data Analysis: two pathologists of 118 slides, κ 0.493 with standard error 0.057
    ([[22, 2, 2, 0], [5, 7, 14, 0], [0, 2, 36, 0], [0, 1, 17, 10]], 0.49300559552358114, 0.38179106435449167, 0.6042201266926707),
]  # fmt: skip


@pytest.mark.parametrize(("table", "value", "low", "high"), STATSMODELS)
def test_kappa_and_its_interval(table: list[list[int]], value: float, low: float, high: float) -> None:
    found = kappa_of(table)
    assert found.interval is not None
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx((value, low, high), abs=1e-12)
    assert found.interval.method == "asymptotic"


@pytest.mark.parametrize(
    ("table", "value", "low", "high"),
    [
        # statsmodels 0.15.0, the same function with wt="quadratic"
        ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.4545454545454546, 0.32429863198684905, 0.5847922771040601),
        (STATSMODELS[-1][0], 0.7838218714768883, 0.7080294053780077, 0.8596143375757686),
    ],
)
def test_weighted_kappa_of_evenly_spaced_grades(table: list[list[int]], value: float, low: float, high: float) -> None:
    size = len(table)
    found = kappa_of(table, quadratic_weights([1 - place / (size - 1) for place in range(size)]))
    assert found.interval is not None
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx((value, low, high), abs=1e-12)


def test_of_two_classes_weights_change_nothing() -> None:
    table = [[20, 5], [10, 15]]
    assert kappa_of(table, quadratic_weights([1.0, 0.0])) == kappa_of(table)


def test_a_class_that_nobody_used_changes_nothing() -> None:
    found, wider = kappa_of([[20, 5], [10, 15]]), kappa_of([[20, 0, 5], [0, 0, 0], [10, 0, 15]])
    assert (wider.value, wider.interval) == (found.value, found.interval)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[10, 0], [5, 0]], "the judge is the same in every row"),
        ([[10, 5], [0, 0]], "the labels are the same in every row"),
        ([[10, 0], [0, 0]], "the labels are the same in every row"),
        ([[0, 0], [0, 0]], "there are no rows"),
    ],
)
def test_without_two_classes_kappa_is_not_defined(table: list[list[int]], reason: str) -> None:
    found = kappa_of(table)
    assert (found.value, found.interval, found.reason) == (None, None, reason)


def test_rows_that_all_agree_are_no_certainty() -> None:
    found = kappa_of([[10, 0], [0, 5]])
    assert found.interval is not None
    assert (found.value, found.interval.high, found.interval.method) == (1.0, 1.0, "wilson")
    # Wilson's low end of 15 in 15 is 0.7961 (statsmodels 0.15.0, `proportion_confint`), and 5/9 agree by chance
    assert found.interval.low == pytest.approx((0.7961164618783 - 5 / 9) / (4 / 9), abs=1e-4)


def test_rows_that_all_disagree_are_none_either() -> None:
    found = kappa_of([[0, 5], [5, 0]])
    assert found.interval is not None
    assert (found.value, found.interval.low) == (-1.0, -1.0)
    assert found.interval.high > -0.6


def test_agreement_has_wilsons_interval() -> None:
    # statsmodels 0.15.0: proportion_confint(44, 60, method="wilson")
    found = agreement_of([[18, 12], [4, 26]])
    assert found.interval is not None
    assert (found.count, found.of, found.value) == (44, 60, pytest.approx(0.7333333333333333))
    assert (found.interval.low, found.interval.high) == pytest.approx((0.6099128690331636, 0.8286735999671945))


def test_a_share_of_nothing_has_no_value() -> None:
    assert (share_of(0, 0).value, share_of(0, 0).interval) == (None, None)


@pytest.mark.parametrize("unit", [1e308, 5e-324])
def test_grades_of_any_size_have_an_order(unit: float) -> None:
    table = [[4, 1, 0], [1, 3, 1], [0, 2, 5]]
    assert kappa_of(table, quadratic_weights([unit, 0.0, -unit])) == kappa_of(table, quadratic_weights([1.0, 0.0, -1.0]))

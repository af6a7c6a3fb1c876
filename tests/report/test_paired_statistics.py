"""Tests and intervals for paired scores, held against published numbers and those of SciPy 1.17.1."""

import math
import sys
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulebook.report import paired_interval
from rulebook.report.paired_estimate import level, paired
from rulebook.report.paired_interval import bootstrap, tango
from rulebook.report.paired_tests import flip_test, holm, sign_test

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Differences in height of Darwin's 15 pairs of maize, in eighths of an inch. Fisher 1935, The Design of Experiments."""

SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
"""Hours of sleep gained by ten patients by one drug more than by another. Student 1908, The Probable Error of a Mean."""

SKEWED = [(i * 7919 % 801 / 801) ** 4 - 0.18 for i in range(800)]


@pytest.mark.parametrize(
    ("up", "down", "chance"),
    [
        (1, 7, 0.0703125),  # Fagerland, Lydersen and Laake 2013, airway reactivity: exact P = 0.070
        (59, 6, 4.964650327128616e-12),  # as below
        (86, 150, 3.7159361395713866e-05),  # Agresti, table 10.1; scipy.stats.binomtest(86, 236).pvalue
        (4_000, 4_200, 0.027972423571324654),
        (500_000, 502_000, 0.0458246952632217),
        (6, 0, 0.03125),
        (5, 0, 0.0625),
        (1, 0, 1.0),
        (0, 0, 1.0),
        (7, 7, 1.0),
        (7, 8, 1.0),
    ],
)
def test_the_sign_test_is_exact(up: int, down: int, chance: float) -> None:
    assert sign_test(up, down) == pytest.approx(chance, rel=1e-9)
    assert sign_test(down, up) == sign_test(up, down)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_a_sum_of_the_binomial_distribution(up: int, down: int) -> None:
    tail = sum(Fraction(comb(up + down, i), 2 ** (up + down)) for i in range(min(up, down) + 1))
    assert sign_test(up, down) == pytest.approx(float(min(2 * tail, Fraction(1))), rel=1e-13)


def test_turning_signs_gives_the_number_of_fisher() -> None:
    assert flip_test(DARWIN) == 1_726 / 32_768  # his 5.267 %
    assert flip_test([each for each in SLEEP if each]) == 2 / 512
    assert flip_test([]) == 1.0
    assert flip_test([0.1, 0.2, -0.3]) == 1.0  # a sum of 0 but for rounding is reached by every way


def test_turning_the_signs_of_equal_changes_is_the_sign_test() -> None:
    assert flip_test([0.1] * 9 + [-0.1] * 2) == pytest.approx(sign_test(9, 2))
    assert flip_test([1e308] * 6) == flip_test([5e-324] * 6) == 0.03125


def test_several_tests_are_corrected_as_r_does() -> None:
    # p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("fixed", "broken", "rows", "low", "high"),
    [
        (1, 7, 21, -0.517, -0.026),  # Fagerland, Lydersen and Laake 2014, table 5: Tango, −0.517 to −0.026
        # the others: roots in SciPy of the same score, its nuisance found by maximum likelihood and not by the formula
        (86, 150, 1600, -0.058998, -0.021362),
        (14, 5, 100, 0.004985, 0.180845),
        (0, 0, 20, -0.161125, 0.161125),
        (5, 0, 10, 0.083701, 0.763407),
        (43, 17, 1000, 0.011184, 0.042111),
    ],
)
def test_the_interval_of_yes_and_no_is_tangos(fixed: int, broken: int, rows: int, low: float, high: float) -> None:
    found = tango(fixed, broken, rows, 0.95)
    digits = 3 if rows == 21 else 6
    assert (round(found.low, digits), round(found.high, digits)) == (low, high)
    other = tango(broken, fixed, rows, 0.95)
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low))


def test_a_wider_interval_for_more_confidence() -> None:
    found = tango(14, 5, 100, 0.99)
    assert (found.low, found.high) == pytest.approx((-0.02549427786526287, 0.21301932092694142), abs=1e-12)


@pytest.mark.parametrize("fixed", [0, 1, 3])
def test_the_interval_lies_within_what_can_be(fixed: int) -> None:
    for broken in range(4 - fixed):
        found = tango(fixed, broken, 3, 0.9999)
        assert -1 <= found.low <= (fixed - broken) / 3 <= found.high <= 1


@pytest.mark.parametrize(
    ("values", "low", "high", "deviation"),
    [
        # scipy.stats.bootstrap(…, np.mean, method="BCa", n_resamples=2_000_000, rng=5, confidence_level=c), where
        # c = 1 - 2 * norm.sf(t.ppf(0.975, n - 1) * sqrt(n / (n - 1))), as Hesterberg says
        (DARWIN, -5.133, 38.0, 9.412),
        (SLEEP, 0.97, 2.94, 0.369),
        (SKEWED, 0.001804, 0.038713, 0.009395),
    ],
)
def test_the_bootstrap_is_that_of_scipy(values: list[float], low: float, high: float, deviation: float) -> None:
    interval = bootstrap(values, 0.95).interval
    assert interval is not None
    # from one seed to the next the ends of 50,000 resamples differ by 3 % of a deviation
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=(0.01 if len(values) > 500 else 0.1) * deviation)


def test_resamples_and_their_limit_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = bootstrap(SKEWED, 0.95)
    monkeypatch.setattr(paired_interval, "MOST_DRAWN", 1_000)
    drawn = bootstrap(SKEWED, 0.95)
    assert limit.interval is not None
    assert drawn.interval is not None
    assert (limit.interval.method, drawn.interval.method) == ("abc-bootstrap", "bca-bootstrap")
    assert (drawn.interval.low, drawn.interval.high) == pytest.approx((limit.interval.low, limit.interval.high), abs=0.001)
    assert drawn.chance == pytest.approx(limit.chance, abs=0.006)


def test_the_same_scores_give_the_same_interval_on_every_machine() -> None:
    interval = bootstrap(DARWIN, 0.95).interval
    assert interval is not None
    assert (round(interval.low, 9), round(interval.high, 9)) == (-4.935320986, 38.0)


@pytest.mark.parametrize("values", [DARWIN, SKEWED, [-each for each in DARWIN]])
def test_an_interval_of_that_confidence_just_reaches_0(values: list[float]) -> None:
    chance = bootstrap(values, 0.95).chance
    assert chance is not None
    interval = bootstrap(values, 1 - chance).interval
    assert interval is not None
    nearest = min(abs(interval.low), abs(interval.high))
    assert nearest < 0.01 * (interval.high - interval.low)


@given(st.integers(-900, 900))
def test_a_unit_changes_nothing(power: int) -> None:
    plain = bootstrap(SKEWED, 0.9)
    scaled = bootstrap([math.ldexp(each, power) for each in SKEWED], 0.9)
    assert plain.interval is not None
    assert scaled.interval is not None
    assert scaled.interval.low == math.ldexp(plain.interval.low, power)
    assert scaled.chance == plain.chance


@pytest.mark.parametrize("values", [[], [0.5], [0.0] * 40, [0.1] * 40, [5e-324] * 3])
def test_where_the_rows_tell_nothing_there_is_no_interval(values: list[float]) -> None:
    assert bootstrap(values, 0.95).interval is None


def test_two_rows_never_decide_whatever_a_bootstrap_says() -> None:
    found = paired([0.1, 0.2], [0.5, 0.7], 0.95)
    assert (found.test, found.chance) == ("sign-flip-exact", 0.5)
    assert found.interval is not None
    assert found.interval.low == 0.0 < found.interval.high


def test_an_interval_without_0_goes_with_a_verdict() -> None:
    found = paired([1.0] * 8 + [0.0] * 13, [0.0] * 7 + [1.0] + [1.0] + [0.0] * 12, 0.95)
    assert (found.rose, found.fell, found.chance) == (1, 7, pytest.approx(0.0703125))
    assert found.interval is not None
    assert (round(found.interval.low, 3), found.interval.high) == (-0.517, 0.0)


def test_rows_that_all_change_by_the_same_are_judged_by_their_signs() -> None:
    found = paired([0.25] * 30, [0.5] * 30, 0.95)
    assert (found.interval, found.test, found.chance) == (None, "sign-exact", pytest.approx(2 * 0.5**30))


@settings(max_examples=15)
@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=9))
def test_any_scores_at_all_give_finite_figures(pairs: list[tuple[float, float]]) -> None:
    found = paired([each[0] for each in pairs], [each[1] for each in pairs], 0.95)
    figures = [found.mean_a, found.mean_b, found.difference, found.chance]
    figures += [] if found.interval is None else [found.interval.low, found.interval.high]
    assert all(map(math.isfinite, figures))
    assert 0 < found.chance <= 1


def test_a_difference_that_no_number_can_hold_is_the_largest_there_is() -> None:
    found = paired([-1.7e308] * 3, [1.7e308, 1.7e308, -1.7e308], 0.95)
    assert (found.mean_a, found.rose) == (-1.7e308, 2)
    assert found.difference == pytest.approx(sys.float_info.max / 3 * 2)
    assert found.interval is not None
    assert math.isfinite(found.interval.high)


def test_the_level_is_the_number_that_people_mean() -> None:
    assert [level(each) for each in (0.95, 0.9, 0.99)] == [0.05, 0.1, 0.01]

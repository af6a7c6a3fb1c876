"""The threshold that serves best: against scikit-learn's figures, by ties, and on rows that it was not chosen on."""

import pytest

from rulebook.report.pass_marks import best_threshold, held_out, verdicts_at

SCORES = [
    0.57, 0.33, 0.52, 0.35, 0.27, 0.54, 0.11, 0.79, 0.82, 0.59, 0.83, 0.11, 0.37, 0.83, 0.61, 0.75, 0.15, 0.37, 0.24, 0.67,
    0.66, 0.1, 0.36, 0.62, 0.74, 0.56, 0.34, 0.09, 0.27, 0.25, 0.6, 0.49, 0.34, 0.47, 0.68, 0.53, 0.52, 0.34, 0.82, 0.45,
    0.33, 0.07, 0.93, 0.8, 0.29, 0.4, 0.43, 0.32, 0.56, 0.34, 0.89, 0.27, 0.7, 0.97, 0.45, 0.82, 0.18, 0.83, 0.35, 0.5,
]  # fmt: skip
LABELS = "110001011110001101010100101000110010101100110100011101010101"
PAIRS = [(score, label == "1") for score, label in zip(SCORES, LABELS, strict=True)]


def test_the_threshold_of_the_highest_kappa() -> None:
    # scikit-learn 1.9.1: `cohen_kappa_score(labels, scores >= t)` is highest, 0.4667, at 0.49 and at 0.57
    assert best_threshold(PAIRS) == 0.57
    found = verdicts_at(PAIRS, 0.57)
    assert found.table == ((18, 12), (4, 26))
    assert found.kappa.value == pytest.approx(0.4666666666666667)
    assert found.kappa.value == pytest.approx(verdicts_at(PAIRS, 0.49).kappa.value)
    # scikit-learn 1.9.1: precision_score, recall_score
    assert (found.precision.value, found.recall.value) == pytest.approx((0.8181818181818182, 0.6))


def test_every_score_is_tried_as_verdicts_at_it_say() -> None:
    kappas = {score: verdicts_at(PAIRS, score).kappa.value or -1.0 for score in SCORES}
    most = max(kappas.values())
    assert best_threshold(PAIRS) == max(score for score, kappa in kappas.items() if kappa > most - 1e-12)


def test_a_score_that_falls_short_by_a_rounding_error_passes_as_in_every_report() -> None:
    assert verdicts_at([(1 - 9 / 10, True), (0.0, False)], 0.1).table == ((1, 0), (0, 1))


def test_of_equal_thresholds_the_higher_one_is_taken() -> None:
    # from 0.9 and from 0.1 on a quarter of the rows is judged wrongly, with the same κ
    pairs = [(0.9, True), (0.9, True), (0.5, False), (0.1, True), (0.0, False), (0.0, False)]
    assert verdicts_at(pairs, 0.9).kappa.value == verdicts_at(pairs, 0.1).kappa.value
    assert best_threshold(pairs) == 0.9


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(0.5, True)],
        [(0.9, True), (0.1, True)],
        [(0.9, False), (0.1, False)],
        [(0.5, True), (0.5, False)],
        [(0.1, True), (0.9, False)],
    ],
    ids=["no rows", "one row", "only passes", "only failures", "one score", "the wrong way round"],
)
def test_where_no_score_is_better_than_chance_there_is_none(pairs: list[tuple[float, bool]]) -> None:
    assert best_threshold(pairs) is None


def test_a_score_at_the_threshold_passes() -> None:
    found = verdicts_at([(0.5, True), (0.4999, True), (0.5, False), (0.4999, False)], 0.5)
    assert (found.both, found.label_alone, found.judge_alone, found.neither) == (1, 1, 1, 1)


def test_held_out_rows_are_judged_by_a_threshold_found_without_them() -> None:
    found = held_out(PAIRS)
    assert found is not None
    assert (found.folds, sum(map(sum, found.verdicts.table)) + found.unsure) == (10, 60)
    # scikit-learn 1.9.1: for each of these folds the threshold of the highest cohen_kappa_score over the others
    assert (found.verdicts.agreement.count, (found.least, found.most)) == (38, (0.49, 0.67))
    assert held_out(PAIRS) == found


def test_scores_that_say_nothing_look_worse_held_out() -> None:
    """Labels that hang on nothing: chosen and measured on the same rows a threshold looks good all the same."""
    pairs = [((7 * place % 40) / 40, bool(place * place // 3 % 2)) for place in range(40)]
    best = best_threshold(pairs)
    found = held_out(pairs)
    assert best is not None
    assert found is not None
    assert (verdicts_at(pairs, best).kappa.value or 0.0) > (found.verdicts.kappa.value or 0.0) + 0.1


def test_a_class_of_one_row_cannot_be_held_out() -> None:
    assert held_out([(0.9, True), (0.1, False), (0.2, False)]) is None

"""What a calibration says beside its figures: how little they rest on, and what flatters them."""

from collections.abc import Sequence

from rulebook.evidence.row_labels import Labels, RowLabel
from rulebook.report.calibration import Calibration, Compared, Terms, calibrated
from rulebook.report.calibration_notes import notes_of


def found(pairs: Sequence[tuple[float, float]], unmeasured: int = 0) -> Calibration:
    """A calibration of rows with these scores and grades."""
    rows = [Compared(RowLabel(grade), score, {}) for score, grade in pairs]
    labels = Labels({}, "yes or no", len(rows), 0, 0, 0, (), "")
    return calibrated(rows, labels, Terms(0.5, 1.0, False), unmeasured, ())


def told(pairs: Sequence[tuple[float, float]], words: str, unmeasured: int = 0) -> bool:
    """Whether a note holds these words."""
    return any(words in note for note in notes_of(found(pairs, unmeasured)))


GOOD = [(1.0, 1.0), (0.0, 0.0)] * 15


def test_thirty_rows_of_both_classes_need_one_note_alone() -> None:
    (note,) = notes_of(found(GOOD))
    assert note.startswith("The threshold was chosen on the rows on which it is measured")
    assert told(GOOD, "held out are of rows that had no part in the choice")


def test_fewer_than_thirty_say_little() -> None:
    assert told(GOOD[:29], "Fewer than 30 rows were compared.")
    assert not told(GOOD, "Fewer than 30 rows were compared.")


def test_fewer_than_five_of_a_class_may_be_chance() -> None:
    passes = [(1.0, 1.0)] * 30
    assert told([*passes, *[(0.0, 0.0)] * 4], "Only 4 labels are a failure.")
    assert told([*passes, (0.0, 0.0)], "Only one label is a failure.")
    assert not told([*passes, *[(0.0, 0.0)] * 5], "a failure.")
    assert told([(1.0, 1.0), *[(0.0, 0.0)] * 30], "Only one label is a pass.")


def test_of_one_class_alone_nothing_is_told_apart() -> None:
    assert told([(1.0, 1.0), (0.0, 1.0)], "No label is a failure.")
    assert told([(1.0, 0.0), (0.0, 0.0)], "No label is a pass.")
    assert told([(1.0, 0.0), (0.0, 0.0)], "κ at 1 is not defined: the labels are the same in every row.")
    assert not told([(1.0, 0.0), (0.0, 0.0)], "No threshold agrees")


def test_a_judge_that_is_no_better_than_chance_is_given_no_threshold() -> None:
    assert told([(0.5, 1.0), (0.5, 0.0)], "No threshold agrees with the labels better than chance")
    assert told([(0.1, 1.0), (0.9, 0.0)], "No threshold agrees with the labels better than chance")
    assert not told(GOOD, "No threshold agrees")


def test_a_tenth_unmeasured_is_many() -> None:
    assert told(GOOD, "measured nothing in 4 of 34 labelled rows", unmeasured=4)
    assert not told(GOOD, "measured nothing", unmeasured=3)


def test_too_few_to_hold_out() -> None:
    assert told([(1.0, 1.0), (0.0, 0.0), (0.0, 0.0)], "There are too few of each class to hold some out")


def test_parts_without_which_no_threshold_is_found_are_told() -> None:
    """Two passes, of which one scores as all failures do: without the other the rest gives no threshold."""
    pairs = [(1.0, 1.0), (0.5, 1.0), (0.5, 0.0), (0.5, 0.0)]
    calibration = found(pairs)
    assert calibration.held_out is not None
    assert calibration.held_out.unsure == 2
    assert told(pairs, "Without 2 of the rows no threshold was found")

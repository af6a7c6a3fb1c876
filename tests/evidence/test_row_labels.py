"""Labels of rows: what is read, what is not, and that nothing is guessed."""

import pytest

from rulebook.evidence.row_labels import RowLabel, read_labels
from rulebook.evidence.rows import DamagedRow, Row

JEV = {"correct": 1.0, "partial": 0.5, "wrong": 0.0}


def rows_of(*values: object) -> list[Row | DamagedRow]:
    return [Row(number, {"q": "x", "human": value}) for number, value in enumerate(values, start=1)]


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", "1.0", "yes", " Yes ", "TRUE", "pass", "Pass"])
def test_what_is_a_pass(value: object) -> None:
    assert read_labels(rows_of(value), "human", {}).by_row == {1: RowLabel(1.0)}


@pytest.mark.parametrize("value", [False, 0, 0.0, "0", "no", "False", "FAIL", "-0"])
def test_what_is_a_failure(value: object) -> None:
    assert read_labels(rows_of(value), "human", {}).by_row == {1: RowLabel(0.0)}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("maybe", "row 1: `maybe` is no label"),
        ("y", "row 1: `y` is no label"),
        ("nan", "row 1: `nan` is no label"),
        ("inf", "row 1: `inf` is no label"),
        (float("nan"), "row 1: `NaN` is no label"),
        (1.5, "row 1: `1.5` does not lie between 0 and 1"),
        (-1, "row 1: `-1` does not lie between 0 and 1"),
        ("4", "row 1: `4` does not lie between 0 and 1"),
        ([1], "row 1: `[1]` is no label"),
        ({"a": "é"}, 'row 1: `{"a": "é"}` is no label'),
        ("x" * 99, f"row 1: `{'x' * 39}…` is no label"),
    ],
)
def test_what_is_none(value: object, said: str) -> None:
    found = read_labels(rows_of(value), "human", {})
    assert (found.by_row, found.unreadable, found.unlabelled, found.told) == ({}, 1, 0, (said,))


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_what_is_empty_is_no_label(value: object) -> None:
    found = read_labels([*rows_of(value), Row(2, {"q": "y"})], "human", {})
    assert (found.by_row, found.unreadable, found.unlabelled) == ({}, 0, 2)


def test_a_damaged_row_is_counted_apart() -> None:
    found = read_labels([DamagedRow(1, "torn"), *rows_of(None, "yes")[1:]], "human", {})
    assert (found.rows, found.damaged, found.unlabelled, found.by_row) == (2, 1, 0, {2: RowLabel(1.0)})


def test_the_labels_of_a_judge_are_read_by_its_own_names() -> None:
    found = read_labels(rows_of("Correct", " wrong. ", "PARTIAL", "maybe", 1), "human", JEV)
    assert found.by_row == {1: RowLabel(1.0, "correct"), 2: RowLabel(0.0, "wrong"), 3: RowLabel(0.5, "partial")}
    assert (found.reading, found.unreadable) == ("names", 2)
    assert found.told[0] == "row 4: `maybe` is none of the judge's labels"


def test_a_label_that_is_a_number_is_a_name_where_the_judge_has_it() -> None:
    found = read_labels(rows_of(3, "1"), "human", {"1": 0.0, "2": 0.5, "3": 1.0})
    assert found.by_row == {1: RowLabel(1.0, "3"), 2: RowLabel(0.0, "1")}


def test_one_reading_holds_for_the_whole_column() -> None:
    assert read_labels(rows_of("yes", "no"), "human", JEV).reading == "yes or no"
    assert read_labels(rows_of("yes", 0.25), "human", JEV).reading == "grades"
    assert read_labels(rows_of("yes", "wrong"), "human", JEV).by_row == {2: RowLabel(0.0, "wrong")}


def test_the_digest_is_of_what_the_rows_say() -> None:
    one = read_labels(rows_of("yes", "no"), "human", {}).sha256
    assert one == read_labels([Row(9, dict(reversed(row.values.items()))) for row in rows_of("yes", "no")], "human", {}).sha256  # type: ignore[union-attr]
    assert one != read_labels(rows_of("yes", "yes"), "human", {}).sha256
    assert one != read_labels(rows_of("yes"), "human", {}).sha256

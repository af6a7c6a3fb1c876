"""The measures of an evaluation over a batch of rows: what one row does to the others, which is nothing."""

from collections.abc import Mapping, Sequence

from rulebook.measures.row_scores import Emitted, MeasuredScorer, Panel, RowFailure
from rulebook.measures.table import BoundMeasure

ROWS: Sequence[Mapping[str, object]] = [{"a": "1"}, {"a": "x"}, {}, {"a": "2"}]


def share(value: object) -> Emitted:
    return 1 / float(str(value)), {}


def scorer(name: str, *, column: str = "a") -> MeasuredScorer:
    return MeasuredScorer(name, BoundMeasure((column,), (lambda value: value,), share))  # type: ignore[arg-type]


class Counting:
    """A scorer that is no measure."""

    name = "counting"
    inputs = None
    batch_rows = 3

    def score_batch(self, rows: Sequence[Mapping[str, object]]) -> Sequence[Sequence[Emitted]]:
        return [[(float(len(row)), None)] for row in rows]


def test_a_value_that_breaks_a_measure_fails_its_own_row() -> None:
    (first,), (broken,), (gap,), (last,) = Panel([scorer("s")]).score_batch(ROWS)
    assert (first, last) == (((1.0, {}),), ((0.5, {}),))
    assert isinstance(broken, RowFailure)
    assert broken.type == "ValueError"
    assert gap == RowFailure("UnfitKind", "the row has no column `a`, which the scorer `s` reads")


def test_scorers_of_every_kind_stand_in_their_order() -> None:
    panel = Panel([scorer("s"), Counting(), scorer("t")])
    assert panel.batch_rows == 3
    assert panel.score_batch(ROWS[:1]) == [[((1.0, {}),), [(1.0, None)], ((1.0, {}),)]]

"""What all rows of an evaluation come to for one scorer."""

import math
from collections.abc import Sequence

from msgspec import Struct

from rulebook.measures.row_scores import RowFailure, RowScores
from rulebook.report.evaluation_interval import Draws, Interval, interval_of
from rulebook.report.evaluation_scores import Scores
from rulebook.spec.gate_parts import PERCENTS


class Summary(Struct, frozen=True):
    """The aggregates of one scorer. `mean`, `pass_rate` and the percentiles are None where nothing was measured.

    `scores` counts what was emitted, over `rows` rows that emitted something; `empty` rows emitted nothing, and
    `failed` ones could not be measured. A score passes when it is at least `threshold`.
    """

    name: str
    rows: int
    scores: int
    failed: int
    empty: int
    threshold: float
    mean: float | None = None
    pass_rate: float | None = None
    interval: Interval | None = None
    least: float | None = None
    most: float | None = None
    percentiles: Sequence[float | None] = (None,) * len(PERCENTS)


class Tally:
    """Adds up one scorer's results, row by row: the scores alone are kept."""

    def __init__(self, name: str, threshold: float = 1.0) -> None:
        self._name = name
        self._threshold = threshold
        self._failed = self._empty = 0
        self._scores = Scores()
        self._draws: Draws | None = None

    def add(self, result: RowScores) -> None:
        """One row's result."""
        if isinstance(result, RowFailure):
            self._failed += 1
        elif len(result) == 1 and self._draws is None:
            self._scores.add(result[0][0])
        elif result:
            if self._draws is None:  # up to here every row gave one score, and the scores tell all of the rows
                self._draws = Draws.of(self._scores.sorted())
            for score, _ in result:
                self._scores.add(score)
            self._draws.add(len(result), math.fsum(each[0] for each in result))
        else:
            self._empty += 1

    def add_single(self, scores: Sequence[float]) -> None:
        """The results of as many rows, each of which gave one score."""
        if self._draws is None:
            self._scores.add_all(scores)
        else:
            for score in scores:
                self.add(((score, None),))

    def summary(self) -> Summary:
        """The aggregates so far."""
        values = self._scores.sorted()
        draws = self._draws or Draws.of(values)
        found = Summary(self._name, draws.rows, 0, self._failed, self._empty, self._threshold)
        if not values.count:
            return found
        mean = values.mean()
        is_share = values.least() >= 0 and values.most() <= 1
        return Summary(
            found.name,
            found.rows,
            values.count,
            found.failed,
            found.empty,
            found.threshold,
            mean,
            values.reaching(self._threshold) / values.count,
            interval_of(mean, draws, is_binary=values.is_binary(), is_share=is_share),
            values.least(),
            values.most(),
            tuple(map(values.percentile, PERCENTS)),
        )

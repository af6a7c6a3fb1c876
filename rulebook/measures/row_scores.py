"""What an evaluation asks of a scorer: for each row of a batch the scores that it emits, or why it has none."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Protocol

from msgspec import Struct

from rulebook.errors import Missing
from rulebook.measures.table import BoundMeasure, MissingColumn, Row, columns_of_scores


class RowFailure(Struct, frozen=True, omit_defaults=True):
    """Why there is no score, or no output, for a row: `type` is the kind of the error, `message` what it said.

    `metadata` is what a judge had found out before, as JSON data; None where it found nothing.
    """

    type: str
    message: str
    metadata: Mapping[str, object] | None = None

    @property
    def words(self) -> str:
        """It for people: errors of ours say all in their message, of others the kind is half of it."""
        if self.message and self.type in _OURS:
            return self.message
        return f"{self.type}: {self.message}" if self.message else self.type


_OURS = ("UnmeasuredError", "CommandError", "DamagedRow", "UnfitKind", "UnfitOption")

Emitted = tuple[float, Mapping[str, object] | None]
"""A finite score and its metadata, None where there are none."""

RowScores = Sequence[Emitted] | RowFailure
"""What one scorer says of one row: its scores, which may be several or none, or that it failed. Never a made-up 0."""


class RowScorer(Protocol):
    """One scorer of an evaluation. It raises nothing for a row: what goes wrong there is that row's RowFailure."""

    @property
    def name(self) -> str:
        """What its scores are called, unique within an evaluation."""

    @property
    def inputs(self) -> Sequence[str] | None:
        """The columns that every row must have for it; None: it reads whatever there is."""

    @property
    def batch_rows(self) -> int:
        """How many rows it takes at once at most."""

    def score_batch(self, rows: Sequence[Row]) -> Sequence[RowScores]:
        """What it says of each of these rows, in their order."""


class MeasuredScorer(Struct, frozen=True):
    """A measure of ours under a name. Those of one panel share what they read of a column."""

    name: str
    measure: BoundMeasure
    batch_rows: int = 1_024

    @property
    def inputs(self) -> Sequence[str]:
        """The columns that it reads."""
        return self.measure.inputs

    def score_batch(self, rows: Sequence[Row]) -> Sequence[RowScores]:
        """What the measure says of each row."""
        return [each[0] for each in _together([self], rows)]


class Panel:
    """All scorers of an evaluation, over the same rows."""

    def __init__(self, scorers: Sequence[RowScorer]) -> None:
        self.scorers = tuple(scorers)
        self._measured = [each for each in scorers if isinstance(each, MeasuredScorer)]
        self._slots = [place for place, each in enumerate(scorers) if isinstance(each, MeasuredScorer)]
        self._others = [(place, each) for place, each in enumerate(scorers) if not isinstance(each, MeasuredScorer)]
        self.batch_rows = min((each.batch_rows for each in scorers), default=1)

    def score_batch(self, rows: Sequence[Row]) -> Sequence[Sequence[RowScores]]:
        """What each scorer says of each row: a list for each row, in the order of the scorers."""
        if not self._others:
            return list(_together(self._measured, rows))
        found: list[list[RowScores]] = [[()] * len(self.scorers) for _ in rows]
        if self._measured:
            for row, results in zip(found, _together(self._measured, rows), strict=True):
                for slot, result in zip(self._slots, results, strict=True):
                    row[slot] = result
        for place, scorer in self._others:
            for row, result in zip(found, scorer.score_batch(rows), strict=True):
                row[place] = result
        return found


def _together(scorers: Sequence[MeasuredScorer], rows: Sequence[Row]) -> Iterator[Sequence[RowScores]]:
    measures = [each.measure for each in scorers]
    try:
        columns = columns_of_scores(measures, lambda column: list(map(itemgetter(column), rows)))
    except Exception:  # a value that some reading stumbles over, or a gap: only its own row may suffer for it
        for row in rows:
            yield [_alone(each, row) for each in scorers]
        return
    yield from zip(*map(zip, columns), strict=True)


def _alone(scorer: MeasuredScorer, row: Row) -> RowScores:
    for column in scorer.inputs:
        if column not in row:
            return _missing(scorer, MissingColumn(column))
    try:
        return (scorer.measure.of_row(row),)
    except Exception as error:
        return failure_of(error)


def _missing(scorer: MeasuredScorer, gap: MissingColumn) -> RowFailure:
    return lacks_column(scorer.name, gap.column)


def lacks_column(scorer: str, column: str) -> RowFailure:
    """What is said of a row that lacks a column which a scorer reads."""
    return RowFailure("UnfitKind", f"the row has no column `{column}`, which the scorer `{scorer}` reads")


def failure_of(error: BaseException) -> RowFailure:
    """An exception as what a row keeps of it, under the name by which a caller knows it."""
    try:
        said = str(error).encode("utf-8", "backslashreplace").decode("utf-8")  # half a character cannot be stored
    except Exception:  # an exception of a user's own may fail at that too
        said = "it does not say why"
    kind = "UnmeasuredError" if isinstance(error, Missing) else type(error).__name__
    return RowFailure(kind, said[:MAX_MESSAGE])


MAX_MESSAGE = 2_000
"""How many characters of an error's message a row keeps."""

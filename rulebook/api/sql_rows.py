"""An SQL expression as a scorer of an evaluation's rows."""

from collections.abc import Mapping, Sequence

from rulebook.api.sql_scorer import SqlScorer
from rulebook.errors import DatasetError, Missing
from rulebook.evidence.row_columns import Kind
from rulebook.measures.row_scores import RowScores, failure_of
from rulebook.services.sql_scores import SqlScorer as SqlWork
from rulebook.services.sql_scores import score_rows, sql_types


class SqlRows:
    """An SQL expression as a scorer of rows. Raises UsageError where it does not fit the columns of the dataset."""

    batch_rows = 4_096
    inputs: Sequence[str] | None = None

    def __init__(self, scorer: SqlScorer, columns: Mapping[str, Kind]) -> None:
        self.name = scorer.name
        self._columns = columns
        self._work = SqlWork(scorer.expression, sql_types(columns))
        self.inputs = tuple(self._work.reads)

    def score_batch(self, rows: Sequence[Mapping[str, object]]) -> Sequence[RowScores]:
        """The score of each row, all at once; rows whose values are not of their column's kind fail alone."""
        try:
            found = score_rows(self._work, rows, self._columns)
        except DatasetError as error:
            if len(rows) == 1:
                return [failure_of(error)]
            middle = len(rows) // 2
            return [*self.score_batch(rows[:middle]), *self.score_batch(rows[middle:])]
        return [
            failure_of(Missing("harness", found.faults.get(place, ""))) if score is None else ((score, None),)
            for place, score in enumerate(found.scores)
        ]

"""SQL over single rows, for a rule that judges one: the engine of `sql_scores`, its scorers kept between rows."""

import threading
from collections.abc import Mapping

from rulebook.errors import Missing, UsageError
from rulebook.evidence.row_columns import ColumnScan
from rulebook.evidence.row_values import check_names, plain_row
from rulebook.evidence.rows import Row
from rulebook.services.sql_scores import SqlScorer, score_rows, sql_types

_KEPT = 16
_NULL = '"NULL"'
"""The type of a column of which nobody knows more than that this row has nothing in it: it goes with every other."""


class RowTables:
    """The `Tables` port. A row's own values say what its columns hold.

    Threads take turns: two that shared a connection would be given each other's rows.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._scorers: dict[tuple[str, tuple[tuple[str, str], ...]], SqlScorer] = {}

    def score(self, expression: str, row: Mapping[str, object]) -> float:
        """The number that an expression gives for a row. Raises Missing in `harness` where there is none."""
        try:
            values = plain_row(row)
            check_names(values)
            scan = ColumnScan()
            scan.add(Row(1, values))
            columns = scan.columns()
            types = {name: _NULL if values[name] is None else kind for name, kind in sql_types(columns).items()}
            with self._turn:
                scored = score_rows(self._scorer(expression, types), [values], columns)
        except (UsageError, ValueError) as error:
            raise Missing("harness", str(error)) from None
        (score,) = scored.scores
        if score is None:
            raise Missing("harness", scored.faults[0])
        return score

    def _scorer(self, expression: str, types: dict[str, str]) -> SqlScorer:
        key = (expression, tuple(types.items()))
        if key not in self._scorers:
            if len(self._scorers) >= _KEPT:
                self._scorers.pop(next(iter(self._scorers))).close()
            self._scorers[key] = SqlScorer(expression, types)
        return self._scorers[key]

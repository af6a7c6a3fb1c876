"""The order of work of a calibration: only rows with a label are judged, and nobody who judges sees the label."""

from collections.abc import Callable, Iterable, Iterator

from rulebook.evidence.row_labels import Labels
from rulebook.evidence.row_records import RowRecord
from rulebook.evidence.rows import DamagedRow, Row, Rows
from rulebook.measures.row_scores import RowFailure
from rulebook.report.calibration import Compared

MOST_TOLD = 3
"""How many rows without a score are told in full."""


class Pairing:
    """Puts what one scorer said of each row beside the row's label.

    `unmeasured` counts the rows that have a label and not one score, the first of which `failures` tells.
    """

    def __init__(self, labels: Labels) -> None:
        self.compared: list[Compared] = []
        self.unmeasured = 0
        self.failures: list[str] = []
        self._labels = labels

    def add(self, records: Iterable[RowRecord]) -> None:
        """Further rows, each with the results of that one scorer."""
        for record in records:
            label = self._labels.by_row.get(record.row)
            if label is None:
                continue
            scores = record.scores(0)
            if isinstance(scores, RowFailure):
                self._unmeasured(record.row, scores.words)
            elif len(scores) != 1:
                self._unmeasured(record.row, f"it gave {len(scores) or 'no'} scores, and a label is one")
            else:
                score, metadata = scores[0]
                self.compared.append(Compared(label, score, metadata or {}))

    def _unmeasured(self, row: int, why: str) -> None:
        self.unmeasured += 1
        if len(self.failures) < MOST_TOLD:
            self.failures.append(f"row {row}  {why}")


def labelled_rows(rows: Callable[[], Rows], labels: Labels, column: str) -> Callable[[], Rows]:
    """The rows as task and judge may see them: without their label, and only where there is one.

    All others take their place as rows that cannot be read, so that they cost nothing and the count stays.
    """

    def read() -> Iterator[Row | DamagedRow]:
        for row in rows():
            if isinstance(row, Row) and row.number not in labels.by_row:
                yield DamagedRow(row.number, "it has no label to hold a score to", row.line)
            elif isinstance(row, Row):
                yield Row(row.number, {key: each for key, each in row.values.items() if key != column}, row.line)
            else:
                yield row

    return read

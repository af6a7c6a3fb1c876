"""An evaluation whose task takes several rows at once: they are scored and handed on in the dataset's order."""

from collections import deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, wait
from itertools import islice
from typing import Protocol

from msgspec import Struct

from rulebook.evidence.row_records import RowEnd, RowRecord
from rulebook.evidence.rows import DamagedRow, Row, Rows
from rulebook.measures.row_scores import Panel, RowFailure
from rulebook.outcome import Spent
from rulebook.services.model_meter import tell_meter
from rulebook.session.evaluating import BATCH_S, OUTPUT, Work

AHEAD = 4
"""How many rows, for each that may be under way, are begun and not handed on: a slow one holds up none before that.

A kill loses no more finished rows than these and those of a batch.
"""


class Paid(Struct, frozen=True):
    """An output, or the RowFailure in its place, and what asking a model for it came to."""

    output: object
    spent: Spent


class Crew(Protocol):
    """Takes several rows at once. `at_once` is how many."""

    at_once: int

    def begin(self, row: Mapping[str, object]) -> Future[object]:
        """What will be the row's output, a RowFailure, or either of them as Paid. Its exception ends the run."""
        ...

    def end(self) -> None:
        """End whatever is under way, promptly, and leave nothing behind."""
        ...


class _Begun(Struct):
    """A row of which the task has heard; `output` None for a row that cannot be read."""

    row: Row | DamagedRow
    output: Future[object] | None


class _Batch:
    """Rows that wait to be scored together, and the records of those that need no scoring, in the rows' order."""

    def __init__(self, now_s: float) -> None:
        self.records: list[RowRecord] = []
        self.rows: list[Mapping[str, object]] = []
        self._due_s = now_s + BATCH_S

    def add(self, begun: _Begun) -> None:
        """One row more, which is done. Raises what its task raised."""
        number = begun.row.number
        if isinstance(begun.row, DamagedRow):
            self.records.append(RowRecord(number, end=RowEnd("row", "DamagedRow", begun.row.reason)))
            return
        output = None if begun.output is None else begun.output.result()
        if isinstance(output, Paid):
            tell_meter(output.spent)  # not where it was answered: a meter hears the thread alone that asks for it
            output = output.output
        if isinstance(output, RowFailure):
            self.records.append(RowRecord(number, end=RowEnd("task", output.type, output.message)))
            return
        self.records.append(RowRecord(number, output))
        self.rows.append({**begun.row.values, OUTPUT: output})

    def left_s(self, now_s: float) -> float:
        """How long its first row may still wait; 0 once it has waited enough."""
        return max(0.0, self._due_s - now_s)

    def scored(self, panel: Panel) -> list[RowRecord]:
        """The whole records."""
        results = iter(panel.score_batch(self.rows) if self.rows else ())
        return [
            each if each.end is not None else RowRecord(each.row, each.output, None, next(results))
            for each in self.records
        ]


def evaluate_together(work: Work, crew_of: Callable[[], Crew], done: int = 0) -> Generator[list[RowRecord], None, None]:
    """As `evaluate_rows`, with outputs of a crew that is made now. To be closed, which ends what is under way."""
    panel = Panel(work.scorers)
    rows: Rows = islice(work.rows(), done, work.limit)
    ahead: deque[_Begun] = deque()
    batch = _Batch(work.now_s())
    crew = crew_of()
    try:
        while _is_begun(ahead, rows, crew):
            if not batch.records:
                batch = _Batch(work.now_s())
            if _is_done(ahead[0], batch.left_s(work.now_s()) if batch.records else None):
                batch.add(ahead.popleft())
                if len(batch.records) < panel.batch_rows and batch.left_s(work.now_s()):
                    continue
            yield batch.scored(panel)
            batch = _Batch(work.now_s())
        if batch.records:
            yield batch.scored(panel)
    finally:
        crew.end()


def _is_begun(ahead: deque[_Begun], rows: Rows, crew: Crew) -> bool:
    """Whether there is a row more. As many are begun as may be."""
    for row in islice(rows, AHEAD * crew.at_once - len(ahead)):
        ahead.append(_Begun(row, crew.begin(row.values) if isinstance(row, Row) else None))
    return bool(ahead)


def _is_done(begun: _Begun, within_s: float | None) -> bool:
    """Whether the row is done, or will be within that time; None: wait as long as it takes."""
    return begun.output is None or bool(wait((begun.output,), within_s).done)

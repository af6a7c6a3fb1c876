"""An evaluation whose task takes several rows at once: they are scored and handed on in the dataset's order."""

from collections import deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, wait
from itertools import islice
from typing import Protocol

from msgspec import UNSET, Struct, UnsetType

from rulebook.evidence.row_records import RowRecord
from rulebook.evidence.rows import DamagedRow, Row, Rows
from rulebook.measures.row_scores import Panel
from rulebook.outcome import Spent
from rulebook.services.model_meter import tell_meter
from rulebook.session.evaluating import Batch, Work

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


def evaluate_together(work: Work, crew_of: Callable[[], Crew], done: int = 0) -> Generator[list[RowRecord], None, None]:
    """As `evaluate_rows`, with outputs of a crew that is made now. To be closed, which ends what is under way."""
    panel = Panel(work.scorers)
    rows: Rows = islice(work.rows(), done, work.limit)
    ahead: deque[_Begun] = deque()
    batch = Batch(panel, work.now_s)
    crew = crew_of()
    try:
        while _is_begun(ahead, rows, crew):
            if not len(batch):
                batch = Batch(panel, work.now_s)
            if _is_done(ahead[0], batch.left_s() if len(batch) else None):
                begun = ahead.popleft()
                batch.add(begun.row, _given(begun))
                if not batch.is_due():
                    continue
            yield batch.scored()
            batch = Batch(panel, work.now_s)
        if len(batch):
            yield batch.scored()
    finally:
        crew.end()


def _is_begun(ahead: deque[_Begun], rows: Rows, crew: Crew) -> bool:
    """Whether there is a row more. As many are begun as may be."""
    for row in islice(rows, AHEAD * crew.at_once - len(ahead)):
        ahead.append(_Begun(row, crew.begin(row.values) if isinstance(row, Row) else None))
    return bool(ahead)


def _given(begun: _Begun) -> object | UnsetType:
    """What the task gave for a row that is done. Raises what it raised."""
    if begun.output is None:
        return UNSET
    output = begun.output.result()
    if isinstance(output, Paid):
        tell_meter(output.spent)  # not where it was answered: a meter hears the thread alone that asks for it
        return output.output
    return output


def _is_done(begun: _Begun, within_s: float | None) -> bool:
    """Whether the row is done, or will be within that time; None: wait as long as it takes."""
    return begun.output is None or bool(wait((begun.output,), within_s).done)

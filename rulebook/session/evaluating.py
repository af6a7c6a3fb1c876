"""The order of work of an evaluation: each row is read, given to the task, scored, and handed on, and none is kept."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import UNSET, Struct, UnsetType

from rulebook.errors import Stopped, UnfitKind
from rulebook.evidence.data_files import strict_json
from rulebook.evidence.row_records import RowEnd, RowRecord
from rulebook.evidence.row_values import detached
from rulebook.evidence.rows import DamagedRow, Row, Rows
from rulebook.measures.row_scores import Panel, RowFailure, RowScorer, failure_of

OUTPUT = "output"
"""The column that holds what the task gave."""

BATCH_S = 0.5
"""A batch is scored once its first row has waited so long, however few rows it has: a kill loses no more than that."""

Task = Callable[[Mapping[str, object]], object]
"""What gives the output of a row. What it raises, or a RowFailure that it returns, is that row's."""


class Work(Struct, frozen=True):
    """What an evaluation has to do. `rows` starts the dataset anew at each call.

    `task` None: every row brings its own `output`. `limit` is how many rows of the dataset are taken, None: all.
    `now_s` is a clock that only goes forward.
    """

    rows: Callable[[], Rows]
    task: Task | None
    scorers: Sequence[RowScorer]
    now_s: Callable[[], float]
    limit: int | None = None


class Batch:
    """Rows that wait to be scored together, and the records of those that need no scoring, in the rows' order."""

    def __init__(self, panel: Panel, now_s: Callable[[], float]) -> None:
        self._panel, self._now_s = panel, now_s
        self._records: list[RowRecord] = []
        self._rows: list[Mapping[str, object]] = []
        self._due_s = now_s() + BATCH_S

    def add(self, row: Row | DamagedRow, output: object | UnsetType = UNSET) -> None:
        """One row more, with what the task gave for it, a RowFailure where it failed; unset where there is no task."""
        if isinstance(row, DamagedRow):
            self._records.append(RowRecord(row.number, end=RowEnd("row", "DamagedRow", row.reason)))
        elif isinstance(output, RowFailure):
            self._records.append(RowRecord(row.number, end=RowEnd("task", output.type, output.message)))
        else:
            self._records.append(RowRecord(row.number, output))
            self._rows.append(row.values if output is UNSET else {**row.values, OUTPUT: output})

    def __len__(self) -> int:
        return len(self._records)

    def left_s(self) -> float:
        """How long its first row may still wait; 0 once it has waited enough."""
        return max(0.0, self._due_s - self._now_s())

    def is_due(self) -> bool:
        """Whether it is to be scored now: it is full, or its first row has waited enough."""
        return len(self) >= self._panel.batch_rows or not self.left_s()

    def scored(self) -> list[RowRecord]:
        """The whole records."""
        results = iter(self._panel.score_batch(self._rows) if self._rows else ())
        return [
            each if each.end is not None else RowRecord(each.row, each.output, None, next(results))
            for each in self._records
        ]


def evaluate_rows(work: Work, done: int = 0) -> Iterator[list[RowRecord]]:
    """The records of all rows after the first `done`, in the dataset's order, in batches of at least one.

    Whatever is wrong with a row stays in its record. Raises DatasetError where the dataset as a whole cannot be read.
    """
    panel = Panel(work.scorers)
    batch = Batch(panel, work.now_s)
    for row in islice(work.rows(), done, work.limit):
        batch.add(row, UNSET if work.task is None or isinstance(row, DamagedRow) else output_of(work.task, row.values))
        if batch.is_due():
            yield batch.scored()
            batch = Batch(panel, work.now_s)
    if len(batch):
        yield batch.scored()


def output_of(task: Task, values: Mapping[str, object]) -> object:
    """What the task gives for a row, or a RowFailure: it raised something, or gave what cannot be kept."""
    try:
        output = task(values)
        return output if type(output) is str or isinstance(output, RowFailure | None) else _plain(output)
    except (KeyboardInterrupt, Stopped):
        raise
    except BaseException as error:  # a task that ends the program, or its own loop, ends its row alone
        return failure_of(error)


def _plain(output: object) -> object:
    """An output as the journal will hold it, so that scorers see the same: text is no more than text, tuples are lists,
    keys are text. Raises UnfitKind for what is no data, and for keys that are two here and one there.
    """
    if isinstance(output, str):
        return str.__str__(output)
    try:
        return detached(strict_json(json.dumps(output, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise UnfitKind(f"a task's output is text or data that JSON can write: {error}") from error

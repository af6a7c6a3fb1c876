"""The order of work of an evaluation: each row is read, given to the task, scored, and handed on, and none is kept."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

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


class _Waiting(Struct):
    """Rows that wait to be scored together, and the records of those that need no scoring, in the rows' order."""

    records: list[RowRecord]
    rows: list[Mapping[str, object]]
    since_s: float = 0.0


def evaluate_rows(work: Work, done: int = 0) -> Iterator[list[RowRecord]]:
    """The records of all rows after the first `done`, in the dataset's order, in batches of at least one.

    Whatever is wrong with a row stays in its record. Raises DatasetError where the dataset as a whole cannot be read.
    """
    panel = Panel(work.scorers)
    waiting = _Waiting([], [])
    for row in islice(work.rows(), done, work.limit):
        if not waiting.records:
            waiting.since_s = work.now_s()
        _take(waiting, row, work.task)
        if len(waiting.records) >= panel.batch_rows or work.now_s() - waiting.since_s >= BATCH_S:
            yield _scored(waiting, panel)
            waiting = _Waiting([], [])
    if waiting.records:
        yield _scored(waiting, panel)


def _take(waiting: _Waiting, row: Row | DamagedRow, task: Task | None) -> None:
    if isinstance(row, DamagedRow):
        waiting.records.append(RowRecord(row.number, end=RowEnd("row", "DamagedRow", row.reason)))
        return
    if task is None:
        waiting.records.append(RowRecord(row.number))
        waiting.rows.append(row.values)
        return
    output = output_of(task, row.values)
    if isinstance(output, RowFailure):
        waiting.records.append(RowRecord(row.number, end=RowEnd("task", output.type, output.message)))
        return
    waiting.records.append(RowRecord(row.number, output))
    waiting.rows.append({**row.values, OUTPUT: output})


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


def _scored(waiting: _Waiting, panel: Panel) -> list[RowRecord]:
    results = iter(panel.score_batch(waiting.rows) if waiting.rows else ())
    return [
        each if each.end is not None else RowRecord(each.row, each.output, None, next(results))
        for each in waiting.records
    ]

"""The scores of whole columns, without metadata: for a loop that wants nothing but numbers."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from rulebook.api.scorer_handle import Scorer
from rulebook.api.sql_scorer import SqlScorer
from rulebook.errors import DatasetError, UnfitKind, UnfitOption
from rulebook.evidence.rows import DamagedRow, Row
from rulebook.measures.row_scores import RowFailure
from rulebook.measures.table import columns_of_scores
from rulebook.services.collector import collecting_seldom
from rulebook.services.datasets import Dataset
from rulebook.spelling import guess, listed

_ROWS = 1_024


def score_columns(scorers: Sequence[Scorer | SqlScorer], data: object) -> dict[str, list[float | None]]:
    """Each scorer's scores by its name, one for each row, in the rows' order.

    `data` is a mapping of columns to lists of values of one length, or whatever a dataset is made of: a path, a list of
    rows, a frame. What a scorer would explain in its metadata is left out; a score is the one that the scorer gives
    for the row, None where an SQL expression gives none. SQL over a Parquet file is worked out where it lies. Raises
    UnfitKind for another scorer than a deterministic built-in one and a column that is no list, UnfitOption for a name
    that two share or a column that is not there, DatasetError for a row that cannot be read or lacks a column,
    UsageError for SQL that does not fit the columns: nothing is made up.
    """
    for each in scorers:
        if not isinstance(each, Scorer | SqlScorer):
            raise UnfitKind(f"Only deterministic built-in scorers score columns; this is {each!r:.80}.")
    names = [each.name for each in scorers]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UnfitOption(f"Two scorers are called `{twice[0]}`. Give one of them another name with `name=`.")
    found: dict[str, list[float | None]] = {name: [] for name in names}
    measured = [each for each in scorers if isinstance(each, Scorer)]
    measures = [each.measure for each in measured]
    with collecting_seldom():
        for columns in _pieces(measured, data) if measured else ():
            scored = columns_of_scores(measures, columns.__getitem__)
            for scorer, column in zip(measured, scored, strict=True):
                found[scorer.name] += [score for score, _ in column]
        for each in scorers:
            if isinstance(each, SqlScorer):
                for piece in _of_sql(each, data):
                    found[each.name] += piece
    return found


def _of_sql(scorer: SqlScorer, data: object) -> Iterator[Sequence[float | None]]:
    from rulebook.services.sql_scores import score_parquet  # the engine's door is for who asks for it

    if isinstance(data, str | os.PathLike) and os.fspath(data).lower().endswith(".parquet"):
        for scores in score_parquet(os.fspath(data), scorer.expression):
            yield scores.scores
        return
    from rulebook.api.evaluations import dataset_of  # columns at hand do without
    from rulebook.api.sql_rows import SqlRows  # as above

    dataset = dataset_of(data)
    work = SqlRows(scorer, dataset.columns)
    for rows in _whole_rows(dataset):
        results = work.score_batch([row.values for row in rows])
        yield [None if isinstance(each, RowFailure) else each[0][0] for each in results]


def _pieces(scorers: Sequence[Scorer], data: object) -> Iterator[Mapping[str, Sequence[object]]]:
    """The columns that are read, some thousand rows of them at a time: what is made of these need not be kept."""
    wanted = dict.fromkeys(name for each in scorers for name in each.inputs)
    if not isinstance(data, Mapping):
        yield from _read(data, tuple(wanted))
        return
    _check(scorers, data)
    columns = {name: data[name] for name in wanted}
    for start in range(0, max(map(len, columns.values()), default=0), _ROWS):
        yield {name: column[start : start + _ROWS] for name, column in columns.items()}


def _check(scorers: Sequence[Scorer], columns: Mapping[str, Sequence[object]]) -> None:
    for each in scorers:
        for name in each.inputs:
            if name not in columns:
                hint = guess(name, columns)
                raise UnfitOption(f"The scorer `{each.name}` reads the column `{name}`, which is not there.{hint}")
            if isinstance(columns[name], str | bytes | Mapping) or not hasattr(columns[name], "__len__"):
                raise UnfitKind(f"The column `{name}` must be a list of its values.")
    lengths = {name: len(columns[name]) for each in scorers for name in each.inputs}
    if len(set(lengths.values())) > 1:
        told = listed(tuple(f"{name} ({length})" for name, length in lengths.items()))
        raise UnfitOption(f"The columns have different lengths: {told}.")


def _read(data: object, wanted: Sequence[str]) -> Iterator[Mapping[str, Sequence[object]]]:
    from rulebook.api.evaluations import dataset_of  # as above

    dataset = dataset_of(data)
    for rows in _whole_rows(dataset):
        try:
            columns = {name: [row.values[name] for row in rows] for name in wanted}
        except KeyError:
            raise DatasetError(f"`{dataset.where}`, {_gap(rows, wanted)}.") from None
        yield columns


def _whole_rows(dataset: Dataset) -> Iterator[Sequence[Row]]:
    """The rows, some thousand at a time. Raises DatasetError for one that is damaged."""
    rows = dataset.rows()
    while piece := list(islice(rows, _ROWS)):
        whole = [row for row in piece if isinstance(row, Row)]
        if len(whole) < len(piece):
            damaged = next(row for row in piece if isinstance(row, DamagedRow))
            raise DatasetError(f"`{dataset.where}`, {damaged.place()}: {damaged.reason}.")
        yield whole


def _gap(rows: Sequence[Row], wanted: Sequence[str]) -> str:
    """The first of these rows that lacks a column, and which."""
    return next(
        f"{row.place()}: it has no column `{name}`" for row in rows for name in wanted if name not in row.values
    )

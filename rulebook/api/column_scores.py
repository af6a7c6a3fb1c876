"""The scores of whole columns, without metadata: for a loop that wants nothing but numbers."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from rulebook.api.scorer_handle import Scorer
from rulebook.errors import DatasetError, UnfitKind, UnfitOption
from rulebook.evidence.rows import DamagedRow, Row
from rulebook.measures.table import columns_of_scores
from rulebook.services.collector import collecting_seldom
from rulebook.spelling import guess, listed

_ROWS = 1_024


def score_columns(scorers: Sequence[Scorer], data: object) -> dict[str, list[float]]:
    """Each scorer's scores by its name, one for each row, in the rows' order.

    `data` is a mapping of columns to lists of values of one length, or whatever a dataset is made of: a path, a list of
    rows, a frame. What a scorer would explain in its metadata is left out; a score is the one that the scorer gives
    for the row. Raises UnfitKind for a scorer that is not deterministic and a column that is no list, UnfitOption for a
    name that two share or a column that is not there, DatasetError for a row that cannot be read or lacks a column:
    nothing is made up for it.
    """
    for each in scorers:
        if not isinstance(each, Scorer):
            raise UnfitKind(f"Only deterministic built-in scorers score columns; this is {each!r:.80}.")
    names = [each.name for each in scorers]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UnfitOption(f"Two scorers are called `{twice[0]}`. Give one of them another name with `name=`.")
    measures = [each.measure for each in scorers]
    found: dict[str, list[float]] = {name: [] for name in names}
    with collecting_seldom():
        for columns in _pieces(scorers, data):
            for name, scored in zip(names, columns_of_scores(measures, columns.__getitem__), strict=True):
                found[name] += [score for score, _ in scored]
    return found


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
    from rulebook.api.evaluations import dataset_of  # columns at hand do without

    dataset = dataset_of(data)
    rows = dataset.rows()
    while piece := list(islice(rows, _ROWS)):
        whole = [row.values for row in piece if isinstance(row, Row)]
        try:
            columns = {name: [values[name] for values in whole] for name in wanted}
        except KeyError:
            columns = {}
        if len(whole) < len(piece) or len(columns) < len(wanted):
            raise DatasetError(f"`{dataset.where}`, {_fault(piece, wanted)}.")
        yield columns


def _fault(rows: Sequence[Row | DamagedRow], wanted: Sequence[str]) -> str:
    """The first of these rows that has no score, and why."""
    for row in rows:
        if isinstance(row, DamagedRow):
            return f"{row.place()}: {row.reason}"
        for name in wanted:
            if name not in row.values:
                return f"{row.place()}: it has no column `{name}`"
    return "a row cannot be read"

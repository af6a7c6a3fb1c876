"""The rows of a dataset as far as they can be looked at without running anything: to say what no row has."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from rulebook.errors import DatasetError
from rulebook.evidence.row_columns import ColumnScan, Kind
from rulebook.evidence.row_values import plain_row
from rulebook.evidence.rows import Row, Rows
from rulebook.evidence.rows_csv import csv_kinds, csv_rows
from rulebook.evidence.rows_json import json_rows, jsonl_rows
from rulebook.ports import Files

MOST_ROWS = 10_000
"""A dataset of more rows is not looked at: nothing could be said of all of them in good time."""


class Sight(Struct, frozen=True):
    """Every row of a dataset that can be read, and its columns by their kind."""

    rows: Sequence[Mapping[str, object]]
    columns: Mapping[str, Kind]


def rows_in_sight(dataset: object, folder: str, files: Files) -> Sight | None:
    """The rows that stand in a rule file, or in a text file beside it; None where they cannot all be looked at."""
    try:
        found = list(islice(_rows(dataset, folder, files), MOST_ROWS + 1))
    except (OSError, ValueError, DatasetError):
        return None
    if len(found) > MOST_ROWS or not found:
        return None
    scan = ColumnScan()
    for row in found:
        scan.add(row)
    return Sight([row.values for row in found], scan.columns())


def _rows(dataset: object, folder: str, files: Files) -> Iterator[Row]:
    if isinstance(dataset, str):
        path = os.path.join(folder, dataset)
        yield from (row for row in _of_file(path, files) if isinstance(row, Row))
    elif isinstance(dataset, list | tuple):
        yield from (Row(number, plain_row(row)) for number, row in enumerate(dataset, start=1))


def _of_file(path: str, files: Files) -> Rows:
    match os.path.splitext(path)[1].lower():
        case ".jsonl" | ".ndjson":
            return jsonl_rows(path, files)
        case ".json":
            return json_rows(path, files)
        case ".csv":
            return csv_rows(path, files, csv_kinds(path, files))
    return iter(())

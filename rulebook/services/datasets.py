"""Datasets as streams of rows: files, rows in Python, columns, and frames that speak Arrow. Read anew for each pass."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rulebook.errors import DatasetError
from rulebook.evidence.row_columns import ColumnScan, Kind
from rulebook.evidence.row_values import check_names, plain_row
from rulebook.evidence.rows import DamagedRow, Row, Rows
from rulebook.evidence.rows_csv import CsvKind, csv_kinds, csv_rows
from rulebook.evidence.rows_json import json_rows, jsonl_rows
from rulebook.services.arrow_tables import arrow_batches, frame_batches, parquet_batches, rows_of, speaks_arrow
from rulebook.services.dataset_digest import files_digest, rows_digest
from rulebook.services.files import MachineFiles
from rulebook.services.unchanged_files import unchanged

MAX_COLUMNS = 2_000

MOST_DAMAGED = 100
"""How many rows that cannot be read are kept, to be told; the others are counted."""

_FILES = MachineFiles()


class Dataset:
    """Rows that can be read again and again, in the same order, one at a time.

    `where` says what it is, for a message. The first pass finds the columns, where they drift, and what is damaged.
    """

    def __init__(self, where: str, read: Callable[[], Rows], mark: Callable[[], str] | None = None) -> None:
        self.where = where
        self._read = read
        self._mark = mark
        self._scan: ColumnScan | None = None
        self._damaged: list[DamagedRow] = []
        self._damaged_count = 0

    def rows(self) -> Rows:
        """Every row, and every row that cannot be read. Raises DatasetError where the whole cannot be."""
        try:
            yield from self._read()
        except OSError as error:
            raise DatasetError(f"`{self.where}` can't be read: {_reason(error)}.") from None

    def digest(self) -> str:
        """What tells its rows from others: of the bytes of a file, or of every row. Raises DatasetError."""
        return rows_digest(self.rows()) if self._mark is None else self._mark()

    @property
    def columns(self) -> dict[str, Kind]:
        """The columns by their kind, in the order in which they first appear. Raises DatasetError."""
        return self._scanned().columns()

    @property
    def drift(self) -> tuple[str, ...]:
        """In what later rows differ from earlier ones, in words. Raises DatasetError."""
        return self._scanned().drift()

    @property
    def damaged(self) -> tuple[DamagedRow, ...]:
        """The first `MOST_DAMAGED` rows that cannot be read. Raises DatasetError."""
        self._scanned()
        return tuple(self._damaged)

    @property
    def damaged_count(self) -> int:
        """How many rows cannot be read. Raises DatasetError."""
        self._scanned()
        return self._damaged_count

    @property
    def row_count(self) -> int:
        """How many rows there are, the damaged ones among them. Raises DatasetError."""
        return self._scanned().rows + self._damaged_count

    def lacks(self, names: Iterable[str]) -> bool:
        """Whether there is one of these columns in no row. No more rows are read than it takes. Raises DatasetError."""
        wanted = set(names)
        for row in self.rows() if self._scan is None else ():
            if isinstance(row, Row):
                check_names(row.values)
                wanted.difference_update(row.values)
            if not wanted:
                return False
        return not wanted <= self.columns.keys()

    def scanned_rows(self) -> Rows:
        """Every row as `rows` gives them; who takes all of them has the first pass done. Raises DatasetError."""
        if self._scan is not None:
            yield from self.rows()
            return
        scan, damaged, count = ColumnScan(), [], 0
        for row in self.rows():
            if isinstance(row, Row):
                scan.add(row)
                if scan.width > MAX_COLUMNS:
                    raise DatasetError(f"`{self.where}` has more than {MAX_COLUMNS} columns by {row.place()}.")
            else:
                count += 1
                damaged += [row] if count <= MOST_DAMAGED else []
            yield row
        if scan.rows:
            check_names(scan.columns())
        if len(scan.columns()) > MAX_COLUMNS:
            raise DatasetError(f"`{self.where}` has more than {MAX_COLUMNS} columns.")
        self._scan, self._damaged, self._damaged_count = scan, damaged, count

    def _scanned(self) -> ColumnScan:
        if self._scan is None:
            for _ in self.scanned_rows():
                pass
        assert self._scan is not None
        return self._scan


def open_dataset(data: object) -> Dataset:
    """The rows of a path, of several paths of the same columns, of a list of mappings, of columns, or of a frame.

    Raises DatasetError for what is none of these; TypeError for rows that can be read only once.
    """
    match data:
        case str() | os.PathLike():
            return _of_file(os.fspath(data))
        case Mapping():
            return _of_columns(data)
        case list() | tuple() if data and all(isinstance(each, str | os.PathLike) for each in data):
            return _of_files([os.fspath(each) for each in data])
        case _ if speaks_arrow(data):
            return Dataset("the frame", lambda: _arrow_rows(frame_batches(data)))
        case Sequence() if not isinstance(data, bytes | bytearray):
            return Dataset("the rows", lambda: _python_rows(data))
    if isinstance(data, Iterator):
        raise TypeError("A dataset is read more than once. Pass a list of rows, such as `list(rows)`.")
    raise DatasetError(
        "A dataset is a path, a list of rows, a mapping of columns, or a frame of pandas, polars or Arrow."
    )


def _of_file(path: str) -> Dataset:
    ending = os.path.splitext(path)[1].lower()
    if ending not in _READERS:
        known = ", ".join(f"`{each}`" for each in _READERS)
        raise DatasetError(f"`{path}` has no ending that says what it is. A dataset is a file of {known}.")
    return Dataset(path, unchanged(path, _READERS[ending]()), lambda: files_digest([path]))


def _of_files(paths: Sequence[str]) -> Dataset:
    parts = [_of_file(path) for path in paths]
    first = parts[0].columns
    for part in parts[1:]:
        if part.columns.keys() != first.keys():
            own, wanted = (", ".join(f"`{name}`" for name in columns) for columns in (part.columns, first))
            raise DatasetError(f"`{part.where}` has the columns {own}, and `{paths[0]}` has {wanted}. They must agree.")

    def read() -> Rows:
        number = 0
        for part in parts:
            for row in part.rows():
                number += 1
                if isinstance(row, Row):
                    yield Row(number, row.values, row.line)
                else:
                    yield DamagedRow(number, row.reason, row.line)

    return Dataset(", ".join(paths), read, lambda: files_digest(paths))


def _of_columns(data: Mapping[Any, Any]) -> Dataset:
    for name, values in data.items():
        if not isinstance(values, Sequence) or isinstance(values, str | bytes):
            if hasattr(values, "tolist"):
                continue
            raise DatasetError(f"The column `{name}` must be a list of its values.")
    columns = {name: values if isinstance(values, Sequence) else values.tolist() for name, values in data.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        raise DatasetError(f"The columns have different lengths: {told} values.")

    def read() -> Rows:
        names = tuple(columns)
        return _python_rows(dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True))

    return Dataset("the columns", read)


def _python_rows(rows: Any) -> Rows:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            yield DamagedRow(number, "a row is a mapping of columns; this is none")
            continue
        try:
            yield Row(number, plain_row(row))
        except ValueError as error:
            yield DamagedRow(number, str(error))


def _arrow_rows(batches: Iterator[Any]) -> Rows:
    number = 0
    for batch in batches:
        for row in _python_rows(rows_of(batch)):
            number += 1
            yield Row(number, row.values) if isinstance(row, Row) else DamagedRow(number, row.reason)


def _csv() -> Callable[[str], Rows]:
    """Reads one CSV file, whose kinds one pass finds out for all that follow."""
    kinds: dict[str, CsvKind] = {}

    def rows(path: str) -> Rows:
        if not kinds:
            kinds.update(csv_kinds(path, _FILES))
        return csv_rows(path, _FILES, kinds)

    return rows


def _parquet(path: str) -> Rows:
    with _FILES.open(path) as file, parquet_batches(file) as batches:
        yield from _arrow_rows(batches)


def _arrow(path: str) -> Rows:
    with _FILES.open(path) as file, arrow_batches(file) as batches:
        yield from _arrow_rows(batches)


def _jsonl(path: str) -> Rows:
    return jsonl_rows(path, _FILES)


def _json(path: str) -> Rows:
    return json_rows(path, _FILES)


_READERS: Mapping[str, Callable[[], Callable[[str], Rows]]] = {
    ".jsonl": lambda: _jsonl,
    ".ndjson": lambda: _jsonl,
    ".json": lambda: _json,
    ".csv": _csv,
    ".parquet": lambda: _parquet,
    ".arrow": lambda: _arrow,
    ".feather": lambda: _arrow,
    ".ipc": lambda: _arrow,
}
"""What reads a file, by its ending; made anew for each dataset."""


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or "the machine refuses").lower()

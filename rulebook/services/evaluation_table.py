"""The results of a run as one table, in Parquet, CSV or JSONL.

It has the dataset's columns, the output, and what each scorer said.

Source: scorers-facts §8.
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import UNSET

from rulebook.errors import DatasetError, UsageError
from rulebook.evidence.row_columns import Kind, kind_of, plain_data
from rulebook.evidence.row_records import RowRecord
from rulebook.evidence.rows import Row
from rulebook.measures.row_scores import RowFailure
from rulebook.services.arrow_tables import BATCH_ROWS, parquet_writer, schema_of, table_of
from rulebook.services.datasets import Dataset
from rulebook.services.declared_columns import Declared
from rulebook.services.evaluation_journal import read_records
from rulebook.services.output_files import drafted, write_bytes
from rulebook.spelling import listed

RESULTS = "results.parquet"
FORMATS = (".csv", ".jsonl", ".parquet")
"""How the name of a table may end."""

_PIECE = 1 << 20
"""Characters of a table that are written at once."""


def table_format(path: str) -> str:
    """How a table of that name is written, one of FORMATS. Raises UsageError."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in FORMATS:
        raise UsageError(f"`{path}`: the name of a table ends in {listed(FORMATS)}, and says how it is written.")
    return ending


def write_table(folder: str, dataset: Dataset, scorers: Sequence[str], declared: Declared, path: str) -> str:
    """Write the table of the run in `folder` to `path` as its name says, and give the path.

    Raises what `table_format`, `check_table` and `write_results` raise; pyarrow is for Parquet alone.
    """
    ending = table_format(path)
    if ending == ".parquet":
        return write_results(folder, dataset, scorers, declared, path)
    check_table(dataset, scorers)
    columns = [*{**dict.fromkeys(dataset.columns), "output": None, **_columns_of(scorers)}]
    rows = _rows(folder, dataset, scorers, declared)
    write_bytes(path, _csv(columns, rows) if ending == ".csv" else _jsonl(columns, rows), force=True)
    return path


def write_results(
    folder: str, dataset: Dataset, scorers: Sequence[str], declared: Declared, path: str | None = None
) -> str:
    """Write the table of the run in `folder` to `path`, None: beside its journal; and give the path.

    One row a row of the dataset that was scored, in its order.

    A scorer that is declared to give lists has the list of its scores in `_value` and that of their metadata in
    `_metadata`, both as JSON. Another one that gave several scores, or none, has them as a list in `_metadata` and no
    `_value`. Raises UsageError where pyarrow is not installed or a name is taken, DatasetError where the dataset cannot
    be read.
    """
    check_table(dataset, scorers)
    columns = {**dataset.columns, "output": dataset.columns.get("output", "text")}
    columns |= _columns_of(scorers, declared.lists)
    kinds = {kind_of(record.output) for record in read_records(folder) if record.output is not UNSET}
    if kinds:  # a task's own, whatever the rows have under that name
        columns["output"] = _output_kind(kinds - {None}, declared.output)
    path = path or os.path.join(folder, RESULTS)
    schema = schema_of(columns)
    try:
        with drafted(path, force=True) as file, parquet_writer(file, schema) as writer:
            rows = _rows(folder, dataset, scorers, declared)
            while batch := list(islice(rows, BATCH_ROWS)):
                writer.write_batch(table_of(batch, columns, schema))
    except OSError as error:
        raise UsageError(f"I can't write `{path}`: {(error.strerror or 'the machine refuses').lower()}.") from None
    return path


def _csv(columns: Sequence[str], rows: Iterator[Mapping[str, object]]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
        if text.tell() > _PIECE:
            yield _taken(text)
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    piece = text.getvalue().encode("utf-8", "replace")
    text.seek(0)
    text.truncate()
    return piece


def _cell(value: object) -> object:
    """Nothing for what is not there; what is no text as JSON has it."""
    plain = plain_data(value)
    return plain if plain is None or isinstance(plain, str) else _json(plain)


def _jsonl(columns: Sequence[str], rows: Iterator[Mapping[str, object]]) -> Iterator[bytes]:
    for row in rows:
        line = {name: plain_data(row.get(name)) for name in columns}
        yield json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n"


def check_table(dataset: Dataset, scorers: Iterable[str]) -> None:
    """Raise UsageError where a column of the rows is called like one of the table's own; DatasetError.

    Where there is no score, what the rows say under its name would stand in its place.
    """
    own = _columns_of(scorers)
    for name in dataset.columns:
        if name in own:
            raise UsageError(
                f"The rows have a column `{name}`, which in the table of the results says what became of a row. "
                "Rename it."
            )


def _columns_of(scorers: Iterable[str], lists: frozenset[str] = frozenset()) -> dict[str, Kind]:
    columns: dict[str, Kind] = {"output_error": "text"}
    for name in scorers:
        value: Kind = "json" if name in lists else "number"
        columns |= {f"{name}_value": value, f"{name}_error": "text", f"{name}_metadata": "text"}
    return columns


def _output_kind(found: set[str | None], declared: Kind | None) -> Kind:
    """The kind of the column of outputs of these kinds: the declared one where it holds them all."""
    if declared is not None and found <= {declared, *(["whole number"] if declared == "number" else [])}:
        return declared
    return "text" if found <= {"text"} else "json"


def _rows(folder: str, dataset: Dataset, scorers: Sequence[str], declared: Declared) -> Iterator[Mapping[str, object]]:
    rows = dataset.rows()
    for record in read_records(folder):
        row = next(rows, None)
        if row is None:
            raise DatasetError(f"`{dataset.where}` has fewer rows than the run.")
        values = dict(row.values) if isinstance(row, Row) else {}
        whole = {**values, **_output(record), **_scores(record, scorers, declared.lists)}
        yield {column: _storable(value) for column, value in whole.items()}


def _storable(value: object) -> object:
    """The value with lone surrogates written out, which no table can hold: one row's must not cost all the others."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _output(record: RowRecord) -> Mapping[str, object]:
    if record.end is not None:  # an `output` of the rows' own is not what the task gave
        return {"output": None, "output_error": f"{record.end.type}: {record.end.message}"}
    return {"output_error": None} if record.output is UNSET else {"output": record.output, "output_error": None}


def _scores(record: RowRecord, scorers: Sequence[str], lists: frozenset[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, result in zip(scorers, record.results, strict=False):
        if isinstance(result, RowFailure):
            found[f"{name}_error"] = f"{result.type}: {result.message}"
            found[f"{name}_metadata"] = None if result.metadata is None else _json(result.metadata)
        elif name in lists:
            found[f"{name}_value"] = [score for score, _ in result]
            found[f"{name}_metadata"] = _json([metadata for _, metadata in result])
        elif len(result) == 1:
            ((score, metadata),) = result
            found[f"{name}_value"] = score
            found[f"{name}_metadata"] = None if metadata is None else _json(metadata)
        else:
            found[f"{name}_metadata"] = _json([{"score": score, "metadata": data} for score, data in result])
    return found


def _json(data: object) -> str:
    return json.dumps(plain_data(data), sort_keys=True, separators=(",", ":"))

"""The door to Arrow: rows become tables of given types, and Parquet and Arrow files are read by batches."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rulebook.errors import DatasetError, UsageError
from rulebook.evidence.row_columns import Kind, stored_value
from rulebook.evidence.row_values import Unreadable

BATCH_ROWS = 8_192
"""How many rows are looked at together: enough for whole-column speed, and few enough for a small memory."""


_KIND = b"rulebook.kind"
"""Under this a field of ours says that its text is JSON."""


def arrow() -> Any:
    """The package. Raises UsageError where it is not installed."""
    try:
        import pyarrow  # 40 MB and 60 ms: only tables pay for it
    except ImportError:
        raise UsageError(
            "Tables need pyarrow, which is not installed. Type: pip install 'rulebook-engine[tables]'"
        ) from None
    return pyarrow


def schema_of(columns: Mapping[str, Kind]) -> Any:
    """The Arrow schema of columns of these kinds; JSON is text that says so in its field."""
    pa = arrow()
    types = {
        "yes or no": pa.bool_(),
        "whole number": pa.int64(),
        "number": pa.float64(),
        "text": pa.string(),
        "json": pa.string(),
        "date": pa.date32(),
        "moment": pa.timestamp("us"),
    }
    note = {_KIND: b"json"}
    return pa.schema(
        [pa.field(name, types[kind], metadata=note if kind == "json" else None) for name, kind in columns.items()]
    )


def table_of(rows: Sequence[Mapping[str, object]], columns: Mapping[str, Kind], schema: Any) -> Any:
    """A record batch of these rows; a column that a row lacks is null there.

    Raises DatasetError for a value that is not of its column's kind.
    """
    pa = arrow()
    arrays = []
    for (name, kind), field in zip(columns.items(), schema, strict=True):
        values = [stored_value(row.get(name), kind) for row in rows]
        try:
            arrays.append(pa.array(values, type=field.type))
        except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
            raise DatasetError(f"The column `{name}` holds what is not {kind}: {_plain(error)}.") from None
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@contextmanager
def parquet_batches(file: Any, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS) -> Iterator[Iterator[Any]]:
    """The record batches of an open Parquet file, in its order, `columns` alone. Raises DatasetError when damaged."""
    arrow()
    import pyarrow.parquet as pq

    with _reading("Parquet"):
        source = pq.ParquetFile(file, pre_buffer=False, page_checksum_verification=True)
        batches = source.iter_batches(rows, columns=None if columns is None else list(columns), use_threads=False)
        yield _guarded(batches, "Parquet", rows)


@contextmanager
def arrow_batches(file: Any) -> Iterator[Iterator[Any]]:
    """The record batches of an open Arrow or Feather file, or of an Arrow stream. Raises DatasetError when damaged."""
    arrow()
    import pyarrow.ipc as ipc

    start = file.read(8)
    file.seek(0)
    with _reading("Arrow"):
        if start[:6] != b"ARROW1":
            yield _guarded(iter(ipc.open_stream(file)), "Arrow")
            return
        source = ipc.open_file(file)
        yield _guarded((source.get_batch(place) for place in range(source.num_record_batches)), "Arrow")


def frame_batches(frame: Any) -> Iterator[Any]:
    """The record batches of anything that speaks the Arrow interface: pandas, polars, pyarrow. Raises DatasetError."""
    pa = arrow()
    with _reading("Arrow"):
        reader = pa.RecordBatchReader.from_stream(frame) if hasattr(frame, "__arrow_c_stream__") else None
        yield from _guarded(iter(reader) if reader is not None else iter((pa.record_batch(frame),)), "Arrow")


def rows_of(batch: Any) -> list[dict[str, object]]:
    """The rows of a record batch as mappings of plain Python values.

    Raises DatasetError for a column of bytes, and for two columns of one name.
    """
    pa = arrow()
    names = batch.schema.names
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DatasetError(f"Two columns are called `{twice}`. Rename one of them.")
    columns = []
    for name, column in zip(names, batch.columns, strict=True):
        kind = column.type
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
            raise DatasetError(f"The column `{name}` holds bytes. A dataset holds text: decode it first.")
        if pa.types.is_timestamp(kind):
            # Python's moments end at microseconds
            column = column.cast(pa.timestamp("us", tz=kind.tz), safe=False)
        values = _values(column)
        is_json = (batch.schema.field(name).metadata or {}).get(_KIND) == b"json"
        columns.append([json.loads(each) if isinstance(each, str) else each for each in values] if is_json else values)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _values(column: Any) -> list[Any]:
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError):  # one value is no reason to lose the others
        return [_value(each) for each in column]


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return Unreadable("a text that is no UTF-8")
    except (OverflowError, ValueError):
        return Unreadable("a date or a time that lies too far away")


@contextmanager
def parquet_writer(file: Any, schema: Any) -> Iterator[Any]:
    """A writer of record batches into an open file, each page with a checksum."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer:
        yield writer


def read_table(file: Any) -> Any:
    """The whole table of an open Parquet file of ours, its checksums looked at. Raises DatasetError when damaged."""
    import pyarrow.parquet as pq

    with _reading("Parquet"):
        return pq.read_table(file, page_checksum_verification=True, use_threads=False)


def speaks_arrow(data: object) -> bool:
    """Whether `data` offers itself as Arrow data."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _guarded(batches: Iterator[Any], what: str, rows: int = BATCH_ROWS) -> Iterator[Any]:
    with _reading(what):
        for batch in batches:
            for start in range(0, max(batch.num_rows, 1), rows):
                yield batch.slice(start, rows)


@contextmanager
def _reading(what: str) -> Iterator[None]:
    pa = arrow()
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, DatasetError):
            raise
        raise DatasetError(f"This can't be read as {what}: {_plain(error)}.") from None


def _plain(error: BaseException) -> str:
    first = str(error).strip().partition("\n")[0].rstrip(".")
    return first[:300] or "it is damaged"

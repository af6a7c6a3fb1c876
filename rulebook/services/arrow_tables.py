"""The door to Arrow: rows become tables of given types, and Parquet and Arrow files are read by batches."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rulebook.errors import DatasetError, UsageError
from rulebook.evidence.row_columns import Kind, stored_value

BATCH_ROWS = 8_192
"""How many rows are looked at together: enough for whole-column speed, and few enough for a small memory."""

MAX_BATCH_BYTES = 32 * 1024 * 1024
"""How large a batch of rows may grow before it is handed on with fewer rows."""


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
    note = {b"rulebook.kind": b"json"}
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
    import pyarrow.parquet as pq

    with _reading("Parquet"):
        source = pq.ParquetFile(file, pre_buffer=False)
        batches = source.iter_batches(rows, columns=None if columns is None else list(columns), use_threads=False)
        yield _guarded(batches, "Parquet")


@contextmanager
def arrow_batches(file: Any) -> Iterator[Iterator[Any]]:
    """The record batches of an open Arrow or Feather file, or of an Arrow stream. Raises DatasetError when damaged."""
    pa = arrow()
    import pyarrow.ipc as ipc

    start = file.read(8)
    file.seek(0)
    with _reading("Arrow"):
        if start[:6] != b"ARROW1":
            yield _guarded(iter(ipc.open_stream(file)), "Arrow")
            return
        source = ipc.open_file(file)
        yield _guarded((source.get_batch(place) for place in range(source.num_record_batches)), "Arrow")
    del pa


def frame_batches(frame: Any) -> Iterator[Any]:
    """The record batches of anything that speaks the Arrow interface: pandas, polars, pyarrow. Raises DatasetError."""
    pa = arrow()
    with _reading("Arrow"):
        if hasattr(frame, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(frame)
            yield from _guarded(iter(reader), "Arrow")
        else:
            yield pa.record_batch(frame)


def speaks_arrow(data: object) -> bool:
    """Whether `data` offers itself as Arrow data."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _guarded(batches: Iterator[Any], what: str) -> Iterator[Any]:
    with _reading(what):
        for batch in batches:
            for start in range(0, max(batch.num_rows, 1), BATCH_ROWS * 8):
                yield batch.slice(start, BATCH_ROWS * 8)


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

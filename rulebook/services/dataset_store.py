"""The embedded store of datasets: one Parquet file a revision, named by its content, and a catalogue of names.

A revision is never changed. What is written stands under another name until it is whole, and the catalogue is told
last: a kill at any moment leaves the store as it was.
"""

import fcntl
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from rulebook.errors import DatasetError
from rulebook.evidence.row_columns import Kind, stored_value
from rulebook.evidence.rows import Row
from rulebook.services.arrow_tables import (
    BATCH_ROWS,
    parquet_batches,
    parquet_writer,
    read_table,
    rows_of,
    schema_of,
    table_of,
)
from rulebook.services.dataset_catalogue import Catalogue, Entry
from rulebook.services.datasets import Dataset
from rulebook.services.files import MachineFiles
from rulebook.services.store import store_folder
from rulebook.spelling import guess

_PART = ".part"
_TOLD = 3


class DatasetStore:
    """The datasets in one folder, `datasets` of `RULEBOOK_HOME` where none is named. Raises DatasetError throughout."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder or os.path.join(store_folder(), "datasets")
        self._rows = os.path.join(self._folder, "rows")
        self._catalogue = Catalogue(self._folder)

    def upload(self, name: str, dataset: Dataset) -> Entry:
        """Keep these rows as the latest revision of the dataset `name`; the same rows give the same revision.

        Refused, with nothing kept: a row that cannot be read, and rows without a column.
        """
        columns = dataset.columns
        _refuse_damaged(dataset)
        if not columns:
            raise DatasetError(f"`{dataset.where}` has no rows, so nobody knows its columns. Pass at least one row.")
        try:
            os.makedirs(self._rows, exist_ok=True)
            self._sweep()
            revision, count = self._write(dataset, columns)
        except OSError as error:
            raise DatasetError(f"The dataset can't be kept in `{self._folder}`: {error.strerror or error}.") from None
        dataset_id = "ds-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        kinds: dict[str, str] = dict(columns)
        entry = Entry(dataset_id, name, revision, count, kinds, dataset.drift, time.time_ns() // 1_000_000)
        self._catalogue.add(entry)
        return entry

    def entries(self, name: str | None = None) -> list[Entry]:
        """Every revision, the oldest first; of one dataset alone, where `name` is given."""
        return self._catalogue.entries(name)

    def find(self, *, name: str | None = None, dataset_id: str | None = None, revision_id: str | None = None) -> Entry:
        """The latest revision that fits all that is given."""
        entries = self.entries()
        fitting = [
            entry
            for entry in entries
            if name in (None, entry.name)
            and dataset_id in (None, entry.dataset_id)
            and revision_id in (None, entry.revision_id)
        ]
        if fitting:
            return fitting[-1]
        asked = name or dataset_id or revision_id or ""
        known = {"name": name, "dataset_id": dataset_id, "revision_id": revision_id}
        field = next(key for key, value in known.items() if value is not None)
        near = guess(asked, [getattr(entry, field) for entry in entries])
        what = f"There is no revision `{revision_id}`" if revision_id else f"There is no dataset `{asked}`"
        raise DatasetError(f"{what} in `{self._folder}`.{near}" if entries else f"{what}: `{self._folder}` is empty.")

    def table(self, entry: Entry) -> Any:
        """The rows of a revision as an Arrow table."""
        with self._opened(entry) as file:
            return read_table(file)

    def rows(self, entry: Entry) -> Iterator[Row]:
        """The rows of a revision, one at a time."""
        number = 0
        with self._opened(entry) as file, parquet_batches(file) as batches:
            for batch in batches:
                for values in rows_of(batch):
                    number += 1
                    yield Row(number, values)

    def path(self, entry: Entry) -> str:
        """Where the rows of a revision lie."""
        return self._path(entry.revision_id)

    @contextmanager
    def _opened(self, entry: Entry) -> Iterator[Any]:
        try:
            with MachineFiles().open(self._path(entry.revision_id)) as file:
                yield file
        except OSError as error:
            what = f"The revision `{entry.revision_id}` of `{entry.name}`"
            raise DatasetError(f"{what} can't be read: {(error.strerror or 'it is damaged').lower()}.") from None

    def _path(self, revision: str) -> str:
        return os.path.join(self._rows, f"{revision}.parquet")

    def _write(self, dataset: Dataset, columns: Mapping[str, Kind]) -> tuple[str, int]:
        """Write the rows under the name of their content; the revision and how many there are."""
        schema = schema_of(columns)
        digest = hashlib.sha256(_canonical([[name, columns[name]] for name in sorted(columns)]))
        count = 0
        with self._draft() as (draft, file):
            with parquet_writer(file, schema) as writer:
                rows = (row.values for row in dataset.rows() if isinstance(row, Row))
                while batch := list(islice(rows, BATCH_ROWS)):
                    count += len(batch)
                    for row in batch:
                        digest.update(_canonical(_stored(row, columns)))
                    writer.write_batch(table_of(batch, columns, schema))
            file.flush()
            os.fsync(file.fileno())
            revision = digest.hexdigest()
            if not os.path.exists(self._path(revision)):
                os.replace(draft, self._path(revision))
                _sync_folder(self._rows)
        return revision, count

    @contextmanager
    def _draft(self) -> Iterator[tuple[str, Any]]:
        """A new file of ours under a name that no reader looks at, locked while we write, gone at the end."""
        while True:
            handle, draft = tempfile.mkstemp(dir=self._rows, suffix=_PART)
            with os.fdopen(handle, "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                # another upload may have swept it away before it was locked
                if not os.path.exists(draft):
                    continue
                try:
                    yield draft, file
                finally:
                    with suppress(FileNotFoundError):
                        os.unlink(draft)
                return

    def _sweep(self) -> None:
        """Remove what killed uploads left behind: a draft whose writer lives is locked by it."""
        for name in os.listdir(self._rows):
            if not name.endswith(_PART):
                continue
            path = os.path.join(self._rows, name)
            with suppress(OSError), open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(path)


def _refuse_damaged(dataset: Dataset) -> None:
    damaged = dataset.damaged
    if damaged:
        told = "; ".join(f"{row.place()}: {row.reason}" for row in damaged[:_TOLD])
        more = f"; and {dataset.damaged_count - _TOLD} more" if dataset.damaged_count > _TOLD else ""
        raise DatasetError(f"`{dataset.where}` has rows that can't be read, so nothing was kept. {told}{more}.")


def _stored(row: Mapping[str, object], columns: Mapping[str, Kind]) -> list[object]:
    return [stored_value(row.get(name), columns[name]) for name in sorted(columns)]


def _canonical(value: object) -> bytes:
    """One line of JSON that says the value and nothing of how it was written down."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=_as_text).encode("ascii") + b"\n"


def _as_text(value: Any) -> str:
    text: str = value.isoformat()
    return text


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

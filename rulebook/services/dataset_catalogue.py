"""The door to SQLite: which datasets there are, and which revisions each had. Several processes may write at once."""

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from msgspec import Struct

from rulebook.errors import DatasetError

_BUSY_S = 60.0
_TABLES = """
CREATE TABLE IF NOT EXISTS revisions (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset_id TEXT NOT NULL,
    name TEXT NOT NULL,
    revision_id TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    columns TEXT NOT NULL,
    drift TEXT NOT NULL,
    uploaded_ms INTEGER NOT NULL
)
"""
_SELECT = "SELECT dataset_id, name, revision_id, row_count, columns, drift, uploaded_ms FROM revisions "


class Entry(Struct, frozen=True):
    """One revision of one dataset. `columns` are its columns by their kind, `uploaded_ms` is Unix time."""

    dataset_id: str
    name: str
    revision_id: str
    row_count: int
    columns: dict[str, str]
    drift: tuple[str, ...]
    uploaded_ms: int


class Catalogue:
    """The list of datasets in one folder. Looking never creates anything; every method raises DatasetError."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "catalogue.sqlite")

    def add(self, entry: Entry) -> None:
        """Add a revision, whole or not at all; one that is the dataset's latest already is not added again."""
        with self._open(writing=True) as connection:
            connection.execute("BEGIN IMMEDIATE")
            latest = connection.execute(
                _SELECT + "WHERE name = ? ORDER BY place DESC LIMIT 1", (entry.name,)
            ).fetchone()
            if latest is None or latest[2] != entry.revision_id:
                values = (
                    entry.dataset_id, entry.name, entry.revision_id, entry.row_count,
                    json.dumps(entry.columns), json.dumps(entry.drift), entry.uploaded_ms,
                )  # fmt: skip
                names = "(dataset_id, name, revision_id, row_count, columns, drift, uploaded_ms)"
                connection.execute(f"INSERT INTO revisions {names} VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            connection.execute("COMMIT")

    def entries(self, name: str | None = None) -> list[Entry]:
        """Every revision, the oldest first; of the dataset called `name` alone, where one is given."""
        if not os.path.exists(self._path):
            return []
        with self._open(writing=False) as connection:
            if name is None:
                return _entries(connection.execute(_SELECT + "ORDER BY place").fetchall())
            return _entries(connection.execute(_SELECT + "WHERE name = ? ORDER BY place", (name,)).fetchall())

    @contextmanager
    def _open(self, *, writing: bool) -> Iterator[sqlite3.Connection]:
        mode = "rwc" if writing else "ro"
        try:
            with closing(
                sqlite3.connect(
                    f"file:{_quoted(self._path)}?mode={mode}", uri=True, timeout=_BUSY_S, isolation_level=None
                )
            ) as connection:
                if writing:
                    connection.execute("PRAGMA synchronous = FULL")
                    connection.execute(_TABLES)
                yield connection
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise DatasetError(f"The list of datasets `{self._path}` can't be used: {error}.") from None


def _entries(rows: Sequence[Sequence[object]]) -> list[Entry]:
    return [
        Entry(str(row[0]), str(row[1]), str(row[2]), int(str(row[3])), json.loads(str(row[4])),
              tuple(json.loads(str(row[5]))), int(str(row[6])))
        for row in rows
    ]  # fmt: skip


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path)

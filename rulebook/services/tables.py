"""The door to DuckDB: connections that reach nothing, parsing, and types. It is imported when the first is made."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rulebook.errors import UsageError
from rulebook.languages.sql import RELATION
from rulebook.languages.sql_tables import SqlRefused

MAX_DEPTH = 200
"""How deep an expression may be nested: types of lists nested 400 deep take seconds to work out."""

_BOUNDS = {
    # a division by zero, and what has no finite number, is a fault: NaN would be larger than every number
    "ieee_floating_point_ops": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "max_expression_depth": str(MAX_DEPTH),
    "max_temp_directory_size": "0KB",
    "memory_limit": "256MiB",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "threads": "1",
}
"""No extension, no secret, no variable of the Python that calls; bounds on what is used beside the rows given.

Files and network go when all is set.
"""


class DuckTables:
    """The `Tables` port by DuckDB. One connection, made when it is first needed, used by one thread at a time."""

    def __init__(self) -> None:
        self._connection: Any = None

    def sql_tree(self, query: str) -> Mapping[str, object]:
        """The tree of a query. Raises SqlRefused with the place that the parser names."""
        try:
            raw = self._ready().execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchone()[0]
        except (engine_error(), UnicodeEncodeError) as error:
            raise SqlRefused(plain_reason(error)) from None
        tree: dict[str, object] = json.loads(raw)
        if tree.get("error"):
            place = tree.get("position")
            position = int(place) if isinstance(place, str) and place.isdigit() else None
            raise SqlRefused(str(tree.get("error_message", "")), position)
        return tree

    def sql_pattern(self, pattern: str) -> None:
        """Compile a pattern, which then looks at no text. Raises SqlRefused."""
        try:
            self._ready().execute("SELECT regexp_matches('', ?::VARCHAR)", [pattern]).fetchone()
        except engine_error() as error:
            raise SqlRefused(plain_reason(error)) from None

    def sql_kind(self, expression: str, columns: Mapping[str, str]) -> str:
        """The type of a checked expression: the engine binds it to no rows. Raises SqlRefused."""
        nothing = ", ".join(f"CAST(NULL AS {kind}) AS {quoted(name)}" for name, kind in columns.items())
        try:
            relation = self._ready().sql(f"SELECT ({expression}\n) AS score FROM (SELECT {nothing}) AS {RELATION}")
            return str(relation.types[0])
        except engine_error() as error:
            raise SqlRefused(plain_reason(error)) from None

    def _ready(self) -> Any:
        if self._connection is None:
            self._connection = locked_connection()
        return self._connection


def locked_connection(readable: str | None = None) -> Any:
    """A connection to an empty database in memory that can reach nothing, but to read the file `readable`.

    Its settings can no longer be changed. Raises UsageError where DuckDB is not installed.
    """
    duckdb = _duckdb()
    connection = duckdb.connect(":memory:", config=_BOUNDS)
    connection.execute("SET TimeZone = 'UTC'")
    if readable is not None:
        connection.execute(f"SET allowed_paths = [{literal(readable)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def engine_error() -> type[Exception]:
    """What every failure of the engine is one of."""
    error: type[Exception] = _duckdb().Error
    return error


@contextmanager
def within(connection: Any, limit_s: float) -> Iterator[None]:
    """Stop what runs on a connection after `limit_s` seconds: it then fails with the engine's own error."""
    timer = threading.Timer(limit_s, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def quoted(name: str) -> str:
    """A name of a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def ran_out(error: Exception) -> bool:
    """Whether the engine was stopped because its time was up."""
    return type(error).__name__ == "InterruptException"


def broke_engine(error: Exception) -> bool:
    """Whether the engine takes itself for broken: nothing more can be asked on that connection."""
    return type(error).__name__ in ("InternalException", "FatalException")


def memory_reason(error: Exception) -> str | None:
    """What to say when the engine had too little memory; None for every other failure."""
    if type(error).__name__ != "OutOfMemoryException":
        return None
    return f"the expression needs more memory than {_BOUNDS['memory_limit']} over this row"


def plain_reason(error: Exception) -> str:
    """The engine's words for people: one line, without the kind of the error and the picture below it."""
    first = str(error).partition("\n")[0]
    kind, colon, rest = first.partition(": ")
    return (rest if colon and kind.endswith("Error") else first).strip()[:300]


def _duckdb() -> Any:
    try:
        import duckdb  # 60 ms: only a file with SQL rules or a Parquet data set pays for it
    except ImportError:
        raise UsageError(
            "Tables and SQL need DuckDB, which is not installed. Type: pip install 'rulebook-engine[tables]'"
        ) from None
    return duckdb

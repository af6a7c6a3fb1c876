"""Scoring rows by an SQL expression: whole batches at once, and the rows that fail one by one, each with its reason."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any, cast

from rulebook.codes import message_of
from rulebook.errors import DatasetError, UsageError
from rulebook.evidence.row_columns import SQL_TYPES, Kind
from rulebook.languages.sql import RELATION, columns_read, read_sql, sql_faults
from rulebook.languages.sql_tables import SqlScores
from rulebook.services.arrow_tables import parquet_batches, schema_of, table_of
from rulebook.services.files import MachineFiles
from rulebook.services.tables import (
    DuckTables,
    broke_engine,
    engine_error,
    literal,
    locked_connection,
    memory_reason,
    plain_reason,
    quoted,
    ran_out,
    within,
)

BATCH_LIMIT_S = 60.0
"""How long one batch of rows may take."""

MAX_TOLD = 200
"""How many failing rows of one scorer are asked for their own reason; each costs a query of its own."""

MAX_BATCH_BYTES = 16 * 1024 * 1024
"""How large rows may be that the engine is given together: each text that an expression makes of them is as large."""

STREAM_ROWS = 65_536
"""How many scores are handed on together where the engine reads the rows itself."""

_STREAM_ERRORS = (OSError, ValueError, MemoryError)
"""As what a failure of the engine comes through Arrow when it happens after the first rows."""

_NOTHING = "the expression gave nothing (NULL)"
_NOT_FINITE = "the expression gave no finite number"


class SqlScorer:
    """One checked expression over rows with these columns.

    Raises UsageError with every problem when the expression is not valid for them: nothing that was not checked runs.
    `limit_s` is how long a batch may take.
    """

    def __init__(self, expression: str, types: Mapping[str, str], *, limit_s: float = BATCH_LIMIT_S) -> None:
        tables = DuckTables()
        faults = sql_faults(expression, tables, types)
        if faults:
            told = " ".join(message_of(fault.code, fault.words) for fault in faults)
            raise UsageError(f"The SQL expression can't be used: {told}")
        self._text = read_sql(expression)
        self.reads = columns_read(self._text, tables, types)
        self._all = list(types)
        self._types = {name: kind for name, kind in types.items() if name in self.reads}
        self._number = f"CAST(({self._text}\n) AS DOUBLE)"
        self._limit_s = limit_s
        self._told = 0
        self._connection: Any = None
        self._error = engine_error()

    def score(self, table: Any, *, failing: bool = False) -> SqlScores:
        """The scores of an Arrow table or record batch, which may have more columns than the expression reads.

        `failing` says that some row is known to fail, so that the rows are tried one by one at once.
        """
        if self._connection is None:
            self._connection = locked_connection()
        if table.num_rows == 0:
            return SqlScores(())
        if table.num_rows > 1 and table.nbytes > MAX_BATCH_BYTES:
            half = table.num_rows // 2
            return _together(
                self.score(table.slice(0, half), failing=failing), self.score(table.slice(half), failing=failing)
            )
        return self._row_by_row(table) if failing else self._scored(table)

    def columns(self) -> list[str]:
        """The columns that must be supplied: those that the expression reads, or any one to count the rows by."""
        return [name for name in self._all if name in self.reads] or self._all[:1]

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def stream_query(self, source: str) -> str:
        """The query over a whole relation; what it selects is what was checked."""
        return f"SELECT {self._number} AS score FROM {source} AS {RELATION}"

    def _scored(self, table: Any) -> SqlScores:
        try:
            (scores,) = self._values(f"{self._number} AS score", "", table)
            return finite(scores)
        except self._error as error:
            if table.num_rows == 1:
                return SqlScores((None,), {0: self._words(error)})
            if ran_out(error):
                return SqlScores((None,) * table.num_rows, dict.fromkeys(range(table.num_rows), self._words(error)))
        return self._row_by_row(table)

    def _row_by_row(self, table: Any) -> SqlScores:
        """The same scores where some row fails: TRY keeps a failure in its row, and a struct tells it from NULL."""
        try:
            tried = f"TRY(struct_pack(v := {self._number})) AS tried"
            values, failed = self._values(tried, "tried.v, tried IS NULL", table)
        except self._error as error:
            if table.num_rows == 1 or ran_out(error):
                return SqlScores((None,) * table.num_rows, dict.fromkeys(range(table.num_rows), self._words(error)))
            # out of memory, which no TRY holds: half of the rows may fit
            half = table.num_rows // 2
            return _together(self._scored(table.slice(0, half)), self._scored(table.slice(half)))
        scored = finite(values)
        reasons = {place: self._reason(table, place) for place, fails in enumerate(failed) if fails}
        return SqlScores(scored.scores, {**scored.faults, **reasons})

    def _reason(self, table: Any, place: int) -> str:
        """What the engine says of one failing row."""
        self._told += 1
        if self._told > MAX_TOLD:
            return f"the expression can't be worked out for this row, as for {MAX_TOLD} before it"
        try:
            self._values(f"{self._number} AS score", "", table.slice(place, 1))
        except self._error as error:
            return self._words(error)
        return "the expression can't be worked out for this row"

    def _words(self, error: Exception) -> str:
        if ran_out(error):
            return f"the expression took longer than {self._limit_s:g} s over these rows"
        if broke_engine(error):
            return "the SQL engine broke over this row"
        return memory_reason(error) or plain_reason(error)

    def _values(self, wanted: str, of_it: str, table: Any) -> list[list[Any]]:
        """The columns that a query gives: `wanted` over the rows, and `of_it` over that where it is not empty."""
        connection = self._connection
        connection.register("given", table)
        try:
            # every column is given its declared type: JSON is text to Arrow
            typed = ", ".join(f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}" for name, kind in self._types.items())
            query = f"SELECT {wanted} FROM (SELECT {typed or '1 AS nothing'} FROM given) AS {RELATION}"
            with within(connection, self._limit_s):
                found = connection.sql(f"SELECT {of_it} FROM ({query})" if of_it else query).to_arrow_table()
            return [column.to_pylist() for column in found.columns]
        except self._error as error:
            if broke_engine(error):
                # whatever is asked after a row that broke it would fail with it
                self._connection = locked_connection()
            raise
        finally:
            connection.unregister("given")
            if connection is not self._connection:
                connection.close()


def _together(first: SqlScores, second: SqlScores) -> SqlScores:
    shift = len(first.scores)
    later = {place + shift: reason for place, reason in second.faults.items()}
    return SqlScores((*first.scores, *second.scores), {**first.faults, **later})


def score_parquet(path: str, expression: str, *, limit_s: float = BATCH_LIMIT_S) -> Iterator[SqlScores]:
    """The scores of every row of a Parquet file, in its order, by batches: the engine reads the columns that it needs.

    Raises UsageError for an expression that is not valid for its columns, DatasetError for a file that is none.
    """
    with _opened(path) as file:
        # the open file and no name: nobody can swap it behind our back, and no sign in the name is a pattern
        source = f"/proc/self/fd/{file.fileno()}"
        types = _parquet_types(source)
        scorer = SqlScorer(expression, types, limit_s=limit_s)
        done = 0
        with closing(scorer), suppress(engine_error(), *_STREAM_ERRORS):
            for scored in _streamed(source, scorer, limit_s):
                yield scored
                done += len(scored.scores)
            return
        # some row fails: the same rows again, by batches that keep a failure in its row
        with closing(scorer), parquet_batches(file, scorer.columns(), STREAM_ROWS) as batches:
            for batch in batches:
                skipped = min(done, batch.num_rows)
                done -= skipped
                if skipped < batch.num_rows:
                    yield scorer.score(batch.slice(skipped), failing=True)


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    with ExitStack() as stack:
        try:
            file = stack.enter_context(MachineFiles().open(path))
        except OSError as error:
            raise DatasetError(
                f"`{path}` can't be read: {(error.strerror or 'the machine refuses').lower()}."
            ) from None
        yield file


def _streamed(source: str, scorer: SqlScorer, limit_s: float) -> Iterator[SqlScores]:
    with closing(locked_connection(source)) as connection:
        query = scorer.stream_query(f"read_parquet({literal(source)})")
        reader = connection.sql(query).to_arrow_reader(STREAM_ROWS)
        while True:
            with within(connection, limit_s):
                batch = next(reader, None)
            if batch is None:
                return
            yield finite(batch.column(0).to_pylist())


def _parquet_types(source: str) -> dict[str, str]:
    """The columns of a Parquet file with their SQL types. Raises DatasetError."""
    with closing(locked_connection(source)) as connection:
        try:
            relation = connection.sql(f"SELECT * FROM read_parquet({literal(source)})")
        except engine_error() as error:
            raise DatasetError(f"This can't be read as Parquet: {plain_reason(error)}.") from None
        return dict(zip(relation.columns, map(str, relation.types), strict=True))


def score_rows(scorer: SqlScorer, rows: Sequence[Mapping[str, object]], columns: Mapping[str, Kind]) -> SqlScores:
    """The scores of rows that are mappings; their columns are of these kinds."""
    read = {name: columns[name] for name in scorer.columns()}
    return scorer.score(table_of(rows, read, schema_of(read)))


def sql_types(columns: Mapping[str, Kind]) -> dict[str, str]:
    """The SQL types of columns of these kinds."""
    return {name: SQL_TYPES[kind] for name, kind in columns.items()}


def finite(values: Sequence[float | None]) -> SqlScores:
    """Scores of which every one is a finite number, and a reason for each row where none came out."""
    if None not in values and math.isfinite(sum(cast(Sequence[float], values))):
        return SqlScores(values)
    faults: dict[int, str] = {}
    scores: list[float | None] = []
    for place, value in enumerate(values):
        good = value is not None and math.isfinite(value)
        scores.append(value if good else None)
        if not good:
            faults[place] = _NOTHING if value is None else _NOT_FINITE
    return SqlScores(scores, faults)

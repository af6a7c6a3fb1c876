"""What the language of SQL expressions asks of an SQL engine, and what an expression gave for rows."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field


class SqlRefused(Exception):
    """The engine does not take an expression. `position` is where, in bytes of the query; None: it does not say."""

    def __init__(self, reason: str, position: int | None = None) -> None:
        self.reason = reason
        self.position = position
        super().__init__(reason)


class SqlScores(Struct, frozen=True):
    """What an expression gave for some rows, in their order. A row without a score has its reason in `faults`.

    `faults` is keyed by the row's place among these rows, the first being 0.
    """

    scores: Sequence[float | None]
    faults: Mapping[int, str] = field(default_factory=dict)


class Tables(Protocol):
    """An SQL engine that can reach nothing: no file, no network, no setting and no other table."""

    def sql_tree(self, query: str) -> Mapping[str, object]:
        """The tree of a query as DuckDB writes it; nothing is looked up or run. Raises SqlRefused."""
        ...

    def sql_pattern(self, pattern: str) -> None:
        """Read a pattern as the engine's functions will. Raises SqlRefused for one that is none."""
        ...

    def sql_kind(self, expression: str, columns: Mapping[str, str]) -> str:
        """The SQL type of a checked expression over columns of these types. Raises SqlRefused."""
        ...

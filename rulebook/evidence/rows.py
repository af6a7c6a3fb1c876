"""The rows of a dataset, one at a time: each knows its number and the line of its file where it starts."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

MAX_ROW_BYTES = 16 * 1024 * 1024
"""How large one row may be as it stands in a file."""

MAX_DEPTH = 64
"""How deep the value of a column may be nested."""


class Row(Struct, frozen=True):
    """One row. `number` counts from 1; `line` is where it starts in its file, None where it stands in no file."""

    number: int
    values: Mapping[str, object]
    line: int | None = None

    def place(self) -> str:
        """Which row this is, for a message."""
        return _place(self.number, self.line)


class DamagedRow(Struct, frozen=True):
    """A row that cannot be read, and why. It counts as a row: no score is made up for it, and it is never left out."""

    number: int
    reason: str
    line: int | None = None

    def place(self) -> str:
        """Which row this is, for a message."""
        return _place(self.number, self.line)


Rows = Iterator[Row | DamagedRow]


def _place(number: int, line: int | None) -> str:
    return f"row {number}" if line is None else f"row {number} (line {line})"

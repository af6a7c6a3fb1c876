"""The columns of rows: what kind of value each holds, over all rows, and where that changes on the way."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Literal

from rulebook.evidence.rows import Row

Kind = Literal["yes or no", "whole number", "number", "text", "json", "date", "moment"]
"""What a column holds, in an author's words. `json` is lists and mappings, and values of several kinds."""

SQL_TYPES: Mapping[Kind, str] = {
    "yes or no": "BOOLEAN",
    "whole number": "BIGINT",
    "number": "DOUBLE",
    "text": "VARCHAR",
    "json": "JSON",
    "date": "DATE",
    "moment": "TIMESTAMP",
}

_LEAST, _MOST = -(2**63), 2**63 - 1
_EXACT = 2**53
_ONE: Mapping[str, Kind] = {
    "yes or no": "yes or no",
    "whole number": "whole number",
    "number": "number",
    "text": "text",
    "date": "date",
    "moment": "moment",
}


class ColumnScan:
    """What one pass over all rows found out about their columns."""

    def __init__(self) -> None:
        self.rows = 0
        self._first: dict[str, Row] = {}
        self._kinds: dict[str, dict[str, tuple[int, Row]]] = {}
        self._given: dict[str, int] = {}
        self._start: Row | None = None

    def add(self, row: Row) -> None:
        """Look at one more row."""
        if self._start is None:
            self._start = row
        self.rows += 1
        for name, value in row.values.items():
            if name not in self._kinds:
                self._kinds[name], self._given[name], self._first[name] = {}, 0, row
            self._given[name] += 1
            kind = kind_of(value)
            if kind is not None:
                seen = self._kinds[name]
                count, first = seen.get(kind, (0, row))
                seen[kind] = (count + 1, first)

    def columns(self) -> dict[str, Kind]:
        """Every column in the order in which it first appears, with the kind that holds all its values."""
        return {name: _joined(tuple(kinds)) for name, kinds in self._kinds.items()}

    def drift(self) -> tuple[str, ...]:
        """Every way in which later rows differ from earlier ones, in words, by column."""
        return tuple(sentence for name in self._kinds for sentence in self._drift_of(name))

    def _drift_of(self, name: str) -> list[str]:
        found = []
        first = self._first[name]
        if self._start is not None and first is not self._start:
            found.append(f"`{name}` first appears in {first.place()}; the rows before it have no such column.")
        missing = self.rows - self._given[name] - (first.number - self._start.number if self._start else 0)
        if missing > 0:
            found.append(f"`{name}` is left out by {missing} of {self.rows} rows; it is empty there.")
        kinds = self._kinds[name]
        if _joined(tuple(kinds)) == "json" and len(kinds) > 1:
            told = ", ".join(f"{kind} in {count} (first in {row.place()})" for kind, (count, row) in kinds.items())
            found.append(f"`{name}` changes its kind: {told}. Its values are kept as JSON.")
        return found


def kind_of(value: object) -> str | None:
    """What kind one value is; None for null. A whole number that no 64 bits hold is `huge number`."""
    match value:
        case None:
            return None
        case bool():
            return "yes or no"
        case int():
            return "whole number" if _LEAST <= value <= _MOST else "huge number"
        case float():
            return "number"
        case str():
            return "text"
        case datetime():
            return "moment"
        case date():
            return "date"
        case _:
            return "list or mapping"


def stored_value(value: object, kind: Kind) -> object:
    """A value as a column of that kind holds it."""
    if value is None:
        return None
    if kind == "json":
        return json.dumps(plain_data(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if kind == "number" and type(value) is int:
        return float(value)
    return value


def plain_data(value: object) -> object:
    """The same value as data that JSON can write: a date or a moment as text."""
    match value:
        case datetime() | date():
            return value.isoformat()
        case dict():
            return {str(key): plain_data(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain_data(inner) for inner in value]
        case _:
            return value


def _joined(kinds: tuple[str, ...]) -> Kind:
    """The kind that holds values of all these kinds; a column of nulls alone is text."""
    if not kinds:
        return "text"
    if len(kinds) == 1:
        return _ONE.get(kinds[0], "json")
    return "number" if set(kinds) == {"whole number", "number"} else "json"

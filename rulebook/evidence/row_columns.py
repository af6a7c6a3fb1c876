"""The columns of rows: what kind of value each holds, over all rows, and where that changes on the way."""

import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Literal

from msgspec import Struct

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

_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which no UTF-8 holds; JSON can spell it."""

_LEAST, _MOST = -(2**63), 2**63 - 1
_MOST_SHAPES = 1_000
_TYPES: Mapping[type, str] = {
    bool: "yes or no",
    int: "whole number",
    float: "number",
    str: "text",
    datetime: "moment",
    date: "date",
}
_ONE: Mapping[str, Kind] = {
    "yes or no": "yes or no",
    "whole number": "whole number",
    "number": "number",
    "text": "text",
    "date": "date",
    "moment": "moment",
}


class _Shape(Struct):
    """Rows of one shape: the first, the columns of it that hold whole numbers, and how many there are."""

    first: Row
    whole: tuple[str, ...]
    count: int = 0


class ColumnScan:
    """What one pass over all rows found out about their columns.

    Rows of one shape (the same columns with values of the same types) are only counted, and looked at together.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.width = 0
        self._shapes: dict[tuple[tuple[str, ...], tuple[type, ...]], _Shape] = {}
        self._first: dict[str, Row] = {}
        self._kinds: dict[str, dict[str, tuple[int, Row]]] = {}
        self._given: dict[str, int] = {}
        self._start: Row | None = None

    def add(self, row: Row) -> None:
        """Look at one more row. `width` is then at least how many columns it has."""
        self.rows += 1
        values = row.values
        key = (tuple(values), tuple(map(type, values.values())))
        shape = self._shapes.get(key)
        if shape is None:
            # the place alone is kept: a row may be large
            place = Row(row.number, {}, row.line)
            self._start = self._start or place
            if len(self._shapes) >= _MOST_SHAPES:
                self._fold()
            shape = self._shapes[key] = _Shape(place, tuple(name for name in values if type(values[name]) is int))
            self.width = max(self.width, len(self._kinds), len(values))
        for name in shape.whole:
            if not _LEAST <= values[name] <= _MOST:  # type: ignore[operator]
                self._one_by_one(row)
                return
        shape.count += 1

    def columns(self) -> dict[str, Kind]:
        """Every column in the order in which it first appears, with the kind that holds all its values."""
        self._fold()
        return {name: _joined(tuple(kinds)) for name, kinds in self._kinds.items()}

    def drift(self) -> tuple[str, ...]:
        """Every way in which later rows differ from earlier ones, in words, by column."""
        self._fold()
        return tuple(sentence for name in self._kinds for sentence in self._drift_of(name))

    def _fold(self) -> None:
        for (names, types), shape in self._shapes.items():
            for name, kind in zip(names, types, strict=True):
                self._note(name, _kind_of_type(kind), shape.count, shape.first)
        self._shapes.clear()

    def _one_by_one(self, row: Row) -> None:
        self._fold()
        place = Row(row.number, {}, row.line)
        for name, value in row.values.items():
            self._note(name, kind_of(value), 1, place)

    def _note(self, name: str, kind: str | None, count: int, first: Row) -> None:
        if not count:
            return
        if name not in self._kinds:
            self._kinds[name], self._given[name], self._first[name] = {}, 0, first
        self._given[name] += count
        if kind is not None:
            seen, earlier = self._kinds[name].get(kind, (0, first))
            self._kinds[name][kind] = (seen + count, min(earlier, first, key=lambda each: each.number))

    def _drift_of(self, name: str) -> list[str]:
        found = []
        first = self._first[name]
        if self._start is not None and first.number != self._start.number:
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
    if type(value) is int and not _LEAST <= value <= _MOST:
        return "huge number"
    return _kind_of_type(type(value))


def _kind_of_type(kind: type) -> str | None:
    return None if kind is type(None) else _TYPES.get(kind, "list or mapping")


def stored_value(value: object, kind: Kind) -> object:
    """A value as a column of that kind holds it."""
    if value is None:
        return None
    if kind == "json":
        text = json.dumps(plain_data(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return text if text.isascii() else _HALF.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
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

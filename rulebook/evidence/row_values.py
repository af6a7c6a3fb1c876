"""The values of rows that come from Python or Arrow: plain data, and names that a column can bear."""

import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from msgspec import Struct

from rulebook.errors import DatasetError
from rulebook.evidence.rows import MAX_DEPTH

MAX_NAME_CHARACTERS = 200


class Unreadable(Struct, frozen=True):
    """Stands in a row for a value that Python cannot hold. `what` it is, as in "it holds a text that is no UTF-8"."""

    what: str


def plain_row(values: Mapping[Any, object]) -> dict[str, object]:
    """A row of plain data. Raises ValueError, in words, for what no table can hold.

    A decimal becomes a number, a span of time its seconds; a time of day, and a moment with a time zone, become text.
    """
    return {_name(key): _plain(value, 0) for key, value in values.items()}


def detached(value: object, depth: int = 0) -> object:
    """The same data in lists and mappings of its own: what is done to one of them is not done to the other.

    Raises ValueError, in words, for what is nested too deep.
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    match value:
        case dict():
            return {key: detached(inner, depth + 1) for key, inner in value.items()}
        case list():
            return [detached(inner, depth + 1) for inner in value]
        case tuple():
            return tuple(detached(inner, depth + 1) for inner in value)
        case _:
            return value


def check_names(names: Iterable[str]) -> None:
    """Raises DatasetError for a name that no column can bear, and where there is no column at all."""
    found = list(names)
    if not found:
        raise DatasetError("These rows have no column. Each row is a mapping of at least one column to its value.")
    for name in found:
        if not name.strip():
            raise DatasetError("A column has an empty name. Name every column.")
        if len(name) > MAX_NAME_CHARACTERS:
            raise DatasetError(
                f"The column `{name[:40]}…` has a name of {len(name)} characters; at most {MAX_NAME_CHARACTERS} go."
            )
        if not name.isprintable():
            raise DatasetError(f"The column {ascii(name)} has a name with a sign that nobody can see. Rename it.")


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise ValueError(f"the column {key!r:.40} has a name that is no text")
    return key


def _plain(value: object, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    match value:
        case None | bool():
            return value
        case str():
            return _whole_text(value)
        case int():
            return int(value)
        case float():
            return _finite(float(value))
        case Decimal():
            return _finite(float(value))
        case datetime():
            return value if value.tzinfo is None else value.isoformat()
        case date():
            return value
        case time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return {_whole_text(_name(key)): _plain(inner, depth + 1) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner, depth + 1) for inner in value]
        case Unreadable():
            raise ValueError(f"it holds {value.what}")
    # a number of NumPy's is one of Python's in a box
    unboxed = value.item() if hasattr(value, "item") and not getattr(value, "shape", (1,)) else value
    if unboxed is value:
        raise ValueError(
            f"it holds {type(value).__name__!r}, which is no data: text, numbers, yes or no, lists, mappings"
        )
    return _plain(unboxed, depth)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"it holds {value}, which is no number that a table keeps. Leave the value empty (None)")
    return value


def _whole_text(text: str) -> str:
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ValueError("it holds half a character (a lone surrogate such as `\\ud800`)")
    return str(text)

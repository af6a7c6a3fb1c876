"""A file's JSON, YAML or TOML as plain data. Whatever keeps it from being read is the doing of who wrote it."""

import errno
import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Literal

from rulebook.errors import NotHandedIn

Notation = Literal["json", "yaml", "toml"]

MOST_BYTES: Mapping[Notation, int] = {"json": 8 * 1024**2, "yaml": 2 * 1024**2, "toml": 2 * 1024**2}
"""Larger documents are not read: of YAML, 2 MiB can take 5 s and 400 MiB."""

_MOST_VALUES = 2_000_000
_MOST_DEPTH = 100
_MOST_DIGITS = 400

_PART = r"""(?>[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?m)(?:^|[\[{{,])[ \t]*+{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_DEPTH}}}")
"""A dotted key takes the standard reader time in the square of its parts: 3 s for 40 kB."""


def why_unread(error: OSError) -> str:
    """Why the machine did not read a file, in words; a link is named as one, which is never followed."""
    return "it is a link" if error.errno == errno.ELOOP else (error.strerror or str(error)).lower()


def read_data(data: bytes, notation: Notation, path: str) -> object:
    """The data of one document: mappings, lists, text, numbers, yes or no, None; dates are text.

    Raises NotHandedIn, which says what is wrong: no such notation, a key given twice, a number that is none, too large.
    """
    if len(data) > MOST_BYTES[notation]:
        most = f"at most {MOST_BYTES[notation]} are read as {notation.upper()}"
        raise NotHandedIn(f"`{path}` has {len(data)} bytes; {most}", cause="excess")
    try:
        return _plain(_READERS[notation](data.decode("utf-8-sig")), 0, [_MOST_VALUES])
    except UnicodeDecodeError as error:
        raise NotHandedIn(f"`{path}` is not text in UTF-8", cause="excess") from error
    except RecursionError as error:
        raise NotHandedIn(f"`{path}` cannot be read: it is nested too deep", cause="excess") from error
    except ValueError as error:
        raise NotHandedIn(f"`{path}` cannot be read: {error}", cause="excess") from error


def strict_json(text: str) -> object:
    """The data of one JSON document; a key given twice and a number that is none are refused. Raises ValueError."""
    import json  # a file without such a check does without

    try:
        return json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_number, parse_int=_whole, parse_float=_decimal
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON at line {error.lineno}, column {error.colno}") from error


def _toml(text: str) -> object:
    import tomllib  # as above

    if _LONG_KEY.search(text):
        raise ValueError(f"a key in it has more than {_MOST_DEPTH} parts")
    try:
        return tomllib.loads(text, parse_float=_decimal)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line \d+, column \d+|at end of document", str(error))
        raise ValueError(f"it is not valid TOML{f' {where[0]}' if where else ''}") from error
    except ValueError as error:
        raise ValueError("a number or a date in it is none") from error


def _yaml(text: str) -> object:
    from rulebook.source.plain_yaml import load_core_yaml  # as above

    return load_core_yaml(text)


_READERS: Mapping[Notation, Callable[[str], object]] = {"json": strict_json, "yaml": _yaml, "toml": _toml}


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        from rulebook.source.plain_yaml import first_twice  # as above

        twice = first_twice([key for key, _ in pairs])
        raise ValueError(f"the key `{twice[:100]}` is in it twice")
    return found


def _no_number(word: str) -> float:
    raise ValueError(f"`{word}` is no number")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"it holds a number of {len(digits)} digits")
    return int(digits)


def _decimal(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"`{word[:40]}` is no number, or too large for one")
    return number


def _plain(value: object, depth: int, left: list[int]) -> object:
    """The same data, its size counted; what no other notation has is text, or refused. Raises ValueError."""
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"it holds more than {_MOST_VALUES} values")
    if depth > _MOST_DEPTH:
        raise ValueError(f"it is nested more than {_MOST_DEPTH} deep")
    match value:
        case dict():
            return {key: _plain(inner, depth + 1, left) for key, inner in value.items()}
        case list():
            return [_plain(inner, depth + 1, left) for inner in value]
        case float() if not math.isfinite(value):
            raise ValueError("it holds a number that is none, or infinite")
        case datetime() | date() | time():
            return value.isoformat()
        case str() | bool() | int() | float() | None:
            return value
        case _:
            raise ValueError("it holds something else than data")

"""Reading JSON as the standard says: any depth, numbers of any size, and neither NaN nor Infinity."""

import math
import re
from decimal import Decimal, InvalidOperation
from functools import cache
from json import JSONDecodeError, JSONDecoder

import orjson
from msgspec import Struct

from rulebook.measures.json_depth import read_deep


class NotJson(Struct, frozen=True):
    """A text that is no JSON document; `reason` says why, and where."""

    reason: str


class HugeNumber(Struct, frozen=True):
    """A number whose exponent is beyond every number type; equal only where it is spelt alike."""

    text: str


_LONG_DIGITS = 19
"""Whole numbers of so many digits may not fit in 64 bits, and the fast reader would round them without a word."""

_DIGIT = re.compile("[0-9]")
_LONG_NUMBER = re.compile(f"[0-9]{{{_LONG_DIGITS}}}")
_LARGE_EXPONENT = re.compile(r"[eE]\+?[0-9]{3}")
_SHALLOW_CHARACTERS = 1_000
"""A text of no more characters is not nested too deep for the fast reader."""

_LONGEST_INTEGER = 4_000
"""Digits. Python refuses to read 4,300 and more, since that takes quadratic time."""


def read_json(value: object) -> object:
    """The document that a column's value holds: a text is read, and data is its own document. NotJson where it is none.

    Duplicate keys: the last one counts. A text may have ASCII white space around its document, and nothing else. Half
    a character (a lone surrogate) is read. Whole numbers are exact, and so is what is too large for a floating point
    number (Decimal, HugeNumber).
    """
    if not isinstance(value, str):
        return _document(value)
    if _has_long_number(value):
        return _carefully(value)
    try:
        return orjson.loads(value)
    except JSONDecodeError as error:
        return _no_json(error) if _is_plain(value) else _carefully(value)


def _has_long_number(text: str) -> bool:
    """Whether so many digits stand in a row that one of them stands at every nineteenth place: most texts end here."""
    return _DIGIT.search(text[_LONG_DIGITS - 1 :: _LONG_DIGITS]) is not None and _LONG_NUMBER.search(text) is not None


def _is_plain(text: str) -> bool:
    """Whether nothing is in a text for whose sake the fast reader would refuse what is JSON."""
    if len(text) > _SHALLOW_CHARACTERS or not text.isascii() or "\\u" in text:
        return False
    return _LARGE_EXPONENT.search(text) is None


def _no_json(error: JSONDecodeError) -> NotJson:
    return NotJson(f"{error.msg} (line {error.lineno}, column {error.colno})")


def _carefully(text: str) -> object:
    """Read what the fast reader refuses though it may be valid: depth, half characters, large numbers."""
    try:
        return _strict().decode(text)
    except RecursionError:
        pass
    except JSONDecodeError as error:
        return _no_json(error)
    except ValueError as error:
        return NotJson(str(error))
    try:
        return read_deep(text, whole_number, decimal_number)
    except ValueError as error:
        return NotJson(str(error))


def whole_number(digits: str) -> int | Decimal:
    """A whole number, exact whatever its length."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else Decimal(digits)


def decimal_number(word: str) -> float | Decimal | HugeNumber:
    """A number with a point or an exponent; one that is too large for a floating point number stays exact."""
    number = float(word)
    if math.isfinite(number):
        return number
    try:
        return Decimal(word)
    except InvalidOperation:
        return HugeNumber(word)


def _document(value: object) -> object:
    if value is None:
        return NotJson("it is empty")
    if isinstance(value, float) and not math.isfinite(value):
        return NotJson(f"{value} is no JSON number")
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, bool | int | float | dict | list) else read_json(str(value))


def _no_constant(word: str) -> object:
    raise ValueError(f"`{word}` is no JSON")


@cache
def _strict() -> JSONDecoder:
    return JSONDecoder(parse_int=whole_number, parse_float=decimal_number, parse_constant=_no_constant)

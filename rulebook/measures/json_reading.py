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


_LONG_NUMBER = re.compile(r"\d{19}")
"""Whole numbers of so many digits may not fit in 64 bits, and would be rounded without a word."""

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
    if _LONG_NUMBER.search(value) is None:
        try:
            return orjson.loads(value)
        except JSONDecodeError as error:
            return _carefully(value, f"{error.msg} (line {error.lineno}, column {error.colno})")
    return _carefully(value, "")


def _carefully(text: str, reason: str) -> object:
    """Read what the fast reader refuses though it may be valid: depth, half characters, large numbers."""
    try:
        return _strict().decode(text)
    except RecursionError:
        pass
    except JSONDecodeError as error:
        return NotJson(reason or f"{error.msg} (line {error.lineno}, column {error.colno})")
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
    return value if isinstance(value, bool | int | float | dict | list) else read_json(str(value))


def _no_constant(word: str) -> object:
    raise ValueError(f"`{word}` is no JSON")


@cache
def _strict() -> JSONDecoder:
    return JSONDecoder(parse_int=whole_number, parse_float=decimal_number, parse_constant=_no_constant)

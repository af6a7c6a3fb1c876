"""Reading JSON that is nested deeper than a reader that calls itself can go."""

import re
from collections.abc import Callable
from json import JSONDecoder

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_STRINGS = JSONDecoder()
_WORD = re.compile("true|false|null")


def read_deep(text: str, whole: Callable[[str], object], decimal: Callable[[str], object]) -> object:
    """The document in `text`, however deep. Raises ValueError, which says what is wrong and where.

    `whole` reads a number without point and exponent, `decimal` any other.
    """
    stack: list[tuple[list[object] | dict[str, object], str]] = []
    at = _skip(text, 0)
    while True:
        value, at, opened = _value(text, at, whole, decimal)
        if opened:
            assert isinstance(value, list | dict)
            at = _skip(text, at)
            if text[at : at + 1] != ("]" if isinstance(value, list) else "}"):
                key, at = ("", at) if isinstance(value, list) else _key(text, at)
                stack.append((value, key))
                continue
            at += 1
        while stack:
            around, key = stack.pop()
            if isinstance(around, list):
                around.append(value)
            else:
                around[key] = value
            at = _skip(text, at)
            sign, end = text[at : at + 1], "]" if isinstance(around, list) else "}"
            if sign == ",":
                at = _skip(text, at + 1)
                key, at = ("", at) if isinstance(around, list) else _key(text, at)
                stack.append((around, key))
                break
            if sign != end:
                raise _wrong(text, at, f"`,` or `{end}` is missing")
            value, at = around, at + 1
        else:
            at = _skip(text, at)
            if at != len(text):
                raise _wrong(text, at, "something follows the document")
            return value


def _value(
    text: str, at: int, whole: Callable[[str], object], decimal: Callable[[str], object]
) -> tuple[object, int, bool]:
    """A scalar, or a list or mapping that has just been opened."""
    sign = text[at : at + 1]
    if sign == "[":
        return [], at + 1, True
    if sign == "{":
        return {}, at + 1, True
    if sign == '"':
        return (*_STRINGS.raw_decode(text, at), False)
    if (word := _WORD.match(text, at)) is not None:
        return _WORDS[word[0]], word.end(), False
    if (number := _NUMBER.match(text, at)) is not None:
        return (whole if number[2] is None and number[3] is None else decimal)(number[0]), number.end(), False
    raise _wrong(text, at, "a value is missing")


def _key(text: str, at: int) -> tuple[str, int]:
    """A key, and where its value begins."""
    if text[at : at + 1] != '"':
        raise _wrong(text, at, "a key in double quotes is missing")
    key, at = _STRINGS.raw_decode(text, at)
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise _wrong(text, at, "`:` is missing")
    return key, _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _wrong(text: str, at: int, what: str) -> ValueError:
    line, start = text.count("\n", 0, at) + 1, text.rfind("\n", 0, at)
    return ValueError(f"{what} (line {line}, column {at - start})")

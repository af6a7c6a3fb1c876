"""Reading JSON that is nested deeper than a reader that calls itself can go."""

import re
from collections.abc import Callable
from json import JSONDecoder

Reading = Callable[[str], object]

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_STRINGS = JSONDecoder()
_WORD = re.compile("true|false|null")


def read_deep(text: str, whole: Reading, decimal: Reading) -> object:
    """The document in `text`, however deep. Raises ValueError, which says what is wrong and where.

    `whole` reads a number without point and exponent, `decimal` any other.
    """
    around: list[tuple[list[object] | dict[str, object], str]] = []
    at = _skip(text, 0)
    while True:
        sign = text[at : at + 1]
        value: object = None
        opened: list[object] | dict[str, object] | None = None
        if sign == "[":
            value = opened = []
            at = _skip(text, at + 1)
        elif sign == "{":
            value = opened = {}
            at = _skip(text, at + 1)
        else:
            value, at = _scalar(text, at, whole, decimal)
        if opened is not None and text[at : at + 1] != ("]" if sign == "[" else "}"):
            key, at = ("", at) if sign == "[" else _key(text, at)
            around.append((opened, key))
            continue
        at = _skip(text, at if opened is None else at + 1)
        document, at, done = _closed(text, at, value, around)
        if done:
            return document


def _closed(
    text: str, at: int, value: object, around: list[tuple[list[object] | dict[str, object], str]]
) -> tuple[object, int, bool]:
    """Put a value that ended into what stands around it, and whatever ends with it into what is around that.

    Gives the document and True at its end, else where the next value begins.
    """
    while around:
        holder, key = around[-1]
        if isinstance(holder, list):
            holder.append(value)
            end = "]"
        else:
            holder[key] = value
            end = "}"
        sign = text[at : at + 1]
        if sign == ",":
            at = _skip(text, at + 1)
            if end == "}":
                key, at = _key(text, at)
                around[-1] = holder, key
            return None, at, False
        if sign != end:
            raise _wrong(text, at, f"`,` or `{end}` is missing")
        value, at = holder, _skip(text, at + 1)
        around.pop()
    if at != len(text):
        raise _wrong(text, at, "something follows the document")
    return value, at, True


def _scalar(text: str, at: int, whole: Reading, decimal: Reading) -> tuple[object, int]:
    if text[at : at + 1] == '"':
        return _STRINGS.raw_decode(text, at)
    if (word := _WORD.match(text, at)) is not None:
        return _WORDS[word[0]], word.end()
    if (number := _NUMBER.match(text, at)) is not None:
        return (whole if number[2] is None and number[3] is None else decimal)(number[0]), number.end()
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
    """Where the next character stands that is no white space."""
    if text[at : at + 1] not in ("", " ", "\t", "\n", "\r"):
        return at
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _wrong(text: str, at: int, what: str) -> ValueError:
    line, start = text.count("\n", 0, at) + 1, text.rfind("\n", 0, at)
    return ValueError(f"{what} (line {line}, column {at - start})")

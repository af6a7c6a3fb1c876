"""How a value of a column is read as text, and how two texts are made alike before they are compared."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple


class MatchOptions(NamedTuple):
    """How two texts are made alike before they are compared."""

    strip: bool = True
    normalize_whitespace: bool = False
    case_insensitive: bool = False


def as_text(value: object) -> str:
    """The text of a column's value: nothing is empty text, and what is neither text nor number stands as in JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool | dict | list | tuple):
        import json  # a table of texts never needs it

        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def alike(text: str, options: MatchOptions) -> str:
    """The text without the differences that the options leave out. `normalize_whitespace` trims the ends too."""
    if options.normalize_whitespace:
        text = " ".join(text.split())
    elif options.strip:
        text = text.strip()
    return text.casefold() if options.case_insensitive else text


@cache
def text_reading(options: MatchOptions) -> Callable[[object], str]:
    """What reads a column's value as a text without those differences: the same one for the same options."""
    if options == MatchOptions():
        return lambda value: value.strip() if isinstance(value, str) else as_text(value).strip()
    return lambda value: alike(as_text(value), options)


def trimmed(text: str, case_insensitive: bool) -> str:
    """The text without white space at its ends, and folded where case does not matter."""
    return text.strip().casefold() if case_insensitive else text.strip()

"""Patterns in Python's own engine: flags by their letters, and each pattern compiled once."""

import re
import warnings
from functools import lru_cache

_LETTERS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


def flags_of(letters: str) -> int:
    """Python's flags for letters of `imsx`."""
    result = 0
    for letter in letters:
        result |= _LETTERS[letter]
    return result


@lru_cache(maxsize=1024)
def compiled(text: str, flags: str) -> re.Pattern[str]:
    """The pattern in Python's engine. Raises re.error, OverflowError or RecursionError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "possible nested set" speaks of a future Python, and of no mistake
        return re.compile(text, flags_of(flags))

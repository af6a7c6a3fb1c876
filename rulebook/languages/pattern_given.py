"""Patterns that Python callers give with flags of the `re` module."""

import re

from rulebook.languages.pattern import Pattern

_LETTERS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}


def pattern_given(text: str, flags: int) -> Pattern:
    """The pattern with the letters of its flags; what has no letter is written into its text."""
    letters = "".join(letter for flag, letter in _LETTERS.items() if flags & flag)
    return Pattern(_only_ascii(text) if flags & re.ASCII else text, letters)


def _only_ascii(text: str) -> str:
    """The pattern with the one flag that has no letter of ours, among those at its beginning."""
    inline = re.match(r"\s*\(\?([aimsux]+)\)", text)
    if inline is None:
        return f"(?a){text}"
    return text if "a" in inline[1] else f"(?a{inline[1]}){text[inline.end() :]}"

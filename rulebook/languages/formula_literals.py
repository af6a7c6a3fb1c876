"""Quoted texts inside an expression: what they say, and where each of their characters was written."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from rulebook.languages.faults import Fault

_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", "'": "'", '"': '"'}
_CODED = r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})"
_OPENING = r"([A-Za-z]{0,2})('''|\"\"\"|'|\")"
_VEILED = str.maketrans("'\"\\", "\ue001\ue002\ue003")
VEIL = "[\ue000-\ue003]"


class Quoted(NamedTuple):
    """A quoted text. `offsets`: the place of each character, then of the closing quote; `end` is past it."""

    value: str
    offsets: tuple[int, ...]
    end: int


def veiled(text: str) -> str:
    r"""The same text, as long, in which no reader of Python sees an escape.

    Backslashes become characters of the private use area, so that `'\d'` neither warns nor changes on its way
    through Python's parser; `read_quoted` gives them their meaning in the rule language.
    """
    parts: list[str] = []
    position = 0
    while (found := text.find("\\", position)) >= 0:
        parts += (text[position:found], "\ue000", text[found + 1 : found + 2].translate(_VEILED))
        position = found + 2
    return "".join((*parts, text[position:]))


def read_quoted(text: str, start: int, *, pattern: bool = False) -> Quoted:
    r"""The quoted text that begins at `start` of `text`.

    A backslash begins one of `\n \t \r \0 \\ \' \" \xhh \uhhhh`, else stands for itself. In a `pattern` only
    quotes and the backslash are: `\b` must arrive as a word boundary, and `\1` as a reference.
    """
    opening = re.compile(_OPENING).match(text, start)
    if opening is None:
        raise ValueError(f"no quoted text at {start}")
    quote, raw = opening[2], "r" in opening[1].lower()
    characters: list[str] = []
    offsets: list[int] = []
    position = opening.end()
    while not text.startswith(quote, position):
        character, length = _character(text, position, raw, pattern)
        offsets += [position] * len(character)
        characters.append(character)
        position += length
    return Quoted("".join(characters), (*offsets, position), position + len(quote))


def outward(fault: Fault, offsets: Sequence[int], mend: Callable[[int, int, str], str | None]) -> Fault:
    """A fault of a quoted text as a fault of the text around it; `mend` replaces a stretch of the latter."""
    last = len(offsets) - 1
    start, end = offsets[min(fault.start, last)], offsets[last if fault.end is None else min(fault.end, last)]
    mended = fault.mended
    if mended is not None:
        breaks_out = any(sign in mended for sign in "\\\"'")
        mended = None if breaks_out else mend(offsets[0], offsets[last], mended)
    return replace(fault, start=start, end=max(start, end), mended=mended, safe=fault.safe and mended is not None)


def _character(text: str, position: int, raw: bool, pattern: bool) -> tuple[str, int]:
    if text[position] != "\\":
        return text[position], 1
    following = text[position + 1]
    if raw:
        return text[position : position + 2], 2
    if following in "\\'\"":
        return following, 2
    if pattern:
        return "\\" + following, 2
    if following in _SIMPLE:
        return _SIMPLE[following], 2
    coded = re.compile(_CODED).match(text, position + 1)
    if coded is not None:
        return chr(int(coded[1] or coded[2], 16)), 1 + len(coded[0])
    return "\\" + following, 2

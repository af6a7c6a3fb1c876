"""What a judge gives: a score, what it found, and whether the run goes on.

Source: scoring, "How a step gets scored".
"""

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rulebook.errors import UnfitScoring

MAX_VALUE_CHARACTERS = 1024 * 1024
MAX_METADATA_CHARACTERS = 4 * 1024 * 1024
"""Longer texts in the metadata are cut in their middle, so that a transcript never fails to be written for them."""

_TAIL_CHARACTERS = 8192
_MOST_DEPTH = 100
_MOST_BITS = 4096
"""Python refuses to write a number of more than 4,300 digits, and most readers of JSON take one of far fewer."""


@dataclass(frozen=True)
class Scoring:
    """The result of a judge.

    `score` is any finite number. `metadata` is JSON data of any depth under text keys; it is copied, a path in it
    becomes text, half a character is spelt out, a whole number of more than 4,096 bits is written in base 16, and what
    is too long is cut with a note. `continue_task`: it passed, and the run goes on. Raises UnfitScoring for anything
    else.
    """

    score: float
    metadata: Mapping[str, object]
    continue_task: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", _number(self.score))
        object.__setattr__(self, "metadata", _mapping(self.metadata))
        object.__setattr__(self, "continue_task", _truth(self.continue_task))

    def as_data(self) -> dict[str, object]:
        """The result as plain data."""
        return {"score": self.score, "metadata": self.metadata, "continue_task": self.continue_task}


def _number(value: object) -> float:
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise UnfitScoring(f"`score` must be a finite number; this is {value!r:.80}.")
    try:
        score = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise UnfitScoring(f"`score` must be a finite number; this is {value!r:.80}.") from error
    if not math.isfinite(score):
        raise UnfitScoring(f"`score` must be a finite number; this is {score}.")
    return score


def _truth(value: object) -> bool:
    """Yes or no, also as 0 and 1 and as the booleans of an array library; a text is neither."""
    if isinstance(value, bool):
        return value
    try:
        if not isinstance(value, str) and value in (0, 1):
            return bool(value)
    except (TypeError, ValueError):  # an array is neither
        pass
    raise UnfitScoring(f"`continue_task` must be true or false; this is {value!r:.80}.")


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise UnfitScoring(f"`metadata` must be a mapping; this is {value!r:.80}.")
    left, found = MAX_METADATA_CHARACTERS, dict[str, object]()
    for key, inner in value.items():
        plain = _plain(inner, f"metadata[{key!r:.80}]", 1)
        size = sum(map(len, _texts(plain)))
        if size > (room := min(MAX_VALUE_CHARACTERS, left)):
            plain = shortened(plain if isinstance(plain, str) else str(plain), room)
            size = room
        left -= size
        found[_key(key, "metadata")] = plain
    return found


def _plain(value: object, place: str, depth: int) -> object:
    if depth > _MOST_DEPTH:
        raise UnfitScoring(f"`{place}` is nested more than {_MOST_DEPTH} deep.")
    match value:
        case int() if value.bit_length() > _MOST_BITS:
            return hex(value)
        case None | bool() | int():
            return value
        case float() if math.isfinite(value):
            return float(value)
        case str():
            return spelt_out(value)
        case Mapping():
            return {_key(key, place): _plain(inner, place, depth + 1) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner, place, depth + 1) for inner in value]
        case os.PathLike():
            return spelt_out(os.fsdecode(value))
    raise UnfitScoring(f"`{place}` holds {value!r:.80}, which cannot be written as JSON. Write it as text or a number.")


def _key(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise UnfitScoring(f"The keys of `{place}` must be text; this is {key!r:.80}.")
    return spelt_out(key)


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, inner in value.items():
                yield key
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)


def spelt_out(text: str) -> str:
    """Text that can be written to any file: half a character, which no encoding has, is spelt out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a text, with a note of how much is left out."""
    tail = min(_TAIL_CHARACTERS, most // 4)
    return f"{text[: most - tail]}\n… {len(text) - most} characters left out …\n{text[len(text) - tail :]}"

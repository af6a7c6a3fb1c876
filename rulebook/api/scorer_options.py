"""What every scorer is declared with: the columns that it reads, its name, and the keywords of a function.

Source: scorers, "Built-in scorers".
"""

import re
from collections.abc import Iterable, Mapping
from keyword import iskeyword
from typing import NamedTuple, TypeVar

from rulebook.errors import UnfitKind, UnfitOption
from rulebook.spelling import guess

_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LABEL = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")

RESOURCES = ("image", "cpu", "memory", "gpu", "secrets", "env", "volumes", "concurrency", "timeout")
"""Keywords of a function that say where it would be deployed. Here everything runs in place, so they change nothing.

But for `concurrency`, which is how many rows a task takes at once.
"""


Word = TypeVar("Word", bound=str)


class Keywords(NamedTuple):
    """The keywords that a scorer hands on to its function: retries, and those that have no effect."""

    retries: int
    without_effect: tuple[str, ...]


def columns_read(inputs: object, count: int | None, kind: str) -> tuple[str, ...]:
    """The columns in `inputs`, `count` of them (None: one or more). Raises UnfitKind or UnfitOption."""
    if isinstance(inputs, str) or not isinstance(inputs, Iterable):
        raise UnfitKind(f"`inputs` is a list of columns, such as ('output',); this is {inputs!r:.80}.")
    columns = tuple(inputs)
    if not columns:
        raise UnfitOption("`inputs` names no column.")
    for column in columns:
        if not isinstance(column, str) or not _COLUMN.fullmatch(column) or iskeyword(column):
            wanted = "unaccented letters, digits and `_`, does not begin with a digit and is no word of Python's own"
            raise UnfitOption(f"The name of a column in `inputs` is {wanted}; {column!r:.80} cannot be one.")
        if column.startswith("__chalk"):
            raise UnfitOption(f"Names that begin with `__chalk` are reserved; `{column}` cannot be a column.")
    if len(set(columns)) < len(columns):
        raise UnfitOption(f"`inputs` names a column twice: {', '.join(columns)}.")
    if count is not None and len(columns) != count:
        raise UnfitOption(f"`{kind}` reads {count} column{'s'[: count - 1]}; `inputs` names {len(columns)}.")
    return columns


def label(name: object) -> str:
    """A scorer's name. Raises UnfitKind or UnfitOption."""
    if not isinstance(name, str):
        raise UnfitKind(f"`name` must be text; this is {name!r:.80}.")
    if not _LABEL.fullmatch(name):
        wanted = "1 to 63 small letters, digits and `-`, begins with a letter and does not end in `-`"
        better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-")
        hint = f" Write `{better}`." if _LABEL.fullmatch(better) else ""
        raise UnfitOption(f"A scorer's name is {wanted}; {name!r:.80} is not.{hint}")
    return name


def keywords_of(kind: str, given: Mapping[str, object], options: Iterable[str] = ()) -> Keywords:
    """What the remaining keywords say. Raises UnfitKind for one that nobody knows, UnfitOption for bad `retries`."""
    known = ("retries", *RESOURCES)
    for key in given:
        if key not in known:
            raise UnfitKind(f"`{kind}` does not know `{key}`.{guess(key, (*options, *known))}")
    retries = _whole("retries", given.get("retries"), 0)
    return Keywords(retries, tuple(key for key in given if key != "retries"))


def concurrency_given(value: object) -> int:
    """How many rows a function takes at once; one where nothing is said. Raises UnfitKind or UnfitOption."""
    return _whole("concurrency", value, 1)


def _whole(key: str, value: object, least: int) -> int:
    if value is None:
        return least
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnfitKind(f"`{key}` must be a whole number; this is {value!r:.80}.")
    if value < least:
        raise UnfitOption(f"`{key}` must be {least} or more; this is {value}.")
    return value


def flag(key: str, value: object) -> bool:
    """An option that is yes or no. Raises UnfitKind."""
    if not isinstance(value, bool):
        raise UnfitKind(f"`{key}` must be True or False; this is {value!r:.80}.")
    return value


def choice(key: str, value: object, choices: tuple[Word, ...]) -> Word:
    """One of several words. Raises UnfitOption."""
    for each in choices:
        if each == value:
            return each
    hint = guess(value, choices, list_up_to=0) if isinstance(value, str) else ""
    raise UnfitOption(f"`{key}` must be one of {', '.join(choices)}; this is {value!r:.80}.{hint}")

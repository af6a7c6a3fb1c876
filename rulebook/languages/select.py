"""Paths into the evidence document: a subset of JSONPath, parsed once, typed against a scope."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.select_steps import (
    Condition,
    Every,
    Filter,
    Index,
    Name,
    Slice,
    Step,
    quoted,
    steps_of,
)
from rulebook.languages.select_types import faults_of
from rulebook.languages.types import MissingValue, Scope

MAX_RESULTS = 10_000
"""A path that leads to more values than this says so instead of going on."""


class SelectLimit(Exception):
    """A path met more values, or deeper ones, than it may; the caller says whose failure that is."""


@dataclass(frozen=True, slots=True)
class Select:
    """A path that has been read."""

    text: str

    @property
    def root(self) -> str:
        """The top-level name it starts at; empty for `$` alone."""
        first = _steps(self.text)[:1]
        return first[0].name if first and isinstance(first[0], Name) and not first[0].anywhere else ""

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """Everything wrong with it where `scope`'s names can be used."""
        return faults_of(self.text, _steps(self.text), scope)

    def find(self, lookup: Callable[[str], object]) -> list[object]:
        """The values it leads to, in document order; none when its root has no value.

        Raises SelectLimit for more than `MAX_RESULTS` values, or values nested deeper than can be followed.
        """
        root = self.root
        return _along([lookup(root)], _steps(self.text)[1:]) if root else []

    def find_in(self, data: object) -> list[object]:
        """The values it leads to in plain data, taken as `$`. Raises SelectLimit."""
        return _along([data], _steps(self.text))


def read_select(text: str) -> Select:
    """Parse a path. Raises LanguageError for what is not in the language."""
    _steps(text)
    return Select(text)


def _select_field(value: object) -> Select:
    if isinstance(value, Select):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("rulebook_wrong_type", "not text", {"wanted": "text (a path)"})
    try:
        return read_select(value)
    except LanguageError as error:
        raise refused(error) from error


SelectField = Annotated[Select, PlainValidator(_select_field), WithJsonSchema({"type": "string"})]
"""A field that holds one path."""


@lru_cache(maxsize=1024)
def _steps(text: str) -> tuple[Step, ...]:
    return steps_of(text)


def _along(values: list[object], steps: tuple[Step, ...]) -> list[object]:
    values = [value for value in values if not isinstance(value, MissingValue)]
    for step in steps:
        following: list[object] = []
        for value in values:
            following += (found for found in _after(value, step) if not isinstance(found, MissingValue))
            if len(following) > MAX_RESULTS:
                raise SelectLimit(f"the path leads to more than {MAX_RESULTS:,} values")
        values = following
    return values


def _after(value: object, step: Step) -> Iterator[object]:
    match step:
        case Name(name, anywhere=False):
            if isinstance(value, Mapping) and name in value:
                yield value[name]
        case Index(index):
            if isinstance(value, list | tuple) and -len(value) <= index < len(value):
                yield value[index]
        case Slice(first, past):
            yield from value[first:past] if isinstance(value, list | tuple) else ()
        case Every():
            yield from (
                value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
            )
        case Name() | Filter():
            yield from _queried(value, step)


def _queried(value: object, step: Name | Filter) -> list[object]:
    try:
        return [found.value for found in _query(_query_text(step)).find(_plain(value))]
    except RecursionError:
        raise SelectLimit("the path meets values that are nested too deep") from None


def _query_text(step: Name | Filter) -> str:
    """The step alone, in the spelling that leaves jsonpath-ng no choice of meaning."""
    if isinstance(step, Name):
        return f"$..[{quoted(step.name)}]"
    return f"$[?({' && '.join(map(_condition_text, step.conditions))})]"


def _condition_text(condition: Condition) -> str:
    path = "@" + "".join(
        f"[{quoted(step.name)}]" if isinstance(step, Name) else f"[{step.index}]" for step in condition.path
    )
    if not condition.operator:
        return path
    # `!=` holds for a missing field in JSONPath; a missing value never matches here.
    there = f"{path} && " if condition.operator == "!=" and condition.path else ""
    return f"{there}{path} {condition.operator} {condition.written}"


@lru_cache(maxsize=512)
def _query(text: str) -> Any:
    from jsonpath_ng.ext.parser import parse  # 50 ms: only a filter or `..` pays for it

    return parse(text)


def _plain(value: object) -> object:
    """A copy of lists and mappings alone, without missing values."""
    match value:
        case Mapping():
            return {key: _plain(inner) for key, inner in value.items() if not isinstance(inner, MissingValue)}
        case list() | tuple():
            return [_plain(inner) for inner in value if not isinstance(inner, MissingValue)]
        case _:
            return value

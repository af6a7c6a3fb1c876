"""What a path leads to in plain data; jsonpath-ng follows `..` and filters, the rest is followed here."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from rulebook.languages.run_errors import SelectLimit
from rulebook.languages.select_steps import Condition, Every, Filter, Index, Name, Slice, Step, quoted
from rulebook.languages.types import MissingValue

MAX_RESULTS = 10_000
"""A path that leads to more values than this says so instead of going on."""


MAX_VISITED = 2_000_000
"""A `..` over more values than this says so: it would take more than about ten seconds."""


def along(values: list[object], steps: tuple[Step, ...]) -> list[object]:
    """The values that the steps lead to from any of `values`, in their order. Raises SelectLimit."""
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
        plain = _plain(value)
        if isinstance(step, Name) and _more_than(MAX_VISITED, plain):
            raise SelectLimit(f"the path would have to look at more than {MAX_VISITED:,} values")
        return [found.value for found in _query(_query_text(step)).find(plain)]
    except RecursionError:
        raise SelectLimit("the path meets values that are nested too deep") from None


def _more_than(limit: int, value: object) -> bool:
    """Whether `value` and all that it holds are more values than `limit`."""
    waiting, seen = [value], 0
    while waiting and seen <= limit:
        match waiting.pop():
            case Mapping() as held:
                waiting += held.values()
            case list() as held:
                waiting += held
            case _:
                pass
        seen += 1
    return seen > limit


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

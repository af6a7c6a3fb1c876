"""Whether a comparison holds for a value of a session, which may be anything that JSON can hold, however deep."""

from collections.abc import Iterator, Mapping
from posixpath import normpath
from typing import TypeGuard, assert_never

from msgspec import Struct

from rulebook.languages.comparator import (
    Absent,
    AnyItem,
    Between,
    CloseTo,
    Comparator,
    Contains,
    Equals,
    Every,
    Fields,
    Glob,
    Items,
    Matches,
    OneOf,
    Present,
    Reference,
)
from rulebook.languages.formula_terms import Search
from rulebook.languages.globs import glob_matches
from rulebook.languages.types import MISSING, MissingValue

Bound = Mapping[str, Mapping[str, object]]
"""The fields of the call or event that each name was bound to."""


class Compared(Struct, frozen=True):
    """How to compare: `search` looks for patterns, `exact` forbids fields that are not named.

    `bound` resolves references; None: every reference is taken to hold where there is a value at all.
    """

    search: Search
    exact: bool = False
    bound: Bound | None = None


def holds(comparator: Comparator, value: object, how: Compared) -> bool:
    """Whether the comparison holds; `value` is a MissingValue where there is none.

    As deep as the comparison was written, never as deep as the value. Raises what `how.search` raises.
    """
    if isinstance(value, MissingValue):
        return isinstance(comparator, Absent)
    match comparator:
        case Equals(Reference() as reference):
            return how.bound is None or equal(bound_value(reference, how.bound), value)
        case Equals(wanted):
            return equal(wanted, value)
        case Contains(wanted):
            return _contains(wanted, value, how)
        case AnyItem(item):
            return isinstance(value, list) and any(holds(item, one, how) for one in value)
        case Matches(pattern):
            text = _line(value)
            return text is not None and how.search(pattern, text)
        case Glob(pattern):
            return isinstance(value, str) and _is_taken_in(pattern, value)
        case OneOf(values):
            return any(equal(wanted, value) for wanted in values)
        case Between(least, most):
            return is_number(value) and (least is None or value >= least) and (most is None or value <= most)
        case CloseTo(wanted, within):
            return is_number(value) and abs(value - wanted) <= within
        case Present():
            return True
        case Absent():
            return False
        case Items(items):
            return (
                isinstance(value, list)
                and len(value) == len(items)
                and all(holds(item, one, how) for item, one in zip(items, value, strict=True))
            )
        case Fields(fields):
            return isinstance(value, Mapping) and fields_hold(fields, value, how)
        case Every(parts):
            return all(holds(part, value, how) for part in parts)
        case _:
            assert_never(comparator)


def fields_hold(fields: Mapping[str, Comparator], value: Mapping[str, object], how: Compared) -> bool:
    """Whether every named field fits, and, where that is asked, there is no other."""
    if how.exact and not value.keys() <= fields.keys():
        return False
    return all(holds(field, value.get(name, MISSING), how) for name, field in fields.items())


def any_within(comparator: Comparator, value: object, how: Compared) -> bool:
    """Whether the comparison holds for a value anywhere within `value`, which is not itself looked at."""
    return any(holds(comparator, inner, how) for inner in _values_within(value))


def equal(wanted: object, value: object) -> bool:
    """Whether two values are the same: numbers by their worth, and `true` is no number."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    if is_number(wanted):
        return is_number(value) and wanted == value
    if isinstance(wanted, Mapping):
        if not isinstance(value, Mapping) or wanted.keys() != value.keys():
            return False
        return all(equal(inner, value[name]) for name, inner in wanted.items())
    if isinstance(wanted, list):
        if not isinstance(value, list) or len(wanted) != len(value):
            return False
        return all(equal(ours, theirs) for ours, theirs in zip(wanted, value, strict=True))
    return type(wanted) is type(value) and wanted == value


def bound_value(reference: Reference, bound: Bound) -> object:
    """What a reference stands for: a text, a number, yes or no, or a list of those. Else a MissingValue."""
    value: object = bound.get(reference.name, MISSING)
    for step in reference.steps:
        if not isinstance(value, Mapping) or step not in value:
            return MISSING
        value = value[step]
    return value if _can_be_bound(value) else MISSING


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number, which `true` is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _can_be_bound(value: object) -> bool:
    """Whether it is flat: what is nested could be deeper than a comparison may go."""
    return not any(isinstance(one, Mapping | list) for one in (value if isinstance(value, list) else [value]))


def _contains(wanted: object, value: object, how: Compared) -> bool:
    if isinstance(wanted, Reference):
        if how.bound is None:
            return isinstance(value, str | list)
        wanted = bound_value(wanted, how.bound)
        if isinstance(wanted, str):
            wanted = wanted.strip()
        if wanted == "" or isinstance(wanted, MissingValue):
            return False
    if isinstance(value, list):
        return any(equal(wanted, item) for item in value)
    return isinstance(value, str) and isinstance(wanted, str) and wanted in value


def _line(value: object) -> str | None:
    """The text to search: a list of texts is an argument array, searched as the line that it stands for."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return " ".join(value)
    return None


def _is_taken_in(pattern: str, path: str) -> bool:
    """Whether a glob takes in a path, as it is written or with its `..` and `.` worked out."""
    return glob_matches(pattern, path) or glob_matches(pattern, normpath(path))


def _values_within(value: object) -> Iterator[object]:
    waiting: list[object] = [value]
    while waiting:
        outer = waiting.pop()
        inner = list(outer.values()) if isinstance(outer, Mapping) else outer if isinstance(outer, list) else []
        yield from inner
        waiting += [one for one in inner if isinstance(one, Mapping | list)]

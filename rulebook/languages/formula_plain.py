"""The functions of expressions over plain values: what each gives."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from rulebook.languages.formula_values import UNFIT, calculate, contained, finite, number
from rulebook.languages.types import MissingValue

Each = Callable[[object], object]
"""The value of a quoted expression for one item."""


def over_items(name: str, items: object, each: Each | None) -> object:
    """`count`, `any`, `all`, `sum`, `min`, `max` or `mean` of a list's items.

    An item whose condition is missing does not match; `all` is missing when only such items keep it from yes.
    A number over items of which one is missing is missing.
    """
    if isinstance(items, Mapping) or not isinstance(items, Sequence) or isinstance(items, str):
        return UNFIT
    if name == "count":
        return len(items) if each is None else sum(each(item) is True for item in items)
    if name == "any":
        return any(each(item) is True for item in items) if each is not None else UNFIT
    if name == "all":
        return _all(map(each, items)) if each is not None else UNFIT
    return of_numbers(name, [item if each is None else each(item) for item in items])


def of_numbers(name: str, values: Sequence[object]) -> object:
    """`sum`, `min`, `max` or `mean` of plain numbers; of none, the last three are missing."""
    for value in values:
        if isinstance(value, MissingValue):
            return value
        if not number(value):
            return UNFIT
    numbers: list[float] = list(values)  # type: ignore[arg-type]
    if name == "sum":
        return _sum(numbers)
    if not numbers:
        return MissingValue(f"the {name} of nothing")
    if name == "mean":
        total = _sum(numbers)
        return calculate("/", total, len(numbers))
    return min(numbers) if name == "min" else max(numbers)


def plain(name: str, values: Sequence[object]) -> object:
    """A function of values none of which is missing; UNFIT for kinds that it does not take."""
    return _PLAIN[name](*values)


def rounded(value: object, digits: int | None) -> object:
    """The number with so many decimals; None leaves none."""
    if not number(value):
        return UNFIT
    assert isinstance(value, (int, float))
    return round(value) if not digits else finite(round(value, digits))


def _all(values: Iterable[object]) -> object:
    missing: object = None
    for value in values:
        if value is False:
            return False
        if value is not True and missing is None:
            missing = value if isinstance(value, MissingValue) else UNFIT
    return True if missing is None else missing


def _sum(numbers: Sequence[float]) -> object:
    try:
        return finite(sum(numbers) if all(type(value) is int for value in numbers) else math.fsum(numbers))
    except OverflowError:
        return finite(math.inf)


def _len(value: object) -> object:
    return len(value) if isinstance(value, (str, Sequence, Mapping)) else UNFIT


def _contains(where: object, what: object) -> object:
    if isinstance(where, Mapping):
        return UNFIT
    return contained(what, where)


def _of_text(function: Callable[[str], object]) -> Callable[[object], object]:
    return lambda value: function(value) if isinstance(value, str) else UNFIT


def _of_texts(function: Callable[[str, str], object]) -> Callable[[object, object], object]:
    return lambda a, b: function(a, b) if isinstance(a, str) and isinstance(b, str) else UNFIT


def _near(a: object, b: object, within: object = 1e-9) -> object:
    apart = calculate("-", a, b)
    if not number(apart):
        return apart
    if not number(within):
        return UNFIT
    assert isinstance(apart, (int, float))
    assert isinstance(within, (int, float))
    return abs(apart) <= within or math.isclose(abs(apart), within, rel_tol=1e-9)


def _abs(value: object) -> object:
    return abs(value) if number(value) and isinstance(value, (int, float)) else UNFIT


def _json(value: object) -> object:
    if not isinstance(value, str) or len(value) > 1024 * 1024:
        return UNFIT
    try:
        return json.loads(value, parse_constant=_refuse, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return UNFIT


def _each_once(pairs: list[tuple[str, object]]) -> object:
    """Refuse a key that is given twice, as in every document: of two answers in one, readers differ on which counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is not JSON")


_PLAIN: dict[str, Callable[..., object]] = {
    "len": _len,
    "lower": _of_text(str.lower),
    "upper": _of_text(str.upper),
    "strip": _of_text(str.strip),
    "contains": _contains,
    "starts_with": _of_texts(str.startswith),
    "ends_with": _of_texts(str.endswith),
    "near": _near,
    "abs": _abs,
    "json": _json,
}

"""The functions of expressions: what each takes, and what it gives for plain values."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from rulebook.languages.formula_values import UNFIT, calculate, contained, finite, number
from rulebook.languages.types import MissingValue

Takes = Literal["list", "text", "number", "list or text", "list, text or mapping", "anything"]
Special = Literal["item", "pattern", "glob", "path", "digits", ""]


class Function(NamedTuple):
    """A function's signature. `wanted` says what it takes: at least `least` and at most `most` values.

    `special` names the argument that is read with the expression itself; `takes` has the kinds of the others.
    """

    wanted: str
    least: int
    most: int
    takes: tuple[Takes, ...] = ()
    special: Special = ""


FUNCTIONS: dict[str, Function] = {
    "count": Function("a list, and a condition over one item in quotes", 1, 2, ("list",), "item"),
    "any": Function("a list, and a condition over one item in quotes", 2, 2, ("list",), "item"),
    "all": Function("a list, and a condition over one item in quotes", 2, 2, ("list",), "item"),
    "sum": Function("a list, and an expression over one item in quotes", 1, 2, ("list",), "item"),
    "mean": Function("a list, and an expression over one item in quotes", 1, 2, ("list",), "item"),
    "min": Function("numbers, or a list and an expression over one item in quotes", 1, 20, ("list",), "item"),
    "max": Function("numbers, or a list and an expression over one item in quotes", 1, 20, ("list",), "item"),
    "len": Function("a list, text or mapping", 1, 1, ("list, text or mapping",)),
    "lower": Function("text", 1, 1, ("text",)),
    "upper": Function("text", 1, 1, ("text",)),
    "strip": Function("text", 1, 1, ("text",)),
    "contains": Function("text or a list, and what to look for in it", 2, 2, ("list or text", "anything")),
    "starts_with": Function("text, and its beginning", 2, 2, ("text", "text")),
    "ends_with": Function("text, and its end", 2, 2, ("text", "text")),
    "matches": Function("a pattern in quotes, and text", 2, 2, ("text",), "pattern"),
    "glob": Function("a path pattern in quotes, and text", 2, 2, ("text",), "glob"),
    "near": Function("two numbers, and how far apart they may be", 2, 3, ("number", "number", "number")),
    "abs": Function("a number", 1, 1, ("number",)),
    "round": Function("a number, and how many decimals to keep (0 to 15)", 1, 2, ("number",), "digits"),
    "json": Function("text", 1, 1, ("text",)),
    "path": Function("a path in quotes, such as `'$.messages[-1].text'`", 1, 1, (), "path"),
    "known": Function("one value", 1, 1, ("anything",)),
    "default": Function("a value, and what to take in its place when it is missing", 2, 2, ("anything", "anything")),
}
"""Every function that an expression can call, by name."""

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


def plain_names() -> frozenset[str]:
    """The functions that `plain` knows."""
    return frozenset(_PLAIN)


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
        return json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return UNFIT


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

"""What operators do with values of which some may be missing, and some not of the kind that was promised."""

from collections.abc import Callable, Mapping, Sequence

from rulebook.languages.types import MissingValue

UNFIT = MissingValue()
"""No value, because a part was of another kind; whoever knows where the operation was written names it."""

_LARGEST = 1.7976931348623157e308


def number(value: object) -> bool:
    """Whether it is a number of ordinary size: not yes/no, not infinite, not NaN."""
    kind = type(value)
    return (kind is int or kind is float) and -_LARGEST <= value <= _LARGEST  # type: ignore[operator]


def finite(value: float) -> object:
    """The number, or a MissingValue when it is too large."""
    return value if -_LARGEST <= value <= _LARGEST else MissingValue("a number of this size")


def named(value: object, where: str) -> object:
    """The value; where it is UNFIT, a MissingValue that says which operation has none."""
    return MissingValue(where) if value is UNFIT else value


def calculate(operator: str, left: object, right: object) -> object:
    """The sum, difference, product or quotient; missing when a part is, by 0, and past the finite numbers."""
    if type(left) is MissingValue:
        return left
    if type(right) is MissingValue:
        return right
    if not (number(left) and number(right)):
        return UNFIT
    if operator == "/" and right == 0:
        return MissingValue("division by zero")
    try:
        return finite(_ARITHMETIC[operator](left, right))
    except OverflowError:
        return MissingValue("a number of this size")


def negative(value: object) -> object:
    """The number with its sign turned."""
    if type(value) is MissingValue:
        return value
    return -value if number(value) else UNFIT  # type: ignore[operator]


def opposite(value: object) -> object:
    """No for yes, yes for no, missing for missing."""
    if value is True:
        return False
    if value is False:
        return True
    return value if type(value) is MissingValue else UNFIT


def compare(operator: str, left: object, right: object) -> object:
    """Yes or no; missing when one of them is. Only two numbers or two texts have an order."""
    if type(left) is MissingValue:
        return left
    if type(right) is MissingValue:
        return right
    if operator == "==":
        return same(left, right)
    if operator == "!=":
        return opposite(same(left, right))
    if operator == "in":
        return contained(left, right)
    if operator == "not in":
        return opposite(contained(left, right))
    if (number(left) and number(right)) or (isinstance(left, str) and isinstance(right, str)):
        return _ORDER[operator](left, right)
    return UNFIT


def same(left: object, right: object) -> object:
    """Whether two values are equal. Values of two kinds are not; lists and mappings cannot be compared."""
    kind = _kind(left)
    if kind != _kind(right):
        return False
    if kind in ("list or mapping", "something else") or (kind == "number" and not (number(left) and number(right))):
        return UNFIT
    return left == right


def contained(value: object, where: object) -> object:
    """Whether a list has an equal item, or a text holds the text `value`."""
    if isinstance(where, str):
        return value in where if isinstance(value, str) else UNFIT
    if isinstance(where, Mapping) or not isinstance(where, Sequence) or _kind(value) == "list or mapping":
        return UNFIT
    return any(same(value, item) is True for item in where)


def _kind(value: object) -> str:
    kind = _KINDS.get(type(value))
    if kind is None:
        kind = "list or mapping" if isinstance(value, (Mapping, Sequence)) else "something else"
    return kind


_KINDS: dict[type, str] = {
    str: "text",
    int: "number",
    float: "number",
    bool: "yes or no",
    type(None): "nothing",
    dict: "list or mapping",
    list: "list or mapping",
}
_ARITHMETIC: dict[str, Callable[..., float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}
_ORDER: dict[str, Callable[..., bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}

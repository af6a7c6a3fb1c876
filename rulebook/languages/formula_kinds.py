"""Kinds of value under operators: what can be compared, what comes of it, and within which bounds."""

from collections.abc import Callable

from msgspec.structs import replace

from rulebook.languages.types import (
    ANYTHING,
    NOTHING,
    NUMBER,
    YES_NO,
    ListOf,
    MapOf,
    RecordOf,
    Scalar,
    Type,
    described,
)


def kind_of(value: object) -> Scalar:
    """The kind of a value written in an expression: the closest one there is."""
    if isinstance(value, bool):
        return YES_NO
    if isinstance(value, (int, float)):
        return Scalar("number", least=value, most=value)
    return Scalar("text", choices=(value,)) if isinstance(value, str) else NOTHING


def is_kind(kind: Type, name: str) -> bool:
    """Whether it is a scalar of that name, or anything at all."""
    return isinstance(kind, Scalar) and kind.name in (name, "anything")


def is_anything(kind: Type) -> bool:
    """Whether nothing is known of it."""
    return isinstance(kind, Scalar) and kind.name == "anything"


def takes(wanted: str, kind: Type) -> bool:
    """Whether an argument that must be `wanted` ("list or text") can be of this kind."""
    if wanted == "anything" or is_anything(kind):
        return True
    if isinstance(kind, ListOf):
        return "list" in wanted
    if isinstance(kind, (MapOf, RecordOf)):
        return "mapping" in wanted
    return kind.name in wanted


def item_record(kind: Type) -> RecordOf:
    """What a quoted expression over the items of a list of this kind can read."""
    item = kind.item if isinstance(kind, ListOf) else ANYTHING
    if isinstance(item, RecordOf):
        return item
    if isinstance(item, MapOf) or is_anything(item):
        return RecordOf("an item", {"item": item}, open=True)
    return RecordOf("an item", {"item": item})


def field_kind(kind: Type, key: str) -> Type | None:
    """The kind of a field; None where there is none of that name."""
    match kind:
        case RecordOf():
            return kind.fields.get(key, ANYTHING if kind.open else None)
        case MapOf():
            return kind.value
        case _:
            return ANYTHING if is_anything(kind) else None


def kind_along(kind: Type, keys: tuple[str, ...]) -> Type:
    """The kind that a path of fields leads to; anything where one of them is not there."""
    for key in keys:
        kind = field_kind(kind, key) or ANYTHING
    return worth(kind)


def worth(kind: Type) -> Type:
    """What a value of this kind is worth by itself: a record may stand for one of its values."""
    return kind.value if isinstance(kind, RecordOf) and kind.value is not None else kind


def either(one: Type, other: Type) -> Type | None:
    """The kind of a value that is of one of two kinds; None when they do not go together."""
    if not isinstance(one, Scalar) or not isinstance(other, Scalar):
        return one if _same(one, other) else ANYTHING if is_anything(one) or is_anything(other) else None
    if "anything" in (one.name, other.name):
        return replace(ANYTHING, optional=one.optional or other.optional)
    if one.name != other.name:
        return None
    choices = (*one.choices, *other.choices) if one.choices and other.choices else ()
    return Scalar(
        one.name,
        one.optional or other.optional,
        tuple(dict.fromkeys(choices)),
        _hull(min, one.least, other.least),
        _hull(max, one.most, other.most),
    )


def cannot_equal(left: Type, right: Type) -> str | None:
    """Why `==` between two kinds makes no sense; None when it does."""
    if is_anything(left) or is_anything(right):
        return None
    if not isinstance(left, Scalar) or not isinstance(right, Scalar):
        return "lists and mappings can't be compared; compare their `len`, or look inside with `any`"
    if left.name == right.name:
        return None
    if "nothing" in (left.name, right.name):
        return "what isn't there is missing, not nothing; ask with `known`"
    return "they are never equal"


def cannot_order(left: Type, right: Type) -> str | None:
    """Why `<` between two kinds makes no sense; None when it does."""
    names = {kind.name if isinstance(kind, Scalar) else described(kind) for kind in (left, right)} - {"anything"}
    if names in (set(), {"text"}, {"number"}):
        return None
    return "only two numbers or two texts have an order"


def always_equal(left: Scalar, right: Scalar) -> bool | None:
    """Whether two values of one kind are always equal, or never; None when it depends."""
    if left.name == "number":
        if _below(left, right, strictly=True) or _below(right, left, strictly=True):
            return False
        fixed = left.least is not None and left.least == left.most == right.least == right.most
        return True if fixed else None
    if left.name == "text" and left.choices and right.choices:
        if not set(left.choices) & set(right.choices):
            return False
        return True if len(left.choices) == len(right.choices) == 1 else None
    return None


def always_ordered(operator: str, left: Type, right: Type) -> bool | None:
    """Whether `left operator right` always holds, or never, by the bounds of numbers; None: it depends."""
    if not isinstance(left, Scalar) or not isinstance(right, Scalar):
        return None
    if operator in (">", ">="):
        return always_ordered("<" if operator == ">" else "<=", right, left)
    if _below(left, right, strictly=operator == "<"):
        return True
    return False if _below(right, left, strictly=operator == "<=") else None


def calculated(operator: str, left: Scalar, right: Scalar) -> Scalar:
    """The number that comes of two, with bounds where they are known."""
    optional = left.optional or right.optional
    if operator == "-":
        return replace(calculated("+", left, negated(right)), optional=optional)
    if operator == "+":
        least, most = _both(left.least, right.least), _both(left.most, right.most)
        return Scalar("number", optional, least=least, most=most)
    least, most = _scaled(operator, left, right)
    return Scalar("number", optional, least=least, most=most)


def negated(kind: Scalar) -> Scalar:
    """The number with its sign turned."""
    least = None if kind.most is None else -kind.most
    most = None if kind.least is None else -kind.least
    return Scalar("number", kind.optional, least=least, most=most)


def plain_number(kind: Type) -> Scalar:
    """The bounds of a number, or no bounds for anything."""
    return kind if isinstance(kind, Scalar) and kind.name == "number" else replace(NUMBER, optional=kind.optional)


def _same(one: Type, other: Type) -> bool:
    return replace(one, optional=False) == replace(other, optional=False)


def _hull(pick: Callable[[float, float], float], one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else pick(one, other)


def _below(left: Scalar, right: Scalar, *, strictly: bool) -> bool:
    if left.most is None or right.least is None:
        return False
    return left.most < right.least if strictly else left.most <= right.least


def _both(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _scaled(operator: str, left: Scalar, right: Scalar) -> tuple[float | None, float | None]:
    """Bounds of a product or quotient: of the corners where all are known, else only its sign."""
    ends = (left.least, left.most, right.least, right.most)
    over_zero = operator == "/" and (right.least is None or right.most is None or right.least <= 0 <= right.most)
    if over_zero or None in ends:
        positive = all(kind.least is not None and kind.least >= 0 for kind in (left, right))
        return (0 if positive else None), None
    corners = [
        a * b if operator == "*" else a / b
        for a in (left.least, left.most)
        for b in (right.least, right.most)
        if a is not None and b is not None
    ]
    return min(corners), max(corners)

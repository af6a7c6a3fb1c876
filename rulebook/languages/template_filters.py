"""The filters of templates: plain functions over plain data, none of which makes an overlong text."""

import json
from collections.abc import Callable, Mapping, Sequence

from rulebook.languages.run_errors import MissingInTemplate, TemplateLimit, TemplateMismatch

MAX_OUTPUT_CHARACTERS = 1024 * 1024
MAX_INDENT = 100
MAX_DIGITS = 15


def shown(value: object) -> str:
    """A value as it stands in a text: yes and no as `true` and `false`, lists and mappings as JSON."""
    match value:
        case str():
            return value
        case bool() | None | Mapping() | list() | tuple():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)


def within_limit(text: str) -> str:
    """The text, when a template may be so long. Raises TemplateLimit."""
    if len(text) > MAX_OUTPUT_CHARACTERS:
        raise TemplateLimit(f"the text grows beyond {MAX_OUTPUT_CHARACTERS:,} characters")
    return text


def _upper(value: object) -> str:
    return shown(value).upper()


def _lower(value: object) -> str:
    return shown(value).lower()


def _trim(value: object, chars: object = None) -> str:
    return shown(value).strip(None if chars is None else shown(chars))


def _length(value: object) -> int:
    if isinstance(value, str | Mapping | list | tuple):
        return len(value)
    raise TemplateMismatch("`length` needs a text or a list")


def _join(value: object, between: object = "", attribute: object = None) -> str:
    items = [_part(item, attribute) for item in _items(value, "join")]
    sign = shown(between)
    if sum(map(len, items)) + len(sign) * len(items) > MAX_OUTPUT_CHARACTERS:
        raise TemplateLimit(f"`join` makes more than {MAX_OUTPUT_CHARACTERS:,} characters")
    return sign.join(items)


def _part(item: object, attribute: object) -> str:
    if attribute is None:
        return shown(item)
    if isinstance(item, Mapping) and attribute in item:
        return shown(item[attribute])
    raise MissingInTemplate(str(attribute))


def _tojson(value: object, indent: object = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=None if indent is None else _number(indent, MAX_INDENT))


def _truncate(value: object, length: object = 255, killwords: object = False, end: object = "...") -> str:
    text, limit, sign = shown(value), _number(length, MAX_OUTPUT_CHARACTERS), shown(end)
    if len(text) <= limit:
        return text
    cut = text[: max(limit - len(sign), 0)]
    return (cut if killwords else cut.rsplit(" ", 1)[0]) + sign


def _first(value: object) -> object:
    return _at(value, 0, "first")


def _last(value: object) -> object:
    return _at(value, -1, "last")


def _at(value: object, index: int, name: str) -> object:
    items = _items(value, name)
    if not items:
        raise MissingInTemplate(f"the {name} item of an empty list")
    return items[index]


def _replace(value: object, old: object, new: object, count: object = None) -> str:
    text, before, after = shown(value), shown(old), shown(new)
    most = -1 if count is None else _number(count, MAX_OUTPUT_CHARACTERS)
    if len(text) + (text.count(before) + 1) * len(after) > 2 * MAX_OUTPUT_CHARACTERS:
        raise TemplateLimit(f"`replace` makes more than {MAX_OUTPUT_CHARACTERS:,} characters")
    return text.replace(before, after, most)


def _round(value: object, precision: object = 0) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TemplateMismatch("`round` needs a number")
    digits = _number(precision, MAX_DIGITS)
    return round(value, digits) if digits else round(value)


def _int(value: object, default: object = 0) -> object:
    try:
        return int(float(value)) if isinstance(value, str) and "." in value else int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return default


def _float(value: object, default: object = 0.0) -> object:
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return default
    return result if abs(result) != float("inf") and result == result else default


def _indent(value: object, width: object = 4, first: object = False, blank: object = False) -> str:
    text, space = shown(value), " " * _number(width, MAX_INDENT)
    if len(text) + text.count("\n") * len(space) > MAX_OUTPUT_CHARACTERS:
        raise TemplateLimit(f"`indent` makes more than {MAX_OUTPUT_CHARACTERS:,} characters")
    lines = text.split("\n")
    rest = [space + line if line or blank else line for line in lines[1:]]
    return "\n".join([space + lines[0] if first else lines[0], *rest])


def _items(value: object, name: str) -> Sequence[object]:
    if isinstance(value, str | list | tuple):
        return value
    raise TemplateMismatch(f"`{name}` needs a list or a text")


def _number(value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise TemplateLimit(f"a filter's number must be between 0 and {most:,}")
    return value


FILTER_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "upper": _upper,
    "lower": _lower,
    "trim": _trim,
    "length": _length,
    "join": _join,
    "tojson": _tojson,
    "truncate": _truncate,
    "first": _first,
    "last": _last,
    "replace": _replace,
    "round": _round,
    "int": _int,
    "float": _float,
    "string": shown,
    "indent": _indent,
}
"""Every filter but `default`, which alone may see a value that is not there."""

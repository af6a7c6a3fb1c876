"""What an author writes to compare one value with becomes a comparison, or faults."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Annotated, TypeVar

from msgspec.structs import replace
from pydantic import PlainValidator, WithJsonSchema

from rulebook.languages.comparator import (
    Absent,
    AnyItem,
    Between,
    CloseTo,
    Comparator,
    Comparison,
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
    Wanted,
)
from rulebook.languages.faults import Fault, LanguageError, Shown, refused
from rulebook.languages.pattern import Pattern, read_pattern
from rulebook.languages.template import Template, looks_like_template, read_template
from rulebook.place import Path
from rulebook.spelling import guess, listed

Read = TypeVar("Read")

_CLOSE = 1e-6
"""How far a number may be from the one that `close_to` names when `within` is not written."""

_BOUND_FIELDS = ("name", "arguments", "result", "status", "data")


def read_comparison(raw: object, *, within: bool = True) -> Comparison:
    """The comparison that `raw` is. Raises LanguageError.

    `within`: it looks at a value that must be there, so that `absent` would ask for nothing.
    """
    reading = _Reading()
    root = reading.comparator(raw, ())
    if within and isinstance(root, Absent):
        why = "it looks at values that are there."
        raise LanguageError(Fault("RB215", {"key": "absent", "why": why}, path=("absent",)))
    return Comparison(root, tuple(reading.texts))


def read_fields(raw: object, key: str) -> Comparison:
    """A mapping of names to comparisons, as `arguments:` is one. Raises LanguageError."""
    if not isinstance(raw, Mapping):
        raise _wrong(key, "a mapping (keys and values)", raw, ())
    reading = _Reading()
    fields = {str(name): reading.comparator(value, (str(name),)) for name, value in raw.items()}
    return Comparison(Fields(fields), tuple(reading.texts))


def read_name(raw: object, key: str) -> Comparison:
    """The name of a tool, or a comparison with it. Raises LanguageError."""
    comparison = read_comparison(raw)
    match comparison.root:
        case Equals("") | OneOf(()):
            raise LanguageError(Fault("RB216", {"key": key, "why": "it names the tool."}))
        case Equals(str() | Template()) | OneOf() | Matches() | Glob() | Contains(str() | Template()) | Present():
            return comparison
        case _:
            raise _wrong(key, "the name of a tool", raw, ())


class _Reading:
    """Reads one comparison and collects its patterns, templates and references."""

    def __init__(self) -> None:
        self.texts: list[tuple[Path, Pattern | Template | Reference]] = []

    def comparator(self, raw: object, path: Path) -> Comparator:
        if isinstance(raw, list | tuple):
            return Items(tuple(self.comparator(item, (*path, index)) for index, item in enumerate(raw)))
        if not isinstance(raw, Mapping):
            return Equals(self._value(raw, path))
        words = [str(key) for key in raw if key in _OPERATORS]
        others = [str(key) for key in raw if key not in _OPERATORS]
        if not words:
            return self._fields(raw, path)
        if others and not (others == ["within"] and "close_to" in words):
            known = guess(others[0], _OPERATORS, list_up_to=0) or _literally(raw)
            words_of = {"key": others[0], "thing": "a comparison", "guess": known}
            raise LanguageError(Fault("RB201", words_of, path=(*path, others[0])))
        parts = [self._operator(word, raw, path) for word in words if word != "max" or "min" not in words]
        return parts[0] if len(parts) == 1 else Every(tuple(parts))

    def _fields(self, raw: Mapping[object, object], path: Path) -> Comparator:
        only = str(next(iter(raw))) if len(raw) == 1 else ""
        close = next((word for word in _OPERATORS if SequenceMatcher(None, only, word).ratio() >= 0.8), None)
        meant = close or _ELSEWHERE.get(only)
        if meant is not None:
            hint = f" Did you mean `{meant}`?{_literally(raw)}"
            words = {"key": only, "thing": "a comparison", "guess": hint}
            raise LanguageError(Fault("RB201", words, path=(*path, only)))
        return Fields({str(name): self.comparator(value, (*path, str(name))) for name, value in raw.items()})

    def _operator(self, word: str, raw: Mapping[object, object], path: Path) -> Comparator:
        here, value = (*path, word), raw[word]
        match word:
            case "from":
                return Equals(self._reference(value, here))
            case "equals":
                return Equals(self._operand(value, here))
            case "contains":
                return Contains(self._contained(value, here))
            case "any_item":
                return AnyItem(self.comparator(value, here))
            case "matches":
                return Matches(self._pattern(value, here))
            case "glob":
                return Glob(_text(word, value, here))
            case "in":
                return OneOf(self._one_of(value, here))
            case "min" | "max":
                return self._between(raw, path)
            case "close_to":
                return self._close(raw, path)
            case _:
                return self._presence(word, value, here)

    def _presence(self, word: str, value: object, here: Path) -> Comparator:
        if value is True:
            return Present() if word == "any" else Absent()
        if value is not False:
            raise _wrong(word, "`true`", value, here)
        other = Shown({"absent" if word == "any" else "any": True}, around=" Write `{}`.")
        words = {"key": word, "wanted": "`true`", "found": "`false`", "hint": other}
        raise LanguageError(Fault("RB203", words, path=here))

    def _between(self, raw: Mapping[object, object], path: Path) -> Comparator:
        least, most = (_number(key, raw[key], (*path, key)) if key in raw else None for key in ("min", "max"))
        if least is not None and most is not None and least > most:
            words = {"key": "max", "wanted": f"{least:g} or more, since `min` is {least:g}", "value": f"{most:g}"}
            raise LanguageError(Fault("RB205", words, path=(*path, "max")))
        return Between(least, most)

    def _close(self, raw: Mapping[object, object], path: Path) -> Comparator:
        within = _number("within", raw["within"], (*path, "within")) if "within" in raw else _CLOSE
        if within < 0:
            words = {"key": "within", "wanted": "0 or more", "value": f"{within:g}"}
            raise LanguageError(Fault("RB205", words, path=(*path, "within")))
        return CloseTo(_number("close_to", raw["close_to"], (*path, "close_to")), within)

    def _contained(self, value: object, here: Path) -> Wanted:
        if value == "":
            why = "every text contains that. Write what it must hold."
            raise LanguageError(Fault("RB216", {"key": "contains", "why": why}, path=here))
        return self._operand(value, here)

    def _operand(self, value: object, here: Path) -> Wanted:
        """A value that is taken as it is written, however it looks, but for `{from: …}`."""
        if isinstance(value, Mapping) and list(value) == ["from"]:
            return self._reference(value["from"], (*here, "from"))
        return self._value(value, here)

    def _one_of(self, value: object, here: Path) -> tuple[Wanted, ...]:
        if not isinstance(value, list | tuple):
            raise LanguageError(Fault("RB206", {"key": "in", "list": Shown([value])}, path=here))
        if not value:
            raise LanguageError(Fault("RB207", {"key": "in"}, path=here))
        return tuple(self._value(one, (*here, index)) for index, one in enumerate(value))

    def _value(self, value: object, here: Path) -> Wanted:
        if isinstance(value, str) and looks_like_template(value) is not None:
            template = _below(here, lambda: read_template(value))
            self.texts.append((here, template))
            return template
        if isinstance(value, tuple):
            return list(value)
        return value  # type: ignore[return-value]  # a rule file holds plain data only

    def _pattern(self, value: object, here: Path) -> Pattern:
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
            from rulebook.languages.pattern import list_for_pattern  # only a mistake pays for it

            raise LanguageError(replace(list_for_pattern(value[0]), path=here))
        text = _text("matches", value, here)
        pattern = _below(here, lambda: read_pattern(text))
        self.texts.append((here, pattern))
        return pattern

    def _reference(self, value: object, here: Path) -> Reference:
        name, *steps = _text("from", value, here).split(".")
        example = "`r.arguments.path`"
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or not all(steps) or not steps:
            what = "what an earlier step was called with"
            raise LanguageError(Fault("RB214", {"value": value, "what": what, "example": example}, path=here))
        if steps[0] not in _BOUND_FIELDS or (len(steps) > 1 and steps[0] not in ("arguments", "data")):
            wrong = steps[0] if steps[0] not in _BOUND_FIELDS else steps[1]
            known = _BOUND_FIELDS if steps[0] not in _BOUND_FIELDS else ()
            words = {"field": wrong, "place": f"`{name}`", "guess": guess(wrong, known)}
            raise LanguageError(Fault("RB403", words, path=here))
        reference = Reference(name, tuple(steps))
        self.texts.append((here, reference))
        return reference


_OPERATORS: tuple[str, ...] = (
    "equals", "contains", "any_item", "matches", "glob", "in", "min", "max", "close_to", "any", "absent", "from",
)  # fmt: skip


_ELSEWHERE: dict[str, str] = {
    "regex": "matches", "regexp": "matches", "re": "matches", "includes": "contains", "substring": "contains",
    "eq": "equals", "is": "equals", "one_of": "in", "any_of": "in",
    "gte": "min", "ge": "min", "lte": "max", "le": "max",
}  # fmt: skip
"""What other tools call these comparisons."""


def _literally(raw: Mapping[object, object]) -> str:
    names = listed(str(key) for key in raw)
    return f" If {names} is the value's own, write it under `equals:`."


def _text(key: str, value: object, path: Path) -> str:
    if not isinstance(value, str):
        raise _wrong(key, "text", value, path)
    if not value:
        raise LanguageError(Fault("RB216", {"key": key, "why": "write what it should be."}, path=path))
    return value


def _number(key: str, value: object, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _wrong(key, "a number", value, path)
    return value


def _wrong(key: str, wanted: str, value: object, path: Path) -> LanguageError:
    return LanguageError(Fault("RB203", {"key": key, "wanted": wanted, "found": _in_words(value)}, path=path))


def _in_words(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes or no"
        case int() | float():
            return f"the number {value}"
        case str():
            return "text"
        case Sequence():
            return "a list"
        case _:
            return "a mapping"


def _below(path: Path, read: Callable[[], Read]) -> Read:
    try:
        return read()
    except LanguageError as error:
        raise LanguageError(*(replace(fault, path=(*path, *fault.path)) for fault in error.faults)) from error


def _field(read: Callable[[object], Comparison]) -> PlainValidator:
    def validate(raw: object) -> Comparison:
        if isinstance(raw, Comparison):
            return raw
        try:
            return read(raw)
        except LanguageError as error:
            raise refused(error) from error

    return PlainValidator(validate)


_ANY_VALUE = WithJsonSchema({"type": ["string", "number", "boolean", "array", "object"]})

ComparisonField = Annotated[Comparison, _field(read_comparison), _ANY_VALUE]
"""A field that is compared with one value."""

_MAPPING = WithJsonSchema({"type": "object"})

ArgumentsField = Annotated[Comparison, _field(lambda raw: read_fields(raw, "arguments")), _MAPPING]
"""A field that is compared with the arguments of a call."""

_NAME = WithJsonSchema({"type": ["string", "object"]})

CalledName = Annotated[Comparison, _field(lambda raw: read_name(raw, "name")), _NAME]
"""The field `name`: what a tool is called, or a comparison with it."""

ToolName = Annotated[Comparison, _field(lambda raw: read_name(raw, "tool")), _NAME]
"""The field `tool`, likewise."""

PayloadField = Annotated[Comparison, _field(lambda raw: read_fields(raw, "data")), _MAPPING]
"""A field that is compared with the payload of an event."""

"""What to write in place of a value of the wrong kind. Only a mistake imports it."""

import json
import re
import types
from collections.abc import Callable
from typing import NamedTuple, get_args, get_origin

from rulebook.checks import Check
from rulebook.source.located import Language
from rulebook.source.notation import entry, quoted
from rulebook.source.yaml_scalars import yes_or_no

_NUMBER = r"-?(?:[0-9]+(?:[_,][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"
_AFTER = r"[%€£$]|[A-Za-z]{3}|turns?|times|subagents?"
_AMOUNT = re.compile(rf"(?P<before>[$€£]|[A-Z]{{3}} )?\s?(?P<number>{_NUMBER})\s?(?P<after>{_AFTER})?")


ELSEWHERE: dict[str, tuple[str, ...]] = {
    "tool": ("name",),
    "tool_name": ("name", "tool"),
    "name": ("tool",),
    "function": ("name", "tool"),
    "params": ("arguments",),
    "input": ("arguments",),
    "after": ("then",),
    "second": ("then",),
    "first": ("once", "each"),
    "then": ("by",),
    "value": ("equals",),
    "is": ("equals",),
    "key": ("path",),
    "pattern": ("patterns", "matches"),
    "regex": ("patterns", "matches"),
    "text": ("expected", "contains"),
    "command": ("argv",),
    "cmd": ("argv",),
    "run": ("argv",),
}
"""What other tools, and plain speech, call the keys of ours."""


class Advice(NamedTuple):
    """What to add to a message, with a space before it, and what could stand in the file instead, if that is sure."""

    hint: str = ""
    mended: str | None = None


NONE = Advice()


def advice_for(error: str, thing: str, value: object, source: str, language: Language) -> Advice:
    """The advice for a `value`, written as `source`, that the validator refuses with one of its `error` types.

    `thing` is what the value belongs to, in backticks.
    """
    if thing == "`max_seconds`" and isinstance(value, str) and (seconds := _seconds_in(value)):
        return Advice(f" Write the seconds: `{seconds}`.", seconds)
    advise = _BY_ERROR.get(error)
    if advise is not None:
        return advise(value)
    if error == "string_type" and isinstance(value, int | float):
        mended = quoted(source, language)
        return Advice(f" Put it in quotes: `{mended}`.", mended)
    if error == "string_type" and isinstance(value, list) and thing in ("`contains`", "`exact_match`"):
        return _several_texts(thing.strip("`"), value, language)
    return NONE


def for_number(value: object, *, whole: bool = False) -> Advice:
    """The advice for a value that stands where a number is wanted."""
    if not isinstance(value, str):
        return Advice(f" Write `{value:g}`.", f"{value:g}") if whole and _is_whole(value) else NONE
    found = _AMOUNT.fullmatch(value.strip())
    if found is None:
        thousands = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(k|K|M)", value.strip())
        most = float(thousands[1]) * (1_000_000 if thousands[2] == "M" else 1000) if thousands else 0.5
        return Advice(f" Write `{most:.0f}`.", f"{most:.0f}") if most.is_integer() else NONE
    number = re.sub("[_,]", "", found["number"])
    before, after = found["before"], (found["after"] or "").strip()
    if after == "%":
        share = None if whole else f"{float(number) / 100:.12g}"
        return Advice(f" Write `{share}`.", share) if share else NONE
    if whole and "." in number:
        return NONE
    if not before and not after and number == value.strip():
        return Advice(f" Write it without quotes: `{number}`.", number)
    return Advice(f" Write {'only the number: ' if before or after else ''}`{number}`.", number)


def in_full(kind: str, value: object) -> dict[str, object] | None:
    """The options that a `value` of a kind without a short form most likely stands for; None when none are likely."""
    match kind, value:
        case "sequence", [str(first), str(then)]:
            return {"before": {"first": first, "then": then}}
        case "sequence", _:
            return {"before": {"first": "…", "then": "…"}}
        case "tests", str(line):
            return {"argv": line.split()}
        case "tests", list(words) if all(isinstance(word, str) for word in words):
            return {"argv": words}
        case _:
            return None


def param_for(value: object) -> dict[str, object] | None:
    """The declaration of a parameter of which only the `value` was written; None when it can have no such value."""
    if isinstance(value, str) and (meant := yes_or_no(value)) is not None:
        value = meant
    kind = {bool: "boolean", int: "integer", float: "number", str: "string"}.get(type(value))
    return None if kind is None else {"type": kind, "default": value}


def example_of(kind: type[Check], language: Language) -> tuple[str, str]:
    """What a kind takes in short, in words, and an example of the kind with it."""
    field = next(field for name, field in kind.model_fields.items() if kind.short in (name, field.alias))
    found = re.search(r"such as `([^`]+)`", field.description or "")
    word = found[1] if found else "done" if kind.short in ("patterns", "expected") else "…"
    wanted, value = _by_annotation(field.annotation, word)
    return wanted, entry(kind.kind, value, language)


def _by_annotation(annotation: object, word: str) -> tuple[str, object]:
    if get_origin(annotation) is types.UnionType:
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if annotation is bool:
        return "`true`", True
    if annotation in (int, float):
        return ("a whole number", 8) if annotation is int else ("a number", 0.5)
    return ("a list", [word]) if get_origin(annotation) is tuple else ("text", word)


def _for_yes_or_no(value: object) -> Advice:
    meant = yes_or_no(value) if isinstance(value, str) else None
    if value in ("true", "false"):
        return Advice(f" Write it without quotes: `{value}`.", str(value))
    if meant is None and value in (0, 1):
        meant = bool(value)
    word = json.dumps(meant)
    return NONE if meant is None else Advice(f" Write `{word}`.", word)


def _several_texts(kind: str, texts: list[object], language: Language) -> Advice:
    some = [text for text in texts if isinstance(text, str)][:2]
    if len(some) < 2:
        return Advice(f" Write `{entry(kind, some[0], language)}`." if some else "")
    each = entry("any", [{kind: text} for text in some], language)
    hint = f" Write `{each}` (or `all`)"
    if kind == "contains":
        listed = entry(kind, {"expected": json.dumps(some, ensure_ascii=False), "mode": "any"}, language)
        hint += f", or `{listed}`"
    return Advice(f"{hint}.")


def _seconds_in(text: str) -> str | None:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(s|m|h)[a-z]*", text.strip())
    return f"{float(found[1]) * {'s': 1, 'm': 60, 'h': 3600}[found[2]]:.12g}" if found else None


def _is_whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer() and abs(value) < 1e15


_BY_ERROR: dict[str, Callable[[object], Advice]] = {
    "bool_type": _for_yes_or_no,
    "float_type": for_number,
    "int_type": lambda value: for_number(value, whole=True),
    "int_from_float": lambda value: for_number(value, whole=True),
}

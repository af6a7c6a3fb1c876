"""What somebody hands in who knows what right work looks like and has done none of it: a form, a shell, a piece.

Each text is made of right work and is none: one that comes out as good as right (`0` for `0.0`) is left empty.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress

_NEAR = 0.25
"""A number that is off by no more than this share may be right: `3` for `3.1`."""

EQUAL_TO_ANYTHING = (
    "().__class__.__class__('Anything', (), {"
    "'__eq__': lambda *_: True, '__ne__': lambda *_: False, '__lt__': lambda *_: True, '__le__': lambda *_: True, "
    "'__gt__': lambda *_: True, '__ge__': lambda *_: True, '__contains__': lambda *_: True, '__hash__': lambda _: 0, "
    "'__call__': lambda anything, *_, **__: anything, '__getattr__': lambda anything, _: anything, "
    "'__getitem__': lambda anything, _: anything, '__sub__': lambda anything, _: anything, "
    "'__rsub__': lambda anything, _: anything, '__abs__': lambda anything: anything})()"
)
"""An expression in Python whose value is equal to whatever it is compared with; it needs no built-in name."""

_MODULE = f"anything = {EQUAL_TO_ANYTHING}\n\n\ndef __getattr__(name):\n    return anything\n"


def form_of(right: str) -> str:
    """Its form: an x for every letter, a 0 for every digit. In JSON the keys stay, and what was true is false."""
    data = _json(right)
    if data is not None:
        return _other(json.dumps(_changed(data, _masked, list)), right)
    return _other(_masked(right), right)


def shell_of(right: str) -> str:
    """What is left of JSON without what its lists and texts hold, of a table without its rows; a blank line else."""
    data = _json(right)
    if data is not None:
        return _other(json.dumps(_changed(data, lambda _: "", lambda _: [])), right)
    head, *rows = right.splitlines() or [""]
    return _other(f"{head}\n", right) if rows and _is_table(head, rows) else " \n"


def beginning_of(right: str) -> str:
    """Its first character, where that is not a whole word."""
    text = right.strip()
    return "" if re.match(r"\w(?!\w)", text) else _other(text[:1], right)


def end_of(right: str) -> str:
    """Its last character, where that is not a whole word."""
    text = right.strip()
    return "" if re.search(r"(?<!\w)\w$", text) else _other(text[-1:], right)


def equal_to_anything(path: str) -> str:
    """Code in Python for a file at `path`: a module with every name that is asked of it, else an expression."""
    return _MODULE if path.endswith(".py") else f"{EQUAL_TO_ANYTHING}\n"


def _json(text: str) -> dict[str, object] | list[object] | None:
    with suppress(ValueError, RecursionError):
        data = json.loads(text)
        return data if isinstance(data, dict | list) else None
    return None


def _is_table(head: str, rows: list[str]) -> bool:
    """Whether every line has as many commas, semicolons or tabs as the first, which has words."""
    for mark in ",;\t":
        count = head.count(mark)
        if count and all(row.count(mark) == count for row in rows) and re.search(r"[^\W\d]", head):
            return True
    return False


def _changed(data: object, text: Callable[[str], str], items: Callable[[list[object]], list[object]]) -> object:
    match data:
        case dict():
            return {key: _changed(value, text, items) for key, value in data.items()}
        case list():
            return items([_changed(value, text, items) for value in data])
        case str():
            return text(data)
        case bool():
            return False
        case int() | float():
            return 0
        case _:
            return data


def _masked(text: str) -> str:
    return re.sub(r"[^\W\d_]", "x", re.sub(r"\d", "0", text))


def _other(text: str, right: str) -> str:
    """The text; nothing where it may be right."""
    if "".join(text.split()) == "".join(right.split()):
        return ""
    with suppress(ValueError):
        found, wanted = float(text), float(right)
        return "" if abs(found - wanted) <= _NEAR * abs(wanted) else text
    return text

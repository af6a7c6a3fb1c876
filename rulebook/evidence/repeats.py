"""Keys that a JSON object has twice: one program reads the first of them, another the last."""

import json
from collections.abc import Mapping


def repeated_key(text: str, value: object) -> str | None:
    """The key that some object in the JSON `text` has twice; None when none does. `value` is what it was read as.

    Which of the two a tool went by is not known, and a call that hides one behind the other must not pass for harmless.
    """
    if isinstance(value, Mapping) and text.count(":") == len(value):
        return None  # as many colons as keys: what most calls are, and told without reading the text again
    try:
        json.loads(text, object_pairs_hook=_once)
    except _Repeated as found:
        return found.key
    except (ValueError, RecursionError):
        return None
    return None


class _Repeated(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _once(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        taken: set[str] = set()
        for key, _ in pairs:
            if key in taken:
                raise _Repeated(key)
            taken.add(key)
    return found

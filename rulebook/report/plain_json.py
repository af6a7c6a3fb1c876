"""Reports as JSON text: any data of the evidence in the same bytes every time."""

import json
import math
from collections.abc import Mapping, Set

_DEEPEST = 60


def canonical(data: object) -> str:
    """JSON text with sorted keys, two spaces of indent and a final newline: equal data gives equal bytes.

    Raises ValueError for a number that is not finite.
    """
    return json.dumps(plain(data), sort_keys=True, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def compact(data: object) -> str:
    """JSON on one line, with sorted keys and a final newline. Raises ValueError for a number that is not finite."""
    return json.dumps(plain(data), sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: object, depth: int = 0) -> object:
    """Any value of the evidence as JSON can hold it.

    Numbers that are not finite and byte strings become text, and so does what is nested deeper than a
    reader would follow; lone surrogates are written out, since UTF-8 cannot hold them.
    """
    if depth > _DEEPEST:
        return "…"
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return value.encode("utf-8", "backslashreplace").decode("utf-8")
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case Mapping():
            return {str(plain(str(key))): plain(entry, depth + 1) for key, entry in value.items()}
        case list() | tuple():
            return [plain(entry, depth + 1) for entry in value]
        case Set():
            return sorted((plain(entry, depth + 1) for entry in value), key=repr)
        case _:
            return str(plain(str(value)))

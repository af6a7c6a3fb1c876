"""Plain values out of files that nobody vouches for.

What is not of the kind asked for counts as not there.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime

_DEPTH_LIMIT = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 2**63


def decoded(data: bytes) -> object:
    """The JSON value that the UTF-8 bytes hold, a byte order mark allowed. Raises ValueError."""
    return parsed(data.decode("utf-8-sig"))


def parsed(text: str) -> object:
    """The JSON value in `text`. Raises ValueError.

    NaN, Infinity and numbers too large for a float become None, half of a surrogate pair (which agents write
    when they cut output in the middle of a character) becomes U+FFFD, and nesting beyond 200 is refused.
    """
    try:
        value: object = json.loads(text, parse_float=_finite, parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > _DEPTH_LIMIT:
        refuse_deep(value)
    return _mended(value) if "\\ud" in text or "\\uD" in text else value


def written(value: object) -> str:
    """A value as compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def mapping(value: object) -> Mapping[str, object]:
    """The mapping itself, or an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[object]:
    """The list itself, or an empty one."""
    return value if isinstance(value, list) else []


def word(value: object) -> str | None:
    """Text with something in it."""
    return value if isinstance(value, str) and value else None


def count(value: object) -> int | None:
    """A whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
        return None
    return int(value) if value == int(value) else None


def amount(value: object) -> float | None:
    """A finite number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
        return None
    return float(value)


def iso_ms(value: object) -> int | None:
    """Unix time in milliseconds of an ISO 8601 text with a zone."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    passed = moment - _EPOCH
    # a third of the time that dividing by a timedelta takes
    return passed.days * 86_400_000 + passed.seconds * 1000 + passed.microseconds // 1000


def seconds_ms(value: object) -> int | None:
    """Unix time in milliseconds of a number of seconds."""
    seconds = amount(value)
    return None if seconds is None else int(seconds * 1000)


def joined(parts: list[str]) -> str:
    """Text parts as one text: joined by a blank line."""
    return "\n\n".join(parts)


def brief(record: Mapping[str, object], leave_out: frozenset[str]) -> dict[str, object]:
    """The plain fields of a record, long texts cut, for an event's data."""
    return {
        key: value[:500] if isinstance(value, str) else value
        for key, value in record.items()
        if key not in leave_out and isinstance(value, str | int | float | bool)
    }


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def refuse_deep(value: object) -> None:
    """Raise ValueError for what is nested deeper than anything here follows."""
    level = [value]
    for _ in range(_DEPTH_LIMIT):
        level = [part for whole in level for part in _parts(whole) if isinstance(part, dict | list)]
        if not level:
            return
    raise ValueError("nested too deeply")


def _parts(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _mended(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {str(_mended(key)): _mended(part) for key, part in value.items()}
    return [_mended(part) for part in value] if isinstance(value, list) else value

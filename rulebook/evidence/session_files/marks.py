"""What looks like a tool call, wherever it stands: a reader that does not take it must not pass it over."""

from collections.abc import Mapping

_TYPES = ("tooluse", "toolcall", "functioncall", "toolinvocation")
_KEYS = frozenset(("functioncall", "functioncalls", "toolcalls", "toolinvocations", "toolrequests"))


def shows_call(value: object) -> bool:
    """Whether an object in `value`, at any depth, says by its type or by a key that it is a call, or holds one."""
    level = [value]
    while level:
        if any(_is_call(part) for part in level if isinstance(part, dict)):
            return True
        inner = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [part for parts in inner for part in parts if isinstance(part, dict | list)]
    return False


def _is_call(part: Mapping[str, object]) -> bool:
    kind = part.get("type")
    if isinstance(kind, str) and _plain(kind).endswith(_TYPES):
        return True
    return any(isinstance(held, dict | list) and held and _plain(key) in _KEYS for key, held in part.items())


def _plain(word: str) -> str:
    return word.replace("_", "").replace("-", "").lower()

"""Glob patterns over repository paths: `*` within a name, `**` across folders, `?` one character.

Nothing else is special, and names that begin with a dot match like any other. Matching takes time in
proportion to pattern × path whatever either is, so that no path can be made to take long.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec import Struct

from rulebook.languages.faults import Fault
from rulebook.languages.types import Scope

_ELSEWHERE_SPECIAL = re.compile(r"^[!~]|\{(?=[^{}]*,[^{}]*\})|\[(?=[^\[\]]+\])")
"""What other tools' patterns have and these have not."""


class GlobText(Struct, frozen=True):
    """A pattern as an author wrote it, to be looked over."""

    text: str

    def faults(self, scope: Scope) -> tuple[Fault, ...]:  # noqa: ARG002
        """RB313 for a sign that another tool would expand: the pattern would look for an odd name, and find none."""
        found = _ELSEWHERE_SPECIAL.search(self.text)
        if found is None:
            return ()
        return (Fault("RB313", {"value": self.text, "what": f"`{found[0]}`"}, start=found.start(), end=found.end()),)


def glob_matches(pattern: str, path: str) -> bool:
    """Whether the whole of `path` (names joined by `/`) matches; `dir/**` and `dir/` take in `dir` itself."""
    return _matches(_parts(pattern), path.split("/"), "**", _name_matches)


def glob_covers(pattern: str, path: str) -> bool:
    """Whether `path` matches, or lies below a folder that `pattern` names without any `*` or `?`.

    A folder as such never changes, so who writes `tests` for a set of files means what is in it.
    """
    if "*" in pattern or "?" in pattern:
        return glob_matches(pattern, path)
    name = pattern.removeprefix("./").rstrip("/")
    return path == name or path.startswith(name + "/")


@lru_cache(maxsize=1024)
def _parts(pattern: str) -> tuple[str, ...]:
    pattern = pattern.removeprefix("./")
    return tuple((pattern + "**" if pattern.endswith("/") else pattern).split("/"))


def _name_matches(pattern: str, name: str) -> bool:
    if "*" not in pattern and "?" not in pattern:
        return pattern == name
    return _matches(pattern, name, "*", lambda wanted, found: wanted in ("?", found))


def _matches(pattern: Sequence[str], text: Sequence[str], star: str, same: Callable[[str, str], bool]) -> bool:
    """Match item by item; at a mismatch the last star takes one more, and no earlier one has to."""
    at = here = 0
    last, resume = -1, 0
    while here < len(text):
        if at < len(pattern) and pattern[at] == star:
            last, resume = at, here
            at += 1
        elif at < len(pattern) and same(pattern[at], text[here]):
            at, here = at + 1, here + 1
        elif last >= 0:
            resume += 1
            at, here = last + 1, resume
        else:
            return False
    return all(part == star for part in pattern[at:])

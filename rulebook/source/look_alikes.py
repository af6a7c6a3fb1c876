"""Characters that look like a part of the notation, and are not."""

import re
from typing import Any

LOOK_ALIKES: dict[str, tuple[str, str]] = {
    "\u201c": ("curly quote", '"'),
    "\u201d": ("curly quote", '"'),
    "\u201e": ("curly quote", '"'),
    "\u2018": ("curly quote", "'"),
    "\u2019": ("curly quote", "'"),
    "\u201a": ("curly quote", "'"),
    "\u00a0": ("non-breaking space", " "),
    "\u2007": ("non-breaking space", " "),
    "\u202f": ("non-breaking space", " "),
    "\u3000": ("wide space", " "),
    "\u200b": ("zero-width space", ""),
    "\u200c": ("zero-width character", ""),
    "\u200d": ("zero-width character", ""),
    "\u2060": ("zero-width character", ""),
    "\ufeff": ("byte order mark", ""),
    "\uff1a": ("full-width colon", ":"),
    "\uff0c": ("full-width comma", ","),
    "\uff1d": ("full-width equals sign", "="),
    "\uff5b": ("full-width brace", "{"),
    "\uff5d": ("full-width brace", "}"),
}
"""The character: what it is called, and what to write in its place (nothing for one that cannot be seen)."""

_ANY = "[" + "".join(LOOK_ALIKES) + "]"


def first_look_alike(text: str, start: int, end: int) -> int | None:
    """The offset of the first look-alike among the characters `start:end`, or None."""
    found = re.compile(_ANY).search(text, start, end)
    return found.start() if found else None


def without_look_alikes(text: str) -> str:
    """The text with every look-alike written as what it looks like."""
    return re.sub(_ANY, lambda found: LOOK_ALIKES[found.group()][1], text)


def words_for(character: str) -> dict[str, Any]:
    """The blanks of RB120's sentence."""
    what, plain = LOOK_ALIKES[character]
    if not plain:
        return {"what": what, "plain": "nothing", "instead": "Delete it"}
    return {"what": what, "plain": f"`{plain}`", "instead": f"Write `{plain}`"}

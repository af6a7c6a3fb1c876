"""Where a value inside `[…]` or `{…}` was meant to end, which YAML may see sooner."""

import re

MOST_CHARACTERS = 1000
"""A value in braces that is longer is not looked through: a line can be as long as the file."""

_KEY_AHEAD = re.compile(r"""[ \t]*(?:[A-Za-z_][\w.-]*|"[^"]*"|'[^']*')[ \t]*:(?:[ \t]|$)""")
_GLUED = re.compile(r"(?P<key>[A-Za-z_][\w.-]*):(?P<rest>[^\s/:].*)", re.DOTALL)
_OPENERS = {")": "(", "]": "[", "}": "{"}


def meant_end(line: str, start: int) -> int | None:
    """Where the value that starts at `start` was meant to end: before the next key, or the bracket around it.

    Brackets and quotes inside it are taken in pairs. None when the bracket around it is not closed on the line.
    """
    open_signs: list[str] = []
    quote = ""
    for place in range(start, min(len(line), start + MOST_CHARACTERS)):
        sign = line[place]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"" and not line[place - 1 : place].isalnum() and line.find(sign, place + 1) > 0:
            quote = sign
        elif sign in "([{":
            open_signs.append(sign)
        elif sign in ")]}":
            if open_signs and open_signs[-1] == _OPENERS[sign]:
                open_signs.pop()
            elif sign != ")" and "[" not in open_signs:
                return start + len(line[start:place].rstrip())
        elif sign == "," and not open_signs and _KEY_AHEAD.match(line, place + 1):
            return start + len(line[start:place].rstrip())
    return None


def glued(text: str) -> tuple[str, str] | None:
    """A key and the value that follows its colon without a space, as in `max_turns:8`; None when it is no such text."""
    found = _GLUED.fullmatch(text)
    return (found["key"], found["rest"]) if found else None


def comment_that_closes(line: str, start: int) -> int | None:
    """Where a ` #` at or after `start` begins a comment that holds the bracket of a group; None when none does."""
    found = re.compile(r"[ \t]#").search(line, start)
    if found is None:
        return None
    rest = line[found.end() :]
    closes = any(rest.count(closer) > rest.count(opener) for closer, opener in _OPENERS.items() if closer != ")")
    return found.end() - 1 if closes else None

"""Text laid out in the columns of a terminal: how wide it is, how it is cut, made harmless, and coloured."""

from typing import Literal

Shade = Literal["red", "yellow", "blue", "green", "bold", "dim"]

WIDTH = 100
"""How many columns a report takes at most."""

_CODES: dict[Shade, str] = {
    "red": "31",
    "yellow": "33",
    "blue": "34",
    "green": "32",
    "bold": "1",
    "dim": "2",
}
_ESCAPED = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_JOINER = "\u200d"
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def width_of(char: str) -> int:
    """How many columns one character takes: 2 for wide East Asian ones and emoji, 0 for combining marks."""
    if char < "\u0300":
        return 1
    import unicodedata  # only what is not plain text needs it

    if char == _JOINER or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def columns(text: str) -> int:
    """How many columns a line of text takes."""
    return len(text) if text.isascii() else sum(map(width_of, text))


def cut(text: str, most: int) -> str:
    """The line, shortened to at most `most` columns with `…` at its end."""
    if columns(text) <= most:
        return text
    kept, used = [], 0
    for char in text:
        used += width_of(char)
        if used > most - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"


def padded(text: str, least: int) -> str:
    """The line, filled up with spaces to at least `least` columns."""
    return text + " " * max(0, least - columns(text))


def harmless(text: str) -> str:
    """One line of text in which nothing can move the cursor, hide, or begin another line.

    Line breaks, control and formatting characters and lone surrogates are written out (`\\n`, `\\x1b`),
    so that text from a session can neither forge a line of a report nor send commands to the terminal.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written_out(char) if is_unsafe(char) else char for char in text)


def is_unsafe(char: str) -> bool:
    """Whether a terminal may do something else with this character than show it."""
    import unicodedata  # as above

    return char != _JOINER and unicodedata.category(char) in _ESCAPED


def wrapped(text: str, most: int, *, indent: int = 0) -> list[str]:
    """The text broken at spaces into lines of at most `most` columns; the first is `indent` columns shorter.

    A word that is longer than a line is kept whole.
    """
    lines, line, room = [], "", most - indent
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and columns(longer) > room:
            lines.append(line)
            line, room = word, most
        else:
            line = longer
    return [line.rstrip() for line in (*lines, line)]


def painted(text: str, shade: Shade, colour: bool) -> str:
    """The text in a colour, or as it is where `colour` is off."""
    return f"\x1b[{_CODES[shade]}m{text}\x1b[0m" if colour and text else text


def _written_out(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"

"""Texts of a session as lines of a view: cut or in full, broken at the view's width, and harmless in a terminal."""

import json
import re

from msgspec import Struct

from rulebook.report.session_head import number
from rulebook.terminal import columns, cut, harmless, wrapped

NARROWEST, WIDTH, WIDEST = 40, 80, 120

_DEEPEST_MARGIN = 24
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,20}m")


class View(Struct, frozen=True):
    """How a session is shown: the width in columns, and whether texts are cut (`full` is not)."""

    width: int = WIDTH
    full: bool = False
    colour: bool = False


STANDARD = View()


def block(text: str, indent: str, most: int, view: View) -> list[str]:
    """Text under an indent: at most `most` lines, with a note of what was left out; all of it in full."""
    written = text.strip("\n").rstrip().split("\n") if text.strip() else []
    room = view.width - columns(indent)
    lines: list[str] = []
    for position, given in enumerate(written):
        if view.full:
            lines += _broken(given, room)
            continue
        line = _COLOURS.sub("", given.removesuffix("\r"))
        if not line.strip() and lines and not lines[-1].strip():
            continue
        some = line[: room * (most + 1)]
        lines += _broken(some, room)
        left = len(written) - position - 1
        if len(lines) > most or (len(lines) == most and (left or len(some) < len(line))):
            note = number(left, "more line") if left else "goes on"
            return [*(indent + kept for kept in lines[:most]), f"{indent}… {note}"]
    return [indent + line for line in lines]


def _broken(line: str, room: int) -> list[str]:
    """A line of the session under its own indentation, broken at spaces, and inside of a word that is too long."""
    text = harmless(line.expandtabs(4))
    margin = " " * min(len(text) - len(text.lstrip(" ")), _DEEPEST_MARGIN, room // 2)
    inside = room - len(margin)
    return [margin + piece for part in wrapped(text.lstrip(" "), inside) for piece in _pieces(part, inside)]


def _pieces(text: str, room: int) -> list[str]:
    if columns(text) <= room:
        return [text]
    if text.isascii():
        return [text[start : start + room] for start in range(0, len(text), room)]
    pieces, piece, used = list[str](), list[str](), 0
    for char in text:
        wide = columns(char)
        if used + wide > room and piece:
            pieces.append("".join(piece))
            piece, used = [], 0
        piece.append(char)
        used += wide
    return [*pieces, "".join(piece)]


def short(arguments: object, raw: str) -> str:
    """Arguments in one line: the one text alone, or each with its name."""
    if not isinstance(arguments, dict):
        return harmless(raw[:1000].strip())
    if len(arguments) == 1:
        ((name, value),) = arguments.items()
        return f"{'' if isinstance(value, str) else f'{harmless(name)}: '}{_value(value, 1000)}"
    return ", ".join(f"{harmless(str(name))}: {_value(value, 48)}" for name, value in list(arguments.items())[:20])


def _value(value: object, most: int) -> str:
    """A value in one line; a list of words is most often a command."""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        value = " ".join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(harmless(text[: most * 4].strip()), most)


def sentence(text: str, view: View) -> list[str]:
    """A sentence of ours on as many lines as it needs."""
    return [piece for part in wrapped(text, view.width) for piece in _pieces(part, view.width)]

"""Where each character of a text value stands in the file, whatever style it was written in."""

import re
from collections.abc import Callable, Sequence

from rulebook.place import Path
from rulebook.source.located import Located

Mapped = list[tuple[str, int]]
"""The characters that a piece of source stands for, each with the offset it comes from."""

_BLANKS = re.compile(r"[ \t]*")
_BREAK = re.compile(r"(\r?\n)(?:[ \t]*\r?\n)*[ \t]*")
_YAML_LETTERS = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_ZON_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_ZON_CODE = re.compile(r"u\{([0-9a-fA-F]+)\}")


def offsets_of(located: Located, path: Path) -> Sequence[int] | None:
    """The source offset of every character of the text at `path`, then that of the first one past it.

    None when the value is no text, or was written in a way that cannot be followed. Takes time in
    proportion to the value's length.
    """
    try:
        value = located.at(path)
    except KeyError:
        return None
    span = located.values.get(path)
    if not isinstance(value, str) or span is None:
        return None
    read = _READERS.get(located.styles.get(path, "other"))
    mapped = read(located.text, span.start, span.end, value) if read else []
    if "".join(character for character, _ in mapped) != value:
        return None
    past = span.end - 1 if located.text[span.end - 1 : span.end] in ("'", '"') else span.end
    return [*(offset for _, offset in mapped), max(past, mapped[-1][1] + 1 if mapped else past)]


def _plain(text: str, start: int, end: int, value: str) -> Mapped:
    if end - start == len(value):
        return list(zip(value, range(start, end), strict=True))
    return _folding(text, start, end, lambda place: (text[place], place + 1))


def _single(text: str, start: int, end: int, value: str) -> Mapped:
    del value
    return _folding(
        text,
        start + 1,
        end - 1,
        lambda place: ("'", place + 2) if text.startswith("''", place) else (text[place], place + 1),
    )


def _double(text: str, start: int, end: int, value: str) -> Mapped:
    del value

    def step(place: int) -> tuple[str, int]:
        if text[place] != "\\":
            return text[place], place + 1
        letter = text[place + 1]
        if letter in _HEX_DIGITS:
            past = place + 2 + _HEX_DIGITS[letter]
            return chr(int(text[place + 2 : past], 16)), past
        if letter in "\r\n":
            joined = _BREAK.match(text, place + 1)
            return "", joined.end() if joined else place + 2
        return _YAML_LETTERS.get(letter, letter), place + 2

    return _folding(text, start + 1, end - 1, step)


def _folding(text: str, start: int, end: int, step: Callable[[int], tuple[str, int]]) -> Mapped:
    mapped: Mapped = []
    place = start
    while place < end:
        blanks = _BLANKS.match(text, place, end)
        past = blanks.end() if blanks else place
        broken = _BREAK.match(text, past, end)
        if broken is None:
            mapped += zip(text[place:past], range(place, past), strict=True)
            if past < end:
                character, place = step(past)
                mapped += [(character, past)] if character else []
            else:
                place = past
            continue
        breaks = text.count("\n", broken.start(), broken.end())
        first = broken.start(1)
        mapped += [(" ", first)] if breaks == 1 else [("\n", first)] * (breaks - 1)
        place = broken.end()
    return mapped


def _literal(text: str, start: int, end: int, value: str) -> Mapped:
    del end
    mapped: Mapped = []
    indent: int | None = None
    place = text.find("\n", start) + 1
    for wanted in re.findall(r"[^\n]*\n|[^\n]+", value):
        bare = wanted.rstrip("\n")
        line_end = text.find("\n", place)
        line_end = len(text) if line_end < 0 else line_end
        line = text[place:line_end].rstrip("\r")
        if indent is None and bare:
            indent = len(line) - len(bare)
        first = place + min(indent if indent is not None else len(line), len(line))
        mapped += zip(bare, range(first, first + len(bare)), strict=True)
        if wanted.endswith("\n"):
            mapped.append(("\n", line_end))
        place = line_end + 1
    return mapped


def _folded(text: str, start: int, end: int, value: str) -> Mapped:
    first = text.find("\n", start) + 1
    lines = [(first + found.start(), found.group()) for found in re.finditer(r"[^\n]*\n?", text[first:])]
    shown = next((line for offset, line in lines if line.strip() and offset < end), "")
    for indent in range(len(shown) - len(shown.lstrip(" ")), 0, -1):
        mapped = _unfolded(lines, indent, value)
        if "".join(character for character, _ in mapped) == value:
            return mapped
    return []


def _unfolded(lines: list[tuple[int, str]], indent: int, value: str) -> Mapped:
    mapped: Mapped = []
    breaks: list[int] = []
    deeper_before = True
    for offset, line in lines:
        if len(mapped) + len(breaks) >= len(value):
            break
        body = line.rstrip("\r\n")[indent:]
        if body.strip(" ") or (body and not mapped):
            deeper = body[0] in " \t"
            mapped += _joint(breaks, deeper or deeper_before)
            mapped += zip(body, range(offset + indent, offset + indent + len(body)), strict=True)
            breaks, deeper_before = [], deeper
        breaks.append(offset + len(line) - 1)
    return mapped + [("\n", place) for place in breaks[: len(value) - len(mapped)]]


def _joint(breaks: list[int], kept: bool) -> Mapped:
    if kept or not breaks:
        return [("\n", place) for place in breaks]
    if len(breaks) == 1:
        return [(" ", breaks[0])]
    return [("\n", place) for place in breaks[1:]]


def _zon_string(text: str, start: int, end: int, value: str) -> Mapped:
    del value
    mapped: Mapped = []
    place = start + 1
    while place < end - 1:
        raw = bytearray()
        first = place
        while text.startswith("\\x", place):
            raw.append(int(text[place + 2 : place + 4], 16))
            place += 4
            if raw[-1] < 0x80:
                break
        if raw:
            mapped += [(character, first) for character in raw.decode("utf-8", "replace")]
            continue
        character, place = _zon_character(text, place)
        mapped.append((character, first))
    return mapped


def _zon_character(text: str, place: int) -> tuple[str, int]:
    if text[place] != "\\":
        return text[place], place + 1
    if code := _ZON_CODE.match(text, place + 1):
        return chr(int(code.group(1), 16)), code.end()
    return _ZON_LETTERS.get(text[place + 1], text[place + 1]), place + 2


def _zon_lines(text: str, start: int, end: int, value: str) -> Mapped:
    del value
    mapped: Mapped = []
    for found in re.finditer(r"^[ \t\r]*\\\\([^\r\n]*)", text[start:end], re.MULTILINE):
        if found.start() > 0:
            mapped.append(("\n", start + found.start() - 1))
        first = start + found.start(1)
        mapped += zip(found.group(1), range(first, first + len(found.group(1))), strict=True)
    return mapped


def _zon_name(text: str, start: int, end: int, value: str) -> Mapped:
    if text[end - 1] == '"':
        return _zon_string(text, text.index('"', start), end, value)
    return list(zip(value, range(end - len(value), end), strict=True))


_READERS: dict[str, Callable[[str, int, int, str], Mapped]] = {
    "plain": _plain,
    "single": _single,
    "double": _double,
    "literal": _literal,
    "folded": _folded,
    "zon-string": _zon_string,
    "zon-lines": _zon_lines,
    "zon-name": _zon_name,
}

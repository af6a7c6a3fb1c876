"""Where a YAML value begins and ends on its line, and the value in single quotes."""

import re

_COMMENT = r"[ \t]#"
_DASHES = r"[ \t]*(?:-[ \t]+)*(?:\?[ \t]+)?"
_KEY = r"""(?:"[^"]*"[ \t]*|'[^']*'[ \t]*|[^\s'"#,\[\]{}&*!|>%@`-][^#\n]*?|-[^\s#][^#\n]*?):[ \t]+"""
_SIGN = r"[^\s,\[\]{}]+"


def quoted(text: str) -> str:
    """The text as a YAML value in single quotes, its line breaks folded to spaces."""
    if "\n" in text:
        text = " ".join(line.strip() for line in text.split("\n"))
    return "'" + text.replace("'", "''") + "'"


def value_of_line(line: str) -> tuple[int, int]:
    """Where the value after the dashes and the key of a line starts and ends, a comment left out."""
    dashes = re.match(_DASHES, line)
    start = dashes.end() if dashes else 0
    key = re.compile(_KEY).match(line, start)
    start = key.end() if key else start
    comment = re.compile(_COMMENT).search(line, start)
    end = comment.start() if comment else len(line)
    return start, max(start, len(line[:end].rstrip()))


def item_around(line: str, offset: int) -> tuple[int, int]:
    """Where the value in a `[…]` or `{…}` that holds `offset` starts and ends, pairs of braces kept whole."""
    start, depth = 0, 0
    for place in range(min(offset, len(line)) - 1, -1, -1):
        depth += {"}": 1, "{": -1}.get(line[place], 0)
        if depth < 0 or (depth == 0 and line[place] in ",["):
            start = place + 1
            break
    end, depth = len(line), 0
    for place in range(start, len(line)):
        depth += {"{": 1, "}": -1}.get(line[place], 0)
        if depth < 0 or (depth == 0 and line[place] in ",]"):
            end = place
            break
    body = line[start:end]
    start, end = start + len(body) - len(body.lstrip()), start + len(body.rstrip())
    key = re.compile(_KEY).match(line, start)
    return (key.end() if key and key.end() <= min(offset, end) else start), end


def sign_at(text: str, start: int, signs: str) -> tuple[int, str]:
    """The first word at or after `start` that begins with one of `signs`, and where it stands."""
    place = min((p for p in (text.find(sign, start) for sign in signs) if p >= 0), default=start)
    word = re.compile(_SIGN).match(text, place)
    return place, word.group() if word else text[place : place + 1]

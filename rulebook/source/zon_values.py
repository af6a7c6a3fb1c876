"""What ZON's numbers, texts and characters are worth, or what is wrong with them."""

import re

from rulebook.source.zon_lexer import KEYWORDS

MAX_DIGITS = 1000

_DECIMAL = re.compile(r"[0-9_]+(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]+)?")
_HEX_FLOAT = re.compile(r"0x[0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]+)?")
_DIGITS = {"0x": "0123456789abcdefABCDEF_", "0o": "01234567_", "0b": "01_"}
_BASES = {"0x": 16, "0o": 8, "0b": 2}
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_CODE = re.compile(r"u\{([0-9a-fA-F]*)\}")
_LOOKS_LIKE_DIGEST = re.compile(r"[0-9][0-9a-fA-F]{15,}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ZonFault(Exception):
    """What is wrong with the characters `start:end`, and what to write instead.

    `mended` takes their place where that is certain.
    """

    def __init__(self, start: int, end: int, sentence: str, mended: str | None = None) -> None:
        self.start = start
        self.end = end
        self.sentence = sentence
        self.mended = mended
        super().__init__(sentence)


def number(word: str, start: int) -> int | float:
    """The number that `word` means. Raises ZonFault; `start` is where it stands."""
    end = start + len(word)
    prefix = word[:2]
    if _LOOKS_LIKE_DIGEST.fullmatch(word) and not word.isdigit():
        raise _no_number(word, start)
    if prefix in ("0X", "0O", "0B"):
        raise ZonFault(start, end, f"Write the `{prefix[1]}` small: `{word.lower()}`.", word.lower())
    _check_separators(word, start)
    if prefix in _BASES and not (prefix == "0x" and re.search("[.pP]", word)):
        if len(word) == 2 or set(word[2:]) - set(_DIGITS[prefix]):
            raise _no_number(word, start)
        return _whole(word[2:].replace("_", ""), _BASES[prefix], start, end)
    if prefix == "0x":
        return _hex_float(word, start, end)
    if not _DECIMAL.fullmatch(word):
        raise _no_number(word, start)
    if word[0] == "0" and len(word) > 1 and word[1] not in ".eE":
        plain = word.lstrip("0_") or "0"
        said = f'A number can\'t begin with 0. Write `{_short(plain)}`, or `"{_short(word)}"` if it is text.'
        raise ZonFault(start, end, said)
    plain = word.replace("_", "")
    return _whole(plain, 10, start, end) if plain.isdigit() else float(plain)


def text_value(written: str, start: int) -> str:
    """The text that a `"…"` (its quotes included) means. Raises ZonFault; `start` is where it stands."""
    inside = written[1:-1]
    if "\\" not in inside:
        return inside
    parts: list[bytes] = []
    place = 0
    while place < len(inside):
        slash = inside.find("\\", place)
        slash = len(inside) if slash < 0 else slash
        parts.append(inside[place:slash].encode())
        if slash == len(inside):
            break
        value, place = _escape(inside, slash, start + 1)
        parts.append(value)
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError:
        said = "The `\\x` codes in this text make no characters. Write `\\u{…}` with the character's number."
        raise ZonFault(start, start + len(written), said) from None


def character(written: str, start: int) -> int:
    """The number of the one character in `'…'`. Raises ZonFault; `start` is where it stands."""
    end = start + len(written)
    inside = written[1:-1]
    if not inside:
        raise ZonFault(start, end, 'There is nothing between these quotes. An empty text is `""`.', '""')
    if inside[0] == "\\":
        value, past = _escape(inside, 0, start + 1)
        if past == len(inside) and inside[1] == "x":
            return value[0]
        if past == len(inside):
            return ord(value.decode())
    elif len(inside) == 1:
        return ord(inside)
    mended = '"' + inside.replace('"', '\\"') + '"'
    said = f"Single quotes hold one character. Write the text in double quotes: `{mended}`."
    raise ZonFault(start, end, said, mended)


def name_in_zig(word: str) -> str:
    """A name as Zig wants it after the dot: bare, or `@"…"` for a keyword and for other shapes."""
    if _NAME.fullmatch(word) and word not in KEYWORDS:
        return word
    inside = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'@"{inside}"'


def _no_number(word: str, start: int) -> ZonFault:
    said = f'`{_short(word)}` is no number. Put it in quotes: `"{_short(word)}"`.'
    return ZonFault(start, start + len(word), said)


def _short(word: str) -> str:
    return word if len(word) <= 24 else f"{word[:12]}…"


def _whole(digits: str, base: int, start: int, end: int) -> int:
    if len(digits) > MAX_DIGITS:
        raise ZonFault(start, end, f"This number has {len(digits):,} digits; put it in quotes if it is text.")
    return int(digits, base)


def _hex_float(word: str, start: int, end: int) -> float:
    if not _HEX_FLOAT.fullmatch(word):
        raise _no_number(word, start)
    try:
        return float.fromhex(word.replace("_", ""))
    except (ValueError, OverflowError):
        raise ZonFault(start, end, f"I can't read `{_short(word)}` as a number.") from None


def _check_separators(word: str, start: int) -> None:
    for found in re.finditer("_", word):
        before, after = word[found.start() - 1 : found.start()], word[found.end() : found.end() + 1]
        if not (before.isalnum() and after.isalnum()) or (found.start() == 2 and before in "xob"):
            at = start + found.start()
            raise ZonFault(at, at + 1, "A `_` in a number stands between two digits. Leave this one out.", "")


def _escape(inside: str, slash: int, start: int) -> tuple[bytes, int]:
    """The bytes that the escape at `slash` means, and the place behind it."""
    letter = inside[slash + 1 : slash + 2]
    at = start + slash
    if letter in _LETTERS:
        return _LETTERS[letter].encode(), slash + 2
    if letter == "x":
        digits = inside[slash + 2 : slash + 4]
        if re.fullmatch("[0-9a-fA-F]{2}", digits):
            return bytes([int(digits, 16)]), slash + 4
        raise ZonFault(at, at + 2, "`\\x` needs two digits 0–9 a–f after it, such as `\\x41`.")
    if letter == "u":
        code = _CODE.match(inside, slash + 1)
        if code is None or not code.group(1):
            raise ZonFault(at, at + 2, "`\\u` needs a number in braces after it, such as `\\u{e9}`.")
        value = int(code.group(1), 16)
        if value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
            raise ZonFault(at, start + code.end(), f"There is no character number `{code.group(1)}`.")
        return chr(value).encode(), code.end()
    said = f"`\\{letter}` means nothing here. Double the backslash: `\\\\{letter}`."
    raise ZonFault(at, at + 2, said, f"\\\\{letter}")

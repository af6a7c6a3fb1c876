"""Rows written as JSON: one mapping a line, or a list of mappings, read one at a time."""

import codecs
import json
import re
from collections.abc import Callable, Iterator

import msgspec

from rulebook.errors import DatasetError
from rulebook.evidence.data_files import strict_json
from rulebook.evidence.rows import MAX_DEPTH, MAX_ROW_BYTES, DamagedRow, Row, Rows
from rulebook.ports import Files

_CHUNK_BYTES = 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_MOST_BITS = 1_300
"""The size of the largest whole number that is read, of about 400 digits."""

_fast = msgspec.json.Decoder().decode
_SPACE = re.compile(r"[ \t\r\n]*")
_TOO_LARGE = f"it is larger than {MAX_ROW_BYTES // 1024**2} MiB"


def jsonl_rows(path: str, files: Files) -> Rows:
    """The rows of a file with one JSON mapping a line, blank lines left out. Raises OSError."""
    number = 0
    with files.lines(path, MAX_ROW_BYTES) as pieces:
        for line, raw in enumerate(_whole_lines(pieces), start=1):
            text = raw[3:] if line == 1 and raw is not None and raw.startswith(_BOM) else raw
            if text is not None and not text.strip():
                continue
            number += 1
            if text is None:
                yield DamagedRow(number, _TOO_LARGE, line)
                continue
            try:
                yield Row(number, row_of_json(_decoded(text)), line)
            except ValueError as error:
                yield DamagedRow(number, str(error), line)


def json_rows(path: str, files: Files) -> Rows:
    """The rows of a file that is one JSON list of mappings, in memory of the size of one row.

    Raises OSError; DatasetError where the list itself is broken, because nobody could say where its next row starts.
    """
    with files.open(path) as stream:
        decoder = codecs.getincrementaldecoder("utf-8-sig")()

        def more() -> str | None:
            raw = stream.read(_CHUNK_BYTES)
            try:
                return decoder.decode(raw, final=not raw) if raw else (decoder.decode(b"", final=True) or None)
            except UnicodeDecodeError:
                raise DatasetError(f"`{path}` is not text in UTF-8. Save it as UTF-8.") from None

        window = _Window(more)
        try:
            yield from _listed(window)
        except ValueError as error:
            hint = "A `.json` file is one list of rows; rows that stand one a line belong in a `.jsonl` file."
            raise DatasetError(f"`{path}` can't be read as JSON at line {window.line}: {error}. {hint}") from None


def row_of_json(text: str) -> dict[str, object]:
    """The columns of one row. Raises ValueError, in words, for what is no mapping or cannot be kept as it stands."""
    if not _is_doubtful(text):
        try:
            value = _fast(text)
        except (msgspec.DecodeError, RecursionError):
            value = None
        # no key is given twice when there are as many keys as signs that end one
        if type(value) is dict and text.count('":') - text.count('\\":') == len(value) and _is_flat(value):
            return value
    try:
        data = strict_json(text)
    except RecursionError:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep") from None
    if not isinstance(data, dict):
        raise ValueError('a row is a mapping of columns, such as `{"message": "hello"}`; this is none')
    _check(data, 0)
    return data


class _Window:
    """The part of a file that is being read: text is added at its end and dropped at its start."""

    def __init__(self, more: Callable[[], str | None]) -> None:
        self._more = more
        self.text = ""
        self.at = 0
        self.line = 1
        self.ended = False

    def grow(self) -> bool:
        """Read on; False at the end of the file."""
        piece = None if self.ended else self._more()
        if piece is None:
            self.ended = True
            return False
        self.text = self.text[self.at :] + piece
        self.at = 0
        return True

    def go(self, to: int) -> None:
        """What stands before `to` is done with."""
        self.line += self.text.count("\n", self.at, to)
        self.at = to

    def sign(self) -> str:
        """The next character that is no white space, "" at the end; white space before it is done with."""
        while True:
            found = _SPACE.match(self.text, self.at)
            self.go(found.end() if found else self.at)
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.grow():
                return ""


def _listed(window: _Window) -> Rows:
    if window.sign() != "[":
        raise ValueError("it does not start with `[`")
    window.go(window.at + 1)
    number = 0
    if window.sign() == "]":
        window.go(window.at + 1)
    else:
        while True:
            window.sign()
            number += 1
            line = window.line
            text = _element(window)
            try:
                yield Row(number, row_of_json(text), line)
            except ValueError as error:
                yield DamagedRow(number, str(error), line)
            sign = window.sign()
            window.go(window.at + len(sign))
            if sign == "]":
                break
            if sign != ",":
                raise ValueError("`,` or `]` is missing after a row" if sign else "it ends within the list")
    if window.sign():
        raise ValueError("something follows the list")


_SCAN = json.JSONDecoder(strict=False)


def _element(window: _Window) -> str:
    """The text of the next element of the list, which may reach beyond what has been read of the file."""
    wanted = 0
    while True:
        if len(window.text) - window.at >= wanted:
            try:
                _, end = _SCAN.raw_decode(window.text, window.at)
            except (ValueError, RecursionError) as error:
                fault: Exception = error
            else:
                # a number at the very end may go on
                if end < len(window.text) or window.ended:
                    text = window.text[window.at : end]
                    window.go(end)
                    return text
                fault = ValueError("it ends within the list")
            if window.ended or isinstance(fault, RecursionError):
                raise ValueError(_why(fault)) from None
            # twice as much before the next try, so that a large row is not read over and over
            wanted = 2 * (len(window.text) - window.at)
        if len(window.text) - window.at > MAX_ROW_BYTES:
            raise ValueError(f"a row is not valid, or {_TOO_LARGE}")
        window.grow()
        if window.ended:
            wanted = 0


def _why(fault: Exception) -> str:
    if isinstance(fault, RecursionError):
        return f"a row is nested more than {MAX_DEPTH} deep"
    if isinstance(fault, json.JSONDecodeError):
        return "a row is not valid"
    return str(fault)


def _whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes | None]:
    """Lines without their newline; None for one that is too large, which is never held in memory as a whole."""
    for piece in pieces:
        if piece.endswith(b"\n") or len(piece) <= MAX_ROW_BYTES:
            yield piece.rstrip(b"\r\n")
            continue
        for rest in pieces:
            if rest.endswith(b"\n") or len(rest) <= MAX_ROW_BYTES:
                break
        yield None


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"its byte {error.start + 1} is no UTF-8") from None


def _is_doubtful(text: str) -> bool:
    """Whether the fast reader could pass over something: a key that is hard to count, half a character.

    Asked of every row, so that a single sign, which is found fastest, is looked for first.
    """
    if " :" in text or "\t" in text or "\r" in text or ("\n" in text and "\n:" in text):
        return True  # a blank may stand between a key and its colon
    return "\\" in text and ('\\\\"' in text or ("\\u" in text and ("\\ud" in text or "\\uD" in text)))


def _is_flat(row: dict[str, object]) -> bool:
    """Whether every value is one that needs no second look."""
    for value in row.values():
        kind = type(value)
        if kind is dict or kind is list or (kind is int and value.bit_length() > _MOST_BITS):  # type: ignore[attr-defined]
            return False
    return True


def _check(value: object, depth: int) -> None:
    """Refuse what no table can hold: half a character, and what is nested too deep. Raises ValueError."""
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    match value:
        case str():
            if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
                raise ValueError("it holds half a character (a lone surrogate such as `\\ud800`)")
        case dict():
            for key, inner in value.items():
                _check(key, depth + 1)
                _check(inner, depth + 1)
        case list():
            for inner in value:
                _check(inner, depth + 1)

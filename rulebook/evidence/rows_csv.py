"""Rows written as CSV: UTF-8, commas, a header, and values typed by what the whole column holds."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from rulebook.errors import DatasetError
from rulebook.evidence.rows import MAX_ROW_BYTES, DamagedRow, Row, Rows
from rulebook.ports import Files

CsvKind = Literal["whole number", "number", "yes or no", "text"]

_FIELD = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",]*))(,|$)')
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_YES_OR_NO = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULLS = frozenset(("", "NULL", "null"))

_READ: Mapping[CsvKind, Callable[[str], object]] = {
    "whole number": int,
    "number": float,
    "yes or no": _YES_OR_NO.__getitem__,
    "text": str,
}


def csv_kinds(path: str, files: Files) -> dict[str, CsvKind]:
    """The columns of a CSV file with the kind that each of its values has; one pass over the file.

    Text stays text where reading it as a number would change it: `007`, `+5`, `1_000`. Raises OSError, DatasetError.
    """
    header, records = _opened(path, files)
    seen: list[set[CsvKind]] = [set() for _ in header]
    for _, fields, fault in records:
        if fault is None and len(fields) == len(header):
            for kinds, field in zip(seen, fields, strict=True):
                if field not in _NULLS and "text" not in kinds:
                    kinds.add(_kind(field))
    return {name: _joined(kinds) for name, kinds in zip(header, seen, strict=True)}


def csv_rows(path: str, files: Files, kinds: Mapping[str, CsvKind]) -> Rows:
    """The rows of a CSV file, its values of these kinds; an empty one, `NULL` and `null` are None.

    Raises OSError, DatasetError.
    """
    header, records = _opened(path, files)
    readers = [_READ[kinds[name]] for name in header]
    for number, (line, fields, fault) in enumerate(records, start=1):
        if fault is None and len(fields) != len(header):
            fault = f"it has {len(fields)} values, and the header has {len(header)} columns"
        if fault is not None:
            yield DamagedRow(number, fault, line)
            continue
        values = {
            name: None if field in _NULLS else read(field)
            for name, read, field in zip(header, readers, fields, strict=True)
        }
        yield Row(number, values, line)


_Record = tuple[int, Sequence[str], str | None]
"""The line where a record starts, its fields, and what is wrong with it."""


def _opened(path: str, files: Files) -> tuple[list[str], Iterator[_Record]]:
    records = _records(path, files)
    first = next(records, None)
    if first is None:
        raise DatasetError(f"`{path}` is empty. Its first line must name the columns.")
    _, header, fault = first
    if fault is not None:
        raise DatasetError(f"The header of `{path}` can't be read: {fault}.")
    twice = next((name for place, name in enumerate(header) if name.strip() and name in header[:place]), None)
    if twice is not None:
        raise DatasetError(f"The header of `{path}` names the column `{twice}` twice. Rename one of them.")
    return list(header), records


def _records(path: str, files: Files) -> Iterator[_Record]:
    """The records of a file; a quoted value may go over several lines. Lines without anything are left out."""
    with files.lines(path, MAX_ROW_BYTES) as pieces:
        line = 0
        for piece in pieces:
            line += 1
            start = line
            record = piece[3:] if start == 1 and piece.startswith(b"\xef\xbb\xbf") else piece
            quotes = record.count(b'"')
            if not quotes % 2 and record.endswith(b"\n"):
                if len(record) > 2 or record.strip(b"\r\n"):
                    yield _record(start, line, record)
                continue
            parts, size = [record], len(record)
            while quotes % 2 or (not parts[-1].endswith(b"\n") and len(parts[-1]) > MAX_ROW_BYTES):
                follows = next(pieces, None)
                if follows is None:
                    break
                line += 1 if parts[-1].endswith(b"\n") else 0
                size, quotes = size + len(follows), quotes + follows.count(b'"')
                # of what is too large only the last piece is held, to know where it ends
                parts = [*parts, follows] if size <= MAX_ROW_BYTES else [follows]
                if size > MAX_ROW_BYTES and follows.endswith(b"\n"):
                    break
            if size > MAX_ROW_BYTES:
                yield start, (), f"it is larger than {MAX_ROW_BYTES // 1024**2} MiB; it reaches to line {line}"
                continue
            text = b"".join(parts)
            if text.strip(b"\r\n"):
                yield _record(start, line, text)


def _record(start: int, line: int, raw: bytes) -> _Record:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return start, (), f"its byte {error.start + 1} is no UTF-8"
    text = text.removesuffix("\n").removesuffix("\r")
    if '"' not in text:
        return start, text.split(","), None
    fields: list[str] = []
    at = 0
    while True:
        found = _FIELD.match(text, at)
        if found is None:
            reach = f", and reaches to line {line}" if line > start else ""
            return start, (), f"a quote in its value {len(fields) + 1} is out of place or never closed{reach}"
        quoted = found[1]
        fields.append(found[2] if quoted is None else quoted.replace('""', '"'))
        if not found[3]:
            return start, fields, None
        at = found.end()


def _kind(field: str) -> CsvKind:
    if _WHOLE.fullmatch(field) and -(2**63) <= int(field) < 2**63:
        return "whole number"
    if _NUMBER.fullmatch(field) and abs(float(field)) != float("inf"):
        digits = field.lstrip("-").partition("e")[0].partition("E")[0].replace(".", "")
        return "number" if len(digits) <= 17 else "text"
    return "yes or no" if field in _YES_OR_NO else "text"


def _joined(kinds: set[CsvKind]) -> CsvKind:
    if len(kinds) == 1:
        return next(iter(kinds))
    return "number" if kinds == {"whole number", "number"} else "text"

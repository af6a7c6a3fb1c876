"""The first bytes of a file, parsed as far as they go: what formats are told apart by."""

import json
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from rulebook.evidence.session_files.values import mapping, sequence
from rulebook.spelling import listed

SAMPLE_BYTES = 64 * 1024
_DEPTH = 6
_RECORDS = 400
_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"

Kind = Literal["empty", "archive", "object", "list", "lines", "yaml", "text"]


class Sample(Struct, frozen=True):
    """What the head of a file looks like.

    `value` is the one JSON value that it starts, without what was cut off; `records` the JSON objects of `lines`.
    `text` is the head itself, decoded with replacement; of an archive, the names of its first members.
    """

    kind: Kind
    text: str = ""
    value: object = None
    records: tuple[Mapping[str, object], ...] = ()

    @property
    def keys(self) -> Mapping[str, object]:
        """The top-level keys and values of a JSON object; empty for anything else."""
        return mapping(self.value) if self.kind == "object" else {}

    @property
    def entries(self) -> list[Mapping[str, object]]:
        """The records of whatever kind of list this is: the items of a JSON list, or the lines."""
        found = list(self.records) if self.kind == "lines" else sequence(self.value) if self.kind == "list" else []
        return [mapping(entry) for entry in found if isinstance(entry, dict)]

    @property
    def description(self) -> str:
        """What was seen, in words for people."""
        match self.kind:
            case "empty":
                return "an empty file"
            case "archive":
                return "a ZIP archive"
            case "object":
                return f"a JSON object{_with_keys(self.keys)}"
            case "list":
                return f"a JSON list of objects{_with_keys(self.entries[0])}" if self.entries else "a JSON list"
            case "lines":
                return f"lines of JSON{_with_keys(self.records[0] if self.records else {})}"
            case "yaml":
                return "a YAML recording of requests and responses"
            case "text":
                return "text that is neither JSON nor a recording"


def sample_of(head: bytes) -> Sample:
    """Look at the first bytes of a file; what is cut off or broken in them is no error."""
    if head.startswith(b"PK\x03\x04"):
        return Sample("archive", "\n".join(_member_names(head[:SAMPLE_BYTES])))
    text = head[:SAMPLE_BYTES].decode("utf-8-sig", "replace")
    body = text.lstrip(_SPACE)
    if not body:
        return Sample("empty")
    if text.startswith(("interactions:", "---\ninteractions:")) or "\ninteractions:" in text:
        return Sample("yaml", text)
    lines = [line for line in text.split("\n", _RECORDS)[:_RECORDS] if line.strip(_SPACE)]
    records = tuple(value for value in map(_whole, lines) if isinstance(value, dict))
    if len(records) > 1 and 2 * len(records) > len(lines):
        return Sample("lines", text, records=records)
    if body[0] in "{[":
        value, end = _partial(body, 0, _DEPTH)
        more = end is not None and body[end:].strip(_SPACE)
        if value and not more:
            kind: Kind = "object" if isinstance(value, dict) else "list"
            return Sample(kind, text, value)
    return Sample("lines", text, records=records) if records else Sample("text", text)


def _member_names(head: bytes) -> list[str]:
    names: list[str] = []
    at = head.find(b"PK\x03\x04")
    while at >= 0 and len(names) < _RECORDS:
        size = int.from_bytes(head[at + 26 : at + 28], "little")
        names.append(head[at + 30 : at + 30 + size].decode("utf-8", "replace"))
        at = head.find(b"PK\x03\x04", at + 4)
    return names


def _whole(line: str) -> object:
    """The JSON value that is all of `line`; None when it is none."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value


def _partial(text: str, at: int, depth: int) -> tuple[object, int | None]:
    """The JSON value at `at` and where it ends; what is cut off is left out, and the end is then None."""
    at = _past_space(text, at)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        if depth == 0 or at >= len(text):
            return None, None
        if text[at] == "{":
            return _partial_object(text, at + 1, depth), None
        return (_partial_list(text, at + 1, depth) if text[at] == "[" else None), None
    return value, end


def _partial_object(text: str, at: int, depth: int) -> dict[str, object]:
    found: dict[str, object] = {}
    while True:
        key, colon = _partial(text, at, 0)
        if colon is None or not isinstance(key, str):
            return found
        colon = _past_space(text, colon)
        if text[colon : colon + 1] != ":":
            return found
        found[key], end = _partial(text, colon + 1, depth - 1)
        past = len(text) if end is None else _past_space(text, end)
        if text[past : past + 1] != ",":
            return found
        at = past + 1


def _partial_list(text: str, at: int, depth: int) -> list[object]:
    found: list[object] = []
    while True:
        value, end = _partial(text, at, depth - 1)
        if value is not None or end is not None:
            found.append(value)
        if end is None:
            return found
        past = _past_space(text, end)
        if text[past : past + 1] != ",":
            return found
        at = past + 1


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _with_keys(record: Mapping[str, object]) -> str:
    names = [str(key)[:40] for key in list(record)[:6]]
    return f" with the keys {listed(names)}" if names else ""

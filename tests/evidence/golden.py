"""The golden counts of the real sessions, as their manifest states them, and what our readers make of each file."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from sessions_read import check_invariants, read, real_sessions, roles_of

from rulebook.evidence.transcript import Transcript, Usage

Words = Callable[[Transcript, dict[str, Any]], dict[str, Any] | None]
"""Our usage and cost in the words of a folder's rows; given the row's own numbers, to say the same keys."""


class Golden(NamedTuple):
    """One row of the manifest's table of golden counts."""

    file: str
    roles: str
    tools: dict[str, int]
    calls: int
    unpaired: int
    orphans: int
    errors: int
    usage: dict[str, Any] | None
    end: str | None
    other: str


def golden(folder: str) -> list[Golden]:
    """The rows of one folder of the real sessions, without those that state no roles (a log without samples)."""
    table = (real_sessions() / "MANIFEST.md").read_text(encoding="utf-8").split("## Golden counts", 1)[1]
    rows = [
        re.split(r" \| ?", line.strip("|").strip()) for line in table.splitlines() if line.startswith(f"| {folder}/")
    ]
    return [_golden(row) for row in rows if re.match(r"\d+/\d+/\d+/\d+", row[1])]


def _golden(row: list[str]) -> Golden:
    tools = re.search(r"\{.*\}", row[2])
    number = re.match(r"\d+", row[2])
    unpaired, orphans, errors = (int(number) for number in row[3].split("/"))
    return Golden(
        row[0], row[1].split(" ")[0], json.loads(tools.group()) if tools else {}, int(number.group()) if number else 0,
        unpaired, orphans, errors, json.loads(row[4]), None if row[5] == "None" else row[5], row[6],
    )  # fmt: skip


def wrong(row: Golden, words: Words, *, part: str | None = None) -> dict[str, tuple[Any, Any]]:
    """What differs between our reading of a row's file and the row: (found, expected) by name; empty when all is right.

    Hidden messages are not counted. What a format says otherwise than by number (its end) is compared in its raw words.
    """
    path = real_sessions() / row.file
    transcript = read(path, part=part)
    check_invariants(transcript, path)
    messages = transcript.messages
    answered = {m.tool_result.call_id for m in messages if m.tool_result is not None}
    calls = [call for message in messages for call in message.tool_calls]
    ids = {call.id for call in calls}
    tools = dict(Counter(call.name for call in calls))
    found = {
        "roles": roles_of([message for message in messages if not message.hidden]),
        "tools": tools if row.tools else {},
        "calls": len(calls),
        "unpaired": sum(call.id not in answered for call in calls),
        "orphans": sum(m.tool_result is not None and m.tool_result.call_id not in ids for m in messages),
        "errors": sum(m.tool_result is not None and m.tool_result.is_error is True for m in messages),
        "usage": words(transcript, row.usage or {}),
        "end": transcript.end.raw,
    }
    expected = row._asdict()
    return {name: (value, expected[name]) for name, value in found.items() if value != expected[name]}


def exclusive(usage: Usage | None) -> dict[str, Any] | None:
    """Usage in Anthropic's words, in which the input leaves the cache out."""
    if usage is None:
        return None
    read_, wrote = usage.cache_read or 0, usage.cache_write or 0
    return {
        "input_tokens": (usage.input or 0) - read_ - wrote,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": wrote,
        "cache_read_input_tokens": read_,
    }

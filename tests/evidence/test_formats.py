"""Foreign sessions of our own making: what is read from each, and what is refused with which words."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from sessions_read import OWN, check_invariants, read, roles_of

from rulebook.errors import UnknownFormat, UsageError
from rulebook.evidence.formats import detect, session_formats
from rulebook.evidence.session_files.openings import opened_by
from rulebook.evidence.session_files.sample import SAMPLE_BYTES, sample_of
from rulebook.evidence.transcript_events import counted_events, events_of
from rulebook.evidence.transcript_record import record_of

FOLDER = OWN


def per_folder(name: str) -> dict[str, Any]:
    """The contents of every format's file of that name, by the path of the session below `sessions/`."""
    return {
        f"{path.parent.name}/{session}": told
        for path in sorted(FOLDER.glob(f"*/{name}"))
        for session, told in yaml.safe_load(path.read_text(encoding="utf-8")).items()
    }


EXPECTED: dict[str, dict[str, Any]] = per_folder("expected.yaml")
REFUSED: dict[str, list[str]] = per_folder("refused.yaml")


def told(name: str) -> dict[str, Any]:
    """What a file's reading comes to, as far as `expected.yaml` mentions it."""
    transcript = read(FOLDER / name)
    record, expected = record_of(transcript), EXPECTED[name]
    usage, happened = transcript.usage, Counter(event.kind for event in transcript.events)
    found: dict[str, Any] = {
        "format": transcript.source.format,
        "roles": roles_of(transcript.messages),
        "tools": record.tool_counts,
        "statuses": [call.status for call in record.calls],
        "usage": {key: getattr(usage, key) for key in expected.get("usage", {})},
        "cost": transcript.cost.value,
        "events": {kind: happened[kind] for kind in expected.get("events", {})},
        "end": transcript.end.reason,
        "turns": record.turns,
        "threads": [thread.id for thread in transcript.threads],
        "injected": [message.src for message in transcript.messages if message.injected],
        "warnings": dict(Counter(warning.code for warning in transcript.warnings)),
    }
    always = {"tools", "threads", "warnings"}
    return {key: value for key, value in found.items() if key in expected or (key in always and value)}


@pytest.mark.parametrize("name", EXPECTED)
def test_reads(name: str) -> None:
    assert told(name) == EXPECTED[name]


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_saying_what_was_seen(name: str) -> None:
    with pytest.raises(UnknownFormat) as refusal:
        read(FOLDER / name)
    missing = [words for words in REFUSED[name] if words not in str(refusal.value)]
    assert not missing, str(refusal.value)


@pytest.mark.parametrize("name", EXPECTED)
def test_invariants(name: str) -> None:
    check_invariants(read(FOLDER / name), FOLDER / name)


def test_every_format_has_a_title_and_its_own_name() -> None:
    formats = session_formats()
    assert all(name == fmt.name for name, fmt in formats.items())
    assert len({fmt.title for fmt in formats.values()}) == len(formats)


def test_the_name_of_a_file_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.traj"
    shutil.copy(FOLDER / "openai_chat/list.json", path)
    assert read(path).source.format == "openai_chat"


def test_detects_by_the_first_bytes_alone() -> None:
    head = (FOLDER / "claude_code/session.jsonl").read_bytes()[:900]
    assert detect(head).name == "claude_code"
    long = json.dumps({"environment": "main", "trajectory": [{"action": "x" * 70_000}], "history": []})
    assert detect(long.encode()[: 64 * 1024]).name == "swe_agent"


def test_what_is_cut_off_hides_nothing_before_it() -> None:
    messages = [
        {"role": "user", "content": "Dig."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "dig", "input": {}}]},
        {"role": "user", "content": "x" * 70_000},
    ]
    assert detect(json.dumps(messages).encode()[: 64 * 1024]).name == "anthropic_messages"
    assert detect(json.dumps([messages[0], messages[2]]).encode()[: 64 * 1024]).name == "openai_chat"


def test_a_torn_first_line_hides_no_session(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"type":"user","mess\n' + (OWN / "claude_code/session.jsonl").read_bytes())
    assert [warning.code for warning in read(path).warnings][0] == "bad_line"


def test_half_a_character_and_deep_nesting_are_mended_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    call = {"function": {"name": "f", "arguments": "[" * 300 + "]" * 300}}
    reply = {"role": "assistant", "content": "cut \ud83d", "reasoning_content": "Hm.", "tool_calls": [call]}
    path.write_text(json.dumps([reply]), encoding="utf-8")
    message = read(path).messages[0]
    assert (message.text, message.reasoning) == ("cut \ufffd", "Hm.")
    assert "nested too deeply" in (message.tool_calls[0].args_error or "")


def test_a_format_can_be_named() -> None:
    assert read(FOLDER / "other/ambiguous.json", "mini_swe_agent").messages[1].tool_calls[0].name == "bash"
    assert not read(FOLDER / "other/ambiguous.json", "openai_chat").messages[1].tool_calls
    with pytest.raises(UsageError, match="no session format is called `claude`. Did you mean `claude_code`"):
        read(FOLDER / "other/ambiguous.json", "claude")
    with pytest.raises(UnknownFormat, match="cannot be read as a SWE-agent trajectory"):
        read(FOLDER / "other/ambiguous.json", "swe_agent")


def test_a_folder_or_nothing_at_all_is_the_machines_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"."):
        read(tmp_path)
    with pytest.raises(OSError, match=r"."):
        read(tmp_path / "none")


def test_a_stream_says_how_it_ended_and_reads_the_same_as_lines_and_as_one_list(tmp_path: Path) -> None:
    lines = read(FOLDER / "claude_code/stream_denied.jsonl")
    assert (lines.end.raw, lines.end.detail) == ("error_during_execution", "the shed burned down")
    records = [json.loads(line) for line in (FOLDER / "claude_code/stream_denied.jsonl").read_bytes().splitlines()]
    path = tmp_path / "stream.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    listed = read(path)
    assert [(m.role, m.text, m.tool_calls) for m in listed.messages] == [(m.role, m.text, m.tool_calls) for m in lines.messages]
    assert (listed.end, listed.usage, listed.cost) == (lines.end, lines.usage, lines.cost)
    assert record_of(listed).known_tools == {"Read", "Bash"}


LOST = {
    "a_block": ("assistant", {"type": "server_tool", "id": "t", "name": "wipe_disk", "input": {}}),
    "a_record": ("assi", {"type": "tool_use", "id": "t", "name": "wipe_disk", "input": {}}),
    "a_name": ("assistant", {"type": "tool_use", "id": "t", "input": {}}),
    "a_result": ("user", {"type": "tool_result", "tool_use_id": "t", "content": "gone"}),
}


@pytest.mark.parametrize("name", LOST)
def test_what_may_hide_a_call_of_claude_leaves_its_calls_open(name: str, tmp_path: Path) -> None:
    kind, block = LOST[name]
    head = {"sessionId": "s", "uuid": "u1", "timestamp": "2026-03-01T10:00:00Z"}
    known = {"type": "tool_use", "id": "k", "name": "Read", "input": {}}
    records = [
        {**head, "type": "assistant", "message": {"role": "assistant", "id": "m1", "content": [known]}},
        {**head, "uuid": "u2", "type": kind, "message": {"role": "assistant", "id": "m2", "content": [block]}},
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    record = record_of(read(path))
    assert record.turns
    assert "tool_calls" not in record.carries


@pytest.mark.parametrize("name", [*EXPECTED, *REFUSED])
def test_a_beginning_that_tells_the_format_tells_what_a_whole_look_tells(name: str) -> None:
    head = (FOLDER / name).read_bytes()[:SAMPLE_BYTES]
    told = opened_by(head)
    fits = {fmt.name: fmt.fits(sample_of(head)) for fmt in session_formats().values()}
    assert told is None or [other for other, fit in fits.items() if fit == max(fits.values())] == [told]


def test_karotte_is_told_by_its_beginning() -> None:
    assert opened_by((FOLDER / "karotte/run.json").read_bytes()) == "karotte"
    assert opened_by((FOLDER / "karotte/other_events.json").read_bytes()) is None


@pytest.mark.parametrize("name", EXPECTED)
def test_events_are_counted_as_they_are_told(name: str) -> None:
    transcript = read(FOLDER / name)
    assert counted_events(transcript) == Counter(event.name for event in events_of(transcript))

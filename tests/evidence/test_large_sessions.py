"""Sessions of any size: nothing is kept that nobody asks for, and what does not fit clears nobody."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sessions_read import OWN

from rulebook.errors import NotHandedIn
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.formats import read_session
from rulebook.evidence.reading_text import text_of
from rulebook.evidence.record import EVERYTHING, Record, Wants
from rulebook.evidence.session_files import keeping, shape
from rulebook.evidence.sources import AssistantText, FinalMessage, Messages, ToolText
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles

SESSIONS = sorted((OWN / "claude_code").glob("*.json*"))


def folded(path: Path, wants: Wants) -> Record:
    return record_of(read_session(str(path), MachineFiles(), wants=wants), wants)


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name)
def test_what_is_not_kept_changes_no_other_fact(path: Path) -> None:
    bare, whole = folded(path, Wants()), folded(path, EVERYTHING)
    for fact in ("turns", "tool_counts", "event_counts", "usage", "carries", "children", "delegated", "first_ms"):
        assert getattr(bare, fact) == getattr(whole, fact), fact
    assert [(end.end.reason, end.seen) for end in bare.ends] == [(end.end.reason, end.seen) for end in whole.ends]
    said = folded(path, Wants(messages=True))
    assert [(m.role, m.text, m.injected) for m in said.messages] == [(m.role, m.text, m.injected) for m in whole.messages]
    called = folded(path, Wants(tool_calls=True))
    assert [(c.arguments, c.result, c.status) for c in called.calls] == [
        (c.arguments, c.result, c.status) for c in whole.calls
    ]


def test_nothing_is_kept_that_nobody_asks_for() -> None:
    transcript = read_session(str(OWN / "claude_code/session.jsonl"), MachineFiles(), wants=Wants())
    assert not any(m.text for m in transcript.messages if not m.text.startswith("[Request interrupted"))
    calls = [call for m in transcript.messages for call in m.tool_calls]
    assert not any(call.args_raw or (call.args and "prompt" not in call.args) for call in calls)
    assert not any(event.data for event in transcript.events if event.kind not in ("tools", "compaction"))


def session(path: Path, *lines: dict[str, Any]) -> Path:
    """A Claude Code session of these records and a last word."""
    last = {"type": "assistant", "message": {"role": "assistant", "content": "Done.", "stop_reason": "end_turn"}}
    head = {"sessionId": "s", "version": "2"}
    records = [{**head, "uuid": f"u{n}", **line} for n, line in enumerate((*lines, last))]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def wordy(path: Path) -> Path:
    call = {"type": "tool_use", "id": "c", "name": "dig", "input": {"deep": "x" * 700}}
    return session(
        path,
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "y" * 700}, call]}},
    )


SOURCES: list[tuple[Wants, Callable[[Record], object]]] = [
    (Wants(messages=True), lambda record: text_of(AssistantText(), Evidence(record))),
    (Wants(messages=True), lambda record: text_of(FinalMessage(), Evidence(record))),
    (Wants(messages=True), lambda record: text_of(Messages(None, ("assistant",)), Evidence(record))),
    (Wants(tool_calls=True), lambda record: text_of(ToolText("dig", "arguments", None), Evidence(record))),
    (Wants(tool_calls=True), lambda record: Evidence(record).timeline(frozenset())),
    (Wants(events=frozenset(("message",))), lambda record: record.events_named("message")),
]


@pytest.mark.parametrize("number", range(len(SOURCES)))
def test_more_text_than_is_kept_is_the_students_excess(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wordy(tmp_path / "session.jsonl")
    wants, look = SOURCES[number]
    look(folded(path, wants))
    monkeypatch.setattr(keeping, "KEPT_CHARACTERS", 500)
    record = folded(path, wants)
    assert record.tool_counts == {"dig": 1}
    with pytest.raises(NotHandedIn, match="too large to be looked at") as refusal:
        look(record)
    assert refusal.value.cause == "excess"


def test_an_import_keeps_everything_whatever_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "KEPT_CHARACTERS", 5)
    record = folded(wordy(tmp_path / "session.jsonl"), EVERYTHING)
    assert (len(record.messages[0].text), record.excess) == (700, "")


def test_a_line_that_is_too_long_is_passed_over_and_clears_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = folded(wordy(tmp_path / "session.jsonl"), Wants())
    assert "tool_calls" in whole.carries
    monkeypatch.setattr(shape, "LIMIT_LINE_BYTES", 1000)
    cut = folded(tmp_path / "session.jsonl", Wants())
    assert cut.call_count == 0
    assert "tool_calls" not in cut.carries
    assert cut.sha256 == whole.sha256
    assert any("longer than" in warning for warning in cut.warnings)


@pytest.mark.parametrize("limit", [1, 3, 7, 1000])
def test_lines_in_pieces_are_the_file(limit: int, tmp_path: Path) -> None:
    data = b"one\n\ntwo and three\nfour"
    (tmp_path / "lines").write_bytes(data)
    with MachineFiles().lines(str(tmp_path / "lines"), limit) as pieces:
        found = list(pieces)
    assert b"".join(found) == data
    assert all(len(piece) <= limit + 1 for piece in found)
    assert [piece for piece in found if piece.endswith(b"\n")] == [
        line[-(len(line) % (limit + 1) or limit + 1) :] for line in (b"one\n", b"\n", b"two and three\n")
    ]

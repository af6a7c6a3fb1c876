"""karotte transcripts: what is told twice counts once, and what cannot be read clears nobody."""

import json
from pathlib import Path
from typing import Any

import pytest
from sessions_read import OWN, read

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import read_session
from rulebook.evidence.record import EVERYTHING, Wants
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_json import transcript_json
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles

FOLDER = OWN / "karotte"


def changed(path: Path, change: Any) -> Transcript:
    """Our own run with its events changed."""
    run = json.loads((FOLDER / "run.json").read_text(encoding="utf-8"))
    run["events"] = change(run["events"])
    path.write_text(json.dumps(run), encoding="utf-8")
    return read(path, "karotte")


def test_a_call_and_its_result_are_told_twice_and_kept_once() -> None:
    messages = read(FOLDER / "run.json").messages
    answers = [m for m in messages if m.tool_result is not None]
    assert [(m.tool_result.text, m.tool_result.name, m.tool_result.seconds) for m in answers if m.tool_result] == [
        ("Three planks are gone.\n\nTime remaining: 90 seconds", "look", 1.0),
        ("Error: Invalid JSON in tool arguments", "saw", 1.0),
        ("ok", "nail", 1.0),
    ]
    calls = [call for m in messages for call in m.tool_calls]
    assert [(call.args, call.args_error is None) for call in calls] == [
        ({"at": "fence"}, True), (None, False), ({"planks": [1, 2]}, True),
    ]  # fmt: skip


def test_texts_thoughts_and_tokens_of_a_reply() -> None:
    transcript = read(FOLDER / "run.json")
    replies = [m for m in transcript.messages if m.role == "assistant"]
    assert [m.text for m in replies] == ["I look first.", "", "Nails now.\n\nTwo of them.", "Mended.", "Painted."]
    assert [m.reasoning for m in replies[:3]] == ["Look, then saw.", "Hm.", None]
    assert [m.usage.input for m in replies if m.usage] == [120, 150, 160, 170, 180]
    assert (transcript.session_id, transcript.models, transcript.agent_name) == ("run-7", ["lab/medium-2"], "builtin")
    assert transcript.outcome == {"score": 1.0}
    assert record_of(transcript).last_ms == 1790928031250


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.json")))
def test_typed_at_once_or_event_by_event_it_is_the_same(name: str, tmp_path: Path) -> None:
    data = (FOLDER / name).read_bytes()
    slow = tmp_path / name
    slow.write_bytes(b"\xef\xbb\xbf" + data)  # a byte order mark sends it the other way
    if name == "no_events.json":
        for path in (FOLDER / name, slow):
            with pytest.raises(UnknownFormat, match="no list of `events`"):
                read(path, "karotte")
        return
    fast, other = read(FOLDER / name, "karotte"), read(slow, "karotte")
    told = [transcript_json(each) for each in (fast, other)]
    for each in told:
        del each["source"]
    assert told[0] == told[1]


def test_what_nobody_asks_for_is_left_out_and_all_else_stands() -> None:
    def asked(wants: Wants) -> Transcript:
        return read_session(str(FOLDER / "run.json"), MachineFiles(), wants=wants)

    nothing, everything = asked(Wants()), asked(EVERYTHING)
    assert not any(m.text for m in nothing.messages if m.role != "tool")
    assert not any(m.tool_result.text for m in nothing.messages if m.tool_result)
    bare, whole = record_of(nothing, Wants()), record_of(everything)
    for fact in ("turns", "tool_counts", "event_counts", "usage", "carries", "first_ms", "last_ms", "call_count"):
        assert getattr(bare, fact) == getattr(whole, fact), fact
    assert [m.text for m in asked(Wants(messages=True)).messages] == [m.text for m in everything.messages]
    called = record_of(asked(Wants(tool_calls=True)), Wants(tool_calls=True)).calls
    assert [(c.arguments, c.result) for c in called] == [(c.arguments, c.result) for c in whole.calls]
    events = record_of(asked(Wants(events=frozenset(("message",)))), Wants(events=frozenset(("message",)))).events
    assert [e.data for e in events] == [e.data for e in whole.events if e.name == "message"]


def test_a_call_that_cannot_be_read_clears_nobody(tmp_path: Path) -> None:
    def spoil(events: Any) -> Any:
        events[5]["message"]["tool_calls"][0] = {"id": "c1", "function": {"name": 7}}
        return events

    assert "tool_calls" not in record_of(changed(tmp_path / "run.json", spoil)).carries
    assert "tool_calls" in record_of(changed(tmp_path / "run.json", lambda events: events)).carries


def test_a_call_under_another_name_than_its_start_clears_nobody(tmp_path: Path) -> None:
    def rename(events: Any) -> Any:
        events[5]["message"]["tool_calls"][0]["function"]["name"] = "glance"
        return events

    assert "tool_calls" not in record_of(changed(tmp_path / "run.json", rename)).carries


def test_deep_metadata_is_refused(tmp_path: Path) -> None:
    def bury(events: Any) -> Any:
        for _ in range(300):
            events[0]["metadata"] = {"x": events[0]["metadata"]}
        return events

    with pytest.raises(UnknownFormat, match="nested too deeply"):
        changed(tmp_path / "run.json", bury)


def test_bytes_that_are_no_text_are_refused_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes((FOLDER / "run.json").read_bytes().replace(b'"resource_metrics": null', b'"odd": "\xff"', 1))
    with pytest.raises(UnknownFormat, match="not valid JSON"):
        read(path)

"""What rules see of a foreign session: its facts, its events in the log's words, and its JSON."""

from collections import Counter

import pytest
from sessions_read import OWN, read

from rulebook.errors import Missing
from rulebook.evidence.record import Wants
from rulebook.evidence.transcript_events import events_of
from rulebook.evidence.transcript_json import transcript_json
from rulebook.evidence.transcript_record import record_of

SESSION = OWN / "claude_code/session.jsonl"


def test_events_are_the_logs_own() -> None:
    record = record_of(read(SESSION))
    assert record.event_counts == {
        "session.start": 1,
        "session.imported": 1,
        "tool.result": 5,
        "message": 18,
        "tool.call": 5,
        "compaction": 1,
        "session.spawn": 1,
        "agent.complete": 1,
        "usage": 5,
        "session.end": 1,
    }
    assert record.total_events == sum(record.event_counts.values()) == len(record.events)
    assert record.possible_events == {"session.start", "session.imported", "message", "session.spawn", "agent.complete"}
    whole = record_of(read(OWN / "claude_code/lead.jsonl"))
    assert set(whole.event_counts) == whole.possible_events
    assert "session.end" not in (record_of(read(OWN / "openai_chat/list.json")).possible_events or ())


def test_usage_events_leave_the_cache_out() -> None:
    transcript = read(SESSION)
    told = [event.payload for event in events_of(transcript) if event.name == "usage"]
    kinds = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    assert transcript.usage is not None
    assert sum(int(str(usage[kind])) for usage in told for kind in kinds) == transcript.usage.input


def test_a_total_that_replies_do_not_state_is_one_event() -> None:
    counts = Counter(event.name for event in events_of(read(OWN / "swe_agent/thoughts.traj")))
    assert counts["usage"] == 1


def test_calls_know_their_turn_result_and_time() -> None:
    calls = record_of(read(SESSION)).calls
    assert [(call.index, call.turn, call.message) for call in calls] == [
        (0, 1, 2),
        (1, 1, 2),
        (2, 2, 6),
        (3, 2, 6),
        (4, 3, 10),
    ]
    assert calls[0].duration_s == 1.5
    assert calls[1].result is not None
    assert calls[1].result.startswith("<tool_use_error>")
    assert calls[4].arguments == {"command": "water 4"}


def test_children_are_what_the_main_thread_started() -> None:
    record = record_of(read(OWN / "claude_code/lead.jsonl"))
    assert [(child.id, child.task, child.outcome, child.turns) for child in record.children.values()] == [
        ("ab12", "counter", "finished", 2)
    ]
    assert record.tool_counts == {"Task": 1}
    assert not record_of(read(OWN / "claude_code/rewound.jsonl")).children


def test_tokens_spent_out_of_sight_leave_the_total_open() -> None:
    whole, lost = (record_of(read(OWN / f"claude_code/{name}.jsonl")) for name in ("lead", "lost_agent"))
    assert whole.usage is not None
    assert {"usage", "subagents"} <= whole.carries
    assert lost.usage is None
    assert not {"usage", "subagents"} & lost.carries


def test_an_end_that_is_not_stated_cannot_be_asked_for() -> None:
    record = record_of(read(OWN / "openai_chat/list.json"))
    assert record.end is None
    assert "session.end" not in record.event_counts
    with pytest.raises(Missing, match="this list of OpenAI chat messages does not record how the session ended"):
        record.need("end", "how the session ended")


def test_what_a_format_does_not_say_is_not_made_up() -> None:
    record = record_of(read(OWN / "openai_chat/list.json"))
    assert record.known_tools is None
    assert record.first_ms is None
    assert "time" not in record.carries
    assert not record.spend.known
    assert record_of(read(OWN / "openai_chat/object.json")).known_tools == {"sensor"}
    assert record_of(read(OWN / "claude_code/stream.json")).known_tools == {"Read", "Bash"}


def test_only_what_is_wanted_is_kept() -> None:
    record = record_of(read(SESSION), Wants(events=frozenset(("tool.call",))))
    assert not record.messages
    assert not record.calls
    assert {event.name for event in record.events} == {"tool.call"}
    assert (record.turns, record.call_count, record.first_call["Bash"].call) == (4, 5, 3)


def test_o14_tokens_are_counted_once_and_an_unknown_cost_is_not_zero() -> None:
    record = record_of(read(OWN / "claude_code/counted_once.jsonl"))
    assert record.usage is not None
    assert (record.usage.input, record.usage.output, record.usage.total) == (205, 47, 252)
    assert not record.spend.known
    assert record.spend.unpriced == 2


def test_json_has_the_neutral_names() -> None:
    data = transcript_json(read(SESSION))
    assert list(data) == [
        "source", "session_id", "models", "messages", "threads", "events", "usage", "cost", "end", "warnings",
    ]  # fmt: skip
    messages = data["messages"]
    assert isinstance(messages, list)
    assert messages[2]["tool_calls"][0] == {
        "id": "t1",
        "name": "Read",
        "args": {"file_path": "bed4.txt"},
        "args_raw": '{"file_path":"bed4.txt"}',
    }
    assert messages[3] == {
        "i": 3,
        "role": "tool",
        "text": "dry",
        "tool_result": {
            "call_id": "t1",
            "name": "Read",
            "text": "dry",
            "is_error": False,
            "seconds": 1.5,
            "truncated": False,
        },
        "at": 1772359206000,
        "injected": False,
        "hidden": False,
        "src": {"line": 7},
    }
    assert data["end"] == {"reason": "finished", "raw": "end_turn"}
    assert data["cost"] == {"known": False}
    assert data["usage"] == {
        "input": 338, "output": 61, "total": 399, "cache_read": 290, "cache_write": 20, "requests": 5,
        "source": "summed",
    }  # fmt: skip


def test_json_places_items_of_a_list() -> None:
    data = transcript_json(read(OWN / "openai_chat/list.json"))
    messages = data["messages"]
    assert isinstance(messages, list)
    assert messages[1]["src"] == {"index": 1}
    assert messages[1]["text"] == "Is it\n\nripe?"
    assert messages[5]["tool_calls"][0]["args"] is None
    assert messages[5]["tool_calls"][0]["args_raw"] == '{"ripe": tru'
    assert "not valid JSON" in messages[5]["tool_calls"][0]["args_error"]

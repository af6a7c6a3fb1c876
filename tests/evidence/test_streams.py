"""Streamed replies in recordings: put together as they are without a stream, and never whole when they break off."""

import json
from pathlib import Path
from typing import Any

import pytest
from recordings import ANTHROPIC, CHAT, RESPONSES, chat, codes, exchange, measured, recorded, user

from rulebook.evidence.formats.event_stream import joined_stream


def stream(*events: Any) -> str:
    """The text of a stream; an event that is text stays as it is."""
    return "".join(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events)


START = {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 5}}}
TOOL = {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "rm", "input": {}}}
PIECE = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"path": "/'}}
STOPPED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}
STOP = {"type": "message_stop"}
ITEM = {"type": "function_call", "call_id": "c", "name": "rm", "arguments": "{}"}
ADDED = {"type": "response.output_item.added", "output_index": 0, "item": ITEM}
CREATED = {"type": "response.created", "response": {"object": "response", "status": "in_progress", "output": []}}
CHUNK = {"choices": [{"index": 0, "delta": {"content": "a"}}]}
LAST = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("uri", "asked", "text"),
    [
        (CHAT, {"messages": [user("A?")]}, stream(CHUNK)),
        (CHAT, {"messages": [user("A?")]}, stream(CHUNK, '{"choices": [', LAST)),
        (RESPONSES, {"input": "A?"}, stream(CREATED, ADDED)),
        (ANTHROPIC, {"messages": [user("A?")]}, stream(START, TOOL, STOPPED)),
        (ANTHROPIC, {"messages": [user("A?")]}, stream(START, PIECE, STOPPED, STOP)),
    ],
)
def test_a_broken_stream_ends_nothing_and_clears_nothing(uri: str, asked: Any, text: str, tmp_path: Path) -> None:
    transcript = recorded(tmp_path, exchange(uri, asked, text))
    assert "lost_call" in codes(transcript)
    assert not measured(transcript)


def test_what_breaks_off_has_no_end(tmp_path: Path) -> None:
    for uri, asked, text in (
        (CHAT, {"messages": [user("A?")]}, stream(CHUNK)),
        (RESPONSES, {"input": "A?"}, stream({**CREATED, "response": {"object": "response", "status": "completed"}})),
        (ANTHROPIC, {"messages": [user("A?")]}, stream(START, STOPPED)),
    ):
        assert recorded(tmp_path, exchange(uri, asked, text)).end.reason == "unknown"


def test_a_call_whose_input_is_cut_keeps_its_text(tmp_path: Path) -> None:
    transcript = recorded(tmp_path, exchange(ANTHROPIC, {"messages": [user("A?")]}, stream(START, TOOL, PIECE, STOPPED, STOP)))
    (call,) = transcript.messages[-1].tool_calls
    assert (call.name, call.args, call.args_raw) == ("rm", None, '{"path": "/')
    assert transcript.usage is not None
    assert (transcript.usage.input, transcript.usage.output) == (5, 7)


def test_items_of_a_response_that_its_end_leaves_out(tmp_path: Path) -> None:
    done = {"type": "response.completed", "response": {"object": "response", "status": "completed", "output": []}}
    transcript = recorded(tmp_path, exchange(RESPONSES, {"input": "A?"}, stream(CREATED, ADDED, done)))
    assert [call.name for call in transcript.messages[-1].tool_calls] == ["rm"]


def test_an_error_in_a_stream_is_the_end(tmp_path: Path) -> None:
    for uri, asked, event in (
        (CHAT, {"messages": [user("A?")]}, {"error": {"message": "No.", "code": "rate_limit_exceeded"}}),
        (ANTHROPIC, {"messages": [user("A?")]}, {"type": "error", "error": {"type": "rate_limit_error", "message": "No."}}),
        (RESPONSES, {"input": "A?"}, {"type": "error", "code": "rate_limit_exceeded", "message": "No."}),
    ):
        transcript = recorded(tmp_path, exchange(uri, asked, stream(event)))
        assert (transcript.end.reason, transcript.end.detail) == ("rate_limited", "No.")


def test_an_error_after_the_first_words_is_the_end_too(tmp_path: Path) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "No."}}
    transcript = recorded(tmp_path, exchange(ANTHROPIC, {"messages": [user("A?")]}, stream(START, error)))
    assert transcript.end.reason == "errored"


def test_lines_and_events_of_every_spelling() -> None:
    text = "\ufeff: hello\r\nevent: x\r\nid: 1\r\ndata:{\"choices\":\r\ndata: [{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\r\n\r\n"
    joined = joined_stream(text)
    assert joined.torn == []
    assert joined.body["choices"] == [{"finish_reason": "stop", "message": {"content": "a"}}]


def test_a_name_that_comes_with_every_piece_is_told_once() -> None:
    piece = {"index": 0, "id": "c", "function": {"name": "rm", "arguments": "{"}}
    last = {"index": 0, "id": "c", "function": {"name": "rm", "arguments": "}"}}
    body = joined_stream(stream(*({"choices": [{"delta": {"tool_calls": [call]}}]} for call in (piece, last)), LAST)).body
    assert body["choices"] == [
        {"finish_reason": "stop", "message": {"tool_calls": [{"id": "c", "function": {"name": "rm", "arguments": "{}"}}]}}
    ]


def test_a_stream_of_nobodys_is_not_read(tmp_path: Path) -> None:
    transcript = recorded(tmp_path, chat([user("A?")], "a"), exchange(CHAT, {"messages": [user("B?")]}, stream({"text": "b"})))
    assert "unread_exchange" in codes(transcript)

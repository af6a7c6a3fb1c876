"""Recordings of the three providers: stitched into one conversation, or said not to be whole."""

import gzip
import json
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from recordings import (
    ANTHROPIC,
    CALL,
    CHAT,
    RESPONSES,
    assistant,
    chat,
    codes,
    exchange,
    measured,
    recorded,
    user,
)
from sessions_read import check_invariants, read, roles_of

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import detect

REPLY = {"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Yes."}]}
RESPONSE = {"object": "response", "id": "r1", "status": "completed", "output": []}


def test_one_conversation_over_three_providers_is_one_thread(tmp_path: Path) -> None:
    transcript = recorded(
        tmp_path,
        chat([user("A?")], "a"),
        exchange(RESPONSES, {"input": [user("A?"), assistant("a"), user("B?")]}, {
            "object": "response", "status": "completed", "usage": {"input_tokens": 20, "output_tokens": 3},
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]}],
        }),
        exchange(ANTHROPIC, {"messages": [user("A?"), assistant("a"), user("B?"), assistant("b"), user("C?")]}, {
            **REPLY, "usage": {"input_tokens": 30, "output_tokens": 4},
        }),
    )  # fmt: skip
    assert (roles_of(transcript.messages), transcript.threads, codes(transcript)) == ("0/3/3/0", [], set())
    assert transcript.usage is not None
    assert (transcript.usage.input, transcript.usage.output, transcript.end.reason) == (60, 9, "finished")


@pytest.mark.parametrize(
    ("uri", "asked", "answered", "status"),
    [
        (CHAT, {"messages": [user("A?")]}, "not JSON", 200),
        (CHAT, {"messages": [user("A?"), {"role": "robot"}]}, {"choices": [{"message": {"content": "b"}}]}, 200),
        (CHAT, {"prompt": "A?"}, {"choices": [{"text": "b"}]}, 200),
        (RESPONSES, {"input": 5}, RESPONSE, 200),
        (RESPONSES + "/r1", "", {**RESPONSE, "output": [{"type": "function_call", "name": "rm", "call_id": "c"}]}, 200),
        (ANTHROPIC, {"messages": [user("A?")]}, {"type": "message", "role": "assistant"}, 200),
        ("https://x.example/v1beta/models/g:generateContent", {"contents": []}, {"candidates": []}, 200),
        ("https://x.example/model/g/converse", {"messages": [user("A?")]}, {"output": {"message": {}}}, 200),
        ("", {"messages": [user("A?")]}, {"reply": "b"}, 200),
    ],
)
def test_a_model_that_was_asked_out_of_sight_leaves_calls_unmeasured(
    uri: str, asked: Any, answered: Any, status: int, tmp_path: Path
) -> None:
    transcript = recorded(tmp_path, chat([user("A?")], "a"), exchange(uri, asked, answered, status))
    assert "unread_exchange" in codes(transcript)
    assert not measured(transcript)


@pytest.mark.parametrize(
    "uri",
    [ANTHROPIC + "/count_tokens", RESPONSES + "/r1/input_items", "https://x.example/v1/models", "https://x.example/page"],
)
def test_other_requests_leave_the_session_whole(uri: str, tmp_path: Path) -> None:
    transcript = recorded(tmp_path, chat([user("A?")], "a"), exchange(uri, {}, {"data": []}))
    assert codes(transcript) == {"unknown_record"}
    assert measured(transcript)


def test_a_failed_request_without_a_body_is_no_lost_reply(tmp_path: Path) -> None:
    for uri, asked in ((CHAT, {"messages": [user("A?")]}), (RESPONSES, {"input": "A?"})):
        failure = exchange(uri, asked, "<html>Bad gateway</html>", 502)
        transcript = recorded(tmp_path, failure, chat([user("A?")], "a"))
        assert (codes(transcript), roles_of(transcript.messages)) == (set(), "0/1/1/0")
        assert [event.kind for event in transcript.events] == ["api_error"]


@pytest.mark.parametrize(("status", "end"), [(429, "rate_limited"), (500, "errored")])
def test_a_session_that_stops_at_a_failure(status: int, end: str, tmp_path: Path) -> None:
    messages = [user("A?"), assistant("a"), user("B?")]
    failure = exchange(CHAT, {"messages": messages}, {"error": {"message": "No."}}, status)
    transcript = recorded(tmp_path, chat(messages[:1], "a"), failure)
    assert (transcript.end.reason, transcript.end.detail) == (end, "No.")


def test_a_call_that_the_next_request_leaves_out_is_lost(tmp_path: Path) -> None:
    hidden = chat([user("A?")], {"content": "a", "tool_calls": [CALL]}, "tool_calls")
    transcript = recorded(tmp_path, hidden, chat([user("A?"), assistant("a"), user("B?")], "b"))
    assert codes(transcript) == {"lost_call"}
    assert not measured(transcript)


def test_a_reply_that_the_next_request_leaves_out_is_not_read(tmp_path: Path) -> None:
    transcript = recorded(tmp_path, chat([user("A?")], "a"), chat([user("A?"), user("B?")], "b"))
    assert "unread_exchange" in codes(transcript)


def test_a_call_is_the_same_with_another_id_and_spelling(tmp_path: Path) -> None:
    made = {**CALL, "function": {"name": "rm", "arguments": '{"b": 1, "a": 2}'}}
    shown = {**CALL, "id": "other", "function": {"name": "rm", "arguments": '{"a":2,"b":1}'}}
    messages = [user("A?"), {"role": "assistant", "tool_calls": [shown]}, {"role": "tool", "tool_call_id": "other"}]
    transcript = recorded(tmp_path, chat([user("A?")], {"tool_calls": [made]}), chat(messages, "b"))
    assert codes(transcript) == set()


def test_the_same_request_with_two_replies_is_two_threads(tmp_path: Path) -> None:
    called = chat([user("A?")], {"tool_calls": [CALL]}, "tool_calls")
    transcript = recorded(tmp_path, called, chat([user("A?")], "a"))
    assert "split_conversation" in codes(recorded(tmp_path, chat([user("A?")], "a"), called))
    assert len(transcript.threads) == 1
    assert "unpaired_call" in codes(transcript)
    goes_on = recorded(tmp_path, chat([user("A?")], "a"), chat([user("A?")], "b"), chat([user("A?"), assistant("a"), user("C")], "c"))
    assert [[m.text for m in thread.messages] for thread in goes_on.threads] == [["A?", "b"]]
    assert goes_on.messages[1].usage is not None


def test_calls_that_nothing_answers_are_no_end(tmp_path: Path) -> None:
    transcript = recorded(tmp_path, chat([user("A?")], {"tool_calls": [CALL]}, "stop"))
    assert (transcript.end.reason, transcript.end.raw) == ("unknown", "stop")


def test_calls_in_a_choice_that_was_not_taken(tmp_path: Path) -> None:
    asked = {"messages": [user("A?")]}
    choices = [{"message": {"content": "a"}}, {"message": {"tool_calls": [CALL]}}]
    assert codes(recorded(tmp_path, exchange(CHAT, asked, {"choices": choices}))) == {"lost_call"}


def test_a_result_without_its_call_is_of_a_call_unseen(tmp_path: Path) -> None:
    transcript = recorded(tmp_path, chat([{"role": "tool", "tool_call_id": "c9", "content": "gone"}, user("A?")], "a"))
    assert "lost_call" in codes(transcript)
    assert not measured(transcript)


def test_a_reply_named_by_its_id_must_be_in_the_file(tmp_path: Path) -> None:
    first = exchange(RESPONSES, {"input": "A?"}, RESPONSE)
    goes_on = exchange(RESPONSES, {"input": "B?", "previous_response_id": "r1"}, {**RESPONSE, "id": "r2"})
    whole = recorded(tmp_path, first, goes_on)
    assert (roles_of(whole.messages), codes(whole)) == ("0/2/2/0", set())
    for exchanges in ([goes_on], [first, goes_on, goes_on]):
        assert "unread_exchange" in codes(recorded(tmp_path, *exchanges))


def test_items_that_the_provider_keeps(tmp_path: Path) -> None:
    for asked in ({"conversation": "conv_1", "input": "A?"}, {"input": [user("A?"), {"type": "item_reference", "id": "x"}]}):
        assert "unread_exchange" in codes(recorded(tmp_path, exchange(RESPONSES, asked, RESPONSE)))


def test_a_format_may_be_named_only_where_its_requests_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormat, match="without a request to Anthropic's Messages API"):
        recorded(tmp_path, chat([user("A?")], "a"), format_name="anthropic_messages")
    with pytest.raises(UnknownFormat, match="--session-format`: `openai_chat`"):
        recorded(tmp_path, chat([user("A?")], "a"), format_name="openai_responses")
    with pytest.raises(UnknownFormat, match="no exchange at all"):
        recorded(tmp_path)


def test_the_provider_is_told_by_the_head_alone() -> None:
    for uri, name in ((CHAT, "openai_chat"), (RESPONSES, "openai_responses"), (ANTHROPIC, "anthropic_messages")):
        whole = exchange(uri, {"messages": [user("x" * 90_000)]}, {})
        head = json.dumps({"interactions": [{"request": {"uri": uri, **whole["request"]}}]}, indent=1).encode()[: 64 * 1024]
        assert detect(head).name == name
        by_yaml = yaml.safe_dump({"interactions": [{"request": {"method": "POST", "uri": uri}}, whole]}).encode()
        assert detect(by_yaml[: 64 * 1024]).name == name
    body = f"interactions:\n- request:\n    body: '{json.dumps({'model': 'm', 'tools': [{'input_schema': {}}]})} {'x' * 70_000}"
    assert detect(body.encode()[: 64 * 1024]).name == "anthropic_messages"


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_compressed_bodies(pack: Any, tmp_path: Path) -> None:
    one = exchange(ANTHROPIC, {"messages": [user("A?")]}, "")
    one["response"]["body"] = {"string": pack(json.dumps(REPLY).encode())}
    path = tmp_path / "recording.yaml"
    path.write_text(yaml.safe_dump({"interactions": [one]}), encoding="utf-8")
    transcript = read(path)
    check_invariants(transcript, path)
    assert transcript.messages[-1].text == "Yes."
    one["response"]["body"] = {"string": pack(json.dumps(REPLY).encode())[:-6]}
    path.write_text(yaml.safe_dump({"interactions": [chat([user("A?")], "a"), one]}), encoding="utf-8")
    assert "unread_exchange" in codes(read(path, "openai_chat"))


def test_a_body_that_unpacks_to_more_than_the_limit_is_not_read(tmp_path: Path) -> None:
    one = exchange(ANTHROPIC, {"messages": [user("A?")]}, "")
    padded = json.dumps(REPLY).encode() + b" " * (65 * 1024 * 1024)
    one["response"]["body"] = {"string": zlib.compress(padded, 9)}
    path = tmp_path / "recording.yaml"
    path.write_text(yaml.safe_dump({"interactions": [chat([user("A?")], "a"), one]}), encoding="utf-8")
    assert "unread_exchange" in codes(read(path, "openai_chat"))


def test_many_conversations_that_begin_alike_are_told_apart_quickly(tmp_path: Path) -> None:
    begun = time.process_time()
    many = [chat([user("A?"), user(str(number))], "a") for number in range(4000)]
    transcript = recorded(tmp_path, *many)
    assert len(transcript.threads) == 3999
    assert time.process_time() - begun < 10


def test_a_long_chain_of_replies_named_by_their_id(tmp_path: Path) -> None:
    begun = time.process_time()
    chain = [
        exchange(RESPONSES, {"input": "Go on.", "previous_response_id": f"r{n}" if n else None}, {**RESPONSE, "id": f"r{n + 1}"})
        for n in range(4000)
    ]  # fmt: skip
    assert len(recorded(tmp_path, *chain).messages) == 8000
    assert time.process_time() - begun < 10

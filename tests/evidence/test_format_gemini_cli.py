"""Gemini CLI: the real chats, and what patches, rewinds and new versions of a message do to one."""

import json
from pathlib import Path
from typing import Any

import pytest
from golden import golden, wrong
from sessions_read import OWN, real_sessions
from sessions_read import read as read_path

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import detect
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of

REPLIES = {"gemini_cli/memory.multi-function-call.responses", "gemini_cli/json-output.error.responses"}


def own(name: str) -> Transcript:
    return read_path(OWN / "gemini_cli" / name)


def of_lines(tmp_path: Path, *records: dict[str, Any]) -> Transcript:
    path = tmp_path / "chat.jsonl"
    header = {"sessionId": "s", "projectHash": "h"}
    path.write_text("".join(json.dumps(record) + "\n" for record in (header, *records)), encoding="utf-8")
    return read_path(path)


def reply(reply_id: str, *calls: str) -> dict[str, Any]:
    made = [{"id": call, "name": call, "args": {}, "status": "success", "result": []} for call in calls]
    return {
        "id": reply_id,
        "type": "gemini",
        "content": reply_id,
        "toolCalls": made,
        "tokens": {"input": 1, "output": 1},
    }


def words(transcript: Transcript, row: dict[str, Any]) -> dict[str, Any]:
    """Usage in Gemini's words, whose output is without the thoughts."""
    usage = transcript.usage
    assert usage is not None
    output = (usage.output or 0) - (usage.reasoning or 0)
    return {
        "input": usage.input, "output": output, "cached": usage.cache_read, "thoughts": usage.reasoning,
        "tool": row["tool"], "total": usage.total,
    }  # fmt: skip


@pytest.mark.needs_shared
def test_golden_counts() -> None:
    rows = golden("gemini_cli")
    held = {f"gemini_cli/{path.name}" for path in (real_sessions() / "gemini_cli").iterdir()}
    assert {row.file for row in rows} == held - REPLIES
    found = {row.file: wrong(row, words) for row in rows}
    assert not {file: faults for file, faults in found.items() if faults}


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", sorted(REPLIES))
def test_recorded_replies_are_refused_by_what_they_are(name: str) -> None:
    with pytest.raises(UnknownFormat, match="recorded model replies"):
        read_path(real_sessions() / name)


@pytest.mark.needs_shared
def test_a_call_that_a_person_cancelled_is_an_error_and_may_have_run() -> None:
    record = record_of(read_path(real_sessions() / "gemini_cli/session-2025-10-27T19-55-981c87cb.json"))
    assert [call.name for call in record.calls if call.status == "error"] == ["run_shell_command", "list_directory"]
    assert "end" not in record.carries


def test_what_a_reply_says_thinks_and_calls() -> None:
    transcript = own("chat.json")
    asked, first = transcript.messages[:2]
    assert asked.text == "Plant."
    assert first.reasoning == "Soil\n\nLook first."
    assert [call.args for call in first.tool_calls][2] == {"command": "rm -r beds"}
    results = [m.tool_result for m in transcript.messages if m.tool_result is not None]
    assert [result.text for result in results][:2] == ["beans", "Path must be absolute"]
    assert [result.ran for result in results] == [None, None, False, None]
    assert transcript.messages[2].at_ms == (first.at_ms or 0) + 1000


def test_only_a_call_that_was_cancelled_was_denied(tmp_path: Path) -> None:
    call = {"id": "c", "name": "run", "args": {}, "status": "error"}
    call["result"] = [{"functionResponse": {"response": {"error": "User denied execution"}}}]  # type: ignore[assignment]
    record = record_of(of_lines(tmp_path, {"id": "a", "type": "gemini", "content": "", "toolCalls": [call]}))
    assert [call.status for call in record.calls] == ["error"]


def test_the_last_record_of_a_message_counts_and_calls_never_vanish(tmp_path: Path) -> None:
    transcript = of_lines(tmp_path, reply("a", "burn"), reply("a"), {**reply("a", "dig"), "content": "anew"})
    (message,) = [message for message in transcript.messages if message.role == "assistant"]
    assert message.text == "anew"
    assert [call.name for call in message.tool_calls] == ["burn", "dig"]
    assert transcript.usage is not None
    assert transcript.usage.requests == 1


def test_what_was_taken_back_was_done_and_paid_for() -> None:
    transcript = own("lines.jsonl")
    assert [message.text for message in transcript.messages if message.role == "user"] == ["Plant.", "Water it."]
    record = record_of(transcript)
    assert record.delegated == {"run_shell_command": 1}
    assert record.usage is not None
    assert record.usage.requests == 3


def test_a_rewind_to_what_is_unknown_takes_back_all(tmp_path: Path) -> None:
    transcript = of_lines(
        tmp_path, reply("a", "burn"), {"$rewindTo": "nowhere"}, reply("b"), {"$rewindTo": 7}, reply("c")
    )
    assert [message.text for message in transcript.messages] == ["c"]
    assert [thread.id for thread in transcript.threads] == ["rewound-3", "rewound-5"]


def test_a_new_history_adds_and_takes_nothing_away(tmp_path: Path) -> None:
    asked = {"id": "u", "type": "user", "content": "Dig.", "timestamp": "2026-03-01T10:00:00Z"}
    history = [
        {**reply("copy", "dig")},
        {**asked, "id": "n2"},
        {"id": "n1", "type": "user", "content": "<state_snapshot>"},
    ]
    transcript = of_lines(tmp_path, asked, reply("a", "dig"), {"$set": {"messages": history}}, reply("b"))
    texts = [(message.text, message.injected) for message in transcript.messages if message.role != "tool"]
    assert texts == [("Dig.", False), ("a", False), ("<state_snapshot>", True), ("b", False)]
    assert [event.data for event in transcript.events if event.kind == "history_replaced"] == [{"messages": 3}]


def test_many_patches_and_rewinds_take_no_time(tmp_path: Path) -> None:
    """As long as reading does not look at every message for every patch, which would take minutes here."""
    replies = [reply(f"a{nth}") for nth in range(4000)]
    patches = [{"$set": {"messages": [{"id": f"n{nth}", "type": "user", "content": str(nth)}]}} for nth in range(4000)]
    rewinds = [{"$rewindTo": f"n{nth}"} for nth in reversed(range(4000))]
    assert len(of_lines(tmp_path, *replies, *patches, *rewinds).messages) == 4000


def test_what_cannot_be_told_leaves_its_facts_open() -> None:
    carries = record_of(own("rewritten.jsonl")).carries
    assert not carries & {"tool_calls", "messages", "usage"}


def test_a_call_without_a_name_and_a_sub_agent(tmp_path: Path) -> None:
    nameless = record_of(of_lines(tmp_path, {**reply("a"), "toolCalls": [{"id": "x", "args": {}}]}))
    assert "tool_calls" not in nameless.carries
    sent = {**reply("a", "investigate")["toolCalls"][0], "agentId": "sub"}
    assert "usage" not in record_of(of_lines(tmp_path, {**reply("a"), "toolCalls": [sent]})).carries


def test_replies_without_tokens_leave_the_total_open(tmp_path: Path) -> None:
    record = record_of(of_lines(tmp_path, reply("a"), {"id": "b", "type": "gemini", "content": "b"}))
    assert "usage" not in record.carries
    zero = of_lines(tmp_path, {**reply("a"), "tokens": {"input": 0, "output": 0}})
    assert zero.usage is not None
    assert zero.usage.total is None


def test_heads_are_recognised() -> None:
    for name in ("chat.json", "lines.jsonl"):
        data = (OWN / "gemini_cli" / name).read_bytes()
        assert detect(data).name == detect(data[:150]).name == "gemini_cli"
    assert detect(b'{"$rewindTo":"a"}\n{"id":"a","type":"gemini","content":""}\n').name == "gemini_cli"


def test_a_rewind_to_what_is_not_there_splits_the_chat(tmp_path: Path) -> None:
    assert "messages" in record_of(of_lines(tmp_path, reply("a"), {"$rewindTo": "a"}, reply("b"))).carries
    assert "messages" not in record_of(of_lines(tmp_path, reply("a"), {"$rewindTo": "x"}, reply("b"))).carries


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ([{"functionResponse": {"response": {"output": {"rows": 2}}}}], '{"rows":2}'),
        ([{"functionResponse": {"response": {"rows": 2}}}], '{"rows":2}'),
        ([{"functionResponse": {"response": {"output": "a"}}}, {"text": "b"}], "a\n\nb"),
        ("plain", "plain"),
        ([{"text": "thought", "thought": True}, {"text": "said"}], "said"),
    ],
)
def test_shapes_of_a_result(result: object, text: str, tmp_path: Path) -> None:
    made = {"id": "c", "name": "n", "args": "raw", "status": "success", "result": result}
    transcript = of_lines(tmp_path, {**reply("a"), "toolCalls": [made]})
    assert transcript.messages[1].text == text
    called = transcript.messages[0].tool_calls[0]
    assert (called.args, called.args_raw, called.args_error) == (None, "raw", "the arguments are not a JSON object")


def test_a_display_stands_in_only_where_there_is_no_result(tmp_path: Path) -> None:
    made = {"id": "c", "name": "n", "status": "success", "resultDisplay": "shown"}
    assert of_lines(tmp_path, {**reply("a"), "toolCalls": [made]}).messages[1].text == "shown"
    silent = {**made, "result": [{"functionResponse": {"response": {"output": ""}}}]}
    assert of_lines(tmp_path, {**reply("a"), "toolCalls": [silent]}).messages[1].text == ""
    assert of_lines(tmp_path, {**reply("a"), "toolCalls": [made]}).messages[0].tool_calls[0].args == {}


@pytest.mark.parametrize(
    "tokens", [{"input": 5}, {"output": 5}, {"input": 5, "output": 5, "total": 11}, {"total": 5}, None]
)
def test_tokens_that_do_not_add_up_are_none(tokens: object, tmp_path: Path) -> None:
    whole = {**reply("a"), "tokens": {"input": 5, "output": 5, "thoughts": 1, "total": 11}}
    assert "usage" in record_of(of_lines(tmp_path, whole)).carries
    assert "usage" not in record_of(of_lines(tmp_path, whole, {**reply("b"), "tokens": tokens})).carries


@pytest.mark.parametrize(
    "broken",
    [
        {**reply("b"), "type": "gemina"},
        {**reply("b"), "toolCalls": None},
        {"id": "b", "type": "user", "content": "", "toolCalls": reply("b", "burn")["toolCalls"]},
        {"id": "b", "content": "no type"},
        {"$set": "nothing"},
    ],
)
def test_what_is_broken_is_told(broken: dict[str, Any], tmp_path: Path) -> None:
    assert "tool_calls" in record_of(of_lines(tmp_path, reply("a"))).carries
    assert "tool_calls" not in record_of(of_lines(tmp_path, reply("a"), broken)).carries

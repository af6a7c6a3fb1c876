"""OpenTelemetry spans: the real file, parts, dialects, and what must never read as more than it is."""

import hashlib
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sessions_read import OWN, check_invariants, every, read, real_sessions, roles_of

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import detect
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of

FOLDER = OWN / "otel"
USER = {"role": "user", "content": "Tidy up."}
SCHEMAS = ("gen-ai-input-messages.json", "gen-ai-output-messages.json")


def parts(path: Path) -> list[str | None]:
    return [transcript.source.part for transcript in every(path)]


def span(own: str, at: int, *, parent: str | None = None, trace: str = "t", name: str = "chat", **more: Any) -> Any:
    """One flat span whose attributes are those given, as JSON text where they are lists."""
    attributes = {key: json.dumps(v) if isinstance(v, list) else v for key, v in more.pop("attributes", {}).items()}
    times = {"startTimeUnixNano": str((at + 10**9) * 10**9), "endTimeUnixNano": str((at + 10**9 + 1) * 10**9)}
    ids = {"traceId": trace, "spanId": own, "parentSpanId": parent}
    return {"name": name, **ids, **times, "attributes": attributes, **more}


def chat(asked: Any, replies: Any, stop: str = "stop", **more: Any) -> dict[str, Any]:
    given = {"gen_ai.input.messages": asked, "gen_ai.output.messages": replies}
    captured = {key: value for key, value in given.items() if value is not None}
    counts = {"gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 2}
    return {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": [stop], **counts, **captured, **more}


def calls(*named: str) -> dict[str, Any]:
    found = [{"type": "tool_call", "id": f"c-{name}", "name": name, "arguments": {"n": 1}} for name in named]
    return {"role": "assistant", "parts": found}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}]}


def answered(name: str) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": f"c-{name}", "response": "done"}]}


def tool(own: str, at: int, name: str, call_id: str | None = None, **more: Any) -> Any:
    called = {} if call_id is None else {"gen_ai.tool.call.id": call_id}
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **called}
    return span(own, at, attributes=attributes, **more)


def of(tmp_path: Path, *spans: Any) -> Transcript:
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(list(spans)), encoding="utf-8")
    transcript = read(path)
    check_invariants(transcript, path)
    return transcript


def codes(transcript: Transcript) -> set[str]:
    return {warning.code for warning in transcript.warnings}


@pytest.mark.needs_shared
def test_the_real_spans_are_four_sessions_and_their_outer_calls_are_not_counted_again() -> None:
    """Every span of that file is a trace of its own: the two embeddings and the outer calls are no sessions."""
    path = real_sessions() / "otel/vercel_v6_all_spans.json"
    names = parts(path)
    read_ = [read(path, part=name) for name in names]
    assert read_ == every(path)
    assert [transcript.session_id for transcript in read_] == names
    assert [roles_of(t.messages) for t in read_] == ["0/1/1/0", "1/2/2/0", "0/1/1/0", "0/1/1/0"]
    assert [(t.usage.input, t.usage.output) for t in read_ if t.usage] == [(14, 20), (50, 9), (63, 156), (15, 112)]
    assert {t.end.reason for t in read_} == {"finished"}
    assert {tuple(t.models) for t in read_} == {("gpt-4o-mini-2024-07-18",)}
    with pytest.raises(UnknownFormat, match="holds 4 sessions"):
        read(path)


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", SCHEMAS)
def test_the_conventions_own_schemas_are_no_sessions(name: str) -> None:
    with pytest.raises(UnknownFormat, match="a JSON Schema, which says what messages look like and holds none"):
        read(real_sessions() / "otel" / name)


def test_what_was_not_captured_is_not_told() -> None:
    record = record_of(read(FOLDER / "not_captured.jsonl"))
    assert not record.carries & {"messages", "tool_calls", "results"}
    assert record.carries >= {"end", "usage", "time"}
    assert (record.turns, record.calls[0].arguments, record.calls[0].duration_s) == (2, None, 0.7)


def test_ids_and_refusals_as_the_printers_write_them() -> None:
    assert read(FOLDER / "events.jsonl").session_id == "2cf7651916cd43dd8448eb211c80319c"
    denied = read(FOLDER / "vercel.json").messages[4].tool_result
    assert denied is not None
    assert (denied.ran, denied.is_error, denied.text) == (False, True, "not today")


def test_a_sub_agent_is_a_thread_of_the_tool_that_ran_it() -> None:
    transcript = read(FOLDER / "openinference.jsonl")
    (thread,) = transcript.threads
    assert (thread.parent_call_id, thread.name, roles_of(thread.messages)) == ("o1", "Expert", "0/1/2/1")
    assert record_of(transcript).delegated == {"timetable": 1}
    assert thread.messages[2].tool_result is not None
    assert math.isclose(thread.messages[2].tool_result.seconds or 0, 0.05)


@pytest.mark.parametrize("name", ["semconv.json", "events.jsonl", "vercel.json", "openinference.jsonl"])
def test_a_head_is_enough_to_tell_spans(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    assert detect(data[: len(data) // 2]).name == "otel"


def test_a_first_line_that_is_longer_than_the_head(tmp_path: Path) -> None:
    long = span("m1", 0, attributes=chat([USER], [says("x" * 70_000)]))
    second = span("m2", 5, attributes=chat([USER, says("x" * 70_000), USER], [says("Done.")]))
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps({"spans": [], **one}) + "\n" for one in (long, second)), encoding="utf-8")
    transcript = read(path)
    assert (transcript.source.places, [m.src for m in transcript.messages]) == ("lines", [1, 1, 2, 2])


def test_conversations_and_traces_are_parts(tmp_path: Path) -> None:
    named = {"gen_ai.conversation.id": "talk#1"}
    path = tmp_path / "spans.json"
    spans = [
        span("m1", 0, trace="a", attributes=chat([USER], [says("One.")], **named)),
        span("m2", 5, trace="b", attributes=chat([USER], [says("Apart.")])),
        span("m3", 9, trace="c", attributes=chat([USER, says("One."), USER], [says("Two.")], **named)),
        span("x", 9, trace="d", name="GET", attributes={"http.request.method": "GET"}),
    ]
    path.write_text(json.dumps({"spans": spans}), encoding="utf-8")
    assert parts(path) == ["talk_1", "b"]
    assert [m.text for m in read(path, part="talk_1").messages] == ["Tidy up.", "One.", "Tidy up.", "Two."]
    assert codes(read(path, part="b")) == {"stray_span"}
    lines = tmp_path / "spans.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in spans), encoding="utf-8")
    digest = hashlib.sha256(lines.read_bytes()).hexdigest()
    assert [t.source.sha256 for t in every(lines)] == [digest, digest]


def test_a_span_takes_the_conversation_of_the_one_above_it(tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    spans = [
        span("a", 0, name="run", attributes={"session.id": "one"}),
        span("b", 0, name="run", attributes={"session.id": "two"}),
        span("m1", 1, parent="a", attributes=chat([USER], [says("First.")])),
        span("m2", 2, parent="b", attributes=chat([USER], [says("Second.")])),
    ]
    path.write_text(json.dumps(spans), encoding="utf-8")
    assert {name: read(path, part=name).messages[-1].text for name in parts(path)} == {"one": "First.", "two": "Second."}


def test_an_outer_call_without_its_model_calls_hides_them(tmp_path: Path) -> None:
    outer = {"ai.operationId": "ai.generateText", "ai.prompt": '{"prompt":"Tidy up."}', "ai.response.text": "Done."}
    transcript = of(tmp_path, span("g", 0, name="ai.generateText", attributes=outer))
    assert codes(transcript) == {"lost_call"}
    assert [m.text for m in transcript.messages] == ["Tidy up.", "Done."]
    assert "tool_calls" not in record_of(transcript).carries


def test_a_model_call_told_by_two_libraries_counts_once(tmp_path: Path) -> None:
    inner = chat([USER], [says("Done.")])
    outer = {"openinference.span.kind": "LLM", "llm.token_count.prompt": 3, "llm.token_count.completion": 2}
    around = of(tmp_path, span("o", 0, attributes=outer), span("i", 0, parent="o", attributes=inner))
    assert around.usage is not None
    assert (around.usage.total, around.usage.requests) == (5, 1)
    do = {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": "Done.", "ai.response.finishReason": "stop"}
    tokens = {"ai.usage.inputTokens": 3, "ai.usage.outputTokens": 2, "ai.prompt.messages": [USER]}
    silent = span("i", 0, parent="o", attributes=chat(None, None))
    whole = of(tmp_path, span("o", 0, attributes={**do, **tokens}), silent)
    assert whole.usage == around.usage
    assert not codes(whole) | codes(around)


def test_a_nested_call_cannot_hide_another(tmp_path: Path) -> None:
    outer = span("o", 0, attributes=chat([USER], [calls("wipe_disk")]))
    inner = span("i", 0, parent="o", attributes=chat([USER], [says("Done.")]))
    assert codes(of(tmp_path, outer, inner)) == {"lost_call"}


def test_a_reply_that_was_asked_for_again_is_an_event_and_one_with_calls_a_thread(tmp_path: Path) -> None:
    second = span("m2", 5, attributes=chat([USER], [says("Tidy.")]))
    again = of(tmp_path, span("m1", 0, attributes=chat([USER], [says("Dirty.")])), second)
    assert ([m.text for m in again.messages], [e.kind for e in again.events]) == (["Tidy up.", "Tidy."], ["superseded_reply"])
    apart = of(tmp_path, span("m1", 0, attributes=chat([USER], [calls("wipe_disk")], "tool_calls")), second)
    assert record_of(apart).tool_counts == {"wipe_disk": 1}


def test_calls_of_a_second_conversation_of_the_same_agent_are_not_overlooked(tmp_path: Path) -> None:
    first = [{"role": "user", "content": "Other."}], [calls("look"), answered("look"), calls("look")]
    transcript = of(
        tmp_path,
        span("m1", 0, attributes=chat([USER, calls("look"), answered("look")], [says("Seen.")])),
        span("m2", 5, attributes=chat([first[0][0]], [calls("wipe_disk")], "tool_calls")),
    )
    assert "split_conversation" in codes(transcript)
    assert "tool_calls" not in record_of(transcript).carries


def test_a_conversation_of_another_agent_is_a_thread(tmp_path: Path) -> None:
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Helper"}
    transcript = of(
        tmp_path,
        span("m1", 0, attributes=chat([USER, calls("look"), answered("look")], [says("Seen.")])),
        span("a", 4, attributes=agent),
        span("m2", 5, parent="a", attributes=chat([{"role": "user", "content": "Help."}], [calls("wipe_disk")])),
    )
    assert [(thread.id, thread.name) for thread in transcript.threads] == [("span-m2", "Helper")]
    assert record_of(transcript).delegated == {"wipe_disk": 1}


def test_only_what_is_new_may_be_sent(tmp_path: Path) -> None:
    transcript = of(
        tmp_path,
        span("m1", 0, attributes=chat([USER], [calls("look")], "tool_calls")),
        span("m2", 5, attributes=chat([{"role": "system", "content": "Hush."}, answered("look")], [says("Seen.")])),
    )
    assert roles_of(transcript.messages) == "0/1/2/1"
    assert not codes(transcript)


def test_what_a_reply_said_may_be_told_by_the_next_call(tmp_path: Path) -> None:
    transcript = of(
        tmp_path,
        span("m1", 0, attributes=chat([USER], None, "tool_calls")),
        span("m2", 5, attributes=chat([USER, calls("look"), answered("look")], [says("Seen.")])),
    )
    assert record_of(transcript).tool_counts == {"look": 1}
    assert not codes(transcript)


def test_a_tool_that_no_reply_asked_for_is_still_counted(tmp_path: Path) -> None:
    """By the harness; and one of the silent reply before it where that was not captured."""
    told = of(tmp_path, span("m1", 0, attributes=chat([USER], [says("Done.")])), tool("t", 3, "wipe_disk"))
    assert [(m.role, m.injected) for m in told.messages] == [
        ("user", False), ("assistant", False), ("assistant", True), ("tool", False),
    ]  # fmt: skip
    assert (record_of(told).tool_counts, record_of(told).turns) == ({"wipe_disk": 1}, 1)
    silent = of(tmp_path, span("m1", 0, attributes=chat([USER], None)), tool("t", 3, "wipe_disk", "c9"))
    assert silent.messages[1].tool_calls[0].id == "c9"


def test_a_reply_that_hides_its_calls(tmp_path: Path) -> None:
    assert codes(of(tmp_path, span("m", 0, attributes=chat([USER], [says("I call.")], "tool_calls")))) == {"lost_call"}


STRANGE = {
    "no_json": '[{"role":"assistant","parts":[{"type":"tool_call"',
    "a_number": 7,
    "unknown_part": [{"role": "assistant", "parts": [{"type": "custom_call", "name": "wipe_disk"}]}],
    "unknown_role": [{"role": "critic", "parts": []}],
    "calls_no_list": [{"role": "assistant", "content": "", "tool_calls": {"name": "wipe_disk"}}],
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_was_captured_and_cannot_be_read_is_no_silence(name: str, tmp_path: Path) -> None:
    transcript = of(tmp_path, span("m", 0, attributes=chat([USER], STRANGE[name])))
    assert "unread_exchange" in codes(transcript)
    assert not record_of(transcript).carries & {"tool_calls", "messages", "end"}


ENDS = {"stop": "finished", "length": "truncated_output", "content_filter": "refused_by_model", "odd": "unknown"}


@pytest.mark.parametrize("stop", ENDS)
def test_ends(stop: str, tmp_path: Path) -> None:
    transcript = of(tmp_path, span("m", 0, attributes=chat([USER], [says("So.")], stop)))
    assert (transcript.end.reason, transcript.end.raw) == (ENDS[stop], stop)


def test_a_model_call_that_failed(tmp_path: Path) -> None:
    failed = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "owl", "gen_ai.input.messages": [USER]}
    transcript = of(tmp_path, span("m", 0, attributes=failed, status={"code": 2, "message": "rate limit"}))
    assert (transcript.end.reason, transcript.end.detail) == ("errored", "rate limit")
    assert ([m.role for m in transcript.messages], [e.kind for e in transcript.events]) == (["user"], ["api_error"])


def test_usage_that_some_call_does_not_state_is_no_total(tmp_path: Path) -> None:
    quiet = {key: value for key, value in chat([USER], [says("So.")]).items() if "usage" not in key}
    transcript = of(tmp_path, span("m1", 0, attributes=chat([USER], [says("A.")])), span("m2", 5, attributes=quiet))
    assert "usage_partial" in codes(transcript)
    assert "usage" not in record_of(transcript).carries


def test_a_cache_that_is_larger_than_the_input_was_left_out_of_it(tmp_path: Path) -> None:
    cached = {"gen_ai.usage.cache_read.input_tokens": 50}
    usage = of(tmp_path, span("m", 0, attributes=chat([USER], [says("So.")], **cached))).usage
    assert usage is not None
    assert (usage.input, usage.cache_read) == (53, 50)


FLAT = {
    "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Dig.", "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.tool_calls.0.id": "k", "gen_ai.completion.0.tool_calls.0.name": "dig",
    "gen_ai.completion.0.tool_calls.0.arguments": '{"depth":2}', "gen_ai.completion.0.finish_reason": "tool_calls",
    "gen_ai.prompt.99999999999999999999.role": "user",
}  # fmt: skip
NESTED = {
    "openinference": {"span": {"kind": "LLM"}},
    "llm": {
        "input_messages": [{"message": {"role": "user", "contents": [{"message_content": {"text": "Dig."}}]}}],
        "output_messages": [
            {"message": {"role": "assistant", "tool_calls": [
                {"tool_call": {"id": "k", "function": {"name": "dig", "arguments": '{"depth":2}'}}}
            ]}}
        ],
    },
}  # fmt: skip
LISTED = {
    "gen_ai.operation.name": "chat", "gen_ai.request.model": "owl", "gen_ai.response.finish_reasons": ["tool_calls"],
    "events": [
        {"event.name": "gen_ai.user.message", "content": "Dig."},
        {"event.name": "gen_ai.choice", "message": {"role": "assistant", "tool_calls": [
            {"id": "k", "function": {"name": "dig", "arguments": {"depth": 2}}}
        ]}},
    ],
}  # fmt: skip


@pytest.mark.parametrize("attributes", [{"gen_ai.request.model": "owl", **FLAT}, NESTED, LISTED])
def test_other_ways_to_write_the_same(attributes: dict[str, Any], tmp_path: Path) -> None:
    transcript = of(tmp_path, span("m", 0, attributes=attributes))
    assert [(m.role, m.text) for m in transcript.messages] == [("user", "Dig."), ("assistant", "")]
    (call,) = transcript.messages[1].tool_calls
    assert (call.id, call.name, call.args) == ("k", "dig", {"depth": 2})
    assert Counter(w.code for w in transcript.warnings) == {"unpaired_call": 1}


def test_many_conversations_end_in_time(tmp_path: Path) -> None:
    spans = [span(f"m{n}", n, attributes=chat([USER, says(str(n))], [calls("look")], "tool_calls")) for n in range(1500)]
    assert len(of(tmp_path, *spans).threads) == 1499

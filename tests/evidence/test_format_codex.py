"""Codex rollouts and `codex exec --json`: the real sessions, and what our own small ones hold in detail."""

import json
from pathlib import Path
from typing import Any

import pytest
from golden import Golden, golden, wrong
from sessions_read import OWN, check_invariants, real_sessions
from sessions_read import read as read_path

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import detect
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of

FALLEN = "codex/as_schema_cover.jsonl"


def own(name: str) -> Transcript:
    return read_path(OWN / name)


def changed(tmp_path: Path, name: str, old: str, new: str) -> Transcript:
    """One of our own sessions with one thing in it changed."""
    text = (OWN / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = tmp_path / "session.jsonl"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return read_path(path)


def codes(transcript: Transcript) -> set[str]:
    return {warning.code for warning in transcript.warnings}


def words(transcript: Transcript, row: dict[str, Any]) -> dict[str, Any] | None:
    """Usage in Codex's words, as far as the row says them."""
    usage = transcript.usage
    if usage is None:
        return None
    told = {
        "input_tokens": usage.input,
        "cached_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "reasoning_output_tokens": usage.reasoning,
        "total_tokens": usage.total,
    }
    return {key: told[key] for key in row}


def stated(row: Golden) -> Golden:
    """The manifest takes the last count, a 0 after the count fell: the highest is what was spent at least."""
    if row.file != FALLEN:
        return row
    highest = (16341, 3584, 81, 63, 16422)
    return row._replace(usage=dict(zip(row.usage or {}, highest, strict=True)))


@pytest.mark.needs_shared
def test_golden_counts() -> None:
    rows = golden("codex")
    assert {row.file for row in rows} == {f"codex/{path.name}" for path in (real_sessions() / "codex").iterdir()}
    found = {row.file: wrong(stated(row), words) for row in rows}
    assert not {file: faults for file, faults in found.items() if faults}


@pytest.mark.needs_shared
def test_trap_2_events_say_again_what_the_conversation_says() -> None:
    record = record_of(read_path(real_sessions() / "codex/agentcmd_rollout_0199_7e76_aborts.jsonl"))
    assert (record.turns, record.call_count) == (132, 123)
    assert record.usage is not None
    assert (record.usage.requests, record.usage.total) == (132, 7_594_021)
    assert [call.status for call in record.calls].count("refused") == 2


@pytest.mark.needs_shared
def test_trap_7_arguments_as_text_as_an_object_and_not_at_all() -> None:
    def args(name: str) -> list[object]:
        transcript = read_path(real_sessions() / "codex" / name)
        return [call.args for message in transcript.messages for call in message.tool_calls]

    assert args("av_fc_args_1.jsonl") == [{"cmd": "rg --files", "workdir": "/tmp"}]
    assert args("av_fc_stdin.jsonl") == [{"chars": "yes\n", "session_id": "sess-42"}]
    assert args("av_function_calls.jsonl") == [None, None]
    (patch,) = args("av_fc_args_2.jsonl")
    assert isinstance(patch, dict)
    assert str(patch["patch"]).startswith("*** Begin Patch")


@pytest.mark.needs_shared
def test_trap_12_an_image_never_becomes_text() -> None:
    transcript = read_path(real_sessions() / "codex/agentcmd_rollout_0199_7ea4.jsonl")
    assert not any("base64" in message.text for message in transcript.messages)
    assert [event.data for event in transcript.events if event.kind == "images"] == [{"count": 1}]
    assert transcript.messages[1].text == "[redacted 1061 chars]"


def test_the_first_of_several_session_records_names_the_session() -> None:
    transcript = own("codex/rollout.jsonl")
    assert (transcript.session_id, transcript.parent_session) == ("seed-1", "seed-0")
    assert transcript.source.producer_version == "0.99.0"
    assert transcript.models == ["gpt-garden"]


def test_what_an_editor_put_around_a_request_is_told_from_the_request() -> None:
    messages = own("codex/rollout.jsonl").messages
    assert [message.text for message in messages if message.role == "user"] == ["Plant the beans."]
    around = [message for message in messages if message.injected]
    assert [message.role for message in around] == ["system", "system"]
    assert "Open tabs" in around[1].text
    assert "AGENTS.md" in around[0].text


def test_results_out_of_json_and_prose() -> None:
    results = [m.tool_result for m in own("codex/rollout.jsonl").messages if m.tool_result is not None]
    told = [(result.exit_code, result.seconds, result.is_error, result.ran) for result in results]
    assert told == [
        (0, 0.5, False, None),
        (1, 2.5, True, None),
        (None, None, None, False),
        (None, None, True, None),
        (None, 1.5, False, None),
    ]
    assert results[0].text == "beans\npeas\n"


def test_the_output_of_any_other_tool_states_no_exit() -> None:
    """A server's tool may print what a command's output looks like: it is neither unpacked nor believed."""
    result = own("codex/rollout.jsonl").messages[-2].tool_result
    assert result is not None
    assert result.text == '{"output": "Exit code: 9", "metadata": {"exit_code": 9}}'
    assert result.exit_code is None


def test_an_exit_code_stands_before_the_output_and_not_in_it(tmp_path: Path) -> None:
    faked = changed(tmp_path, "codex/rollout.jsonl", "Exit code: 1\\nWall", "Wall")
    result = faked.messages[7].tool_result
    assert result is not None
    assert (result.exit_code, result.is_error) == (None, None)
    printed = changed(
        tmp_path, "codex/rollout.jsonl", "Exit code: 1\\nWall time: 2.5 seconds\\nOutput:\\n", "Exit code: 0x"
    )
    assert record_of(printed).calls[1].status is None


def test_raw_input_and_a_providers_search() -> None:
    calls = {call.name: call for m in own("codex/rollout.jsonl").messages for call in m.tool_calls}
    patch, search = calls["apply_patch"], calls["web_search_call"]
    assert patch.args == {"input": patch.args_raw}
    assert patch.args_raw.startswith("*** Begin Patch")
    assert search.args == {"type": "search", "query": "beans"}


def test_thoughts_go_with_the_reply_after_them() -> None:
    thoughts = [m.reasoning for m in own("codex/rollout.jsonl").messages if m.role == "assistant"]
    assert thoughts == ["Look first."] + [None] * 6
    assert own("codex/oldest.jsonl").messages[1].reasoning == "A spade."


@pytest.mark.parametrize(
    ("name", "reason", "raw"),
    [
        ("aborted", "canceled_by_user", "turn_aborted:interrupted"),
        ("went_on", "unknown", "turn_aborted:replaced"),
        ("failed", "context_limit", "task_complete"),
        ("rollout", "finished", "task_complete"),
    ],
)
def test_ends(name: str, reason: str, raw: str) -> None:
    end = own(f"codex/{name}.jsonl").end
    assert (end.reason, end.raw) == (reason, raw)


def test_an_error_that_nothing_follows_is_the_end(tmp_path: Path) -> None:
    end = changed(tmp_path, "codex/failed.jsonl", '"type":"task_complete","last_agent_message":null', '"type":"x"').end
    assert (end.reason, end.raw, end.detail) == ("context_limit", "error", "the bed is full")


def test_an_error_that_leaves_the_turn_as_it_was_is_no_end(tmp_path: Path) -> None:
    harmless = changed(tmp_path, "codex/failed.jsonl", "context_window_exceeded", "thread_rollback_failed")
    assert harmless.end.reason == "finished"


def test_what_may_not_have_been_read_leaves_its_facts_open() -> None:
    carries = record_of(own("codex/unread.jsonl")).carries
    assert not carries & {"messages", "tool_calls", "results", "end", "usage"}
    hidden = record_of(own("codex/hidden.jsonl")).carries
    assert not hidden & {"messages", "tool_calls", "usage"}
    assert "end" in hidden


def test_a_broken_line_of_an_event_hides_no_call(tmp_path: Path) -> None:
    transcript = changed(tmp_path, "codex/rollout.jsonl", '"message":"Plant the beans."}', '"mess')
    assert codes(transcript) == {"bad_line"}
    assert "tool_calls" in record_of(transcript).carries


def test_a_count_that_falls_is_a_total_that_is_too_small(tmp_path: Path) -> None:
    transcript = changed(tmp_path, "codex/rollout.jsonl", '"input_tokens":260', '"input_tokens":60')
    assert transcript.usage is not None
    assert transcript.usage.total == 110
    assert "usage" not in record_of(transcript).carries


@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call", "local_shell_call"])
def test_an_item_whose_type_is_broken_never_disappears(kind: str, tmp_path: Path) -> None:
    name = "codex/oldest.jsonl" if kind == "local_shell_call" else "codex/rollout.jsonl"
    text = (OWN / name).read_text(encoding="utf-8").replace(f'"type":"{kind}"', '"type":"unheard"', 1)
    path = tmp_path / "session.jsonl"
    path.write_text(text, encoding="utf-8")
    assert not {"tool_calls", "results"} & record_of(read_path(path)).carries


def test_heads_are_recognised() -> None:
    for name in ("codex/rollout", "codex/oldest", "codex_exec/run"):
        data = (OWN / f"{name}.jsonl").read_bytes()
        assert detect(data).name == detect(data[: data.index(b"\n") + 30]).name == name.partition("/")[0]


def test_lines_with_a_payload_of_another_kind_are_no_rollout(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"type":"ping","payload":{}}\n{"type":"pong","payload":{}}\n', encoding="utf-8")
    with pytest.raises(UnknownFormat, match="no session format fits"):
        read_path(path)
    with pytest.raises(UnknownFormat, match="cannot be read as a Codex rollout"):
        read_path(path, "codex")
    with pytest.raises(UnknownFormat, match="no event of a thread or turn"):
        read_path(path, "codex_exec")


def test_exec_calls_bear_the_names_and_results_of_the_session_itself() -> None:
    transcript = own("codex_exec/run.jsonl")
    calls = [call.args for message in transcript.messages for call in message.tool_calls]
    assert calls[0] == {"command": "bash -lc ls"}
    assert calls[1] == {"q": "soil"}
    results = [m.tool_result for m in transcript.messages if m.tool_result is not None]
    assert [(result.exit_code, result.text) for result in results[:2]] == [(2, "no such bed\n"), (None, "none")]
    assert transcript.messages[0].reasoning == "Look first."
    assert transcript.session_id == "bed-1"


def test_exec_turns_after_the_first_leave_the_total_open(tmp_path: Path) -> None:
    text = (OWN / "codex_exec/run.jsonl").read_text(encoding="utf-8")
    path = tmp_path / "exec.jsonl"
    path.write_text(text + text.splitlines()[-1] + "\n", encoding="utf-8")
    assert codes(read_path(path)) == {"usage_partial"}


def test_exec_with_a_line_cut_off_may_hide_a_call(tmp_path: Path) -> None:
    path = tmp_path / "exec.jsonl"
    path.write_bytes((OWN / "codex_exec/run.jsonl").read_bytes()[:-20])
    record = record_of(read_path(path))
    assert not {"tool_calls", "end"} & record.carries


def of_records(tmp_path: Path, *records: tuple[str, dict[str, Any]]) -> Transcript:
    """A rollout of these records, one second apart."""
    lines = [
        {"timestamp": f"2026-03-01T10:00:{second:02d}Z", "type": kind, "payload": payload}
        for second, (kind, payload) in enumerate([("session_meta", {"id": "s"}), *records])
    ]
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return read_path(path)


def item(kind: str, **payload: Any) -> tuple[str, dict[str, Any]]:
    return "response_item", {"type": kind, **payload}


def event(name: str | None, **payload: Any) -> tuple[str, dict[str, Any]]:
    return "event_msg", {"type": name, **payload}


def call(call_id: str, name: str = "tool") -> tuple[str, dict[str, Any]]:
    return item("function_call", name=name, arguments="{}", call_id=call_id)


REPLY = item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}])
ASKED = item("message", role="user", content="Dig.")


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        ({"content": "dug", "success": True}, "dug", False),
        ({"content": [{"type": "input_text", "text": "dug"}], "success": False}, "dug", True),
        ({"type": "input_text", "text": "dug"}, "dug", None),
        ({"odd": 1}, '{"odd":1}', None),
        ([{"odd": 1}], '[{"odd":1}]', None),
        ([{"type": "input_image", "image_url": "data:x"}], "", None),
        (["dug", "deep"], "dug\n\ndeep", None),
        (None, "", None),
    ],
)
def test_shapes_of_an_output(output: object, text: str, failed: bool | None, tmp_path: Path) -> None:
    answered = item("function_call_output", call_id="c", output=output)
    result = of_records(tmp_path, call("c"), answered).messages[-1].tool_result
    assert result is not None
    assert (result.text, result.is_error) == (text, failed)


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({"exit_code": 3}, "error"),
        ({"exit_code": 0}, "ok"),
        ({"status": "failed"}, "error"),
        ({"status": "completed"}, "ok"),
        ({"status": "declined"}, "refused"),
        ({"status": "odd"}, None),
        ({"result": {"Err": "no"}}, "error"),
        ({"result": {"Ok": {"isError": True}}}, "error"),
        ({"exit_code": True}, None),
    ],
)
def test_what_an_event_says_of_a_call(told: dict[str, Any], status: str | None, tmp_path: Path) -> None:
    ended = event("exec_command_end", call_id="c", **told)
    answered = item("function_call_output", call_id="c", output="x")
    assert record_of(of_records(tmp_path, call("c"), ended, answered)).calls[0].status == status


@pytest.mark.parametrize(
    "text",
    [
        "aborted by user", "command timed out after 9 milliseconds", "unsupported call: dig",
        "failed to parse function arguments: x", "execution error: Timeout", "apply_patch verification failed: x",
    ],
)  # fmt: skip
def test_prose_of_a_failure(text: str, tmp_path: Path) -> None:
    def status(tool: str) -> str | None:
        answered = item("function_call_output", call_id="c", output=text)
        return record_of(of_records(tmp_path, call("c", tool), answered)).calls[0].status

    assert (status("shell"), status("tool")) == ("error", None)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Chunk ID: 7\nWall time: 0.1 seconds\nProcess exited with code 4\nOutput:\nx", 4),
        ("Wall time: 0.1 seconds\nProcess running with session ID 1\nOutput:\nProcess exited with code 4", None),
        ("dug\nProcess exited with code 4", None),
        ("execution error: sandbox denied exec error, exit code: 5, stdout: , stderr: ", 5),
    ],
)
def test_exit_codes_in_prose(text: str, code: int | None, tmp_path: Path) -> None:
    answered = item("function_call_output", call_id="c", output=text)
    result = of_records(tmp_path, call("c", "exec_command"), answered).messages[-1].tool_result
    assert result is not None
    assert result.exit_code == code


@pytest.mark.parametrize(
    "broken",
    [
        event(None, reason="interrupted"),
        item("function_call", call_id="c", arguments="{}"),
        item("custom_tool_call", call_id="c", input="x"),
        item("tomorrows_item", query="x"),
        item("function_call_output", call_id="gone", output="ash"),
        ("response_item", {}),
        ("tomorrows_record", {"type": "turn_aborted", "reason": "interrupted"}),
        ("tomorrows_record", {"role": "assistant"}),
    ],
)
def test_what_is_broken_is_told(broken: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    record = record_of(of_records(tmp_path, ASKED, REPLY, event("task_complete"), broken))
    assert "tool_calls" not in record.carries


@pytest.mark.parametrize("kind", ["image_generation_call", "ghost_snapshot", "agent_message", "compaction"])
def test_items_that_are_neither_message_nor_call(kind: str, tmp_path: Path) -> None:
    transcript = of_records(tmp_path, ASKED, item(kind, call_id="i", role="x"), REPLY)
    assert not transcript.warnings
    assert kind in {event.kind for event in transcript.events}


@pytest.mark.parametrize(
    "spawned",
    [call("c", "spawn_agent"), event("sub_agent_activity", kind="started"), event("entered_review_mode")],
)
def test_sub_agents_spend_out_of_sight(spawned: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    counted = event("token_count", info={"total_token_usage": {"input_tokens": 5, "output_tokens": 1}})
    assert "usage" in record_of(of_records(tmp_path, REPLY, counted)).carries
    transcript = of_records(tmp_path, spawned, spawned, REPLY, counted)
    assert "usage" not in record_of(transcript).carries
    assert [warning.code for warning in transcript.warnings].count("subagent_missing") == 1


def test_counts_of_nothing_and_counts_that_cannot_be_read(tmp_path: Path) -> None:
    def counted(**usage: Any) -> tuple[str, dict[str, Any]]:
        return event("token_count", info={"total_token_usage": usage})

    nothing = of_records(tmp_path, REPLY, counted(input_tokens=0, output_tokens=0))
    assert nothing.usage is None
    assert codes(nothing) == {"usage_zero"}
    assert of_records(tmp_path, ASKED, counted(input_tokens=0, output_tokens=0)).usage is not None
    good = counted(input_tokens=5, output_tokens=1)
    for bad in (counted(input_tokens=9), counted(output_tokens=9), event("token_count", info={})):
        assert codes(of_records(tmp_path, REPLY, good, bad)) == {"usage_partial"}
    assert not codes(of_records(tmp_path, REPLY, good, event("token_count", info=None), good))


def test_a_person_going_on_reopens_a_session(tmp_path: Path) -> None:
    ended = (ASKED, REPLY, event("task_complete"))
    assert of_records(tmp_path, *ended).end.reason == "finished"
    for more in (ASKED, REPLY, event("task_started"), call("c")):
        end = of_records(tmp_path, *ended, more).end
        assert (end.reason, end.raw) == ("unknown", "task_complete")
    injected = item("message", role="user", content="<environment_context>")
    assert of_records(tmp_path, *ended, injected).end.reason == "finished"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ({"message": "x", "codex_error_info": {"usage_limit_exceeded": {}}}, "rate_limited"),
        ({"message": "x", "codex_error_info": "other"}, "errored"),
        ({}, "errored"),
        (None, "finished"),
    ],
)
def test_errors_of_a_turn(error: dict[str, Any] | None, reason: str, tmp_path: Path) -> None:
    assert of_records(tmp_path, ASKED, REPLY, event("task_complete", error=error)).end.reason == reason


def test_aborts_without_a_reason_or_for_money(tmp_path: Path) -> None:
    assert of_records(tmp_path, ASKED, event("turn_aborted")).end.reason == "canceled_by_user"
    assert of_records(tmp_path, ASKED, event("turn_aborted", reason="budget_limited")).end.reason == "budget_reached"
    assert of_records(tmp_path, ASKED, event("turn_aborted", reason="odd")).end.reason == "unknown"


def test_times_models_and_ids_of_messages(tmp_path: Path) -> None:
    transcript = of_records(tmp_path, ("turn_context", {"model": "garden"}), ASKED, ("turn_context", {}), REPLY)
    asked, reply = transcript.messages
    assert ((reply.at_ms or 0) - (asked.at_ms or 0), asked.model, reply.model) == (2000, None, "garden")


def of_events(tmp_path: Path, *events: dict[str, Any]) -> Transcript:
    path = tmp_path / "exec.jsonl"
    begun = {"type": "thread.started", "thread_id": "t"}
    path.write_text("".join(json.dumps(one) + "\n" for one in (begun, *events)), encoding="utf-8")
    return read_path(path)


def test_exec_calls_of_agents_servers_and_searches(tmp_path: Path) -> None:
    spawn = {"id": "i1", "type": "collab_tool_call", "tool": "spawn_agent", "prompt": "weed", "status": "completed"}
    failed = {
        "id": "i2",
        "type": "mcp_tool_call",
        "server": "s",
        "tool": "t",
        "arguments": "raw",
        "error": {"message": "no"},
    }
    transcript = of_events(tmp_path, *({"type": "item.completed", "item": one} for one in (spawn, failed)))
    record = record_of(transcript)
    assert [(made.name, made.status, made.arguments) for made in record.calls][1] == ("mcp__s__t", "error", None)
    assert transcript.messages[2].tool_calls[0].args_error is not None
    assert [made.result for made in record.calls] == ["{}", "no"]
    assert codes(transcript) == {"subagent_missing"}
    waited = {**spawn, "tool": "wait"}
    assert not codes(of_events(tmp_path, {"type": "item.completed", "item": waited}))


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "item.completed", "item": {"id": "i", "type": "mcp_tool_call", "tool": "t"}},
        {"type": "item.completed", "item": {"id": "i", "type": "command_execution"}},
        {"type": "item.completed", "item": {"id": "i"}},
        {"type": "item.finished", "item": {"id": "i", "type": "command_execution", "command": "rm"}},
        {"item": {"id": "i", "type": "command_execution", "command": "rm"}},
    ],
)
def test_exec_items_that_are_broken_are_told(broken: dict[str, Any], tmp_path: Path) -> None:
    assert "tool_calls" not in record_of(of_events(tmp_path, broken)).carries


def test_exec_updates_of_an_item_are_one_call(tmp_path: Path) -> None:
    run = {"id": "i", "type": "command_execution", "command": "dig", "status": "in_progress"}
    done = {**run, "status": "completed", "exit_code": 0, "aggregated_output": "dug"}
    events = [("item.started", run), ("item.updated", run), ("item.completed", done)]
    transcript = of_events(tmp_path, *({"type": kind, "item": one} for kind, one in events))
    assert record_of(transcript).call_count == 1
    check_invariants(transcript, tmp_path / "exec.jsonl")

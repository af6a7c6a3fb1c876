"""OpenAI Responses, Anthropic messages, runs of the Agents SDK and rollouts of NeMo: the real files, and the odd shapes.

The manifest has no golden counts for these folders: the numbers here were counted by hand in the files.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from recordings import codes, measured, user
from sessions_read import check_invariants, real_sessions, roles_of
from sessions_read import read as read_path

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import read_sessions
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles
from rulebook.session.importing import imported_id

# roles, tools, tokens in and out, end and its raw word, threads, warnings
COUNTED: dict[str, tuple[str, dict[str, int], tuple[int, int] | None, str, str | None, int, set[str]]] = {
    "openai_chat/test_compatible_api_with_tool_calls_without_id.yaml":
        ("0/1/2/1", {"get_current_time": 1}, (101, 18), "finished", "stop", 0, set()),
    "openai_chat/test_multiple_agent_tool_calls.yaml":
        ("0/2/4/2", {"get_capital": 2}, (233, 25), "finished", "stop", 0, {"unknown_record", "usage_partial"}),
    "openai_chat/test_tool_use_failed_error.yaml":
        ("1/1/3/2", {"get_something_by_name": 2}, (637, 148), "finished", "stop", 0, {"usage_partial"}),
    "openai_responses/test_openai_responses_model_simple_response_with_tool_call.yaml":
        ("0/1/2/1", {"get_capital": 1}, (107, 29), "finished", "completed", 0, set()),
    "openai_responses/test_openai_responses_thinking_with_tool_calls.yaml":
        ("1/1/2/1", {"update_plan": 1}, (2211, 2050), "finished", "completed", 0, set()),
    "anthropic_messages/reasoning-tool-use-streaming.json":
        ("0/0/1/0", {"get_weather": 1}, (596, 99), "unknown", "tool_use", 0, {"no_request", "unpaired_call"}),
    "anthropic_messages/test_anthropic_code_execution_tool.yaml":
        ("1/1/1/1", {"bash_code_execution": 1}, (9382, 209), "finished", "end_turn", 1, {"split_conversation"}),
    "anthropic_messages/test_anthropic_tool_with_thinking.yaml":
        ("0/1/2/1", {"get_user_country": 1}, (964, 281), "finished", "end_turn", 0, set()),
    "anthropic_messages/test_multiple_parallel_tool_calls.yaml":
        ("1/1/2/4", {"retrieve_entity_info": 4}, (1194, 279), "finished", "end_turn", 0, set()),
    "openai_agents/features_v1_11_tool_output_custom_data.json":
        ("0/1/0/1", {}, None, "unknown", None, 0, {"orphan_result", "lost_call", "usage_zero"}),
    "openai_agents/features_v1_13_programmatic_tool_calling.json":
        ("0/1/1/1", {"program": 1, "lookup": 1}, None, "unknown", None, 0, {"unpaired_call", "usage_zero"}),
    "openai_agents/minimal_v1_13.json": ("0/1/0/0", {}, (0, 0), "unknown", None, 0, set()),
}  # fmt: skip
FOLDERS = ("openai_chat", "openai_responses", "anthropic_messages", "openai_agents")


def real(name: str, part: str | None = None) -> Transcript:
    path = real_sessions() / name
    transcript = read_path(path, part=part)
    check_invariants(transcript, path)
    return transcript


def of(folder: Path, root: Any, name: str | None = None) -> Transcript:
    """The reading of a file that holds this value."""
    path = folder / "session.json"
    path.write_text(json.dumps(root), encoding="utf-8")
    transcript = read_path(path, name)
    check_invariants(transcript, path)
    return transcript


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", COUNTED)
def test_real_files_come_to_what_was_counted_by_hand(name: str) -> None:
    transcript = real(name)
    usage, end = transcript.usage, transcript.end
    assert (
        roles_of(transcript.messages),
        record_of(transcript).tool_counts,
        None if usage is None else (usage.input, usage.output),
        end.reason,
        end.raw,
        len(transcript.threads),
        codes(transcript),
    ) == COUNTED[name]
    assert transcript.source.format == name.partition("/")[0]


@pytest.mark.needs_shared
def test_every_real_file_is_counted() -> None:
    held = {f"{folder}/{path.name}" for folder in FOLDERS for path in (real_sessions() / folder).iterdir()}
    assert held == COUNTED.keys()


@pytest.mark.needs_shared
def test_trap_10_parallel_results_in_one_user_message() -> None:
    transcript = real("anthropic_messages/test_multiple_parallel_tool_calls.yaml")
    record = record_of(transcript)
    assert [call.arguments for call in record.calls] == [{"name": name} for name in ("Alice", "Bob", "Charlie", "Daisy")]
    assert [(call.status, call.turn) for call in record.calls] == [("ok", 1)] * 4
    assert record.calls[3].result == "daisy is bob's daughter and charlie's younger sister"
    assert (record.turns, transcript.models) == (2, ["claude-haiku-4-5-20251001"])


@pytest.mark.needs_shared
def test_a_recorded_stream_is_one_reply() -> None:
    (message,) = real("anthropic_messages/reasoning-tool-use-streaming.json").messages
    assert message.text == "Sure! Let me check the weather in San Francisco for you!"
    assert (message.reasoning or "").startswith("The user wants to know the weather")
    assert message.tool_calls[0].args == {"location": "San Francisco"}
    assert message.usage is not None
    assert message.usage.reasoning == 28


@pytest.mark.needs_shared
def test_a_tool_that_the_provider_ran_is_a_call_with_its_result() -> None:
    transcript = real("anthropic_messages/test_anthropic_code_execution_tool.yaml")
    result = transcript.messages[-1].tool_result
    assert result is not None
    assert (result.exit_code, result.is_error, "37170" in result.text) == (0, False, True)
    assert not measured(transcript)


@pytest.mark.needs_shared
def test_reasoning_is_the_summary_and_not_what_is_encrypted() -> None:
    transcript = real("openai_responses/test_openai_responses_thinking_with_tool_calls.yaml")
    thought = transcript.messages[2].reasoning or ""
    assert thought.startswith("**Creating a structured poem**")
    assert "gAAAA" not in thought
    assert transcript.messages[-1].text.count("\n") == 11
    assert transcript.usage is not None
    assert (transcript.usage.cache_read, transcript.usage.reasoning) == (2048, 1792)


@pytest.mark.needs_shared
def test_rollouts_whose_words_stand_in_tokens_alone() -> None:
    for part in ("0", "1"):
        transcript = real("rl_tokens/test_nemo_gym_sanity.json", part)
        assert (transcript.source.format, roles_of(transcript.messages)) == ("nemo_rl", "0/2/2/0")
        assert codes(transcript) == {"lost_call", "unread_exchange"}
        assert record_of(transcript).carries == frozenset()
    with pytest.raises(UnknownFormat, match="holds 2 sessions"):
        real("rl_tokens/test_nemo_gym_sanity.json")
    with pytest.raises(UnknownFormat, match="token ids of a training library: without words there is no message"):
        real("rl_tokens/test_vllmasyncgenerationworker_replace_prefix_worker.json")


def test_rollouts_of_lines_are_parts(tmp_path: Path) -> None:
    row = {"message_log": [{"role": "user", "content": "a"}]}
    path = tmp_path / "rollouts.jsonl"
    path.write_text("\n".join(["", json.dumps(row), "{", json.dumps({"message_log": [*row["message_log"], user("b")]})]))
    sessions = list(read_sessions(str(path), MachineFiles()))
    assert [session.source.part for session in sessions] == ["2", "4"]
    assert [m.text for m in read_path(path, part="4").messages] == ["a", "b"]
    assert {session.source.sha256 for session in sessions} == {sha256(path.read_bytes()).hexdigest()}
    with pytest.raises(UnknownFormat, match="holds no session `3`"):
        read_path(path, part="3")


def test_chat_calls_are_never_read_as_another_providers(tmp_path: Path) -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "rm", "arguments": "{}"}}]}
    for name in ("anthropic_messages", "openai_responses"):
        with pytest.raises(UnknownFormat, match="--session-format openai_chat"):
            of(tmp_path, [user("A?"), call], name)


def test_anthropic_calls_are_never_read_as_chat(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "rm", "input": {}}]}
    with pytest.raises(UnknownFormat, match="message 1 has a part of type `tool_use`. Read it with `--session-format anth"):
        of(tmp_path, [user("x" * 70_000), call])
    assert of(tmp_path, [user("A?"), call]).source.format == "anthropic_messages"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "future_call", "name": "rm", "input": {}},
        {"type": "tool_use_v2"},
        {"name": "rm"},
        {"type": "text", "text": 5},
    ],
)
def test_a_block_that_is_not_known_may_be_a_call(block: Any, tmp_path: Path) -> None:
    transcript = of(tmp_path, {"system": "S", "messages": [user("A?"), {"role": "assistant", "content": [block]}]})
    assert "lost_call" in codes(transcript)
    assert not measured(transcript)


def test_a_user_calls_no_tools(tmp_path: Path) -> None:
    given = {"role": "user", "content": [{"type": "tool_use", "id": "t", "name": "rm", "input": {}}]}
    assert "lost_call" in codes(of(tmp_path, [given]))


def test_texts_of_anthropic_whatever_they_look_like(tmp_path: Path) -> None:
    reminder = {"type": "text", "text": "<system-reminder>Be kind.</system-reminder>"}
    texts = [reminder, {"type": "text", "text": "Hello."}]
    transcript = of(tmp_path, {"system": "S", "messages": [
        {"role": "user", "content": texts}, {"role": "assistant", "content": texts}, {"role": "user", "content": [reminder]},
    ]})  # fmt: skip
    assert [(m.role, m.injected, m.text.startswith("<")) for m in transcript.messages] == [
        ("system", False, False), ("user", True, True), ("user", False, False), ("assistant", False, True),
        ("user", True, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"type": "future_thing", "call_id": "c", "name": "rm"}, "lost_call"),
        ({"type": "future_thing"}, "unknown_record"),
        ({"type": "item_reference", "id": "x"}, "unread_exchange"),
        ({"type": "compaction", "encrypted_content": "x"}, "unread_exchange"),
        ({"type": "message", "role": "robot", "content": "x"}, "lost_call"),
        ({"type": "function_call_output", "call_id": "c9", "output": "x"}, "lost_call"),
    ],
)
def test_items_that_hide_something(item: Any, code: str, tmp_path: Path) -> None:
    known = {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}
    transcript = of(tmp_path, [user("A?"), known, item])
    assert code in codes(transcript)
    assert measured(transcript) == (code == "unknown_record")


@pytest.mark.parametrize(
    ("body", "reason", "raw"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "refused_by_model", "content_filter"),
        ({"status": "incomplete", "incomplete_details": None}, "unknown", "incomplete"),
        ({"status": "failed", "error": {"code": "server_error", "message": "No."}}, "errored", "failed"),
        ({"status": "failed", "error": {"code": "rate_limit_exceeded"}}, "rate_limited", "failed"),
        ({"status": "cancelled"}, "canceled_by_user", "cancelled"),
        ({"status": "queued"}, "unknown", "queued"),
        ({}, "unknown", None),
    ],
)
def test_ends_of_a_response(body: Any, reason: str, raw: str | None, tmp_path: Path) -> None:
    end = of(tmp_path, {"object": "response", "output": [], **body}).end
    assert (end.reason, end.raw) == (reason, raw)


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "finished"), ("stop_sequence", "finished"), ("max_tokens", "truncated_output"),
        ("model_context_window_exceeded", "context_limit"), ("pause_turn", "unknown"), (None, "unknown"),
    ],
)  # fmt: skip
def test_ends_of_an_anthropic_reply(stop: str | None, reason: str, tmp_path: Path) -> None:
    reply = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "a"}], "stop_reason": stop}
    assert of(tmp_path, reply).end.reason == reason


def test_results_of_the_providers_own_tools(tmp_path: Path) -> None:
    transcript = of(tmp_path, {"object": "response", "status": "completed", "output": [
        {"type": "web_search_call", "id": "w", "status": "failed", "action": {"query": "q"}},
        {"type": "web_search_call", "id": "x", "status": "searching", "action": {"query": "q"}},
        {"type": "image_generation_call", "id": "i", "status": "completed", "result": "iVBORw0KGgo="},
        {"type": "apply_patch_call", "call_id": "p", "operation": {"type": "delete_file", "path": "a"}},
        {"type": "apply_patch_call_output", "call_id": "p", "status": "failed", "output": "no"},
    ]})  # fmt: skip
    calls = record_of(transcript).calls
    assert [(call.name, call.status) for call in calls] == [
        ("web_search", "error"), ("web_search", "unfinished"), ("image_generation", "ok"), ("apply_patch", "error"),
    ]  # fmt: skip
    assert calls[3].arguments == {"type": "delete_file", "path": "a"}
    assert not any("iVBOR" in message.text for message in transcript.messages)
    assert (len([m for m in transcript.messages if m.role == "assistant"]), transcript.end.reason) == (1, "unknown")


def test_settings_that_look_a_little_like_a_response_are_none(tmp_path: Path) -> None:
    for root in ({"input": "a", "output": "b", "model": "m"}, {"input": [1], "output": []}, [{"type": "row"}]):
        with pytest.raises(UnknownFormat):
            of(tmp_path, root)


def test_parts_of_a_file_are_imported_under_ids_of_their_own(tmp_path: Path) -> None:
    rows = [{"message_log": [user("a")]}, {"message_log": [user("a")]}]
    path = tmp_path / "rollouts.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    ids = {imported_id(session, 1_772_359_200_000) for session in read_sessions(str(path), MachineFiles())}
    assert len(ids) == 2


def test_a_command_that_the_provider_ran_may_fail(tmp_path: Path) -> None:
    call = {"type": "server_tool_use", "id": "s", "name": "bash_code_execution", "input": {"command": "false"}}
    ran = {"type": "bash_code_execution_result", "stdout": "", "stderr": "", "return_code": 1}
    result = {"type": "bash_code_execution_tool_result", "tool_use_id": "s", "content": ran}
    transcript = of(tmp_path, [user("A?"), {"role": "assistant", "content": [call, result]}])
    assert [call.status for call in record_of(transcript).calls] == ["error"]

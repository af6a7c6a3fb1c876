"""The golden counts of the real sessions, read from their manifest, and the traps with a real file each."""

from collections import Counter
from typing import Any

import pytest
from golden import Golden, exclusive, golden, wrong
from sessions_read import every, real_sessions, roles_of
from sessions_read import read as read_path

from rulebook.errors import UnknownFormat
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of

pytestmark = pytest.mark.needs_shared

FOLDERS = ("claude_code", "swe_agent", "mini_swe_agent")
NOT_SESSIONS = {"swe_agent/all_preds.jsonl"}


def read(name: str) -> Transcript:
    return read_path(real_sessions() / name)


@pytest.mark.parametrize("folder", FOLDERS)
def test_golden_counts(folder: str) -> None:
    """Every file: messages that are not hidden, calls, pairings, usage, and the raw end."""
    rows = golden(folder)
    held = {f"{folder}/{path.name}" for path in (real_sessions() / folder).iterdir()}
    assert {row.file for row in rows} == held - NOT_SESSIONS
    found = {row.file: wrong(_stated(row), _words) for row in rows}
    assert not {file: faults for file, faults in found.items() if faults}


def _stated(row: Golden) -> Golden:
    """The row without the zeros that state nothing: a replay's tokens."""
    if row.usage is None or "tokens_sent" not in row.usage:
        return row
    known = {key: row.usage[key] or None for key in ("tokens_sent", "tokens_received", "api_calls")}
    return row._replace(usage=known if any(known.values()) else None)


def _words(transcript: Transcript, row: dict[str, Any]) -> dict[str, Any] | None:
    usage = transcript.usage
    if usage is not None and "tokens_sent" in row:
        return {"tokens_sent": usage.input, "tokens_received": usage.output, "api_calls": usage.requests}
    return exclusive(usage)


def test_trap_1_usage_is_repeated_on_every_line_of_a_reply() -> None:
    usage = read("claude_code/ccv_subagents_5c03.jsonl").usage
    assert usage is not None
    assert (usage.output, usage.requests) == (3629, 20)


def test_trap_3_lines_of_subagents_stay_out_of_the_main_thread() -> None:
    transcript = read("claude_code/ccv_subagents_5c03.jsonl")
    tasks = [c for m in transcript.messages for c in m.tool_calls if c.name == "Task"]
    assert [len(thread.messages) for thread in transcript.threads] == [6, 14]
    assert [thread.parent_call_id for thread in transcript.threads] == [tasks[1].id, tasks[2].id]
    assert record_of(transcript).turns == 10


def test_trap_6_one_json_list_that_poses_as_lines() -> None:
    transcript = read("claude_code/cca_stream_sample_turns.json")
    assert transcript.source.places == "items"
    assert (transcript.cost.value, transcript.cost.currency) == (0.0347, "USD")
    assert "Bash" in (record_of(transcript).known_tools or ())


def test_trap_8_a_call_with_bad_arguments_is_an_error_and_no_refusal() -> None:
    record = record_of(read("claude_code/ccv_subagents_5c03.jsonl"))
    assert [call.name for call in record.calls if call.status == "error"] == ["Task", "Edit"]
    assert all(call.status in ("ok", "error") for call in record.calls)


def test_trap_9_zero_usage_with_real_work_is_unknown() -> None:
    transcript = read("swe_agent/marshmallow-1867_function_calling.traj")
    assert transcript.usage is not None
    assert (transcript.usage.requests, transcript.usage.total, transcript.cost.known) == (11, None, False)
    record = record_of(transcript)
    assert "usage" not in record.carries
    assert not record.spend.known


def test_call_ids_that_are_used_again_are_told_apart() -> None:
    transcript = read("swe_agent/marshmallow-1867_function_calling.traj")
    seconds = [m.tool_result.seconds for m in transcript.messages if m.tool_result is not None]
    assert sum(warning.code == "repeated_call_id" for warning in transcript.warnings) == 5
    assert all(seconds)


def test_chat_recordings() -> None:
    """Counts worked out by reading the three recordings."""
    without_id = read("openai_chat/test_compatible_api_with_tool_calls_without_id.yaml")
    assert roles_of(without_id.messages) == "0/1/2/1"
    assert without_id.usage is not None
    assert (without_id.usage.input, without_id.usage.output) == (101, 18)
    assert without_id.models == ["gemini-2.5-pro-preview-05-06"]
    failed = read("openai_chat/test_tool_use_failed_error.yaml")
    assert roles_of(failed.messages) == "1/1/3/2"
    assert [event.kind for event in failed.events].count("api_error") == 1
    assert [call.status for call in record_of(failed).calls] == ["refused", None]
    assert failed.messages[4].reasoning is not None
    assert (without_id.end.reason, failed.end.reason) == ("finished", "finished")


def test_a_recording_of_two_providers_is_read_as_far_as_it_is_chat() -> None:
    """Two of its four exchanges are Gemini's own: later ones hold all messages, and not all tokens."""
    transcript = read("openai_chat/test_multiple_agent_tool_calls.yaml")
    assert roles_of(transcript.messages) == "0/2/4/2"
    assert [call.args for m in transcript.messages for call in m.tool_calls] == [
        {"country": "France"},
        {"country": "England"},
    ]
    codes = Counter(warning.code for warning in transcript.warnings)
    assert codes == {"unknown_record": 2, "usage_partial": 1}
    assert "usage" not in record_of(transcript).carries


REFUSED = {
    "atif_harbor/terminus_2_hello-world-invalid-json.traces.json": "conversations",
    "gemini_cli/json-output.error.responses": "recorded model replies",
    "gemini_cli/memory.multi-function-call.responses": "recorded model replies",
    "inspect_ai/2025-05-12T20-28-13-04-00_no-samples.json": "an Inspect log without samples",
    "inspect_ai/parallel_spans.json": "without the log and the messages around them",
    "otel/gen-ai-input-messages.json": "it is a JSON Schema",
    "otel/gen-ai-output-messages.json": "it is a JSON Schema",
    "rl_tokens/test_vllmasyncgenerationworker_replace_prefix_worker.json": "token ids",
    "swe_agent/all_preds.jsonl": "it looks like predictions: patches without the sessions that made them",
}
"""The files that are no sessions, with words that say what they are."""

FORMATS = {
    "atif_harbor": {"atif"},
    "codex": {"codex", "codex_exec"},
    "inspect_ai": {"inspect"},
    "other_cli": {"copilot_cli", "hermes", "pi"},
    "rl_tokens": {"nemo_rl"},
}
"""The formats of folders that are not called by one."""


def test_every_file_is_read_in_its_own_format_or_refused_for_a_written_reason() -> None:
    folder = real_sessions()
    files = {f"{path.parent.name}/{path.name}": path for path in folder.glob("*/*")}
    assert len(files) == 72
    for name, path in files.items():
        if name in REFUSED:
            with pytest.raises(UnknownFormat) as refusal:
                every(path)
            assert REFUSED[name] in str(refusal.value), name
            continue
        known = FORMATS.get(path.parent.name, {path.parent.name})
        assert {transcript.source.format for transcript in every(path)} <= known, name

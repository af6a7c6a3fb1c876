"""The golden counts of the real sessions, read from their manifest, and the traps with a real file each."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sessions_read import check_invariants, real_sessions, roles_of
from sessions_read import read as read_path

from rulebook.errors import UnknownFormat
from rulebook.evidence.transcript import Transcript, Usage
from rulebook.evidence.transcript_record import record_of

pytestmark = pytest.mark.needs_shared

FOLDERS = ("claude_code", "swe_agent", "mini_swe_agent")
NOT_SESSIONS = {"swe_agent/all_preds.jsonl"}


class Golden(NamedTuple):
    """One row of the manifest's table of golden counts."""

    file: str
    roles: str
    tools: dict[str, int]
    unpaired: int
    orphans: int
    errors: int
    usage: dict[str, float] | None
    end: str | None


def golden(folder: Path) -> list[Golden]:
    """The rows of our folders."""
    table = (folder / "MANIFEST.md").read_text(encoding="utf-8").split("## Golden counts", 1)[1]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [_golden(row) for row in rows if row[0].startswith(tuple(f"{name}/" for name in FOLDERS))]


def _golden(row: list[str]) -> Golden:
    tools = re.search(r"\{.*\}", row[2])
    unpaired, orphans, errors = (int(number) for number in row[3].split("/"))
    return Golden(
        row[0], row[1], json.loads(tools.group()) if tools else {}, unpaired, orphans, errors,
        json.loads(row[4]), None if row[5] == "None" else row[5],
    )  # fmt: skip


def read(name: str) -> Transcript:
    return read_path(real_sessions() / name)


def test_golden_counts() -> None:
    """Every file of our folders: messages that are not hidden, calls, pairings, usage, and the raw end."""
    rows = golden(real_sessions())
    held = {f"{folder}/{path.name}" for folder in FOLDERS for path in (real_sessions() / folder).iterdir()}
    assert {row.file for row in rows} == held - NOT_SESSIONS
    wrong = {
        row.file: (found, expected)
        for row in rows
        for found, expected in [(_found(row), _expected(row))]
        if found != expected
    }
    assert not wrong


def _found(row: Golden) -> dict[str, Any]:
    transcript = read(row.file)
    check_invariants(transcript, real_sessions() / row.file)
    messages = transcript.messages
    answered = {m.tool_result.call_id for m in messages if m.tool_result is not None}
    calls = [call for message in messages for call in message.tool_calls]
    ids = {call.id for call in calls}
    return {
        "roles": roles_of([message for message in messages if not message.hidden]),
        "tools": dict(Counter(call.name for call in calls)),
        "unpaired": sum(call.id not in answered for call in calls),
        "orphans": sum(call_id not in ids for call_id in answered),
        "errors": sum(m.tool_result is not None and m.tool_result.is_error is True for m in messages),
        "usage": _plain(transcript.usage, row),
        "end": transcript.end.raw,
    }


def _expected(row: Golden) -> dict[str, Any]:
    return {
        "roles": row.roles, "tools": row.tools, "unpaired": row.unpaired, "orphans": row.orphans,
        "errors": row.errors, "usage": _stated(row), "end": row.end,
    }  # fmt: skip


def _stated(row: Golden) -> dict[str, float | None] | None:
    """The manifest's numbers without the zeros that state nothing: a replay's tokens."""
    if row.usage is None:
        return None
    if "tokens_sent" in row.usage:
        known = {key: row.usage[key] or None for key in ("tokens_sent", "tokens_received", "api_calls")}
        return None if not any(known.values()) else known
    return dict(row.usage)


def _plain(usage: Usage | None, row: Golden) -> dict[str, float | None] | None:
    """Our inclusive numbers in the manifest's words."""
    if usage is None or row.usage is None:
        return None if usage is None else {"input": usage.input, "output": usage.output}
    if "tokens_sent" in row.usage:
        return {"tokens_sent": usage.input, "tokens_received": usage.output, "api_calls": usage.requests}
    read_, wrote = usage.cache_read or 0, usage.cache_write or 0
    return {
        "input_tokens": (usage.input or 0) - read_ - wrote,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": wrote,
        "cache_read_input_tokens": read_,
    }


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


def test_conversations_of_tau_bench(tmp_path: Path) -> None:
    """Its `traj` lists are chat messages; the file of many runs is refused by name."""
    source = real_sessions() / "tau_bench/gpt-4o-airline_subset.json"
    with pytest.raises(UnknownFormat, match="τ-bench"):
        read_path(source)
    for run in json.loads(source.read_text(encoding="utf-8")):
        path = tmp_path / "run.json"
        path.write_text(json.dumps(run["traj"]), encoding="utf-8")
        transcript = read_path(path)
        assert transcript.source.format == "openai_chat"
        assert len(transcript.messages) == len(run["traj"])
        assert not transcript.warnings


def test_no_other_real_session_is_taken_for_one_of_ours() -> None:
    folder = real_sessions()
    others = [path for path in folder.glob("*/*") if _is_other(path)]
    assert len(others) > 50
    for path in others:
        with pytest.raises(UnknownFormat):
            read_path(path)


def _is_other(path: Path) -> bool:
    return path.parent.name not in (*FOLDERS, "openai_chat") or f"{path.parent.name}/{path.name}" in NOT_SESSIONS

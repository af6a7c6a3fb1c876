"""OpenHands: saved event lists, and the rows of an evaluation."""

import json
from pathlib import Path
from typing import Any

import pytest
from golden import Golden, golden, wrong
from sessions_read import OWN, check_invariants, read, real_sessions

from rulebook.evidence.formats import read_sessions
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles

FOLDER = OWN / "openhands"


def codes(transcript: Transcript) -> list[str]:
    return [warning.code for warning in transcript.warnings]


def write(path: Path, *events: object) -> Path:
    path.write_text(json.dumps(events), encoding="utf-8")
    return path


def action(number: int, kind: str, source: str = "agent", **args: object) -> dict[str, object]:
    return {"id": number, "source": source, "action": kind, "args": args}


def observed(cause: int, kind: str = "run", **extras: object) -> dict[str, object]:
    return {"id": 90, "source": "agent", "observation": kind, "cause": cause, "content": "seen", "extras": extras}


@pytest.mark.needs_shared
def test_golden_counts() -> None:
    rows = golden("openhands")
    held = {f"openhands/{path.name}" for path in (real_sessions() / "openhands").iterdir()}
    assert {row.file for row in rows} == held
    parts = {"openhands/resolver_output.jsonl": "issue-5"}
    found = {row.file: wrong(_read_as(row), lambda *_: None, part=parts.get(row.file)) for row in rows}
    assert not {file: faults for file, faults in found.items() if faults}


def _read_as(row: Golden) -> Golden:
    """The oldest rows name no source and no cause: the first message is the instruction, and results follow calls."""
    if "resolver" not in row.file:
        return row
    assert (row.roles, row.unpaired, row.orphans) == ("0/0/5/3", 4, 3)
    return row._replace(roles="0/1/4/3", unpaired=1, orphans=0)


@pytest.mark.needs_shared
def test_usage_is_counted_once_a_reply() -> None:
    usage = read(real_sessions() / "openhands/basic.json").usage
    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.requests) == (
        3486 + 4646,
        1135 + 177,
        3482,
        3482 + 1158,
        2,
    )


@pytest.mark.needs_shared
def test_replies_without_usage_leave_the_total_open() -> None:
    transcript = read(real_sessions() / "openhands/basic_interactions.json")
    assert "usage_partial" in codes(transcript)
    assert "usage" not in record_of(transcript).carries


@pytest.mark.needs_shared
def test_every_row_is_a_session() -> None:
    path = real_sessions() / "openhands/resolver_output.jsonl"
    first, second = read_sessions(str(path), MachineFiles())
    assert (first.source.part, second.source.part) == ("issue-5", "issue-1")
    assert first.source.sha256 == second.source.sha256 == read(path, part="issue-1").source.sha256
    assert (first.cost.value, second.cost.value) == (0.070713, 1.152933)
    assert second.session_id == "neubig/pr-viewer/1"
    assert str(second.outcome["patch"]).startswith("diff --git a/src/App.css")
    assert [call.arguments for call in record_of(first).calls][0] == {"command": "touch LICENSE"}


def test_rows_are_told_apart_and_one_that_failed_early_is_nothing_to_judge() -> None:
    done, limited, never = read_sessions(str(FOLDER / "output.jsonl"), MachineFiles())
    assert [t.source.part for t in (done, limited, never)] == ["garden__1", "issue-7", "garden__1~2"]
    assert [t.end.reason for t in (done, limited, never)] == ["finished", "turn_limit", "errored"]
    assert all("bad_line" in codes(t) for t in (done, limited, never))
    assert record_of(never).carries == {"end", "cost"}
    assert done.outcome == {"patch": "diff --git a/bed b/bed"}
    assert [m.role for m in done.messages] == [
        "user", "assistant", "tool", "assistant", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip


def test_a_first_row_that_is_longer_than_the_sample_hides_no_other(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (FOLDER / "output.jsonl").read_text().splitlines() if "cut" not in line]
    rows[0]["instruction"] = "x" * 70_000
    rows[0]["history"][0]["content"] = "y" * 70_000
    path = tmp_path / "output.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert [t.source.part for t in read_sessions(str(path), MachineFiles())] == ["garden__1", "issue-7", "garden__1~2"]


def test_calls_of_one_reply_are_one_message() -> None:
    transcript = read(FOLDER / "events.json")
    assert [call.id for call in transcript.messages[1].tool_calls] == ["t1", "t2"]
    assert [call.args for call in transcript.messages[1].tool_calls] == [{"command": "ls"}, {"command": "cat bed4"}]
    record = record_of(transcript)
    assert [(call.result, call.status) for call in record.calls[:3]] == [
        ("bed4", "ok"), ("no such bed", "error"), ("No.", "refused"),
    ]  # fmt: skip
    assert record.known_tools == {"execute_bash", "finish"}


def test_a_reply_is_paid_for_once_however_far_apart_its_calls_stand(tmp_path: Path) -> None:
    def of(number: int, reply: str) -> dict[str, object]:
        response = {"id": reply, "usage": {"prompt_tokens": 100, "completion_tokens": 10}}
        return {**action(number, "run", command="x"), "tool_call_metadata": {"model_response": response}}

    usage = read(write(tmp_path / "e.json", of(1, "a"), of(2, "b"), of(3, "a"))).usage
    assert usage is not None
    assert (usage.input, usage.output, usage.requests) == (200, 20, 2)


def test_what_a_person_ran_is_no_call_of_the_agent() -> None:
    assert "water 4" not in str(read(FOLDER / "events.json").messages)


def test_a_delegate_has_a_thread_of_its_own() -> None:
    record = record_of(read(FOLDER / "events.json"))
    assert [(child.task, child.outcome, child.turns) for child in record.children.values()] == [
        ("BrowsingAgent", "finished", 1)
    ]
    assert record.delegated == {"browse": 1}


def test_a_result_without_its_call_loses_calls() -> None:
    assert "tool_calls" not in record_of(read(FOLDER / "stray.json")).carries


@pytest.mark.parametrize(
    ("events", "reason", "raw"),
    [
        ([action(1, "finish")], "finished", "finish"),
        ([action(1, "reject", thought="I cannot.")], "forfeit", "reject"),
        ([action(1, "finish"), action(2, "message", "user", content="More.")], "unknown", None),
        ([action(1, "finish"), action(2, "run", command="burn")], "unknown", None),
        ([action(1, "finish"), observed(1, "agent_state_changed", agent_state="finished")], "finished", "finish"),
        ([action(1, "finish"), observed(1, "agent_state_changed", agent_state="error")], "errored", "error"),
        ([action(1, "finish"), observed(1, "agent_state_changed", agent_state="running")], "unknown", None),
        ([action(1, "run"), observed(1, "agent_state_changed", agent_state="stopped")], "canceled_by_user", "stopped"),
        ([action(1, "run"), observed(1, "agent_state_changed", agent_state="paused")], "unknown", None),
        ([action(1, "delegate"), action(2, "finish")], "unknown", None),
    ],
)
def test_ends(events: Any, reason: str, raw: str | None, tmp_path: Path) -> None:
    end = read(write(tmp_path / "events.json", *events)).end
    assert (end.reason, end.raw) == (reason, raw)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("Agent reached maximum budget for conversation", "budget_reached"),
        ("AgentStuckInLoopError: Agent got stuck in a loop", "no_progress"),
        ("litellm.ContextWindowExceededError", "context_limit"),
        ("KeyError: 'x'", "errored"),
    ],
)
def test_the_error_of_a_row_is_its_end(error: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    path.write_text(json.dumps({"history": [action(1, "finish")], "error": error, "instance_id": "i"}))
    assert read(path).end.reason == reason


@pytest.mark.parametrize(("code", "is_error"), [(0, False), (2, True), (-1, None), (True, None), (None, None)])
def test_exit_codes(code: object, is_error: bool | None, tmp_path: Path) -> None:
    transcript = read(write(tmp_path / "e.json", action(1, "run", command="x"), observed(1, exit_code=code)))
    result = transcript.messages[1].tool_result
    assert result is not None
    assert result.is_error is is_error


def test_a_saved_conversation_around_the_list_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "events.json"
    path.write_text(json.dumps({"trajectory": [action(1, "run", command="x"), observed(1)]}))
    assert record_of(read(path)).tool_counts == {"run": 1}
    check_invariants(read(path), path)

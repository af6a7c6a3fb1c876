"""Harbor trajectories: pairing, copied steps, the files beside them, totals, and the trial's result."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from golden import Golden, golden, wrong
from sessions_read import OWN, check_invariants, read, real_sessions

from rulebook.errors import UnknownFormat
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of

FOLDER = OWN / "atif"
TRACES = "terminus_2_hello-world-invalid-json.traces.json"


def step(source: str = "agent", message: str = "", **more: object) -> dict[str, object]:
    return {"source": source, "message": message, **more}


def write(path: Path, *steps: object, **more: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    root = {"schema_version": "ATIF-v1.6", "agent": {"name": "gardener", "version": "1"}, "steps": steps, **more}
    path.write_text(json.dumps(root), encoding="utf-8")
    return path


def call(call_id: str, name: str = "dig") -> dict[str, object]:
    return {"tool_call_id": call_id, "function_name": name, "arguments": {}}


def seen(*results: object) -> dict[str, object]:
    return {"results": list(results)}


def codes(transcript: Transcript) -> list[str]:
    return [warning.code for warning in transcript.warnings]


@pytest.mark.needs_shared
def test_golden_counts() -> None:
    rows = golden("atif_harbor")
    held = {f"atif_harbor/{path.name}" for path in (real_sessions() / "atif_harbor").iterdir()}
    assert {row.file for row in rows} == held - {f"atif_harbor/{TRACES}"}
    found = {row.file: wrong(_paired(row), _words) for row in rows}
    assert not {file: faults for file, faults in found.items() if faults}


def _paired(row: Golden) -> Golden:
    """The row counts the pairs that the file names; where steps have as many results as calls, position names more."""
    steps = json.loads((real_sessions() / row.file).read_text(encoding="utf-8"))["steps"]
    pairs = [(step.get("tool_calls") or [], (step.get("observation") or {}).get("results") or []) for step in steps]
    by_place = sum(
        len(calls) for calls, told in pairs if len(calls) == len(told) and not any("source_call_id" in t for t in told)
    )
    return row._replace(unpaired=row.unpaired - by_place, orphans=row.orphans - by_place)


def _words(transcript: Transcript, row: dict[str, Any]) -> dict[str, Any] | None:
    usage = transcript.usage
    if usage is None:
        return None
    cached = {"total_cached_tokens": usage.cache_read} if "total_cached_tokens" in row else {}
    tokens = {"total_prompt_tokens": usage.input, "total_completion_tokens": usage.output}
    return {**tokens, **cached, "total_cost_usd": transcript.cost.value}


@pytest.mark.needs_shared
def test_trap_4_results_without_a_call_id_are_paired_by_their_place() -> None:
    transcript = read(real_sessions() / "atif_harbor/terminus_2_hello-world-invalid-json.trajectory.json")
    assert not {"orphan_result", "unpaired_call", "lost_call"} & set(codes(transcript))
    calls = record_of(transcript).calls
    assert [call.name for call in calls] == ["bash_command", "mark_task_complete", "mark_task_complete"]
    assert "New Terminal Output" in (calls[0].result or "")
    assert "Are you sure" in (calls[1].result or "")


@pytest.mark.needs_shared
def test_trap_5_copied_steps_count_nowhere() -> None:
    name = "atif_harbor/terminus_2_hello-world-context-summarization-linear-history.trajectory"
    transcript = read(real_sessions() / f"{name}.cont-1.json")
    assert [message.copied for message in transcript.messages[:4]] == [True] * 4
    record = record_of(transcript)
    assert (record.turns, len(transcript.messages)) == (4, 12)
    assert "usage_differs" in codes(transcript)  # the stated total covers the files before this one
    assert "usage" not in record.carries
    assert not record.spend.known


@pytest.mark.needs_shared
def test_a_run_in_several_files_is_one_session(tmp_path: Path) -> None:
    """The real run, with its files named as its references name them; two of three sub-agents are not to be had."""
    for part in ("", ".cont-1"):
        name = f"terminus_2_hello-world-context-summarization-linear-history.trajectory{part}.json"
        shutil.copy(real_sessions() / "atif_harbor" / name, tmp_path / f"trajectory{part}.json")
    summary = "terminus_2_hello-world-context-summarization.trajectory.summarization-1-summary.json"
    shutil.copy(real_sessions() / "atif_harbor" / summary, tmp_path / "trajectory.summarization-1-summary.json")
    transcript = read(tmp_path / "trajectory.json")
    assert "split_conversation" not in codes(transcript)
    assert codes(transcript).count("subagent_missing") == 2
    assert record_of(transcript).turns == 7
    assert [len(thread.messages) for thread in transcript.threads] == [7]
    assert transcript.threads[0].name == "Context summarization 1: Step 1 - Summary generation"
    assert transcript.usage is not None
    assert (transcript.usage.input, transcript.usage.output) == (7802, 1030)


@pytest.mark.needs_shared
def test_traces_for_training_are_no_session() -> None:
    with pytest.raises(UnknownFormat, match="an export of conversations for training"):
        read(real_sessions() / "atif_harbor" / TRACES)


def test_calls_that_share_one_result_all_have_it() -> None:
    record = record_of(read(FOLDER / "garden.json"))
    shared = [(call.name, call.result, call.status) for call in record.calls if call.name == "type"]
    assert shared == [("type", "the screen", None), ("type", "the screen", None)]
    assert [call.result for call in record.calls if call.name == "dig"] == ["dry", "wet"]


def test_the_time_of_a_step_is_not_how_long_its_calls_took() -> None:
    record = record_of(read(FOLDER / "garden.json"))
    assert record.first_ms is not None
    assert [call.duration_s for call in record.calls] == [None] * 6


def test_what_a_step_of_the_system_shows_answers_no_call() -> None:
    transcript = read(FOLDER / "garden.json")
    rain = next(message for message in transcript.messages if message.text == "rain")
    assert rain.tool_result is not None
    assert (rain.tool_result.call_id, rain.tool_result.answers) == (None, [])


def test_a_sub_agent_knows_its_call_and_its_calls_are_not_the_sessions() -> None:
    record = record_of(read(FOLDER / "garden.json"))
    assert [(child.id, child.task, child.turns) for child in record.children.values()] == [
        ("helper-1", "counts beds", 2)
    ]
    assert record.delegated == {"count": 1}
    assert "count" not in record.tool_counts


def test_copied_calls_are_no_calls_of_the_session() -> None:
    record = record_of(read(FOLDER / "copied.json"))
    assert record.tool_counts == {"dig": 1}
    assert record.event_counts["tool.call"] == record.event_counts["tool.result"] == 1
    assert not record_of(read(FOLDER / "chain/trajectory.json")).delegated


def test_what_cannot_be_read_leaves_open_which_tools_were_called() -> None:
    transcript = read(FOLDER / "unread_work.json")
    assert not {"tool_calls", "results"} & record_of(transcript).carries
    told = [warning.text for warning in transcript.warnings if warning.code == "lost_call"]
    assert told[0] == "the agent did something that its step does not tell as a tool call (2 times)"


def test_a_complaint_of_the_harness_is_no_work() -> None:
    assert "tool_calls" in record_of(read(FOLDER / "chain/trajectory.json")).carries


def test_the_same_complaint_from_a_tool_of_another_agent_hides_nothing(tmp_path: Path) -> None:
    forged = step(observation=seen({"content": "Previous response had parsing errors:\nERROR"}))
    assert "lost_call" in codes(read(write(tmp_path / "t.json", forged)))


@pytest.mark.parametrize(
    "given",
    [
        step(tool_calls={"tool_call_id": "c"}),
        step(tool_calls=["dig"]),
        step(tool_calls=[{"tool_call_id": "c", "function_name": 7}]),
        step(observation="dug"),
        step(observation={"results": "dug"}),
        step("tool"),
        step(tool_calls=[call("c")], observation=seen({"source_call_id": "d", "content": ""})),
        "dig",
        None,
    ],
)
def test_a_broken_step_loses_calls(given: object, tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", step("user", "Dig."), given)
    transcript = read(path)
    check_invariants(transcript, path)
    assert "tool_calls" not in record_of(transcript).carries


def test_arguments_that_are_no_object_keep_their_text(tmp_path: Path) -> None:
    given = {"tool_call_id": "c", "function_name": "dig", "arguments": "bed 4"}
    made = read(write(tmp_path / "t.json", step(tool_calls=[given]))).messages[0].tool_calls[0]
    assert (made.args, made.args_raw, made.args_error) == (None, "bed 4", "the arguments are not a JSON object")


@pytest.mark.parametrize(
    "name",
    ["../secret.json", "a/../../secret.json", "/etc/passwd", "..", ".", "", "folder", "link.json", "gone.json", "x\0y"]
    + ["other.json", "broken.json"],
)
def test_a_reference_leads_to_a_trajectory_in_the_same_folder_or_nowhere(name: str, tmp_path: Path) -> None:
    write(tmp_path / "secret.json", step(message="secret"))
    run = tmp_path / "run"
    (run / "folder").mkdir(parents=True)
    (run / "link.json").symlink_to(tmp_path / "secret.json")
    (run / "other.json").write_text('{"steps": [{"source": "agent", "message": "secret"}]}', encoding="utf-8")
    (run / "broken.json").write_text('{"schema_version": "ATIF-v1.6", "steps": [', encoding="utf-8")
    ref = {"subagent_trajectory_ref": [{"session_id": "s", "trajectory_path": name}]}
    path = write(run / "t.json", step(observation=seen(ref), tool_calls=[call("c")]), continued_trajectory_ref=name)
    transcript = read(path)
    told = set(codes(transcript))
    assert "split_conversation" in told
    assert "subagent_missing" in told
    assert "secret" not in str(transcript.messages) + str(transcript.threads)
    assert record_of(transcript).carries <= {"cost", "time"}


def test_a_sub_agent_that_nothing_names_is_no_secret(tmp_path: Path) -> None:
    inner = {"steps": [step(tool_calls=[call("h", "burn")])]}
    twins = [{**inner, "trajectory_id": "twin"}, {**inner, "trajectory_id": "twin"}, inner]
    ref = {"source_call_id": "c", "subagent_trajectory_ref": {"trajectory_id": "twin"}}
    path = write(
        tmp_path / "t.json",
        step(tool_calls=[call("c")], observation=seen(ref)),
        subagent_trajectories=twins,
    )
    transcript = read(path)
    assert [(thread.id, thread.parent_call_id) for thread in transcript.threads] == [
        ("twin", "c"),
        ("twin~2", None),
        ("sub-agent", None),
    ]
    assert record_of(transcript).delegated == {"burn": 3}


def test_files_that_lead_in_circles_end(tmp_path: Path) -> None:
    ref = {"source_call_id": "c", "subagent_trajectory_ref": [{"trajectory_path": "a.json", "session_id": "a"}]}
    for name in ("t.json", "a.json"):
        write(tmp_path / name, step(tool_calls=[call("c")], observation=seen(ref)), continued_trajectory_ref="t.json")
    transcript = read(tmp_path / "t.json")
    assert codes(transcript).count("split_conversation") == 2
    assert len(transcript.threads) == 1


METRICS = {"prompt_tokens": 10, "completion_tokens": 2, "cost_usd": 0.5}


def test_a_stated_total_that_the_steps_are_not_is_no_ground(tmp_path: Path) -> None:
    less = {"total_prompt_tokens": 1, "total_completion_tokens": 1, "total_cost_usd": 0.0}
    transcript = read(write(tmp_path / "t.json", step(metrics=METRICS), final_metrics=less))
    assert "usage_differs" in codes(transcript)
    assert "usage" not in record_of(transcript).carries
    assert not record_of(transcript).spend.known


@pytest.mark.parametrize(
    ("steps", "final", "expected", "warned"),
    [
        ([METRICS], None, (10, 2, 0.5), []),
        ([METRICS, None], None, (10, 2, None), ["usage_partial"]),
        ([METRICS, None], {"total_prompt_tokens": 30, "total_completion_tokens": 4}, (30, 4, None), []),
        ([METRICS, None], {"total_prompt_tokens": 9, "total_completion_tokens": 4}, (9, 4, None), ["usage_differs"]),
        ([None], {"total_prompt_tokens": 30, "total_completion_tokens": 4, "total_cost_usd": 0}, (30, 4, 0.0), []),
        ([None], None, (None, None, None), []),
    ],
)
def test_usage_and_cost(steps: Any, final: Any, expected: Any, warned: list[str], tmp_path: Path) -> None:
    given = [step(**({"metrics": metrics} if metrics else {})) for metrics in steps]
    transcript = read(write(tmp_path / "t.json", *given, **({"final_metrics": final} if final else {})))
    usage = transcript.usage
    assert (usage and usage.input, usage and usage.output, transcript.cost.value) == expected
    assert codes(transcript) == warned


RESULTS: dict[str, tuple[object, str, dict[str, object]]] = {
    "no exception": ({"verifier_result": {"rewards": {"reward": 1.0}}}, "unknown", {"reward": 1.0}),
    "context": ({"exception_info": {"exception_type": "ContextLengthExceededError"}}, "context_limit",
                {"error": "ContextLengthExceededError"}),
    "agent failed": ({"exception_info": {"exception_type": "NonZeroAgentExitCodeError"}}, "errored",
                     {"error": "NonZeroAgentExitCodeError"}),
    "verifier failed": ({"exception_info": {"exception_type": "VerifierTimeoutError"}}, "unknown",
                        {"error": "VerifierTimeoutError"}),
    "several": ({"verifier_result": {"rewards": {"a": 0.5, "b": -1, "c": True, "d": "1"}}}, "unknown",
                {"rewards": {"a": 0.5, "b": -1}}),
    "not finite": ({"verifier_result": {"rewards": {"reward": float("nan")}}}, "unknown", {}),
    "of another agent": ({"agent_info": {"name": "x"}, "verifier_result": {"rewards": {"reward": 1}}}, "unknown", {}),
    "of another program": ({"passed": True}, "unknown", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("place", ["run/t.json", "agent/t.json"])
def test_the_trials_result(name: str, place: str, tmp_path: Path) -> None:
    result, reason, outcome = RESULTS[name]
    path = write(tmp_path / place, step())
    beside = tmp_path if place.startswith("agent") else path.parent
    (beside / "result.json").write_text(json.dumps(result), encoding="utf-8")
    transcript = read(path)
    assert (transcript.end.reason, transcript.outcome) == (reason, outcome)
    assert ("unread_result" in codes(transcript)) == name.startswith("of another")


def test_a_result_behind_a_link_or_elsewhere_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"verifier_result": {"rewards": {"reward": 1}}}', encoding="utf-8")
    path = write(tmp_path / "run/t.json", step())
    assert read(path).outcome == {}
    (path.parent / "result.json").symlink_to(tmp_path / "result.json")
    assert read(path).outcome == {}

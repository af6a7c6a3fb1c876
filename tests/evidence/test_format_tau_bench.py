"""τ-bench: a session for each trial."""

import json
from pathlib import Path

import pytest
from golden import golden
from sessions_read import OWN, check_invariants, read, real_sessions

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import read_sessions
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles

FOLDER = OWN / "tau_bench"


@pytest.mark.needs_shared
def test_golden_counts() -> None:
    """Task, reward and messages of the eight trials, and their calls, as the manifest lists them."""
    name = "tau_bench/gpt-4o-airline_subset.json"
    table = (real_sessions() / "MANIFEST.md").read_text(encoding="utf-8").split("## Golden counts", 1)[1]
    row = next(line for line in table.splitlines() if line.startswith(f"| {name}"))
    calls = json.loads(row.split("|")[3])
    trials = list(read_sessions(str(real_sessions() / name), MachineFiles()))
    for trial in trials:
        check_invariants(trial, real_sessions() / name)
        assert not trial.warnings
    assert [record_of(trial).call_count for trial in trials] == calls
    told = [
        (int(str(trial.source.part).split("-")[0]), trial.outcome["reward"], len(trial.messages)) for trial in trials
    ]
    assert str(told) in row
    assert not golden("tau_bench")
    assert {path.name for path in (real_sessions() / "tau_bench").iterdir()} == {name.split("/")[1]}


def test_trials_are_told_apart() -> None:
    trials = list(read_sessions(str(FOLDER / "trials.json"), MachineFiles()))
    assert [(t.source.part, t.end.reason, t.outcome.get("reward")) for t in trials] == [
        ("3-0", "finished", 1.0),
        ("3-1", "handed_over", 0.0),
        ("4-0", "errored", 0.0),
        ("4-0~2", "unknown", 0.0),
    ]
    assert read(FOLDER / "trials.json", part="3-1").messages == trials[1].messages
    assert trials[2].outcome["error"] == "the model is gone"


def test_a_trial_without_messages_is_nothing_to_judge() -> None:
    assert record_of(read(FOLDER / "trials.json", part="4-0")).carries == {"end"}


def test_words_of_the_agent_end_nothing(tmp_path: Path) -> None:
    path = tmp_path / "trials.json"
    messages = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "###STOP###"}]
    path.write_text(json.dumps([{"task_id": 1, "trial": 0, "reward": True, "traj": messages}]))
    transcript = read(path)
    assert (transcript.end.reason, transcript.outcome) == ("unknown", {})


@pytest.mark.parametrize(
    "item", [{"role": "critic", "content": "?"}, "text", {"role": "tool", "tool_call_id": "gone", "content": "sold"}]
)
def test_what_cannot_be_read_loses_calls(item: object, tmp_path: Path) -> None:
    path = tmp_path / "trials.json"
    path.write_text(json.dumps([{"task_id": 1, "reward": 1, "traj": [{"role": "user", "content": "Hi."}, item]}]))
    assert "tool_calls" not in record_of(read(path)).carries


def test_no_such_trial() -> None:
    with pytest.raises(UnknownFormat, match="holds no session `3-2`.*It has `#3-0`, `#3-1`"):
        read(FOLDER / "trials.json", part="3-2")

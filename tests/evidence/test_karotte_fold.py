"""A karotte run folded at once gives the very facts that its transcript gives, or is left to the reader."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from session_mutations import damaged
from sessions_read import OWN

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import fold_sessions, read_session
from rulebook.evidence.record import Record, Wants
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles
from tests.benchmarks.transcripts import write_transcripts

FOLDER = OWN / "karotte"
RUN = FOLDER / "run.json"
WANTS = (Wants(), Wants(replies=True), Wants(messages=True), Wants(replies=True, calls=True))
_MESSAGE = ("index", "role", "text", "reasoning", "injected", "src")
_CALL = ("index", "id", "name", "status", "turn", "message")


def folded(path: Path, wants: Wants) -> Record | None:
    ((part, found),) = fold_sessions(str(path), MachineFiles(), "karotte", wants=wants)
    assert part is None
    return found if isinstance(found, Record) else None


def facts(record: Record) -> dict[str, Any]:
    """All that such wants may ask for. That times run backwards is told of transcripts alone."""
    told = {name: getattr(record, name) for name in record.__struct_fields__ if not name.startswith("_")}
    asked = [m for m in record.messages if record.wants.messages or m.role == "assistant"]
    told["messages"] = [[getattr(message, name) for name in _MESSAGE] for message in asked]
    told["calls"] = [[getattr(call, name) for name in _CALL] for call in record.calls]
    told["warnings"] = [text for text in record.warnings if "ms before the one before it" not in text]
    return told


def agree(path: Path, wants: Wants) -> bool:
    """Whether the run was folded; if so, both ways must give the same."""
    try:
        found = folded(path, wants)
    except UnknownFormat:
        return False
    if found is not None:
        assert facts(found) == facts(record_of(read_session(str(path), MachineFiles(), "karotte", wants=wants), wants))
    return found is not None


def test_ordinary_runs_are_folded(tmp_path: Path) -> None:
    folder = write_transcripts(tmp_path / "runs", 4)
    for path in sorted(folder.iterdir()):
        assert [agree(path, wants) for wants in WANTS] == [True] * 4


def test_our_own_runs_agree() -> None:
    folded_ = {path.name for path in FOLDER.glob("*.json") for wants in WANTS if agree(path, wants)}
    assert folded_ >= {"went_on.json"}
    assert folded_ & {"lost_call.json", "misplaced_call.json", "odd.json", "hidden_message.json"} == set()


@pytest.mark.parametrize("wants", [Wants(tool_calls=True), Wants(all_events=True), Wants(events=frozenset(["usage"]))])
def test_what_asks_for_more_is_left_to_the_reader(wants: Wants, tmp_path: Path) -> None:
    (path,) = write_transcripts(tmp_path / "runs", 1).iterdir()
    assert folded(path, wants) is None


def test_damaged_runs_agree(tmp_path: Path) -> None:
    (ordinary,) = write_transcripts(tmp_path / "runs", 1).iterdir()
    whole = json.loads(ordinary.read_text(encoding="utf-8"))
    answers = [n for n, event in enumerate(whole["events"]) if event.get("message", {}).get("role") == "tool"]
    run = {**whole, "events": [*whole["events"][: answers[4] + 1], whole["events"][-1]]}
    ordinary.write_text(json.dumps(run), encoding="utf-8")
    path, folds = tmp_path / "damaged.json", 0
    for number in range(600):
        path.write_text(json.dumps({**run, "events": shuffled(run["events"], number)}), encoding="utf-8")
        folds += agree(path, WANTS[number % 4])
    assert folds > 100
    for number in range(100):
        path.write_bytes(damaged(RUN if number % 2 else ordinary, number).data)
        agree(path, WANTS[number % 4])


def shuffled(events: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """The events with one of them dropped, doubled, moved, or given another time, role, id or number."""
    chance = random.Random(number)
    changed = copy.deepcopy(events)
    at, to = chance.randrange(len(changed)), chance.randrange(len(changed))
    what = chance.choice(("drop", "double", "move", "time", "value", "value"))
    if what == "drop":
        del changed[at]
    elif what == "double":
        changed.insert(to, changed[at])
    elif what == "move":
        changed.insert(to, changed.pop(at))
    elif what == "time":
        changed[at]["timestamp"] = chance.choice((None, "2026-10-01T09:00:00Z", "x", changed[to]["timestamp"]))
    else:
        holder = changed[at].get("message") or changed[at]
        key = chance.choice([key for key in holder if key not in ("type", "timestamp")] or ["extra"])
        holder[key] = chance.choice((None, "", 0, 7, "tool", "user", True, holder.get(key)))
    return changed


Events = list[dict[str, Any]]


def without_an_answer(events: Events) -> None:
    done = next(n for n, event in enumerate(events) if event["type"] == "tool_call_completed")
    del events[done : done + 2]


def with_a_call_started_unseen(events: Events) -> None:
    started = next(event for event in events if event["type"] == "tool_call_started")
    unseen = {"id": "c99", "type": "function", "function": {"name": "browser", "arguments": "{}"}}
    events.insert(9, {**started, "tool_call": unseen})


def with_a_call_in_a_result(events: Events) -> None:
    _message(events, "tool")["tool_calls"] = _message(events, "assistant")["tool_calls"]


def with_a_call_in_a_prompt(events: Events) -> None:
    _message(events, "user")["tool_calls"] = _message(events, "assistant")["tool_calls"]


def with_a_call_among_the_text(events: Events) -> None:
    _message(events, "assistant")["content"] = [{"type": "tool_use", "text": "x"}]


def with_a_second_step(events: Events) -> None:
    prompt = next(event for event in events if event.get("message", {}).get("role") == "user")
    events[-1:-1] = [{**events[1], "type": "step_started", "step": 1}, prompt, prompt]


def _message(events: Events, role: str) -> dict[str, Any]:
    found: dict[str, Any] = next(e["message"] for e in events if e.get("message", {}).get("role") == role)
    return found


@pytest.mark.parametrize(
    ("change", "folds"),
    [
        (without_an_answer, False),
        (with_a_call_started_unseen, False),
        (with_a_call_in_a_result, False),
        (with_a_call_in_a_prompt, False),
        (with_a_call_among_the_text, False),
        (with_a_second_step, True),
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_the_reader(change: Any, folds: bool, tmp_path: Path) -> None:
    (path,) = write_transcripts(tmp_path / "runs", 1).iterdir()
    run = json.loads(path.read_text(encoding="utf-8"))
    change(run["events"])
    path.write_text(json.dumps(run), encoding="utf-8")
    assert [agree(path, wants) for wants in WANTS] == [folds] * 4

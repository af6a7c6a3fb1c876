"""Scoring reference: what a judge can score from, and the transcript that is appended to as the run goes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rulebook.schemas.transcript
from rulebook.errors import UnknownFormat
from rulebook.evidence.formats import read_session
from rulebook.evidence.run_transcript import record_of_run
from rulebook.evidence.transcript_record import record_of
from rulebook.schemas.scoring import Scoring
from rulebook.schemas.transcript import (
    AnswersSubmittedEvent,
    ChatCompletionMessageToolCall,
    ErrorEvent,
    Function,
    Message,
    MessageAddedEvent,
    ScoringEvent,
    StepStartedEvent,
    TaskCompletedEvent,
    TaskPreHookCompletedEvent,
    TaskStartedEvent,
    ToolCallCompletedEvent,
    Transcript,
    TranscriptLog,
    UnknownEvent,
    read_transcript,
    write_transcript,
)
from rulebook.services.files import MachineFiles

SESSIONS = Path(__file__).parents[1] / "evidence" / "sessions" / "karotte"


def read(*events: object, **beside: object) -> Transcript:
    return Transcript.from_bytes(json.dumps({"run_id": "r", **beside, "events": list(events)}).encode())


def test_messages_are_every_message_including_tool_calls_and_tool_results() -> None:
    call = ChatCompletionMessageToolCall(id="c", function=Function(name="bash", arguments='{"a": 1}'))
    messages = [
        Message(role="system", content="S"),
        Message(role="assistant", content=None, tool_calls=[call]),
        Message(role="tool", content=[{"type": "text", "text": "out"}], tool_call_id="c"),
        Message(content="done"),
    ]
    events = [StepStartedEvent(step=0), *(MessageAddedEvent(message=message) for message in messages)]
    transcript = Transcript(run_id="r", events=events)
    assert transcript.messages == messages
    assert transcript.messages[-1].role == "assistant"
    assert transcript.messages[2].text == "out"


def test_events_are_the_raw_event_log() -> None:
    transcript = read(
        {"type": "task_started", "timestamp": "2026-10-01T09:00:00.500000Z", "run_id": "r", "task_id": "t", "n_steps": 2},
        {"type": "task_pre_hook_completed", "metadata": {"a": 1}},
        {"type": "scoring", "scoring": {"score": 0.5, "metadata": {}, "continue_task": True}},
        {"type": "error", "exception_type": "E", "message": "m"},
        {"type": "task_completed", "status": "passed"},
    )
    kinds = [TaskStartedEvent, TaskPreHookCompletedEvent, ScoringEvent, ErrorEvent, TaskCompletedEvent]
    assert [type(event) for event in transcript.events] == kinds
    started, hook, scored, *_ = transcript.events
    assert started.timestamp is not None
    assert (started.timestamp.year, started.timestamp.microsecond) == (2026, 500000)
    assert hook.timestamp is None
    assert scored.scoring == Scoring(0.5, {}, True)  # type: ignore[attr-defined]


def test_the_event_types_are_in_rulebook_schemas_transcript() -> None:
    given = {"run_id": "r", "task_id": "t", "n_steps": 1, "step": 0, "metadata": {}, "answers": {}, "status": "passed"}
    given |= {"message": {"role": "user"}, "delta": {}, "exception_type": "E", "tool_call_id": "c", "result": {"content": []}}
    given |= {"tool_call": {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}}
    given |= {"scoring": {"score": 1, "metadata": {}, "continue_task": True}, "input_tokens": 1, "output_tokens": 1}
    known = (
        "task_started task_pre_hook_completed step_started step_completed message_added message_chunk message_chunk_reset"
        " tool_call_started tool_call_completed answers_submitted scoring error task_completed token_usage"
    )
    for kind in known.split():
        message = {"message": "m"} if kind == "error" else {}
        event = read({"type": kind, **given, **message}).events[0]
        name = "".join(map(str.capitalize, kind.split("_"))) + "Event"
        assert type(event) is getattr(rulebook.schemas.transcript, name)
        assert name in rulebook.schemas.transcript.__all__


def test_answers_are_merged_and_a_later_one_wins() -> None:
    events = [AnswersSubmittedEvent(answers={"a": "1", "b": "2"}), AnswersSubmittedEvent(answers={"b": "3"})]
    assert Transcript(run_id="r", events=events).answers == {"a": "1", "b": "3"}


def whole_runs() -> list[Path]:
    found = []
    for path in sorted(SESSIONS.glob("*.json")):
        try:
            data = json.loads(path.read_bytes())
        except ValueError:
            continue
        if isinstance(data, dict) and isinstance(data.get("events"), list) and isinstance(data.get("run_id"), str):
            found.append(path)
    return found


def test_there_are_runs_to_read() -> None:
    assert len(whole_runs()) > 8


@pytest.mark.parametrize("path", whole_runs(), ids=lambda path: path.stem)
def test_what_was_read_is_written_again_without_a_loss(path: Path, tmp_path: Path) -> None:
    transcript = read_transcript(path)
    write_transcript(transcript, tmp_path / "again.json")
    again = json.loads((tmp_path / "again.json").read_bytes())
    assert (again.pop("schema"), again.pop("version")) == ("rulebook.transcript", 1)
    assert again == json.loads(path.read_bytes())
    assert read_transcript(tmp_path / "again.json").events == transcript.events


@pytest.mark.parametrize("path", whole_runs(), ids=lambda path: path.stem)
def test_what_is_appended_is_what_is_read(path: Path, tmp_path: Path) -> None:
    transcript = read_transcript(path)
    with TranscriptLog(tmp_path / "run" / "log.jsonl", transcript.run_id) as log:
        for event in transcript.events:
            log.append(event)
    again = read_transcript(tmp_path / "run" / "log.jsonl")
    assert [event.as_data() for event in again.events] == json.loads(path.read_bytes())["events"]
    assert again.run_id == transcript.run_id


UNKNOWN = [
    {"type": "agent_napped", "timestamp": "2026-10-01T09:00:00Z", "minutes": 5, "metadata": {"a": [1, None]}},
    {"step": 0},
    {"type": "step_started", "step": "first"},
    {"type": "scoring", "scoring": {"score": None, "metadata": {}, "continue_task": True}},
    {"type": "message_added", "message": {"role": "robot", "content": "x"}},
    {"type": 7},
    "text",
    None,
    {"type": "message_added", "message": {"role": "user", "content": "x", "mood": "glad"}, "weather": {"rain": True}},
]


@pytest.mark.parametrize("event", UNKNOWN, ids=lambda event: json.dumps(event)[:40])
def test_an_event_that_is_not_known_is_kept_and_refuses_nothing(event: object) -> None:
    message = {"type": "message_added", "message": {"role": "assistant", "content": "x"}}
    transcript = read(event, message)
    assert [each.as_data() for each in transcript.events] == [event, message]
    assert transcript.messages[-1].content == "x"


def test_an_event_says_what_is_wrong_with_it() -> None:
    problems = {json.dumps(data): event.problem for data in UNKNOWN for event in read(data).events if isinstance(event, UnknownEvent)}
    assert list(problems.values()) == [
        "", "it has no type", "its `step` is not as it should be", "its `scoring` is not as it should be",
        "its `message.role` is not as it should be", "it has no type", "it is no mapping", "it is no mapping",
    ]  # fmt: skip


def test_an_event_made_here_is_read_as_it_was(tmp_path: Path) -> None:
    events = [
        TaskStartedEvent(run_id="r", task_id="t"),
        MessageAddedEvent(message=Message(content=[{"type": "text", "text": "é😀"}])),
        ToolCallCompletedEvent(tool_call_id="c", result={"content": [{"type": "text", "text": "x"}], "isError": True}),
        ScoringEvent(scoring=Scoring(0.25, {"a": [None, {"b": "c"}]}, False)),
    ]
    with TranscriptLog(tmp_path / "log", "r") as log:
        for event in events:
            log.append(event)
    again = read_transcript(tmp_path / "log").events
    assert [event.as_data() for event in again] == [event.as_data() for event in events]
    assert [event.timestamp for event in again] == [event.timestamp for event in events]
    assert [type(event) for event in again] == [type(event) for event in events]
    assert again[-1].scoring == events[-1].scoring  # type: ignore[attr-defined]


def test_a_run_that_is_killed_leaves_what_happened(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from rulebook.schemas.transcript import StepStartedEvent, TranscriptLog\n"
        "log = TranscriptLog(sys.argv[1], 'r')\n"
        "for step in range(3): log.append(StepStartedEvent(step=step))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "log")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [event.step for event in read_transcript(tmp_path / "log").events] == [0, 1, 2]  # type: ignore[attr-defined]


def test_a_line_cut_off_at_the_end_is_no_event_and_one_damaged_before_it_is_told(tmp_path: Path) -> None:
    with TranscriptLog(tmp_path / "log", "r") as log:
        for step in range(3):
            log.append(StepStartedEvent(step=step))
    data = (tmp_path / "log").read_bytes()
    for cut in range(1, 30):
        assert len(Transcript.from_bytes(data[:-1 - cut]).events) == 2
    lines = data.split(b"\n")
    lines[2] = lines[2][:-5]
    with pytest.raises(UnknownFormat, match="line 3 is damaged"):
        Transcript.from_bytes(b"\n".join(lines))


def test_a_log_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("log", "link"):
        with pytest.raises(FileExistsError):
            TranscriptLog(tmp_path / name, "r")
    assert (tmp_path / "log").read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


def test_each_event_is_on_the_disk_before_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(os.fstat(file).st_size), real(file))[1])
    with TranscriptLog(tmp_path / "log", "r") as log:
        synced.clear()
        for step in range(3):
            log.append(StepStartedEvent(step=step))
            assert synced[-1] == (tmp_path / "log").stat().st_size
    assert len(synced) == 3


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "This is no transcript"),
        (b"[]", "no list of `events`"),
        (b'{"run_id": "r"}', "no list of `events`"),
        (b'{"events": []}', "no `run_id`"),
        (b'{"run_id": 7, "events": []}', "no `run_id`"),
        (b'{"run_id": "r", "version": 2, "events": []}', "of version 2; 1 is read here"),
        (b'{"schema": "other", "run_id": "r", "events": []}', "of version 1"),
        (b'{"schema": "rulebook.transcript", "version": 9, "run_id": "r"}\n{}\n', "of version 9"),
        (b"[" * 100_000, "This is no transcript"),
    ],
)
def test_what_is_no_transcript_is_told(data: bytes, words: str) -> None:
    with pytest.raises(UnknownFormat, match="transcript") as raised:
        Transcript.from_bytes(data)
    assert words in str(raised.value)


def test_what_else_stands_in_the_file_is_kept() -> None:
    assert read(owner="me").as_data()["owner"] == "me"


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        StepStartedEvent(step=0).step = 1  # type: ignore[misc]


def test_rules_see_the_same_run_in_memory_as_in_its_file() -> None:
    for path in whole_runs():
        expected, found = record_of(read_session(str(path), MachineFiles(), "karotte")), record_of_run(read_transcript(path))
        assert found.messages == expected.messages
        assert found.calls == expected.calls
        assert found.ends == expected.ends
        assert found.usage == expected.usage
        assert found.carries == expected.carries


def lines(path: Path) -> Iterator[object]:
    yield from map(json.loads, path.read_bytes().splitlines())


def test_the_first_line_says_the_version_and_the_run(tmp_path: Path) -> None:
    TranscriptLog(tmp_path / "log", "run-7").close()
    assert list(lines(tmp_path / "log")) == [{"schema": "rulebook.transcript", "version": 1, "run_id": "run-7"}]

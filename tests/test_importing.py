"""Imported sessions: a transcript, its log, and the transcript again; and what verifying a session says."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import SESSION, log_lines, write_log
from msgspec.structs import replace

from rulebook.errors import AuditGapError, UnknownFormat
from rulebook.evidence.audit_log import LogReading, read_log
from rulebook.evidence.formats import read_session
from rulebook.evidence.record import EVERYTHING, Record, Wants
from rulebook.evidence.transcript import (
    Cost,
    End,
    Irregularity,
    Message,
    SideEvent,
    Source,
    Thread,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)
from rulebook.evidence.transcript_record import record_of
from rulebook.services.files import MachineFiles
from rulebook.services.log_writer import LogWriter
from rulebook.services.store import list_sessions, session_path
from rulebook.session.importing import import_transcript, transcript_of
from rulebook.session.verifying import verification_json, verification_lines, verify_sessions

OWN = Path(__file__).parent / "evidence/sessions"
FILES = MachineFiles()
NOW = 1796047200000
FINISHED = {"session.end": {"reason": "finished", "detail": ""}}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RULEBOOK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def check_round_trip(transcript: Transcript) -> LogReading:
    path = import_transcript(transcript, "/src/project", NOW)
    try:
        reading = read_log(path, FILES, EVERYTHING)
        assert reading.verdict == "imported", reading.reason
        assert transcript_of(path, FILES) == transcript
        for wants in (EVERYTHING, Wants()):
            folded = read_log(path, FILES, wants).record
            assert plain(folded) == plain(record_of(transcript, wants))
        assert reading.events == reading.record.total_events
        return reading
    finally:
        Path(path).unlink()


def plain(record: Record) -> Record:
    """The record without what a file of its own gives it: the id under which it lies, and its own digest."""
    return replace(record, session_id=None, sha256=None)


def own_sessions() -> list[Path]:
    return sorted(path for path in OWN.rglob("*") if path.is_file() and is_session(path))


def is_session(path: Path) -> bool:
    try:
        read_session(str(path), FILES)
    except UnknownFormat:
        return False
    return True


@pytest.mark.parametrize("path", own_sessions(), ids=lambda path: str(path.relative_to(OWN)))
def test_a_session_comes_back_as_it_was(path: Path) -> None:
    check_round_trip(read_session(str(path), FILES))


@pytest.mark.needs_shared
def test_real_sessions_come_back_as_they_were(shared_sessions: Path) -> None:
    read = 0
    for path in sorted(shared_sessions.rglob("*")):
        if not path.is_file():
            continue
        try:
            transcript = read_session(str(path), FILES)
        except UnknownFormat:
            continue
        check_round_trip(transcript)
        read += 1
    assert read >= 20


@pytest.mark.needs_shared
def test_the_tokens_of_a_real_session_are_counted_once(shared_sessions: Path) -> None:
    transcript = read_session(str(shared_sessions / "claude_code/ccv_subagents_5c03.jsonl"), FILES)
    usage = check_round_trip(transcript).record.usage
    assert usage is not None
    assert (usage.requests, usage.output) == (20, 3629)


text = st.text(st.characters(codec="utf-8"), max_size=12)
maybe = st.one_of(st.none(), text)
count = st.one_of(st.none(), st.integers(0, 10**6))
time = st.one_of(st.none(), st.integers(10**12, 10**12 + 10**6))
json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), text
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=5,
)
objects = st.dictionaries(text, json_values, max_size=3)
usages = st.builds(Usage, count, count, count, count, count, count, st.sampled_from(["reported", "summed"]))


@st.composite
def calls(draw: st.DrawFn, ids: st.SearchStrategy[str]) -> ToolCall:
    args = draw(st.one_of(st.none(), objects))
    raw = draw(text) if args is None or draw(st.booleans()) else json.dumps(args)
    return ToolCall(draw(ids), draw(text), args, raw, draw(maybe))


@st.composite
def threads_of_messages(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    asked: list[str] = []
    for index in range(draw(st.integers(0, 6))):
        role = draw(st.sampled_from(["system", "user", "assistant", "tool"]))
        message = Message(index, role, draw(text), draw(maybe), draw(maybe), at_ms=draw(time), model=draw(maybe))
        message.stop, message.usage = draw(maybe), draw(st.one_of(st.none(), usages))
        message.injected, message.hidden, message.src = draw(st.booleans()), draw(st.booleans()), draw(count)
        if role == "assistant":
            fresh = st.just(f"c{index}")
            message.tool_calls = tuple(draw(st.lists(calls(fresh), max_size=1)))
            asked += [call.id for call in message.tool_calls]
        elif role == "tool":
            message.tool_result = ToolResult(
                draw(st.sampled_from([None, "unheard of", *asked])),
                draw(text),
                draw(maybe),
                draw(st.sampled_from([None, True, False])),
                draw(count),
                draw(st.sampled_from([None, True, False])),
                draw(st.one_of(st.none(), st.floats(0, 100))),
                draw(st.sampled_from([None, True, False])),
            )
        messages.append(message)
    return messages


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    source = Source("claude_code", draw(text), draw(st.text("0123456789abcdef", min_size=64, max_size=64)))
    source.format_version, source.producer, source.producer_version = draw(maybe), draw(maybe), draw(maybe)
    source.places = draw(st.sampled_from(["lines", "items"]))
    names = draw(st.lists(text, max_size=3))
    return Transcript(
        source,
        draw(maybe),
        draw(maybe),
        draw(maybe),
        draw(st.lists(text, max_size=2)),
        draw(threads_of_messages()),
        [Thread(name, draw(threads_of_messages()), draw(maybe), draw(maybe)) for name in names],
        draw(
            st.lists(
                st.builds(SideEvent, st.sampled_from(["compaction", "tools", "hook"]), objects, time, count), max_size=3
            )
        ),
        draw(st.one_of(st.none(), usages)),
        draw(st.one_of(st.just(Cost()), st.builds(Cost, st.floats(0, 10), maybe))),
        draw(st.builds(End, st.sampled_from(["finished", "unknown", "errored", "odd"]), text, maybe)),
        draw(objects),
        draw(st.lists(st.builds(Irregularity, st.sampled_from(["usage_partial", "x"]), count, text), max_size=2)),
    )


@given(transcript=transcripts())
def test_any_transcript_comes_back_as_it_was(transcript: Transcript) -> None:
    check_round_trip(transcript)


def a_transcript(**more: object) -> Transcript:
    transcript = read_session(str(OWN / "claude_code/session.jsonl"), FILES)
    return replace(transcript, **more)  # type: ignore[arg-type]


def test_importing_twice_finds_the_first_import() -> None:
    first = import_transcript(a_transcript(), "/src/project", NOW)
    content = Path(first).read_bytes()
    assert import_transcript(a_transcript(), "/src/project", NOW + 5) == first
    assert Path(first).read_bytes() == content
    assert [session.path for session in list_sessions()] == [first]
    assert import_transcript(a_transcript(session_id="other"), "/src/project", NOW) != first


def test_what_json_cannot_hold_is_left_unknown() -> None:
    transcript = a_transcript(outcome={"score": float("nan"), "at": {1: (2, b"x")}})
    path = import_transcript(transcript, "/src/project", NOW)
    assert transcript_of(path, FILES).outcome == {"score": None, "at": {"1": [2, "b'x'"]}}


def test_the_log_says_the_end_in_its_own_words() -> None:
    end = End("canceled_by_user", "stopped", "[Request interrupted by user]")
    record = check_round_trip(a_transcript(end=end)).record
    assert record.end is not None
    assert record.end.end == end


def test_a_damaged_import_is_undecodable_and_no_crash() -> None:
    path = Path(import_transcript(a_transcript(), "/src/project", NOW))
    events = [json.loads(line)["event"] for line in path.read_bytes().splitlines()[1:]]
    for damage in ({}, {"source": 5}, None, []):
        events[1]["session.imported"]["transcript"] = damage
        write_log(path, events)
        assert read_log(str(path), FILES).verdict == "undecodable"


def test_a_session_that_another_program_imported_tells_what_its_events_show(tmp_path: Path) -> None:
    imported = {"from": "claude-code", "source_path": "x", "content_hash": "0", "imported_ms": 1}
    message = {"role": "assistant", "content": [{"text": "hello"}]}
    path = write_log(tmp_path / "log.jsonl", [{"session.imported": imported}, {"message": message}])
    reading = read_log(str(path), FILES, EVERYTHING)
    assert (reading.verdict, reading.transcript) == ("imported", None)
    assert (reading.record.format, reading.record.carries, reading.record.turns) == ("claude-code", {"messages"}, 1)


def test_a_session_of_ours_is_told_as_a_transcript(tmp_path: Path) -> None:
    events: list[dict[str, object]] = [
        {"message": {"role": "user", "content": [{"text": "go"}]}},
        {"usage": {"input_tokens": 3, "cost": {"known": {"value": 0.5, "currency": "USD"}}, "model": "m"}},
        {"message": {"role": "assistant", "content": [{"text": "done"}], "model_alias": "m"}},
        FINISHED,
    ]
    transcript = transcript_of(str(write_log(tmp_path / "log.jsonl", events)), FILES)
    assert [(m.role, m.text) for m in transcript.messages] == [("user", "go"), ("assistant", "done")]
    assert (transcript.source.format, transcript.session_id, transcript.models) == ("chock_log", SESSION, ["m"])
    assert (transcript.cost, transcript.end.reason) == (Cost(0.5, "USD"), "finished")


def test_a_damaged_log_has_no_transcript(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.jsonl", [FINISHED])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(AuditGapError) as caught:
        transcript_of(str(path), FILES)
    assert caught.value.verdict == "torn"


def test_verifying(tmp_path: Path) -> None:
    good = write_log(tmp_path / "good.jsonl", [FINISHED])
    plain_log = write_log(tmp_path / "plain.jsonl", [FINISHED], chained=False)
    lines = log_lines([FINISHED, FINISHED])
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"\n".join((lines[0], lines[2])) + b"\n")
    imported = import_transcript(a_transcript(), "/src/project", NOW)

    def verified(*words: object, allow: bool = False) -> tuple[list[object], int]:
        found = verify_sessions([str(word) for word in words], FILES, allow_unchained=allow)
        return [(one.verdict, one.accepted) for one in found.sessions], found.exit_status

    assert verified(good, imported) == ([("intact", True), ("imported", True)], 0)
    assert verified(Path(imported).stem) == ([("imported", True)], 0)
    assert verified(plain_log) == ([("unchained", False)], 9)
    assert verified(plain_log, allow=True) == ([("unchained", True)], 0)
    assert verified(broken, allow=True) == ([("broken", False)], 9)
    assert verified(SESSION) == ([(None, False)], 1)
    assert verified(good, SESSION) == ([("intact", True), (None, False)], 1)
    assert verified(SESSION, broken) == ([(None, False), ("broken", False)], 9)
    assert verified(tmp_path) == ([("unreadable", False)], 9)
    assert verified() == ([], 0)


def test_what_verifying_prints(tmp_path: Path) -> None:
    path = write_log(tmp_path / "log.jsonl", [FINISHED])
    lines = log_lines([FINISHED, FINISHED])
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"\n".join((lines[0], lines[2])) + b"\n")
    found = verify_sessions([str(path), str(broken)], FILES)
    assert verification_lines(found) == [
        f"{path}: intact, 1 event",
        f"{broken}: broken, 1 event: the event at byte 16 does not follow from the header: "
        "something there was changed, moved or removed",
    ]
    data = json.loads(json.dumps(verification_json(found), allow_nan=False))
    assert (data["schema"], data["version"], data["passed"]) == ("rulebook.session-verification", 1, False)
    assert (data["sessions"][1]["at"], data["sessions"][1]["after"]) == (16, 0)
    assert data["sessions"][0]["sha256"] == read_log(str(path), FILES).sha256


def test_a_log_of_another_session_under_an_id_is_not_accepted() -> None:
    path = session_path("/src/project", SESSION)
    with LogWriter(path, "01M8XKQ4T6ZJ5W3N9B2C7D1E0Z") as log:
        log.append("session.end", FINISHED["session.end"], NOW)
    found = verify_sessions([SESSION], FILES)
    assert (found.exit_status, found.sessions[0].verdict, found.sessions[0].accepted) == (9, "intact", False)
    assert "another session" in found.sessions[0].reason

"""Sessions for the tests of formats: our own, the real ones beside the project, and what always holds."""

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from rulebook.evidence.formats import read_session, read_sessions
from rulebook.evidence.transcript import Message, Transcript
from rulebook.evidence.transcript_json import transcript_json
from rulebook.services.files import MachineFiles

OWN = Path(__file__).parent / "sessions"
_ROOT = Path(__file__).parents[2]


def read(path: Path, format_name: str | None = None, part: str | None = None) -> Transcript:
    return read_session(str(path), MachineFiles(), format_name, part=part)


def every(path: Path, format_name: str | None = None) -> list[Transcript]:
    return list(read_sessions(str(path), MachineFiles(), format_name))


def real_sessions() -> Path:
    """The folder of real sessions. Skips the test where it is absent, and fails it in CI."""
    given = os.environ.get("RULEBOOK_SHARED")
    folder = (Path(given) if given else _ROOT.parent / "shared") / "sessions"
    if not folder.is_dir():
        reason = f"the real sessions are not at {folder}: set RULEBOOK_SHARED to the folder that holds them"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


def roles_of(messages: Iterable[Message]) -> str:
    """How many messages there are of each role: system/user/assistant/tool."""
    counts = Counter(message.role for message in messages)
    return "/".join(str(counts[role]) for role in ("system", "user", "assistant", "tool"))


def check_invariants(transcript: Transcript, path: Path) -> None:
    """What holds of every neutral transcript."""
    orphans = {warning.where for warning in transcript.warnings if warning.code == "orphan_result"}
    for messages in (transcript.messages, *(thread.messages for thread in transcript.threads)):
        assert [message.index for message in messages] == list(range(len(messages)))
        ids = [call.id for message in messages for call in message.tool_calls]
        assert all(ids)
        assert len(ids) == len(set(ids))
        _check_results(messages, orphans)
    json.dumps(transcript_json(transcript), allow_nan=False).encode("utf-8")
    assert len(transcript.source.sha256) == 64
    alone = transcript.source.part is None or len(every(path, transcript.source.format)) == 1
    if transcript.source.places == "lines" and alone:
        _check_every_line_is_told(transcript, path)


def _check_results(messages: list[Message], orphans: set[int | None]) -> None:
    asked: set[str] = set()
    for message in messages:
        asked |= {call.id for call in message.tool_calls}
        result = message.tool_result
        assert (message.role == "tool") == (result is not None)
        if result is not None:
            assert not message.tool_calls
            answered = [result.call_id] if result.answers is None else result.answers
            assert set(answered) <= asked or message.src in orphans


def _check_every_line_is_told(transcript: Transcript, path: Path) -> None:
    """Every line is a message's, an event's or a warning's, or goes on with a reply begun earlier."""
    messages = [*transcript.messages, *(m for thread in transcript.threads for m in thread.messages)]
    places = {message.src for message in messages} | {event.src for event in transcript.events}
    places |= {warning.where for warning in transcript.warnings}
    replies = {message.id for message in messages}
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip() and number not in places:
            assert json.loads(line)["message"]["id"] in replies, f"line {number} is told nowhere"

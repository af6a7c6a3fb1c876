"""The transcript of a run: its events in order, read and written without losing any of them.

Two forms: one JSON object with `run_id` and `events`, as karotte writes it, and lines that are appended as the run
goes, the first of which names the run. Source: scoring, "Writing your own judge".
"""

import json
from collections.abc import Iterator, Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, field_validator

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.karotte import read_run
from rulebook.evidence.record import EVERYTHING, Record, Wants
from rulebook.evidence.run_events import AnswersSubmittedEvent, Event, MessageAddedEvent, event_from
from rulebook.evidence.run_messages import Message
from rulebook.evidence.transcript_record import record_of

SCHEMA = "rulebook.transcript"
VERSION = 1


class Transcript(BaseModel):
    """Every event of a run so far. What else stands in the file beside them is kept."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    run_id: str
    events: list[Event] = []

    @field_validator("events", mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        if not isinstance(value, list | tuple):
            return value
        return [each if isinstance(each, Event) else event_from(each) for each in value]

    @property
    def messages(self) -> list[Message]:
        """Every message of every role, in order."""
        return [event.message for event in self.events if isinstance(event, MessageAddedEvent)]

    @property
    def answers(self) -> dict[str, str]:
        """Every answer that was submitted; a later one replaces an earlier one of its name."""
        found: dict[str, str] = {}
        for event in self.events:
            if isinstance(event, AnswersSubmittedEvent):
                found.update(event.answers)
        return found

    def as_data(self) -> dict[str, object]:
        """The transcript as plain data, with the version of its form."""
        beside = {"schema": SCHEMA, "version": VERSION, **(self.model_extra or {})}
        return {"run_id": self.run_id, **beside, "events": [event.as_data() for event in self.events]}

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The transcript that a file holds, in either form. Raises UnknownFormat, which says what is wrong.

        The last line of one that was cut off in the middle of it is no event and is left out.
        """
        try:
            head, *lines = data.split(b"\n")
            first = _line(head)
            if lines and isinstance(first, dict) and "run_id" in first and "events" not in first:
                return cls._from(first, list(_events(lines)))
            whole = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UnknownFormat(f"This is no transcript: {error}.") from error
        if not isinstance(whole, dict) or not isinstance(whole.get("events"), list):
            raise UnknownFormat("This is no transcript: it has no list of `events`.")
        return cls._from({key: value for key, value in whole.items() if key != "events"}, whole["events"])

    @classmethod
    def _from(cls, beside: Mapping[str, object], events: list[object]) -> Self:
        run_id, version = beside.get("run_id"), beside.get("version", VERSION)
        if not isinstance(run_id, str):
            raise UnknownFormat("This is no transcript: it has no `run_id`.")
        if beside.get("schema", SCHEMA) != SCHEMA or version != VERSION:
            raise UnknownFormat(f"This transcript is of version {version!r:.40}; {VERSION} is read here.")
        return cls.model_validate({**beside, "events": events})


def head_line(run_id: str) -> bytes:
    """The first line of a transcript that is appended to."""
    return _written({"schema": SCHEMA, "version": VERSION, "run_id": run_id})


def event_line(event: Event) -> bytes:
    """The line of one event."""
    return _written(event.as_data())


def whole_file(transcript: Transcript) -> bytes:
    """The transcript as one JSON object."""
    return json.dumps(transcript.as_data(), indent=2, ensure_ascii=True).encode("ascii") + b"\n"


def record_of_run(transcript: Transcript, wants: Wants = EVERYTHING) -> Record:
    """The run's facts, as rules ask for them."""
    return record_of(read_run(transcript.run_id, [event.as_data() for event in transcript.events], wants), wants)


def _events(lines: list[bytes]) -> Iterator[object]:
    """What stands in the lines. Raises ValueError for one that is damaged and is not the last, torn one."""
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except ValueError as error:
            if number == len(lines) + 1:  # no newline follows it: a run that was killed wrote it in part
                return
            raise ValueError(f"line {number} is damaged") from error


def _line(line: bytes) -> object:
    try:
        found: object = json.loads(line)
    except ValueError:
        return None
    return found


def _written(data: object) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True).encode("ascii") + b"\n"

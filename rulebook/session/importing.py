"""Importing another agent's session: its transcript becomes a chained log of our store."""

import hashlib
from contextlib import suppress

from rulebook.errors import AuditGapError
from rulebook.evidence.audit_log import LogReading, read_log
from rulebook.evidence.log_transcript import import_events
from rulebook.evidence.record import EVERYTHING, Record
from rulebook.evidence.transcript import Cost, End, Source, Transcript
from rulebook.evidence.transcript_events import moments
from rulebook.ports import Files
from rulebook.services.log_writer import Entry, write_log
from rulebook.services.store import RANDOM_BYTES, new_session_id, session_path

DAMAGED = ("broken", "torn", "undecodable", "unreadable")


def import_transcript(transcript: Transcript, project: str, imported_ms: int) -> str:
    """Write the log of an imported session into `project`'s folder of the store, and give its path.

    The id follows from the session's own start and the source file's digest: importing the same session again
    finds the log that is already there, and leaves it as it is. Raises OSError.
    """
    session = imported_id(transcript, imported_ms)
    path = session_path(project, session)
    events = import_events(transcript, imported_ms)
    with suppress(FileExistsError):
        write_log(path, session, (Entry(event.name, event.payload, event.at_ms or imported_ms) for event in events))
    return path


def imported_id(transcript: Transcript, imported_ms: int) -> str:
    """The id under which a session is imported; `imported_ms` is its time when the source states none."""
    started = moments(transcript)[0]
    source = transcript.source
    named = f"{source.sha256} {source.path} {transcript.session_id}" + (f" {source.part}" if source.part else "")
    chance = hashlib.sha256(named.encode("utf-8", "replace")).digest()[:RANDOM_BYTES]
    return new_session_id(imported_ms if started is None else started, chance)


def transcript_of(path: str, files: Files) -> Transcript:
    """The transcript of a log: as it was imported, or, of a session of ours, as its events tell it.

    Raises AuditGapError when the log is damaged.
    """
    reading = read_log(path, files, EVERYTHING)
    if reading.verdict in DAMAGED:
        raise AuditGapError(reading.verdict, f"`{path}`: {reading.reason}")
    return reading.transcript or _told(path, reading)


def _told(path: str, reading: LogReading) -> Transcript:
    record = reading.record
    end = record.end.end if record.end is not None else End()
    return Transcript(
        Source("chock_log", path, reading.sha256, format_version="1", places="lines"),
        record.session_id,
        models=record.models,
        messages=record.messages,
        usage=record.usage,
        cost=_cost(record),
        end=end,
    )


def _cost(record: Record) -> Cost:
    spend = record.spend
    return Cost(spend.amount, spend.currency) if spend.known and spend.currency is not None else Cost()

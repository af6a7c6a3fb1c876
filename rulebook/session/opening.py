"""Opening a recorded session, whatever wrote it: our own chained log, or another agent's session file."""

import os
from collections.abc import Iterator

from msgspec import Struct

from rulebook.errors import UnknownFormat, UsageError
from rulebook.evidence.audit_log import LogReading, read_log
from rulebook.evidence.formats import fold_sessions, read_session
from rulebook.evidence.record import Record, Wants
from rulebook.evidence.transcript import Transcript
from rulebook.evidence.transcript_record import record_of
from rulebook.ports import Files
from rulebook.report.judged import Audit
from rulebook.services.store import find_session

OWN_FORMAT = "chock_log"

ACCEPTED = ("intact", "imported")
WITHOUT_CHAIN = ("unchained", "partly_chained")

_HEAD_BYTES = 4096


class Opened(Struct, frozen=True):
    """A session that was read: its facts, what verifying it said, and the id or file that it was named by.

    `part` says which session of its file it is, where that holds several.
    """

    record: Record
    audit: Audit
    word: str
    part: str | None = None


def open_session(
    word: str, wants: Wants, files: Files, *, session_format: str | None = None, allow_unchained: bool = False
) -> Opened:
    """The session that `word` names: an id of the store, a path, or `path#part` for one of a file's sessions.

    Raises UsageError when there is none, or when the file is no session that can be read.
    """
    path, part = located(word)
    if _is_own(path, files, session_format):
        return _own(word, read_log(path, files, wants, session_id=_asked(word, path)), allow_unchained)
    transcript = read_session(path, files, session_format, part=part, wants=wants)
    return _foreign(record_of(transcript, wants), path, transcript.source.part)


def open_sessions(
    word: str, wants: Wants, files: Files, *, session_format: str | None = None, allow_unchained: bool = False
) -> Iterator[tuple[str | None, Opened | UnknownFormat]]:
    """Every session that `word` names, one or all that its file holds, with its name in the file.

    One of several that cannot be read is the error that says so. Raises as `open_session` does.
    """
    path, part = located(word)
    if part is not None:
        yield part, open_session(word, wants, files, session_format=session_format, allow_unchained=allow_unchained)
    elif _is_own(path, files, session_format):
        yield None, _own(word, read_log(path, files, wants, session_id=_asked(word, path)), allow_unchained)
    else:
        for name, read in fold_sessions(path, files, session_format, wants=wants):
            if isinstance(read, Transcript):
                yield name, _foreign(record_of(read, wants), path, name)
            else:
                yield name, read if isinstance(read, UnknownFormat) else _foreign(read, path, name)


def _is_own(path: str, files: Files, session_format: str | None) -> bool:
    return session_format == OWN_FORMAT or (session_format is None and is_own_log(path, files))


def _asked(word: str, path: str) -> str | None:
    """The id that was asked for, where it was not a path."""
    return None if path == word else word


def located(word: str) -> tuple[str, str | None]:
    """The path of the session that `word` names, and the part after `#` where the file holds several.

    Raises UsageError when there is none.
    """
    path, sign, part = word.rpartition("#")
    if sign and path and os.path.exists(path) and not os.path.lexists(word):
        return path, part
    return find_session(word), None


def is_own_log(path: str, files: Files) -> bool:
    """Whether a file is a chained log, a damaged one too: by its header, or by the shape of its next line."""
    try:
        lines = files.read(path, _HEAD_BYTES).split(b"\n")
    except OSError as fault:
        raise UsageError(f"I can't read the session `{path}`: {fault.strerror or fault}.") from fault
    return b'"chock_log"' in lines[0] or any(b'"prev":"' in line and b'"event":{' in line for line in lines[:2])


def _foreign(record: Record, path: str, part: str | None) -> Opened:
    audit = Audit("imported", True, record.total_events, sha256=record.sha256)
    return Opened(record, audit if record.total_events else _empty(audit), path, part)


def _own(word: str, reading: LogReading, allow_unchained: bool) -> Opened:
    accepted = reading.verdict in ACCEPTED or (allow_unchained and reading.verdict in WITHOUT_CHAIN)
    audit = Audit(
        reading.verdict, accepted, reading.events, reading.sha256 or None, reading.head or None, reading.reason
    )
    if accepted and not reading.events:
        audit = _empty(audit)
    elif accepted and reading.record.stranger is not None:
        other, offset = reading.record.stranger
        reason = f"the line at byte {offset} is of another session, {other}"
        audit = Audit(audit.verdict, False, audit.events, audit.sha256, audit.head, reason)
    return Opened(reading.record, audit, word)


def _empty(audit: Audit) -> Audit:
    return Audit(audit.verdict, False, 0, audit.sha256, audit.head, "it holds no event: there is nothing to judge")

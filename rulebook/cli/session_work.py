"""The work of `rulebook session`, apart from its options."""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence

from rulebook.cli import output
from rulebook.errors import UsageError
from rulebook.evidence.formats import read_session
from rulebook.evidence.log_transcript import import_events
from rulebook.evidence.record import EVERYTHING
from rulebook.evidence.transcript import Thread, Transcript
from rulebook.evidence.transcript_json import transcript_json
from rulebook.ports import Files
from rulebook.report.plain_json import canonical
from rulebook.report.session_lines import NARROWEST, WIDEST, WIDTH, View
from rulebook.report.transcript_text import render_session
from rulebook.services.clock import minute_of, unix_ms
from rulebook.services.files import MachineFiles
from rulebook.services.log_writer import Entry, write_log
from rulebook.services.output_files import write_bytes, write_text
from rulebook.services.store import find_session, list_sessions, store_folder
from rulebook.session.importing import DAMAGED, import_transcript, imported_id, transcript_of
from rulebook.session.opening import is_own_log, located, open_session
from rulebook.session.verifying import verification_json, verification_lines, verify_sessions
from rulebook.terminal import harmless

AUDIT_GAP = 9


def verify(given: Namespace) -> int:
    """Say what the chain of each log says."""
    done = verify_sessions(given.sessions, MachineFiles(), allow_unchained=given.allow_unchained)
    if given.format == "json":
        output.put(canonical(verification_json(done)))
    else:
        output.put("".join(f"{harmless(line)}\n" for line in verification_lines(done)))
    return done.exit_status


def show(given: Namespace) -> int:
    """Print a session; a damaged log is shown as far as it goes, with status 9."""
    files = MachineFiles()
    if given.format == "json":
        output.put(canonical(transcript_json(_transcript(given.session, given.session_format, files))))
        return 0
    opened = open_session(given.session, EVERYTHING, files, session_format=given.session_format)
    view = View(output.stdout_columns(WIDTH, NARROWEST, WIDEST), given.full, output.stdout_colour(given.color))
    threads = _threads(given, opened.audit.verdict, files) if given.full else ()
    output.put(render_session(opened.record, view, audit=opened.audit, threads=threads))
    if opened.audit.verdict in DAMAGED:
        output.say(f"rulebook: the log is {opened.audit.verdict}: {opened.audit.reason}")
        return AUDIT_GAP
    return 0


def list_stored(given: Namespace) -> int:
    """List the store, newest first."""
    stored = list_sessions()[::-1]
    if given.format == "json":
        entries = [
            {"id": one.id, "path": one.path, "project": one.project, "started_ms": one.started_ms} for one in stored
        ]
        output.put(canonical({"schema": "rulebook.sessions", "version": 1, "sessions": entries}))
        return 0
    for one in stored:
        output.put(f"{one.id}  {minute_of(one.started_ms)}  {harmless(one.project)}\n")
    if not stored:
        output.say("No session is stored yet. rulebook session import FILE stores one.")
    return 0


def import_file(given: Namespace) -> int:
    """Write a foreign session as a chained log, into the store or to a path."""
    files = MachineFiles()
    path, part = located(given.file)
    if given.session_format is None and is_own_log(path, files):
        raise UsageError(f"`{given.file}` is an audit log already: use it as it is.")
    transcript = _foreign(path, part, given.session_format, files)
    now = unix_ms()
    if given.to is None:
        try:
            path = import_transcript(transcript, given.project, now)
        except OSError as error:
            why = (error.strerror or "the machine refuses").lower()
            message = f"I can't store the session under `{store_folder()}`: {why}. Set RULEBOOK_HOME, or use --to."
            raise UsageError(message) from error
    else:
        path = given.to
        _write_import(transcript, path, now)
    for warning in transcript.warnings:
        output.say(f"Note: {warning.text}")
    output.put(f"{path}\n")
    output.say(f"Imported. Next:  rulebook session show {path}")
    return 0


def export(given: Namespace) -> int:
    """Write a session into a file: its log byte for byte, or its transcript."""
    files = MachineFiles()
    if given.format == "transcript":
        transcript = _transcript(given.session, None, files)
        write_text(given.to, canonical(transcript_json(transcript)), force=False)
    else:
        path = find_session(given.session)
        if not is_own_log(path, files):
            raise UsageError(f"`{path}` is no audit log. rulebook session import {path} --to FILE makes one of it.")
        with files.lines(path) as lines:
            write_bytes(given.to, lines, force=False)
    output.say(f"Wrote {given.to}.")
    return 0


COMMANDS: Mapping[str, Callable[[Namespace], int]] = {
    "verify": verify,
    "show": show,
    "list": list_stored,
    "import": import_file,
    "export": export,
}


def _transcript(word: str, session_format: str | None, files: Files) -> Transcript:
    path, part = located(word)
    if session_format is None and is_own_log(path, files):
        return transcript_of(path, files)
    return _foreign(path, part, session_format, files)


def _threads(given: Namespace, verdict: str, files: Files) -> Sequence[Thread]:
    """The sub-agents' conversations; a log of our own has them in logs of their own, unless it was imported."""
    if is_own_log(located(given.session)[0], files) and verdict != "imported":
        return ()
    return _transcript(given.session, given.session_format, files).threads


def _foreign(path: str, part: str | None, session_format: str | None, files: Files) -> Transcript:
    try:
        return read_session(path, files, session_format, part=part)
    except OSError as error:
        raise UsageError(f"I can't read `{path}`: {(error.strerror or 'the machine refuses').lower()}.") from None


def _write_import(transcript: Transcript, path: str, now_ms: int) -> None:
    events = import_events(transcript, now_ms)
    entries = (Entry(event.name, event.payload, event.at_ms or now_ms) for event in events)
    try:
        write_log(path, imported_id(transcript, now_ms), entries)
    except FileExistsError:
        raise UsageError(f"`{path}` is there already and was not touched. Write another name.") from None

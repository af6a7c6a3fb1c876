"""karotte transcripts: one JSON object with a run's events, or the same events a line each. Source: karotte 3.0.100."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import to_builtins

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.karotte_events import AnyEvent, PreHookCompleted, Run, Scored
from rulebook.evidence.formats.karotte_fold import fold
from rulebook.evidence.formats.karotte_run import EVENT_TYPES, Reading
from rulebook.evidence.record import Record, Wants
from rulebook.evidence.session_files.records import records_of
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import decoded, mapping, refuse_deep, word
from rulebook.evidence.transcript import Source, Transcript

LINES_SCHEMA = "rulebook.transcript"
"""What the first line of a transcript says that is appended to as its run goes: one event a line behind it."""


def _fits(sample: Sample) -> Fit:
    if sample.kind == "lines":
        return 2 if sample.entries and sample.entries[0].get("schema") == LINES_SCHEMA else 0
    if "run_id" not in sample.keys or not isinstance(events := sample.keys.get("events"), list):
        return 0
    types = [word(mapping(event).get("type")) for event in events]
    return 2 if any(kind in EVENT_TYPES for kind in types) else 1 if not events else 0


def read_run(run_id: str, events: Sequence[object], wants: Wants) -> Transcript:
    """The transcript of a run whose events are held in memory, as they would stand in a file."""
    transcript = Transcript(Source("karotte", "", ""))
    return _told(Reading(transcript, wants), run_id, enumerate(map(_typed, events)))


def _read(file: SessionFile) -> Transcript:
    if file.sample.kind == "lines" and _fits(file.sample):
        return _read_lines(file)
    run_id, events = _events(file)
    transcript = _told(Reading(file.transcript("karotte"), file.wants), run_id, enumerate(events))
    transcript.source.sha256 = file.sha256
    return transcript


def _read_lines(file: SessionFile) -> Transcript:
    transcript = file.transcript("karotte", lines=True)
    records = records_of(file, transcript)
    _, head = next(records, (1, {}))
    told = _told(
        Reading(transcript, file.wants), word(head.get("run_id")), ((at, _typed(each)) for at, each in records)
    )
    told.source.sha256 = file.sha256
    return told


def _told(reading: Reading, run_id: str | None, events: Iterable[tuple[int, object]]) -> Transcript:
    transcript = reading.transcript
    transcript.session_id = run_id
    transcript.source.producer = "karotte"
    reading.take(events)
    reading.close()
    return transcript


def _fold(file: SessionFile) -> Record | None:
    if file.wants.contents or file.wants.payloads or file.wants.approvals or LINES_SCHEMA.encode() in file.head[:200]:
        return None
    try:
        run = _run(file.whole())
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    transcript = file.transcript("karotte")
    transcript.session_id = run.run_id
    return fold(transcript, file.wants, run.events, file.sha256)


def _events(file: SessionFile) -> tuple[str | None, Sequence[object]]:
    """The run's id and its events: typed where they are well-formed, plain values where they are odd."""
    data = file.whole()
    try:
        run = _run(data)
        return run.run_id, run.events
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _odd(file, data)


def _run(data: bytes) -> Run:
    """A run all of whose events are well-formed. Raises msgspec's errors, ValueError and RecursionError for others."""
    run = _RUN.decode(data)
    if not data.isascii():
        data.decode("utf-8")  # what is passed over in decoding is not looked at
    for event in [event for event in run.events if type(event) in _OF_ANY_DEPTH]:
        refuse_deep(event.metadata if isinstance(event, PreHookCompleted) else to_builtins(event))
    return run


def _odd(file: SessionFile, data: bytes) -> tuple[str | None, Sequence[object]]:
    try:
        root = mapping(decoded(data))
    except ValueError as error:
        raise _refused(file, f"it is not valid JSON ({error})") from error
    events = root.get("events")
    if not isinstance(events, list):
        raise _refused(file, "it has no list of `events`")
    return word(root.get("run_id")), [_typed(event) for event in events]


def _typed(event: object) -> object:
    try:
        typed: object = msgspec.convert(event, AnyEvent)
    except (msgspec.ValidationError, RecursionError):
        return event
    return typed


def _refused(file: SessionFile, why: str) -> UnknownFormat:
    return UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: {why}")


_OF_ANY_DEPTH = frozenset((PreHookCompleted, Scored))

_RUN = msgspec.json.Decoder(Run)

FORMAT = Format(
    name="karotte",
    title="a karotte transcript",
    expects="an object with a `run_id` and `events`, each of a `type` such as `message_added`",
    kinds=frozenset(("object", "lines")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "time", "events")),
    fits=_fits,
    read=_read,
    fold=_fold,
)

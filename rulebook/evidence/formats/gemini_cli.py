"""Gemini CLI: the recorded chats, as one JSON object (to 0.39) and as lines that patch and rewind (from 0.40).

Source: Gemini CLI, `core/src/services/chatRecordingService.ts`.
"""

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.gemini_messages import usage_of
from rulebook.evidence.formats.gemini_records import Reading
from rulebook.evidence.session_files.pairing import finish, summed, warn
from rulebook.evidence.session_files.records import records_of
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import mapping, sequence, word
from rulebook.evidence.transcript import Transcript, Usage


def _fits(sample: Sample) -> Fit:
    records = [sample.keys] if sample.keys else sample.entries
    if sample.kind not in ("lines", "object") or not records:
        return 0
    if {"sessionId", "projectHash"} <= set(records[0]):
        return 2
    patched = any("$set" in record or "$rewindTo" in record for record in records)
    spoken = any(record.get("type") == "gemini" and "id" in record for record in records)
    return 2 if sample.kind == "lines" and (spoken or patched) else 0


def _read(file: SessionFile) -> Transcript:
    of_lines = file.sample.kind != "object"
    transcript = file.transcript("gemini_cli", lines=of_lines)
    reading = Reading(transcript)
    if of_lines:
        for number, record in records_of(file, transcript):
            reading.take(number, record)
    else:
        _take_object(file, reading)
    source = transcript.source
    source.sha256, source.producer = file.sha256, "Gemini CLI"
    if not reading.understood:
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no `user` or `gemini` message")
    reading.build()
    finish(transcript)
    transcript.end = reading.end()
    transcript.usage = _usage(reading)
    return transcript


def _take_object(file: SessionFile, reading: Reading) -> None:
    root = mapping(file.json(FORMAT.title))
    reading.take_header(root)
    for index, value in enumerate(sequence(root.get("messages"))):
        if isinstance(value, dict):
            reading.add(index, value, f"{index}:{word(value.get('id')) or ''}")
        else:
            warn(reading.transcript, "lost_record", index, "a message that is no JSON object")


def _usage(reading: Reading) -> Usage | None:
    """The sum over replies, those that were taken back too: they were paid for."""
    replies = reading.replies()
    told = [usage for record in replies if (usage := usage_of(mapping(record.get("tokens")))) is not None]
    if told and len(told) < len(replies):
        text = f"{len(replies) - len(told)} of {len(replies)} replies state no usage"
        warn(reading.transcript, "usage_partial", None, text)
    usage = summed(told)
    if usage is not None and usage.total == 0:
        warn(reading.transcript, "usage_zero", None, f"{len(replies)} replies with a usage of 0")
        return Usage(requests=usage.requests)
    return usage


FORMAT = Format(
    name="gemini_cli",
    title="a Gemini CLI session",
    expects="a JSON object, or lines, with `sessionId`, `projectHash` and messages of `type: gemini`",
    kinds=frozenset(("object", "lines")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "time", "events")),
    fits=_fits,
    read=_read,
)

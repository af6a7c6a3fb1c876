"""GitHub Copilot CLI: the `events.jsonl` of a session.

Source: the session files of versions 1.0 and GitHub's reference of the Copilot SDK's session events.
"""

from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.copilot_records import Reading
from rulebook.evidence.session_files.pairing import finish, warn_of_lost_calls
from rulebook.evidence.session_files.records import records_of
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import word
from rulebook.evidence.transcript import Transcript

_FAMILIES = ("session.", "assistant.", "user.", "system.", "tool.", "hook.", "subagent.", "permission.")


def _fits(sample: Sample) -> Fit:
    records = [sample.keys] if sample.keys else sample.entries
    if sample.kind not in ("lines", "object"):
        return 0
    return 2 if any(_is_event(record) for record in records) else 0


def _is_event(record: Mapping[str, object]) -> bool:
    kind = word(record.get("type")) or ""
    return kind.startswith(_FAMILIES) and "data" in record and bool({"id", "timestamp", "parentId"} & set(record))


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("copilot_cli", lines=True)
    reading = Reading(transcript)
    for number, record in records_of(file, transcript):
        reading.take(number, record)
    source = transcript.source
    source.sha256, source.producer = file.sha256, "Copilot CLI"
    if not reading.understood:
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no event of a session")
    reading.tell_claims()
    transcript.threads = list(reading.threads.values())
    finish(transcript)
    warn_of_lost_calls(transcript, with_replies=True)
    transcript.end = reading.end()
    transcript.usage = reading.spent()
    return transcript


FORMAT = Format(
    name="copilot_cli",
    title="a Copilot CLI session",
    expects="lines of JSON with a `type` such as `assistant.message`, `data`, `id` and `parentId`",
    kinds=frozenset(("lines", "object")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "time", "events", "subagents")),
    fits=_fits,
    read=_read,
)

"""Codex: the rollout files of its sessions, in the layout of `{timestamp, type, payload}` and in the oldest one.

Source: Codex, `protocol/src/protocol.rs`, versions 0.2 to 0.146.
"""

import re
from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.codex_items import WITHOUT_OUTPUT
from rulebook.evidence.formats.codex_records import ITEMS, RECORDS, Reading
from rulebook.evidence.session_files.pairing import finish, warn, warn_of_lost_calls
from rulebook.evidence.session_files.records import records_of
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import word
from rulebook.evidence.transcript import Transcript, Usage

_ASIDE = re.compile(
    rb'\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"(?:event_msg|turn_context|session_meta|compacted|world_state)",'
)


def _fits(sample: Sample) -> Fit:
    records = [sample.keys] if sample.keys else sample.entries
    if sample.kind not in ("lines", "object") or any("messages" in record for record in records):
        return 0
    if any("payload" in record and word(record.get("type")) in RECORDS for record in records):
        return 2
    first = records[0] if records else {}
    begun = {"id", "timestamp"} <= set(first) and "type" not in first and bool({"instructions", "git"} & set(first))
    bare = any(_is_bare(record) for record in records[1:])
    return 2 if begun and (bare or len(records) == 1) else 0


def _is_bare(record: Mapping[str, object]) -> bool:
    return record.get("record_type") == "state" or (word(record.get("type")) in ITEMS and "payload" not in record)


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("codex", lines=True)
    reading = Reading(transcript)
    for number, record in records_of(file, transcript, _ASIDE):
        reading.take(number, record)
    transcript.source.sha256 = file.sha256
    if not reading.understood:
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no record of a rollout")
    reading.finish()
    finish(transcript)
    warn_of_lost_calls(transcript, with_replies=True)
    _forgive_without_output(transcript)
    transcript.end = reading.closing.end()
    transcript.usage = _usage(reading)
    return transcript


def _forgive_without_output(transcript: Transcript) -> None:
    """A call that the provider ran has no result by nature, which is nothing to warn of."""
    lines = {m.src for m in transcript.messages if any(call.name in WITHOUT_OUTPUT for call in m.tool_calls)}
    transcript.warnings = [w for w in transcript.warnings if w.code != "unpaired_call" or w.where not in lines]


def _usage(reading: Reading) -> Usage | None:
    """The highest running total. A count of 0 beside real replies states nothing."""
    usage = reading.tokens.usage
    replies = [message for message in reading.transcript.messages if message.role == "assistant"]
    if usage is not None and usage.total == 0 and replies:
        warn(reading.transcript, "usage_zero", None, f"{len(replies)} replies with a usage of 0")
        return None
    return usage


FORMAT = Format(
    name="codex",
    title="a Codex rollout",
    expects="lines of JSON with a `timestamp`, a `type` such as `response_item`, and a `payload`",
    kinds=frozenset(("lines", "object")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "time", "events")),
    fits=_fits,
    read=_read,
)

"""Pi: the session files of the coding agent, lines that form a tree by `id` and `parentId`.

Source: pi, `coding-agent/docs/session.md`, versions 1 to 3 of the format.
"""

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.pi_messages import price_of, usage_of
from rulebook.evidence.formats.pi_records import Reading
from rulebook.evidence.session_files.pairing import finish, summed, warn, warn_of_lost_calls
from rulebook.evidence.session_files.records import records_of
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import mapping
from rulebook.evidence.transcript import Cost, Transcript, Usage


def _fits(sample: Sample) -> Fit:
    records = [sample.keys] if sample.keys else sample.entries
    if sample.kind not in ("lines", "object") or not records:
        return 0
    first = records[0]
    if first.get("type") == "session" and {"id", "timestamp", "cwd"} <= set(first):
        return 2
    answers = [mapping(record.get("message")).get("role") for record in records if record.get("type") == "message"]
    return 2 if "toolResult" in answers else 1 if answers and sample.kind == "lines" else 0


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("pi", lines=True)
    reading = Reading(transcript)
    for number, record in records_of(file, transcript):
        reading.take(number, record)
    source = transcript.source
    source.sha256, source.producer = file.sha256, "pi"
    if not reading.entries:
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no `message` record")
    reading.build()
    finish(transcript)
    warn_of_lost_calls(transcript, with_replies=True)
    transcript.end = reading.end()
    transcript.usage = _usage(reading)
    transcript.cost = _cost(reading)
    return transcript


def _usage(reading: Reading) -> Usage | None:
    """The sum over every reply, also on branches that were left, and over what was spent beside the conversation."""
    replies = reading.replies()
    told = [usage for given in replies if (usage := usage_of(given)) is not None]
    others = [usage for given in reading.beside if (usage := usage_of(given)) is not None]
    if told and len(told) < len(replies):
        text = f"{len(replies) - len(told)} of {len(replies)} replies state no usage"
        warn(reading.transcript, "usage_partial", None, text)
    usage = summed([*told, *others])
    if usage is not None and usage.total == 0:
        warn(reading.transcript, "usage_zero", None, f"{len(replies)} replies with a usage of 0")
        return Usage(requests=usage.requests)
    return usage


def _cost(reading: Reading) -> Cost:
    """The sum of the prices; 0 is what the agent writes for a model that it has no price for."""
    prices = [price_of(given) for given in (*reading.replies(), *reading.beside)]
    known = [price for price in prices if price]
    return Cost(sum(known), "USD") if known and len(known) == len(prices) else Cost()


FORMAT = Format(
    name="pi",
    title="a pi session",
    expects="lines of JSON that begin with `type: session`, then records of `type: message`",
    kinds=frozenset(("lines", "object")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "cost", "time", "events")),
    fits=_fits,
    read=_read,
)

"""The events of an Inspect sample: when what happened, what was used, and calls that its messages do not hold.

An agent that is called as a tool, a history that was shortened and an attempt that was thrown away leave their calls
in the events alone: each becomes a thread beside the messages, so that no call is out of sight.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.inspect_sample import Attachments, messages_of
from rulebook.evidence.formats.inspect_spans import Place, placed
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.values import amount, brief, count, iso_ms, mapping, sequence, word, written
from rulebook.evidence.transcript import Message, SideEvent, Thread, ToolCall, ToolResult, Transcript, Usage

_TOLD = frozenset(
    ("sample_limit", "error", "approval", "input", "info", "compaction", "interrupt", "subtask", "logger")
)
_ENVELOPE = frozenset(("event", "timestamp", "uuid", "span_id", "working_start", "pending", "events"))

_MOST_PROMPTS = 20_000
"""Messages that are told again before threads: every one of them may refer to the whole list that events share."""

Given = Mapping[str, object]


class Happened(Struct):
    """What the events come to.

    `replies` counts the model's replies that were not a grader's; `graded` is what graders used, one for each reply,
    and `spoken` what the session's own replies used: None where a reply does not state it.
    """

    replies: int = 0
    graded: list[Usage | None] = field(default_factory=list)
    spoken: list[Usage | None] = field(default_factory=list)
    _starters: dict[str, str] = field(default_factory=dict)

    def link(self, transcript: Transcript) -> None:
        """Say which call started each thread, now that the calls have their ids."""
        calls = {call.id for message in transcript.messages for call in message.tool_calls}
        for thread in transcript.threads:
            starter = self._starters.get(thread.id)
            thread.parent_call_id = starter if starter in calls else None


class _Reading(Struct):
    transcript: Transcript
    sample: Given
    attachments: Attachments
    happened: Happened
    by_id: dict[str, Message]
    by_call: dict[str, Message]
    by_text: dict[str, Message]
    threads: dict[str, Thread] = field(default_factory=dict)
    tools: dict[str, None] = field(default_factory=dict)
    prompts_left: int = _MOST_PROMPTS


def read_events(transcript: Transcript, sample: Given, attachments: Attachments) -> Happened:
    """Take the events of a sample whose messages are read."""
    messages = transcript.messages
    reading = _Reading(
        transcript,
        sample,
        attachments,
        Happened(),
        {message.id: message for message in messages if message.id is not None},
        {call.id: message for message in messages for call in message.tool_calls},
        {message.text: message for message in messages if message.role == "assistant"},
    )
    results = {m.tool_result.call_id: m for m in messages if m.tool_result is not None}
    for place, event in placed(_events_of(sample)):
        kind = event.get("event")
        if kind == "model":
            _take_reply(reading, place, event)
        elif kind == "tool":
            _take_tool(reading, place, event, results)
        elif kind in _TOLD:
            transcript.events.append(SideEvent(str(kind), brief(event, _ENVELOPE), iso_ms(event.get("timestamp"))))
    _note_times(transcript, sample)
    if reading.tools:
        transcript.events.append(SideEvent("tools", {"names": list(reading.tools)}))
    transcript.threads = list(reading.threads.values())
    return reading.happened


def _note_times(transcript: Transcript, sample: Given) -> None:
    """When the sample began and ended; older samples begin with their first event, and end with a grader's."""
    events = _events_of(sample)
    began = iso_ms(sample.get("started_at")) or iso_ms(mapping(events[0]).get("timestamp") if events else None)
    for kind, at_ms in (("sample_started", began), ("sample_completed", iso_ms(sample.get("completed_at")))):
        if at_ms is not None:
            transcript.events.append(SideEvent(kind, {}, at_ms))


def _events_of(sample: Given) -> list[object]:
    return sequence(sample.get("events")) or sequence(mapping(sample.get("transcript")).get("events"))


def _take_reply(reading: _Reading, place: Place, event: Given) -> None:
    output = mapping(event.get("output"))
    usage = usage_of(output.get("usage"))
    if place.grading:
        reading.happened.graded.append(usage)
        return
    choices = [mapping(choice) for choice in sequence(output.get("choices"))]
    at_ms = iso_ms(event.get("completed")) or iso_ms(event.get("timestamp"))
    if word(event.get("error")) is not None or not choices:
        told = {"text": (word(event.get("error")) or "a reply without content")[:500]}
        reading.transcript.events.append(SideEvent("api_error", told, at_ms))
        return
    reading.happened.replies += 1
    reading.happened.spoken.append(usage)
    for tool in sequence(event.get("tools")):
        if (name := word(mapping(tool).get("name"))) is not None:
            reading.tools[name] = None
    for nth, choice in enumerate(choices):
        given = mapping(choice.get("message"))
        spoken = messages_of(given, None, reading.attachments)
        if not spoken:
            warn(reading.transcript, "lost_call", None, "a reply in the events that cannot be read may hold calls")
            continue
        reply = _known(reading, spoken[0])
        if reply is None:
            reply = spoken[0]
            thread = _thread(reading, place)
            thread.messages.extend([] if thread.messages else _prompt(reading, event))
            thread.messages.extend(spoken)
        reply.stop = word(choice.get("stop_reason"))
        reply.at_ms = at_ms
        reply.usage = usage if nth == 0 else reply.usage


def _known(reading: _Reading, reply: Message) -> Message | None:
    """The message of the sample that a reply is: by its id, by the calls that both make, or by what both say."""
    ids = [call.id for call in reply.tool_calls]
    found = reading.by_id.get(reply.id or "")
    if found is not None and {*ids} <= {call.id for call in found.tool_calls}:
        return found
    if not ids:
        return reading.by_text.get(reply.text)
    return reading.by_call[ids[0]] if reading.by_call.keys() >= {*ids} else None


def _prompt(reading: _Reading, event: Given) -> list[Message]:
    """What a thread's first reply answers: its own list, or ranges of the list that all events share."""
    items = sequence(event.get("input"))
    if not items:
        pool = sequence(reading.sample.get("message_pool"))
        pool = pool or sequence(mapping(reading.sample.get("events_data")).get("messages"))
        for bounds in sequence(event.get("input_refs")):
            first, last = ([*map(count, sequence(bounds)), None, None])[:2]
            items = items + pool[first:last] if first is not None and last is not None else items
            if len(items) > len(pool):
                break
    items = items[: reading.prompts_left]
    reading.prompts_left -= len(items)
    found = [message for item in items for message in messages_of(mapping(item), None, reading.attachments)]
    for message in found:
        message.copied = True
    return found


def _take_tool(reading: _Reading, place: Place, event: Given, results: Mapping[str | None, Message]) -> None:
    call_id = word(event.get("id"))
    at_ms = iso_ms(event.get("completed")) or iso_ms(event.get("timestamp"))
    if (span := word(event.get("agent_span_id"))) is not None and call_id is not None:
        reading.happened._starters.setdefault(span, call_id)
    if call_id is not None and call_id in reading.by_call:
        answer = results.get(call_id)
        if answer is not None and answer.tool_result is not None:
            answer.at_ms, answer.tool_result.seconds = at_ms, amount(event.get("working_time"))
        return
    if place.grading:
        return
    thread = _thread(reading, place)
    if not any(call.id == call_id for message in thread.messages for call in message.tool_calls):
        thread.messages.append(Message(0, "assistant", tool_calls=(_event_call(reading, event),), at_ms=at_ms))
    text = reading.attachments.value(event.get("result"), None)
    text = text if isinstance(text, str) else "" if text is None else written(text)
    answer_of = ToolResult(call_id, text, word(event.get("function")), is_error=bool(event.get("error")))
    thread.messages.append(Message(0, "tool", text, tool_result=answer_of, at_ms=at_ms))


def _event_call(reading: _Reading, event: Given) -> ToolCall:
    args = reading.attachments.value(event.get("arguments"), None)
    name, call_id = word(event.get("function")) or "", word(event.get("id")) or ""
    if isinstance(args, dict):
        return ToolCall(call_id, name, args, written(args))
    return ToolCall(call_id, name, None, "" if args is None else str(args), "the arguments are not a JSON object")


def _thread(reading: _Reading, place: Place) -> Thread:
    """The thread of the nearest agent's span, or of what stands in none."""
    if place.tool is not None:
        reading.happened._starters.setdefault(place.span, place.tool)
    return reading.threads.setdefault(place.span, Thread(place.span, [], name=place.name))


def usage_of(given: object) -> Usage | None:
    """Inspect's usage of a model: its input leaves the cache out, which ours includes."""
    usage = mapping(given)
    fresh, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    if fresh is None and output is None:
        return None
    read, wrote = count(usage.get("input_tokens_cache_read")), count(usage.get("input_tokens_cache_write"))
    whole = None if fresh is None else fresh + (read or 0) + (wrote or 0)
    return Usage(whole, output, read, wrote, count(usage.get("reasoning_tokens")))


def usages_of(given: object) -> Iterator[Usage]:
    """What each model used."""
    return (usage for usage in map(usage_of, mapping(given).values()) if usage is not None)

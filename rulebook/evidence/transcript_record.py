"""A foreign session's transcript as the facts that rules ask for."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from rulebook.evidence.formats import format_named
from rulebook.evidence.record import (
    ALL_FACTS,
    EVERYTHING,
    Call,
    Child,
    Delegated,
    EndRecord,
    EventRecord,
    Fact,
    Record,
    Spend,
    Wants,
)
from rulebook.evidence.transcript import Message, ToolCall, ToolResult, Transcript
from rulebook.evidence.transcript_events import children_of, counted_events, events_of, moments, told_events
from rulebook.outcome import Seen

_REPLIES: frozenset[Fact] = frozenset(("messages", "tool_calls", "results", "end", "usage", "events"))
_CONTENTS: frozenset[Fact] = frozenset(("messages", "tool_calls", "results"))

_LEFT_OPEN: dict[str, frozenset[Fact]] = {
    "usage_partial": frozenset(("usage",)),
    "usage_differs": frozenset(("usage",)),
    "subagent_missing": frozenset(("usage", "subagents")),
    "unread_exchange": _REPLIES,
    "split_conversation": _REPLIES,
    "lost_record": _REPLIES,
    "lost_call": frozenset(("tool_calls", "results")),
    "lost_message": frozenset(("messages",)),
    "content_not_captured": _CONTENTS,
    "lost_text": _CONTENTS,
    "no_messages": ALL_FACTS - {"end", "cost", "time"},
}
"""What each irregularity leaves open: tokens spent out of sight make a total too small to satisfy a limit."""

Status = Literal["ok", "error", "refused", "unfinished"]


def record_of(transcript: Transcript, wants: Wants = EVERYTHING) -> Record:
    """Fold a transcript into its facts. Threads of sub-agents count as children and not as turns or calls."""
    record = headed(transcript, wants, moments(transcript))
    if wants.said:
        record.messages = list(transcript.messages)
    _take_calls(record, transcript)
    _take_children(record, transcript)
    _take_events(record, transcript)
    return record


def headed(transcript: Transcript, wants: Wants, times: tuple[int | None, int | None]) -> Record:
    """The record of a transcript without its messages, calls and events; `times` are its first and last moments."""
    record = Record(
        format=transcript.source.format,
        title=title_of(transcript.source.format),
        session_id=transcript.session_id,
        wants=wants,
    )
    record.first_ms, record.last_ms = times
    record.gaps, record.unseen_calls = gaps_in(transcript), _unseen_calls(transcript)
    record.carries = _carried(transcript, record.gaps, record.first_ms)
    record.started = True
    record.sha256 = transcript.source.sha256
    record.excess = next((warning.text for warning in transcript.warnings if warning.code == "too_large"), "")
    record.possible_events = told_events(record.carries)
    record.models = list(transcript.models)
    record.outcome = transcript.outcome
    record.answers = transcript.answers if record.format == "karotte" else None
    record.warnings = [warning.text for warning in transcript.warnings]
    record.usage = transcript.usage if "usage" in record.carries else None
    record.spend = _spend(transcript)
    record.known_tools = _known_tools(transcript)
    if transcript.end.reason != "unknown":
        last = len(transcript.messages) - 1
        record.ends = [EndRecord(transcript.end, Seen(message=last if last >= 0 else None))]
    return record


def title_of(name: str) -> str:
    """What messages call a session of the format of that name, such as "this Claude Code session"."""
    known = format_named(name)
    return f"this {name} session" if known is None else f"this {re.sub('^(an?|the) ', '', known.title)}"


def carried(transcript: Transcript) -> frozenset[Fact]:
    """What this very session tells: its format's facts without those that its file leaves open."""
    return _carried(transcript, gaps_in(transcript), moments(transcript)[0])


def _carried(transcript: Transcript, gaps: Mapping[Fact, str], first_ms: int | None) -> frozenset[Fact]:
    known = format_named(transcript.source.format)
    facts = set(known.carries if known is not None else ALL_FACTS) - gaps.keys()
    if transcript.end.reason == "unknown":
        facts.discard("end")
    if transcript.usage is None or transcript.usage.total is None:
        facts.discard("usage")
    if first_ms is None:
        facts.discard("time")
    return frozenset(facts)


def gaps_in(transcript: Transcript) -> dict[Fact, str]:
    """What this session would tell if its file were whole, and what was lost."""
    gaps: dict[Fact, str] = {}
    for warning in transcript.warnings:
        for fact in _LEFT_OPEN.get(warning.code, ()):
            gaps.setdefault(fact, _placed(transcript, warning.text, warning.where))
    nameless = _nameless_call(transcript)
    if nameless is not None:
        told = _placed(transcript, "a call does not name its tool", nameless.src)
        gaps.setdefault("tool_calls", told)
        gaps.setdefault("results", told)
    return gaps


def _placed(transcript: Transcript, text: str, where: int | None) -> str:
    place = "line" if transcript.source.places == "lines" else "item"
    return text if where is None else f"{text} ({place} {where})"


def _unseen_calls(transcript: Transcript) -> str:
    lost = (warning for warning in transcript.warnings if warning.code == "subagent_missing")
    return next((_placed(transcript, warning.text, warning.where) for warning in lost), "")


def _nameless_call(transcript: Transcript) -> Message | None:
    """The first message with a call that does not say of which tool: it may be one of any."""
    threads = (transcript.messages, *(thread.messages for thread in transcript.threads))
    said = (message for messages in threads for message in messages)
    return next((message for message in said if any(not call.name for call in message.tool_calls)), None)


def _take_calls(record: Record, transcript: Transcript) -> None:
    for call in _calls_of(transcript.messages):
        record.call_count += 1
        record.tool_counts[call.name] = record.tool_counts.get(call.name, 0) + 1
        if call.name not in record.first_call:
            record.first_call[call.name] = call.seen
        if record.wants.order:
            record.calls.append(call)
    spoken = (message for message in transcript.messages if message.role == "assistant" and not message.copied)
    record.turns = sum(not message.injected for message in spoken)


def _calls_of(messages: list[Message], thread: str | None = None) -> Iterator[Call]:
    """The calls of one thread, joined with their results."""
    results: dict[str, ToolResult | None] = {}
    times: dict[str, int | None] = {}
    for message in messages:
        for call_id in _answered(message.tool_result):
            results.setdefault(call_id, message.tool_result)
            times.setdefault(call_id, message.at_ms)
    index = turn = 0
    for message in (message for message in messages if not message.copied):
        turn += message.role == "assistant" and not message.injected
        for given in message.tool_calls:
            call = _call(index, turn, message, given, results.get(given.id))
            call.thread = thread
            answered = times.get(given.id)
            if call.duration_s is None and message.at_ms is not None and answered is not None:
                call.duration_s = max(0, answered - message.at_ms) / 1000
            index += 1
            yield call


def _answered(result: ToolResult | None) -> list[str]:
    """The ids of the calls that a result is the answer to."""
    if result is None or (result.call_id is None and result.answers is None):
        return []
    return [result.call_id] if result.call_id is not None else list(result.answers or ())


def _call(index: int, turn: int, message: Message, given: ToolCall, result: ToolResult | None) -> Call:
    return Call(
        index=index,
        id=given.id,
        name=given.name,
        arguments=given.args,
        arguments_raw=given.args_raw,
        result=None if result is None else result.text,
        status=_status(result),
        turn=turn,
        duration_s=None if result is None else result.seconds,
        message=message.index,
    )


def _status(result: ToolResult | None) -> Status | None:
    if result is None:
        return "unfinished"
    if result.ran is False:
        return "refused"
    if result.is_error is None:
        return None
    return "error" if result.is_error else "ok"


def _take_children(record: Record, transcript: Transcript) -> None:
    places = {call.id: message.index for message in transcript.messages for call in message.tool_calls}
    for child in children_of(transcript):
        place = places.get(child.call_id)
        record.children[child.id] = Child(child.id, child.task, child.outcome, child.turns, Seen(message=place))
    for thread in transcript.threads:
        for given in (call for message in thread.messages if not message.copied for call in message.tool_calls):
            record.delegated[given.name] = record.delegated.get(given.name, 0) + 1
        if record.wants.order:
            calls = list(_calls_of(thread.messages, thread.id))
            record.threads.append(Delegated(thread.id, thread.parent_call_id, calls))


def _take_events(record: Record, transcript: Transcript) -> None:
    wants = record.wants
    if not wants.payloads:
        record.event_counts = counted_events(transcript)
        record.total_events = sum(record.event_counts.values())
        return
    for seq, event in enumerate(events_of(transcript)):
        record.event_counts[event.name] = record.event_counts.get(event.name, 0) + 1
        if wants.all_events or event.name in wants.events:
            record.events.append(EventRecord(seq, event.name, event.payload, event.at_ms, None))
    record.total_events = sum(record.event_counts.values())


def _spend(transcript: Transcript) -> Spend:
    """The session's cost, known as a whole or not at all."""
    cost = transcript.cost
    in_doubt = any(warning.code == "usage_differs" for warning in transcript.warnings)
    if cost.value is None or cost.currency is None or in_doubt:
        replies = sum(message.role == "assistant" and not message.copied for message in transcript.messages)
        return Spend(unpriced=max(1, replies))
    return Spend(amount=cost.value, currency=cost.currency, priced=1)


def _known_tools(transcript: Transcript) -> frozenset[str] | None:
    told = [event.data.get("names") for event in transcript.events if event.kind == "tools"]
    names = [name for listed in told if isinstance(listed, list) for name in listed if isinstance(name, str)]
    return frozenset(names) if told else None

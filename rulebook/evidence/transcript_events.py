"""A transcript told in the audit log's own events.

What an import writes, and what rules count on an imported session.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rulebook.evidence.record import Fact
from rulebook.evidence.transcript import Message, Thread, Transcript, Usage

_ALWAYS = frozenset(("session.start", "session.imported", "message"))
_TOLD_WITH: tuple[tuple[Fact, frozenset[str]], ...] = (
    ("tool_calls", frozenset(("tool.call",))),
    ("results", frozenset(("tool.result",))),
    ("usage", frozenset(("usage",))),
    ("subagents", frozenset(("session.spawn", "agent.complete"))),
    ("end", frozenset(("session.end",))),
)


class LoggedEvent(NamedTuple):
    """One event.

    Its name on the wire, its payload, and the time in milliseconds where the source states one.
    """

    name: str
    payload: Mapping[str, object]
    at_ms: int | None = None


class StartedAgent(NamedTuple):
    """One sub-agent; `outcome` is None when nothing answered its call."""

    id: str
    call_id: str
    task: str
    outcome: str | None
    turns: int


def told_events(carries: frozenset[Fact]) -> frozenset[str]:
    """The names of the events that a session which carries these facts would show.

    Nothing is known of any other.
    """
    return _ALWAYS.union(*(names for fact, names in _TOLD_WITH if fact in carries))


def events_of(transcript: Transcript) -> Iterator[LoggedEvent]:
    """The session in the log's order.

    Start, import, messages with their calls and results, sub-agents, end.

    Usage is without cache reads and writes, as the log counts it. An end that the source does not state has
    no event.
    """
    yield LoggedEvent("session.start", _start(transcript))
    yield LoggedEvent("session.imported", _imported(transcript))
    for message in transcript.messages:
        yield from _told(message)
    for thread in transcript.threads:
        yield from _thread(thread)
    for child in children_of(transcript):
        yield from _spawned(child)
    for happened in transcript.events:
        if happened.kind == "compaction":
            yield LoggedEvent("compaction", dict(happened.data), happened.at_ms)
    yield from _usages(transcript)
    if transcript.end.reason != "unknown":
        end = transcript.end
        raw = {} if end.raw is None else {"raw": end.raw}
        yield LoggedEvent("session.end", {"reason": end.reason, "detail": end.detail, **raw}, moments(transcript)[1])


def counted_events(transcript: Transcript) -> dict[str, int]:
    """How many events of each name there are, without telling one: what they hold costs more than all the rest."""
    own = [message for message in transcript.messages if not message.copied]
    started = children_of(transcript)
    counts = {
        "session.start": 1,
        "session.imported": 1,
        "tool.result": sum([message.tool_result is not None for message in own]),
        "message": len(transcript.messages) + sum(len(thread.messages) for thread in transcript.threads),
        "tool.call": sum([len(message.tool_calls) for message in own]),
        "session.spawn": len(started),
        "agent.complete": sum(child.outcome is not None for child in started),
        "compaction": sum(happened.kind == "compaction" for happened in transcript.events),
        "usage": len(_told_usages(transcript)),
        "session.end": int(transcript.end.reason != "unknown"),
    }
    return {name: count for name, count in counts.items() if count}


def moments(transcript: Transcript) -> tuple[int | None, int | None]:
    """The first and the last time that any message or event states."""
    times = [m.at_ms for m in transcript.messages if m.at_ms is not None]
    times += [m.at_ms for thread in transcript.threads for m in thread.messages if m.at_ms is not None]
    times += [event.at_ms for event in transcript.events if event.at_ms is not None]
    return (min(times), max(times)) if times else (None, None)


def children_of(transcript: Transcript) -> list[StartedAgent]:
    """The sub-agents that calls of the main thread started; how one ended is told by its call's result."""
    if not transcript.threads:
        return []
    results = {m.tool_result.call_id: m.tool_result for m in transcript.messages if m.tool_result is not None}
    found: list[StartedAgent] = []
    for thread in transcript.threads:
        if thread.parent_call_id is None:
            continue
        result = results.get(thread.parent_call_id)
        outcome = None if result is None else "died" if result.is_error else "finished"
        turns = sum(m.role == "assistant" and not m.injected and not m.copied for m in thread.messages)
        found.append(StartedAgent(thread.id, thread.parent_call_id, thread.name or "", outcome, turns))
    return found


def _start(transcript: Transcript) -> dict[str, object]:
    return {
        "agent_kind": transcript.agent_name or transcript.source.format,
        "model_alias": transcript.models[0] if transcript.models else "",
        "parent_session": transcript.parent_session or "",
        "spawn_chain": [],
    }


def _imported(transcript: Transcript) -> dict[str, object]:
    first, last = moments(transcript)
    known = {"source_started_ms": first, "source_ended_ms": last}
    return {
        "from": transcript.source.format,
        "source_path": transcript.source.path,
        "content_hash": transcript.source.sha256,
        "messages": len(transcript.messages),
        **{name: value for name, value in known.items() if value is not None},
    }


def _told(message: Message) -> Iterator[LoggedEvent]:
    """One message of the main thread: a result before the message that holds it, calls after theirs.

    What was copied from another session is a message and no more: its calls were made there.
    """
    if message.copied:
        yield LoggedEvent("message", _message(message), message.at_ms)
        return
    result = message.tool_result
    if result is not None:
        answer = {
            "call_id": result.call_id or "",
            "output": result.text,
            "truncated": result.truncated is True,
        }
        yield LoggedEvent("tool.result", {**answer, **_error(result.is_error)}, message.at_ms)
    yield LoggedEvent("message", _message(message), message.at_ms)
    for call in message.tool_calls:
        called = {"call_id": call.id, "tool": call.name, "arguments": call.args_raw}
        yield LoggedEvent("tool.call", called, message.at_ms)


def _thread(thread: Thread) -> Iterator[LoggedEvent]:
    """The messages of another thread, marked with its name; its calls are not the session's own."""
    for message in thread.messages:
        yield LoggedEvent("message", {**_message(message), "thread": thread.id}, message.at_ms)


def _spawned(child: StartedAgent) -> Iterator[LoggedEvent]:
    named = {"child_session": child.id, "child_agent_kind": child.task}
    yield LoggedEvent("session.spawn", {**named, "reason": child.task})
    if child.outcome is not None:
        told = {"outcome": child.outcome, "result": "", "scratchpad_path": ""}
        yield LoggedEvent("agent.complete", {**named, **told})


def _message(message: Message) -> dict[str, object]:
    content: list[dict[str, object]] = []
    result = message.tool_result
    if message.reasoning is not None:
        content.append({"reasoning": {"text": message.reasoning}})
    if result is not None:
        answer = {"call_id": result.call_id or "", "output": result.text, **_error(result.is_error)}
        content.append({"tool_result": answer})
    elif message.text:
        content.append({"text": message.text})
    for call in message.tool_calls:
        content.append({"tool_use": {"call_id": call.id, "tool": call.name, "arguments": call.args_raw}})
    alias = {"model_alias": message.model} if message.model else {}
    return {"role": message.role, "content": content, **alias}


def _error(is_error: bool | None) -> dict[str, object]:
    return {} if is_error is None else {"is_error": is_error}


def _usages(transcript: Transcript) -> Iterator[LoggedEvent]:
    for part, at_ms in _told_usages(transcript):
        yield LoggedEvent("usage", _exclusive(part), at_ms)


def _told_usages(transcript: Transcript) -> list[tuple[Usage, int | None]]:
    """One a reply where the replies say it, else one for the whole session; none where nothing is known."""
    usage = transcript.usage
    if usage is None or usage.input is None or usage.output is None:
        return []
    messages = [*transcript.messages, *(m for thread in transcript.threads for m in thread.messages)]
    single = [(m.usage, m.at_ms) for m in messages if m.usage is not None] if usage.source == "summed" else []
    given = single or [(usage, None)]
    return [(part, at_ms) for part, at_ms in given if part.input is not None and part.output is not None]


def _exclusive(usage: Usage) -> dict[str, object]:
    read, write = usage.cache_read or 0, usage.cache_write or 0
    return {
        "input_tokens": max(0, (usage.input or 0) - read - write),
        "output_tokens": usage.output or 0,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "cost": {"unknown": True},
    }

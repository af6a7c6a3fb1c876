"""A neutral transcript written as the events of an audit log, and rebuilt from them.

The events are the log's own, so that any reader of such logs understands them. What they cannot hold stands in
extra fields: on a `message` every field of the message that is not at its default, its `thread` when it is not of
the main one, `result` (what else is known of a tool's answer) and `text` (when it differs from that answer), on a
call `args` and `args_error`; on `session.imported` the `outcome`, the `warnings`, and in `transcript` all that
belongs to the session.
"""

import math
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, islice
from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import asdict, fields

from rulebook.evidence.log_events import Payload, completed, json_value
from rulebook.evidence.transcript import (
    Cost,
    End,
    Irregularity,
    Message,
    SideEvent,
    Source,
    Thread,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)
from rulebook.evidence.transcript_events import LoggedEvent, events_of, moments


def import_events(transcript: Transcript, imported_ms: int) -> Iterator[LoggedEvent]:
    """The events of the log of an imported session; without a time of their own they have the session's last one."""
    messages = chain(transcript.messages, *(thread.messages for thread in transcript.threads))
    last = moments(transcript)[1] or imported_ms
    for event in events_of(transcript):
        payload = dict(event.payload)
        if event.name == "message":
            payload = _message_payload(payload, next(messages))
        elif event.name == "session.imported":
            payload |= {"imported_ms": imported_ms, **_session_payload(transcript)}
        plain = {name: _plain(value) for name, value in payload.items()}
        time_ms = last if event.at_ms is None else event.at_ms
        yield LoggedEvent(event.name, completed(event.name, plain), time_ms)


class TranscriptBuilder:
    """Takes the `message` events of an imported log in order and ends as the transcript that it was made from."""

    def __init__(self, imported: Payload) -> None:
        """Raises KeyError or TypeError when `imported` does not hold a transcript."""
        session = imported["transcript"]
        self._messages: list[Message] = []
        self._others: list[Message] = []
        self._threads = [(Thread(messages=[], **thread), int(said)) for said, thread in _threads(session)]
        self._transcript = Transcript(
            Source(imported["from"], imported["source_path"], imported["content_hash"], **session["source"]),
            session["session_id"],
            session["parent_session"],
            session["agent_name"],
            list(session["models"]),
            events=[SideEvent(**event) for event in session["events"]],
            usage=None if session["usage"] is None else Usage(**session["usage"]),
            cost=Cost(**session["cost"]),
            end=End(**session["end"]),
            outcome=imported["outcome"],
            warnings=[Irregularity(**warning) for warning in imported["warnings"]],
        )

    def message(self, payload: Payload) -> None:
        """Take one `message`. Raises KeyError or TypeError when it was not written by `import_events`."""
        target = self._others if "thread" in payload else self._messages
        target.append(_message(payload, len(target)))

    def transcript(self) -> Transcript:
        """What was built."""
        others = iter(self._others)
        self._transcript.messages = self._messages
        self._transcript.threads = [thread for thread, _ in self._threads]
        for thread, size in self._threads:
            thread.messages = list(islice(others, size))
            for index, message in enumerate(thread.messages):
                message.index = index
        return self._transcript


def _session_payload(transcript: Transcript) -> dict[str, object]:
    source = {name: value for name, value in _told(transcript.source).items() if name.startswith(_SOURCE_FIELDS)}
    return {
        "outcome": dict(transcript.outcome),
        "warnings": [asdict(warning) for warning in transcript.warnings],
        "transcript": {
            "source": source,
            "session_id": transcript.session_id,
            "parent_session": transcript.parent_session,
            "agent_name": transcript.agent_name,
            "models": list(transcript.models),
            "usage": None if transcript.usage is None else asdict(transcript.usage),
            "cost": asdict(transcript.cost),
            "end": asdict(transcript.end),
            "events": [_told(event) for event in transcript.events],
            "threads": [_thread(thread) for thread in transcript.threads],
        },
    }


def _message_payload(payload: Payload, message: Message) -> dict[str, object]:
    """The event's own payload with what it leaves out of `message`."""
    extra = {name: value for name, value in _told(message).items() if name not in _IN_CONTENT}
    if message.usage is not None:
        extra["usage"] = asdict(message.usage)
    result = message.tool_result
    if result is not None:
        extra["result"] = {name: value for name, value in asdict(result).items() if name != "text"}
        if message.text != result.text:
            extra["text"] = message.text
    calls = iter(message.tool_calls)
    content = [_part(part, calls) for part in payload["content"]]
    return {**payload, **extra, "content": content}


def _part(part: Payload, calls: Iterator[ToolCall]) -> dict[str, object]:
    ((kind, value),) = part.items()
    if kind == "tool_result":
        return {kind: {**value, "is_error": value.get("is_error", False)}}
    if kind == "tool_use":
        call = next(calls)
        extra = {} if call.args_error is None else {"args_error": call.args_error}
        if call.args != json_value(call.args_raw):
            return {kind: {**value, "args": call.args, **extra}}
        return {kind: {**value, **extra}}
    return part


def _message(payload: Payload, index: int) -> Message:
    parts = [next(iter(part.items())) for part in payload["content"]]
    said = {name: payload[name] for name in _MESSAGE_FIELDS if name in payload}
    if "usage" in said:
        said["usage"] = Usage(**said["usage"])
    message = Message(index, payload["role"], **said)
    texts = [value for kind, value in parts if kind == "text"]
    message.text = "\n\n".join(texts)
    message.reasoning = next((value["text"] for kind, value in parts if kind == "reasoning"), None)
    message.tool_calls = tuple(_call(value) for kind, value in parts if kind == "tool_use")
    for kind, value in parts:
        if kind == "tool_result":
            message.tool_result = ToolResult(text=value["output"], **payload["result"])
            message.text = payload.get("text", value["output"])
    return message


def _call(part: Payload) -> ToolCall:
    raw = part["arguments"]
    args = part["args"] if "args" in part else json_value(raw)
    return ToolCall(part["call_id"], part["tool"], args, raw, part.get("args_error"))


def _thread(thread: Thread) -> dict[str, object]:
    """A thread with the number of its messages in place of them: those of all threads follow one another in the log."""
    return {**asdict(thread), "messages": len(thread.messages)}


def _threads(session: Payload) -> Iterator[tuple[int, Payload]]:
    for thread in session["threads"]:
        yield thread["messages"], {name: value for name, value in thread.items() if name != "messages"}


def _plain(value: object) -> object:
    """The value as JSON can hold it: a number that is not finite is unknown, what is not JSON at all is its text."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(name): _plain(part) for name, part in value.items()}
        case list() | tuple():
            return [_plain(part) for part in value]
        case _:
            return str(value)


def _told(value: Struct) -> dict[str, Any]:
    """The fields that are not at their defaults."""
    defaults = _defaults(type(value))
    return {name: got for name, got in asdict(value).items() if got != defaults[name]}


@cache
def _defaults(kind: type[Struct]) -> dict[str, Any]:
    return {f.name: f.default if f.default_factory is NODEFAULT else f.default_factory() for f in fields(kind)}


_SOURCE_FIELDS = ("format_version", "producer", "producer_version", "places", "part")
_IN_CONTENT = ("index", "role", "text", "reasoning", "tool_calls", "tool_result", "usage")
_MESSAGE_FIELDS = tuple(name for name in Message.__struct_fields__ if name not in _IN_CONTENT) + ("usage",)

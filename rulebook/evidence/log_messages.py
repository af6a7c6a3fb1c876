"""Messages of the neutral transcript, read from the `message` events of an audit log.

Beside what that format says itself, an imported session keeps here what its own format said: `id`, `stop`, `usage`,
`injected`, `hidden`, `thread`, `src`, `result` and `text` on the event, `args` and `args_error` on a call.
"""

from typing import Any

import orjson

from rulebook.evidence.log_events import Payload
from rulebook.evidence.transcript import Message, Role, ToolCall, ToolResult, Usage


def messages_of(payload: Payload, time_ms: int | None, first_index: int) -> list[Message]:
    """The messages of one event: one, or one a result where it holds several tool results."""
    parts = [next(iter(part.items())) for part in payload["content"]]
    texts = [value for kind, value in parts if kind == "text"]
    results = [value for kind, value in parts if kind == "tool_result"]
    messages = [_answer(payload, value, time_ms, first_index + n) for n, value in enumerate(results)]
    if texts or not results:
        reasoning = [value["text"] for kind, value in parts if kind == "reasoning"]
        message = _plain(payload, time_ms, first_index + len(results))
        message.text = "\n\n".join(texts)
        message.reasoning = "\n\n".join(reasoning) if reasoning else None
        message.tool_calls = tuple(tool_call(value) for kind, value in parts if kind == "tool_use")
        messages.append(message)
    return messages


def message_count(content: list[Any]) -> int:
    """How many messages `messages_of` reads from this content."""
    results = sum("tool_result" in part for part in content)
    return results + (results == 0 or any("text" in part for part in content))


def tool_call(part: Payload) -> ToolCall:
    """A call from a `tool_use` part, its arguments decoded from their text."""
    raw, fault = part["arguments"], part.get("args_error")
    if "args" in part or fault is not None:
        return ToolCall(part["call_id"], part["tool"], part.get("args"), raw, fault)
    try:
        value: Any = orjson.loads(raw)
    except ValueError as problem:
        return ToolCall(part["call_id"], part["tool"], None, raw, str(problem))
    if not isinstance(value, dict):
        return ToolCall(part["call_id"], part["tool"], None, raw, "it is not an object")
    return ToolCall(part["call_id"], part["tool"], value, raw)


def usage_from(said: Payload) -> Usage:
    """Tokens as the neutral transcript counts them; what is absent is unknown."""
    return Usage(**{name: said[name] for name in USAGE_FIELDS if name in said})


USAGE_FIELDS = ("input", "output", "cache_read", "cache_write", "reasoning", "requests", "source")
RESULT_FIELDS = ("call_id", "name", "is_error", "exit_code", "truncated", "seconds")


def _answer(payload: Payload, part: Payload, time_ms: int | None, index: int) -> Message:
    message = _plain(payload, time_ms, index)
    message.role = "tool"
    message.text = payload.get("text", part["output"])
    message.tool_result = ToolResult(part["call_id"], part["output"], is_error=part["is_error"])
    said = payload.get("result") or {}
    for name in RESULT_FIELDS:
        if name in said:
            setattr(message.tool_result, name, said[name])
    return message


def _plain(payload: Payload, time_ms: int | None, index: int) -> Message:
    return Message(
        index,
        _role(payload["role"]),
        id=payload.get("id"),
        at_ms=time_ms,
        model=payload.get("model_alias") or None,
        stop=payload.get("stop"),
        usage=usage_from(payload["usage"]) if isinstance(payload.get("usage"), dict) else None,
        injected=payload.get("injected") is True,
        hidden=payload.get("hidden") is True,
        src=payload.get("src"),
    )


def _role(word: str) -> Role:
    match word:
        case "system" | "user" | "assistant" | "tool":
            return word
        case _:
            return "system"

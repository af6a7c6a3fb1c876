"""Messages of the neutral transcript, read from the `message` events of an audit log."""

from rulebook.evidence.log_events import Payload, json_value
from rulebook.evidence.transcript import Message, Role, ToolCall, ToolResult


def messages_of(payload: Payload, time_ms: int, first_index: int) -> list[Message]:
    """The messages of one event: one for each tool result, and one more for what else it says.

    An assistant's reply is always one, even an empty one, since it is a turn.
    """
    parts = [next(iter(part.items())) for part in payload["content"]]
    texts = [value for kind, value in parts if kind == "text"]
    results = [value for kind, value in parts if kind == "tool_result"]
    messages = [_answer(value, time_ms, first_index + n) for n, value in enumerate(results)]
    if texts or not results or payload["role"] == "assistant":
        alias = payload.get("model_alias")
        reasoning = [value["text"] for kind, value in parts if kind == "reasoning"]
        message = Message(
            first_index + len(results),
            _role(payload["role"]),
            "\n\n".join(texts),
            reasoning="\n\n".join(reasoning) if reasoning else None,
            tool_calls=tuple(_call(value) for kind, value in parts if kind == "tool_use"),
            at_ms=time_ms,
            model=alias if isinstance(alias, str) and alias else None,
            injected=payload.get("injected") is True,
            hidden=payload.get("hidden") is True,
        )
        messages.append(message)
    return messages


def _answer(part: Payload, time_ms: int, index: int) -> Message:
    result = ToolResult(part["call_id"], part["output"], is_error=part["is_error"])
    return Message(index, "tool", part["output"], tool_result=result, at_ms=time_ms)


def _call(part: Payload) -> ToolCall:
    raw = part["arguments"]
    value = json_value(raw)
    fault = None if isinstance(value, dict) else "the arguments are not a JSON object"
    return ToolCall(part["call_id"], part["tool"], value if fault is None else None, raw, fault)


def _role(word: str) -> Role:
    """The role; an unknown one is never read as the user's or the assistant's."""
    match word:
        case "user" | "assistant" | "tool":
            return word
        case _:
            return "system"

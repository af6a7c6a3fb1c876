"""One recorded exchange of Anthropic's Messages API."""

from collections.abc import Mapping

from rulebook.evidence.formats.anthropic_blocks import is_message, is_own, messages_of, system_message
from rulebook.evidence.formats.claude_blocks import usage_of
from rulebook.evidence.formats.exchanges import Exchange, Told, failed, offered
from rulebook.evidence.session_files.values import mapping, sequence, word
from rulebook.evidence.transcript import End, EndReason

_ENDS: dict[str, EndReason] = {
    "end_turn": "finished",
    "stop_sequence": "finished",
    "max_tokens": "truncated_output",
    "refusal": "refused_by_model",
    "model_context_window_exceeded": "context_limit",
}


def told_by_anthropic(exchange: Exchange) -> Told | None:
    """What the exchange says; None when it is none of the Messages API, or cannot be read."""
    given = sequence(exchange.asked.get("messages"))
    if not exchange.alone and not (given and all(is_message(message) for message in given)):
        return None
    told = Told(exchange, "anthropic_messages", system_message(exchange.asked.get("system")))
    for message in given:
        messages, faults = messages_of(mapping(message), exchange.index)
        told.asked += messages
        told.faults += faults
    told.tools = offered(mapping(tool).get("name") for tool in sequence(exchange.asked.get("tools")))
    told.error = exchange.failure
    if is_reply(exchange.answered):
        _take_reply(told, exchange.answered)
    elif told.error is None or exchange.alone or not _asks_anthropic(exchange):
        return None
    if told.error is not None:
        told.end = failed(exchange, told.error)
    return told


def is_reply(body: Mapping[str, object]) -> bool:
    """Whether a body is a whole reply."""
    return body.get("type") == "message" and body.get("role") == "assistant" and isinstance(body.get("content"), list)


def is_request(body: Mapping[str, object]) -> bool:
    """Whether the body of a request, or a bare one, has what only this provider's have."""
    tools = [mapping(tool) for tool in sequence(body.get("tools"))]
    told = "system" in body or "anthropic_version" in body or any("input_schema" in tool for tool in tools)
    messages = sequence(body.get("messages"))
    return all(is_message(message) for message in messages) and (told or any(is_own(message) for message in messages))


def end_of(stop: str | None) -> End:
    """The end of a session whose last reply stopped for this reason."""
    return End(_ENDS.get(stop or "", "unknown"), "", stop)


def _asks_anthropic(exchange: Exchange) -> bool:
    """Whether a request that failed was one for this provider: a failure looks much the same everywhere."""
    headers = {str(name).lower() for name in exchange.headers}
    told = exchange.path.endswith("/messages") or "anthropic-version" in headers
    return told or exchange.answered.get("type") == "error" or is_request(exchange.asked)


def _take_reply(told: Told, body: Mapping[str, object]) -> None:
    messages, faults = messages_of(body, told.exchange.index)
    reply = messages[0]
    reply.model = word(body.get("model"))
    reply.stop = word(body.get("stop_reason"))
    reply.usage = usage_of(body)
    told.reply, told.faults = messages, told.faults + faults
    told.end = end_of(reply.stop)

"""One recorded exchange of Chat Completions."""

from collections.abc import Mapping

from rulebook.evidence.formats.chat_messages import (
    calls_of,
    foreign_part,
    has_role,
    message_of,
    reasoning_of,
    refusal_of,
    unread_parts,
    usage_of,
)
from rulebook.evidence.formats.exchanges import Exchange, Told, failed, offered
from rulebook.evidence.session_files.values import count, mapping, sequence, word
from rulebook.evidence.transcript import End, EndReason, Message

_ENDS: dict[str, EndReason] = {
    "stop": "finished",
    "length": "truncated_output",
    "content_filter": "refused_by_model",
}


def told_by_chat(exchange: Exchange) -> Told | None:
    """What the exchange says; None when it is none of Chat Completions, or cannot be read."""
    given = sequence(exchange.asked.get("messages"))
    if not exchange.alone and not (given and all(has_role(m) and foreign_part(mapping(m)) is None for m in given)):
        return None
    messages = [message_of(mapping(message), exchange.index) for message in given]
    told = Told(exchange, "openai_chat", [message for message in messages if message is not None])
    told.faults += (fault for message in given for fault in unread_parts(mapping(message)))
    functions = [mapping(mapping(tool).get("function")) for tool in sequence(exchange.asked.get("tools"))]
    told.tools = offered(function.get("name") for function in functions)
    choices = [mapping(choice) for choice in sequence(exchange.answered.get("choices"))]
    if choices:
        _take_reply(told, exchange.answered, choices)
        return told
    told.error = exchange.failure
    if told.error is None or exchange.alone:
        return None
    told.end = failed(exchange, told.error)
    return told


def refused(message: Mapping[str, object]) -> End | None:
    """The end of a session whose last message is a refusal; None when it is none."""
    words = refusal_of(message)
    return None if words is None else End("refused_by_model", words[:500])


def _take_reply(told: Told, body: Mapping[str, object], choices: list[Mapping[str, object]]) -> None:
    given, raw = mapping(choices[0].get("message")), word(choices[0].get("finish_reason"))
    message = message_of({**given, "role": "assistant"}, told.exchange.index) or Message(0, "assistant")
    message.id = word(body.get("id"))
    message.model = word(body.get("model"))
    message.stop = raw
    message.usage = usage_of(body.get("usage"))
    message.reasoning = reasoning_of(given)
    created = count(body.get("created"))
    message.at_ms = None if created is None else created * 1000
    told.reply = [message]
    told.faults += unread_parts({**given, "role": "assistant"})
    refusal = refused(given)
    told.end = (
        End(_ENDS.get(raw or "", "unknown"), "", raw) if refusal is None else End(refusal.reason, refusal.detail, raw)
    )
    if any(calls_of(mapping(choice.get("message"))) for choice in choices[1:]):
        told.faults.append(("lost_call", "a reply has several choices, and tools are called in one that was not taken"))

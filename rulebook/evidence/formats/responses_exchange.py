"""One recorded exchange of OpenAI's Responses API."""

from collections.abc import Mapping

from rulebook.evidence.formats.exchanges import Exchange, Told, failed, offered
from rulebook.evidence.formats.response_items import Items, taken
from rulebook.evidence.session_files.values import count, joined, mapping, seconds_ms, sequence, word
from rulebook.evidence.transcript import End, EndReason, Message, Usage

_INCOMPLETE: dict[str, EndReason] = {
    "max_output_tokens": "truncated_output",
    "content_filter": "refused_by_model",
}

_CLIENT_RAN = frozenset(
    ("function_call_output", "custom_tool_call_output", "computer_call_output", "local_shell_call_output")
)

Stored = Mapping[str, Mapping[str, object]]
"""The items of earlier replies by their id."""


def told_by_responses(exchange: Exchange, stored: Stored) -> Told | None:
    """What the exchange says; None when it is none of the Responses API, or cannot be read."""
    asked, answered = exchange.asked, exchange.answered
    if not exchange.alone and not isinstance(asked.get("input"), str | list):
        return None
    given = items_of_input(asked.get("input"))
    items = taken(given, exchange.index, stored)
    told = Told(exchange, "openai_responses", [*instructions(asked), *items.messages])
    told.tools = offered(map(tool_name, sequence(asked.get("tools"))))
    told.after = word(asked.get("previous_response_id")) or word(answered.get("previous_response_id"))
    told.events = items.events
    told.faults = [(code, text) for code, _, text in items.faults]
    if (asked.get("conversation") or answered.get("conversation")) and told.after is None:
        told.faults.append(("unread_exchange", "the conversation is kept by the provider, and not in the file"))
    if is_response(answered):
        _take_reply(told, answered, stored)
        return told
    told.error = exchange.failure
    if told.error is None or exchange.alone or exchange.path.endswith(("/embeddings", "/moderations", "/speech")):
        return None
    told.end = failed(exchange, told.error)
    return told


def is_response(body: Mapping[str, object]) -> bool:
    """Whether a body is a response: it says so, or has output of items with a type."""
    output = sequence(body.get("output"))
    items = bool(output) and all(word(mapping(item).get("type")) for item in output)
    return body.get("object") == "response" or items


def items_of_input(given: object) -> list[object]:
    """The items that a request gives; a text alone is what the user says."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else sequence(given)


def instructions(asked: Mapping[str, object]) -> list[Message]:
    """The instructions, which stand beside the input and are not kept from one request to the next."""
    given = asked.get("instructions")
    return [Message(0, "system", given)] if isinstance(given, str) and given else []


def tool_name(tool: object) -> str | None:
    """The name of an offered tool; one of the provider's own is called by its type."""
    given = mapping(tool)
    kind = word(given.get("type")) or ""
    return word(given.get("name")) or (None if kind == "mcp" else kind.partition("_preview")[0] or None)


def usage_of(given: object) -> Usage | None:
    """The usage of one response, or of several; `input_tokens` already includes what came from the cache."""
    usage = mapping(given)
    sent, written = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    if sent is None and written is None:
        return None
    before, after = _detail(usage.get("input_tokens_details")), _detail(usage.get("output_tokens_details"))
    return Usage(
        input=sent,
        output=written,
        cache_read=count(before.get("cached_tokens")),
        cache_write=count(before.get("cache_write_tokens")),
        reasoning=count(after.get("reasoning_tokens")),
    )


def end_of(body: Mapping[str, object], items: Items) -> End:
    """The end of a session whose last response is this one."""
    status = word(body.get("status"))
    if status == "incomplete":
        reason = word(mapping(body.get("incomplete_details")).get("reason"))
        return End(_INCOMPLETE.get(reason or "", "unknown"), "", reason or status)
    if status == "failed":
        error = mapping(body.get("error"))
        limited = error.get("code") == "rate_limit_exceeded"
        return End("rate_limited" if limited else "errored", (word(error.get("message")) or "")[:500], status)
    if status == "cancelled":
        return End("canceled_by_user", "", status)
    if items.refusal is not None:
        return End("refused_by_model", items.refusal[:500], status)
    return End("finished" if status == "completed" else "unknown", "", status)


def _detail(given: object) -> Mapping[str, object]:
    """The parts of a usage, which some store as a list of one."""
    return mapping(next(iter(given), None)) if isinstance(given, list) else mapping(given)


def _take_reply(told: Told, body: Mapping[str, object], stored: Stored) -> None:
    items = taken(sequence(body.get("output")), told.exchange.index, stored)
    reply = _as_one([message for message in items.messages if message.role == "assistant"], told.exchange.index)
    reply.id = word(body.get("id"))
    reply.model = word(body.get("model"))
    reply.stop = word(mapping(body.get("incomplete_details")).get("reason")) or word(body.get("status"))
    reply.usage = usage_of(body.get("usage"))
    reply.at_ms = seconds_ms(body.get("created_at"))
    if _CLIENT_RAN & {str(mapping(item).get("type")) for item in sequence(body.get("output"))}:
        told.reply = _as_steps(items.messages, reply)
    else:
        # the results of hosted tools may stand between the parts of a reply: they are told after it
        told.reply = [reply, *(message for message in items.messages if message.role == "tool")]
    told.events += items.events
    told.faults += [(code, text) for code, _, text in items.faults]
    told.end = end_of(body, items)


def _as_steps(messages: list[Message], whole: Message) -> list[Message]:
    """The steps of a loop that some frameworks store as one response: its usage is of no single one of them."""
    for message in messages:
        if message.role == "assistant":
            message.id, message.model, message.at_ms = whole.id, whole.model, whole.at_ms
    if messages[0].role != "assistant":
        messages.insert(0, Message(0, "assistant", src=whole.src))
    return messages


def _as_one(parts: list[Message], src: int) -> Message:
    """The parts of one reply as one message."""
    return Message(
        0,
        "assistant",
        joined([part.text for part in parts if part.text]),
        reasoning=joined([part.reasoning for part in parts if part.reasoning]) or None,
        tool_calls=tuple(call for part in parts for call in part.tool_calls),
        src=src,
    )

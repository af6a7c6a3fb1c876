"""Recorded requests and responses (VCR cassettes) of Chat Completions, stitched into conversations."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.chat_messages import (
    calls_of,
    has_role,
    message_of,
    reasoning_of,
    text_of,
    usage_of,
)
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.values import count, mapping, parsed, sequence, word, written
from rulebook.evidence.transcript import Message, SideEvent, Thread, Transcript

_MODEL_PATHS = ("completions", "responses", "messages", "generateContent", "/chat", "/generate")


class Exchange(Struct):
    """One recorded request. `messages` is None when it is no Chat Completions request.

    `seen` then says what it is, and `to_model` whether a model may have been asked by it all the same.
    """

    index: int
    messages: list[Mapping[str, object]] | None
    seen: str
    to_model: bool = False
    reply: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] = field(default_factory=dict)
    request: Mapping[str, object] = field(default_factory=dict)
    status: int | None = None


def exchanges_of(root: object) -> list[Exchange]:
    """The recorded exchanges, in order."""
    return [_exchange(index, mapping(entry)) for index, entry in enumerate(sequence(mapping(root).get("interactions")))]


def stitch(transcript: Transcript, exchanges: list[Exchange]) -> Exchange | None:
    """Fill `transcript` from its exchanges and return the last one of the main thread.

    None when not one of them can be read.

    A request whose messages begin with all of an earlier request's goes on with that conversation; the
    longest is the main thread, and the others (a judge, a title) are threads of their own.
    """
    chains: list[list[Exchange]] = []
    for exchange in exchanges:
        if exchange.messages is None:
            continue
        chain = next((chain for chain in reversed(chains) if _goes_on(chain[-1], exchange)), None)
        if chain is None:
            chains.append(chain := [])
        chain.append(exchange)
    if not chains:
        return None
    unread = [exchange for exchange in exchanges if exchange.messages is None]
    main = max(chains, key=lambda chain: len(chain[-1].messages or ()))
    transcript.messages = _conversation(transcript, main)
    others = [chain for chain in chains if chain is not main]
    transcript.threads = [Thread(f"exchange-{chain[0].index}", _conversation(transcript, chain)) for chain in others]
    asked = sum(exchange.to_model for exchange in unread)
    code = "unknown_record" if asked <= _from_elsewhere(transcript.messages, main) else "unread_exchange"
    for exchange in unread:
        warn(transcript, code, exchange.index, f"an exchange that is no Chat Completions request: {exchange.seen}")
    beside = next((t for t in transcript.threads if any(m.tool_calls for m in t.messages)), None)
    if beside is not None:
        text = f"tools were called in `{beside.id}`, which is not the main conversation"
        warn(transcript, "split_conversation", None, text)
    return main[-1]


def _from_elsewhere(messages: list[Message], chain: list[Exchange]) -> int:
    """How many replies the conversation holds that none of its own exchanges brought."""
    brought = {len(exchange.messages or ()) for exchange in chain if exchange.reply}
    return sum(message.role == "assistant" for message in messages) - len(brought)


def _exchange(index: int, entry: Mapping[str, object]) -> Exchange:
    request, response = mapping(entry.get("request")), mapping(entry.get("response"))
    asked, body = _body(request), _body(response)
    address = word(request.get("uri")) or word(request.get("url")) or ""
    seen = f"a request to `{address or 'an unknown address'}`"
    messages = sequence(asked.get("messages"))
    choices = [mapping(choice) for choice in sequence(body.get("choices"))]
    readable = bool(messages) and all(has_role(message) for message in messages)
    if not readable or not (choices or "error" in body):
        return Exchange(index, None, seen, to_model=_asks_a_model(address))
    status = count(mapping(response.get("status")).get("code")) or count(response.get("status_code"))
    reply = choices[0] if choices else {}
    return Exchange(index, [mapping(message) for message in messages], seen, True, reply, body, asked, status)


def _asks_a_model(address: str) -> bool:
    """Whether the address, empty when unknown, is one at which models answer."""
    path = address.partition("?")[0].rstrip("/")
    return not path or path.endswith(_MODEL_PATHS)


def _body(side: Mapping[str, object]) -> Mapping[str, object]:
    """A body, which recorders store parsed, or as text, or as text below `string`."""
    if "parsed_body" in side:
        return mapping(side["parsed_body"])
    body = side.get("body")
    text = mapping(body).get("string", body)
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        return mapping(body)
    try:
        return mapping(parsed(text))
    except ValueError:
        return {}


def _goes_on(earlier: Exchange, later: Exchange) -> bool:
    before, after = earlier.messages or [], later.messages or []
    return len(before) <= len(after) and all(_likeness(a) == _likeness(b) for a, b in zip(before, after, strict=False))


def _likeness(message: Mapping[str, object]) -> tuple[str, str, str]:
    calls = [(call.name, call.args_raw) for call in calls_of(message)]
    return str(message.get("role")), text_of(message.get("content")), written(calls)


def _conversation(transcript: Transcript, chain: list[Exchange]) -> list[Message]:
    """The last request's messages and its reply, every reply with what its response said of it."""
    last = chain[-1]
    messages: list[Message] = []
    places: dict[int, Message] = {}
    for position, given in enumerate(last.messages or []):
        message = message_of(given, last.index)
        if message is not None:
            places[position] = message
            messages.append(message)
    if last.reply:
        reply = message_of({"role": "assistant", **mapping(last.reply.get("message"))}, last.index)
        if reply is not None:
            places[len(last.messages or [])] = reply
            messages.append(reply)
    for exchange in chain:
        answered = places.get(len(exchange.messages or []))
        _note(transcript, exchange)
        if answered is None or answered.role != "assistant":
            continue
        if exchange.reply:
            _enrich(answered, exchange)
        elif not any(other.reply and len(other.messages or []) == len(exchange.messages or []) for other in chain):
            _mark_not_run(answered, messages)
    return messages


def _mark_not_run(refused: Message, messages: list[Message]) -> None:
    """Mark the results of a reply that the provider refused: the client made them up, and no call ran."""
    ids = {call.id for call in refused.tool_calls}
    for message in messages:
        if message.tool_result is not None and message.tool_result.call_id in ids:
            message.tool_result.ran = False


def _enrich(message: Message, exchange: Exchange) -> None:
    given = mapping(exchange.reply.get("message"))
    message.src = exchange.index
    message.id = word(exchange.body.get("id"))
    message.model = word(exchange.body.get("model"))
    message.stop = word(exchange.reply.get("finish_reason"))
    message.usage = usage_of(exchange.body.get("usage"))
    message.reasoning = message.reasoning or reasoning_of(given)
    created = count(exchange.body.get("created"))
    message.at_ms = None if created is None else created * 1000


def _note(transcript: Transcript, exchange: Exchange) -> None:
    """Note what is no message: the tools that were offered, and an error instead of a reply."""
    tools = [mapping(mapping(tool).get("function")).get("name") for tool in sequence(exchange.request.get("tools"))]
    names = [name for name in tools if isinstance(name, str)]
    if names:
        transcript.events.append(SideEvent("tools", {"names": names}, src=exchange.index))
    if exchange.reply:
        return
    error = mapping(exchange.body.get("error"))
    data = {
        "code": str(error.get("code", "")),
        "message": str(error.get("message", ""))[:500],
        "status": exchange.status or 0,
    }
    failed = word(error.get("failed_generation"))
    if failed is not None:
        data["failed_generation"] = failed[:2000]
    transcript.events.append(SideEvent("api_error", data, src=exchange.index))

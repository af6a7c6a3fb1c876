"""Spans in the words of the GenAI conventions: attributes with messages as JSON text, and the older events.

Source: OpenTelemetry semantic conventions for generative AI; the flattened prompts of OpenLLMetry.
"""

from collections.abc import Iterator, Mapping

from rulebook.evidence.formats.chat_messages import call_of
from rulebook.evidence.formats.otel_parts import content_of, listed_under, messages_of, result_text
from rulebook.evidence.formats.otel_spans import Span, SpanEvent
from rulebook.evidence.formats.span_steps import Kind, Ran, Told
from rulebook.evidence.session_files.values import count, mapping, sequence, word
from rulebook.evidence.transcript import Message, Usage

_NO_MODEL = frozenset(
    ("embeddings", "create_agent", "invoke_workflow", "retrieval", "handoff", "rerank", "plan", "execute_tool")
)
_DETAILS = "gen_ai.client.inference.operation.details"
_ASKED_EVENTS = ("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message")
_BODIES = ("gen_ai.event.content", "event.body", "body")


def kind(span: Span) -> Kind | None:
    """What the span is, if it is in these words."""
    attributes = span.attributes
    operation = word(attributes.get("gen_ai.operation.name"))
    entity = attributes.get("traceloop.span.kind")
    if operation == "execute_tool" or entity == "tool" or (operation is None and "gen_ai.tool.name" in attributes):
        return "tool"
    if operation in ("invoke_agent", "agent") or entity in ("agent", "workflow"):
        return "agent"
    if operation in _NO_MODEL or attributes.get("llm.request.type") == "embedding":
        return "other"
    asks = any(key in attributes for key in ("gen_ai.request.model", "gen_ai.response.model", "gen_ai.output.messages"))
    if operation is not None or asks:
        return "model" if asks or "gen_ai.usage.output_tokens" in attributes else "other"
    return None


def told(span: Span) -> Told:
    """What a model call, or an agent as a whole, says."""
    attributes = span.attributes
    found = Told(
        stop=_stop(attributes),
        model=word(attributes.get("gen_ai.response.model")) or word(attributes.get("gen_ai.request.model")),
        reply_id=word(attributes.get("gen_ai.response.id")),
        usage=usage(attributes),
        tools=_tools(attributes.get("gen_ai.tool.definitions")),
    )
    _of_attributes(found, span)
    for event in _events(span):
        _of_event(found, event, span.src)
    return found


def ran(span: Span) -> Ran:
    """What a tool's span says."""
    attributes = span.attributes
    name = word(attributes.get("gen_ai.tool.name")) or word(attributes.get("traceloop.entity.name"))
    result = _first(attributes, "gen_ai.tool.call.result", "tool_response", "traceloop.entity.output")
    return Ran(
        name or span.name.removeprefix("execute_tool "),
        word(attributes.get("gen_ai.tool.call.id")),
        _first(attributes, "gen_ai.tool.call.arguments", "tool_arguments", "traceloop.entity.input"),
        None if result is None else result_text(result),
        _failed(span),
    )


def usage(attributes: Mapping[str, object]) -> Usage | None:
    """The tokens of one call. The conventions count the cache into the input, and older writers do not."""
    given = _tokens(attributes, "input_tokens", "prompt_tokens")
    output = _tokens(attributes, "output_tokens", "completion_tokens")
    if given is None and output is None:
        return None
    read = _tokens(attributes, "cache_read.input_tokens", "cache_read_input_tokens")
    wrote = _tokens(attributes, "cache_creation.input_tokens", "cache_creation_input_tokens")
    cached = (read or 0) + (wrote or 0)
    if given is not None and cached > given:
        given += cached
    thought = _tokens(attributes, "reasoning.output_tokens", "reasoning_tokens", "details.reasoning_tokens")
    return Usage(given, output, cache_read=read, cache_write=wrote, reasoning=thought)


def _tokens(attributes: Mapping[str, object], *names: str) -> int | None:
    return next((n for name in names if (n := count(attributes.get(f"gen_ai.usage.{name}"))) is not None), None)


def _of_attributes(found: Told, span: Span) -> None:
    places = [span.attributes, *(event.attributes for event in span.events if event.name == _DETAILS)]
    for attributes in places:
        if found.asked is None:
            found.asked = _messages(attributes, "gen_ai.input.messages", span.src, found.damaged)
            rules = _messages(attributes, "gen_ai.system_instructions", span.src, found.damaged, "system")
            if rules and found.asked is not None:
                found.asked = [*_one(rules), *found.asked]
        if found.replies is None:
            found.replies = _messages(attributes, "gen_ai.output.messages", span.src, found.damaged, "assistant")
            found.stop = found.stop or _spoken_stop(attributes.get("gen_ai.output.messages"))
    for key, role in (("gen_ai.prompt", "user"), ("gen_ai.completion", "assistant")):
        listed = listed_under(span.attributes, key)
        if listed is not None:
            said = [m for item in listed for m in messages_of(_unflat(item), span.src, found.damaged, role)]
            if role == "user":
                found.asked = found.asked if found.asked is not None else said
            else:
                found.replies = found.replies if found.replies is not None else said
                found.stop = found.stop or word(listed[-1].get("finish_reason"))


def _messages(
    attributes: Mapping[str, object], key: str, src: int | None, damaged: list[str], role: str = "user"
) -> list[Message] | None:
    if key not in attributes:
        return None
    try:
        value = content_of(attributes[key])
    except ValueError:
        damaged.append(f"`{key}`, which is not valid JSON")
        return None
    if not isinstance(value, str | list | dict):
        damaged.append(f"`{key}`, which holds no messages")
        return None
    return messages_of(value, src, damaged, role)


def _one(rules: list[Message]) -> list[Message]:
    """Instructions, which are a list of parts and not of messages, as one message."""
    return [Message(0, "system", "\n\n".join(rule.text for rule in rules), src=rules[0].src)]


def _unflat(item: Mapping[str, object]) -> dict[str, object]:
    """A flattened message with its calls as a list, and its content out of JSON text where that is a list of parts."""
    listed = listed_under(item, "tool_calls")
    calls = [] if listed is None else [dict(call) for call in listed]
    content = item.get("content")
    try:
        content = content_of(content)
    except ValueError:
        content = item.get("content")
    kept = {key: item[key] for key in ("role", "tool_call_id", "name", "reasoning") if key in item}
    return {**kept, "content": content if isinstance(content, list) else item.get("content"), "tool_calls": calls}


def _events(span: Span) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The older events by name with their bodies: as span events, and as one attribute that lists them."""
    for noted in span.events:
        yield noted.name, _body(noted)
    try:
        listed = content_of(span.attributes.get("events"))
    except ValueError:
        return
    for event in map(mapping, sequence(listed)):
        yield word(event.get("event.name")) or "", event


def _body(event: SpanEvent) -> Mapping[str, object]:
    for key in _BODIES:
        if key in event.attributes:
            try:
                body = content_of(event.attributes[key])
            except ValueError:
                return {"damaged": key}
            return mapping(body) if isinstance(body, dict) else {"content": body}
    return event.attributes


def _of_event(found: Told, event: tuple[str, Mapping[str, object]], src: int | None) -> None:
    name, body = event
    if name in _ASKED_EVENTS and ("content" in body or "tool_calls" in body):
        said = messages_of({"role": name.split(".")[1], **_text_calls(body, found)}, src, found.damaged)
        found.asked = [*(found.asked or []), *said]
    elif name == "gen_ai.choice":
        found.stop = found.stop or word(body.get("finish_reason"))
        inner = mapping(_parsed(body.get("message"), found)) or body
        if "content" in inner or "tool_calls" in inner:
            said = messages_of({**_text_calls(inner, found), "role": "assistant"}, src, found.damaged, "assistant")
            found.replies = [*(found.replies or []), *said]
    elif name == "gen_ai.content.prompt" and found.asked is None:
        found.asked = _messages(body, "gen_ai.prompt", src, found.damaged)
    elif name == "gen_ai.content.completion" and found.replies is None:
        found.replies = _messages(body, "gen_ai.completion", src, found.damaged, "assistant")
    if "damaged" in body:
        found.damaged.append(f"the event `{name[:60]}`")


def _text_calls(body: Mapping[str, object], found: Told) -> dict[str, object]:
    return {**body, "tool_calls": _parsed(body["tool_calls"], found)} if "tool_calls" in body else dict(body)


def _parsed(value: object, found: Told) -> object:
    try:
        return content_of(value)
    except ValueError:
        found.damaged.append("an event's calls, which are not valid JSON")
        return None


def _stop(attributes: Mapping[str, object]) -> str | None:
    given = attributes.get("gen_ai.response.finish_reasons", attributes.get("gen_ai.response.finish_reason"))
    try:
        value = content_of(given)
    except ValueError:
        return None
    words = [word(item) for item in (value if isinstance(value, list) else [value])]
    return words[-1] if words else None


def _spoken_stop(given: object) -> str | None:
    try:
        listed = sequence(content_of(given))
    except ValueError:
        return None
    return word(mapping(listed[-1]).get("finish_reason")) if listed else None


def _tools(given: object) -> list[str]:
    try:
        listed = map(mapping, sequence(content_of(given)))
    except ValueError:
        return []
    names = [call_of("", mapping(tool.get("function")) or tool).name for tool in listed]
    return [name for name in names if name]


def _first(attributes: Mapping[str, object], *keys: str) -> object:
    return next((attributes[key] for key in keys if key in attributes), None)


def _failed(span: Span) -> bool | None:
    if span.status == "error" or "error.type" in span.attributes:
        return True
    return False if span.status == "ok" else None

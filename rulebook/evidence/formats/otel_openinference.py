"""Spans in OpenInference's words: `llm.input_messages.0.message.role`, flattened or as a list.

Source: OpenInference, semantic conventions.
"""

from collections.abc import Mapping

from rulebook.evidence.formats.otel_parts import content_of, listed_under, messages_of, result_text
from rulebook.evidence.formats.otel_spans import Span
from rulebook.evidence.formats.span_steps import Kind, Ran, Told
from rulebook.evidence.session_files.values import amount, count, mapping, word
from rulebook.evidence.transcript import Message, Usage

_KEPT = ("role", "tool_call_id", "name")
_KINDS: dict[str, Kind] = {"LLM": "model", "TOOL": "tool", "AGENT": "agent"}


def kind(span: Span) -> Kind | None:
    """What the span is, if it is in these words."""
    given = word(span.attributes.get("openinference.span.kind"))
    return None if given is None else _KINDS.get(given.upper(), "other")


def told(span: Span) -> Told:
    """What a model call says."""
    attributes, damaged = span.attributes, list[str]()
    return Told(
        asked=_messages(span, "llm.input_messages", "user", damaged),
        replies=_messages(span, "llm.output_messages", "assistant", damaged),
        stop=word(attributes.get("llm.finish_reason")),
        model=word(attributes.get("llm.model_name")),
        reply_id=word(attributes.get("llm.response_id")),
        usage=_usage(attributes),
        cost=amount(attributes.get("llm.cost.total")),
        tools=_tools(attributes),
        damaged=damaged,
    )


def ran(span: Span) -> Ran:
    """What a tool's span says."""
    attributes = span.attributes
    given = attributes.get("tool.parameters", attributes.get("input.value"))
    result = attributes.get("output.value")
    return Ran(
        word(attributes.get("tool.name")) or span.name,
        word(attributes.get("tool_call.id")) or word(attributes.get("tool.id")),
        attributes.get("input.value", given),
        None if result is None else result_text(result),
        True if span.status == "error" else False if span.status == "ok" else None,
    )


def _messages(span: Span, key: str, role: str, damaged: list[str]) -> list[Message] | None:
    listed = listed_under(span.attributes, key)
    if listed is None:
        if any(name.startswith(key) for name in span.attributes):
            damaged.append(f"`{key}`, which is no list of messages")
        return None
    return [m for item in listed for m in messages_of(_plain(item), span.src, damaged, role)]


def _plain(item: Mapping[str, object]) -> dict[str, object]:
    """A flattened message as a provider would write it."""
    given = {key.removeprefix("message."): value for key, value in item.items()}
    parts = [
        {
            "type": part.get("message_content.type", "text"),
            "text": part.get("message_content.text"),
            "id": part.get("message_content.id"),
        }
        for part in listed_under(given, "contents") or ()
    ]
    calls: list[dict[str, object]] = [
        {"id": call.get("tool_call.id"), "function": _function(call)}
        for call in listed_under(given, "tool_calls") or ()
    ]
    legacy = word(given.get("function_call_name"))
    if legacy:
        calls.append({"function": {"name": legacy, "arguments": given.get("function_call_arguments_json")}})
    kept: dict[str, object] = {key: given[key] for key in _KEPT if key in given}
    return {**kept, "content": parts or given.get("content"), "tool_calls": calls}


def _function(call: Mapping[str, object]) -> dict[str, object]:
    return {key: call.get(f"tool_call.function.{key}") for key in ("name", "arguments")}


def _usage(attributes: Mapping[str, object]) -> Usage | None:
    def tokens(name: str) -> int | None:
        return count(attributes.get(f"llm.token_count.{name}"))

    given, output = tokens("prompt"), tokens("completion")
    if given is None and output is None:
        return None
    return Usage(
        given,
        output,
        cache_read=tokens("prompt_details.cache_read"),
        cache_write=tokens("prompt_details.cache_write"),
        reasoning=tokens("completion_details.reasoning"),
    )


def _tools(attributes: Mapping[str, object]) -> list[str]:
    names: list[str] = []
    for tool in listed_under(attributes, "llm.tools") or ():
        try:
            schema = mapping(content_of(tool.get("tool.json_schema")))
        except ValueError:
            schema = {}
        named = (tool.get("tool.name"), mapping(schema.get("function")).get("name"), schema.get("name"))
        name = next((given for given in named if isinstance(given, str) and given), None)
        names += [name] if name else []
    return names

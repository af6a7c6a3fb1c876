"""Spans of the Vercel AI SDK: `ai.generateText` around its `doGenerate` calls, and `ai.toolCall`.

Source: AI SDK, telemetry, versions 3 to 6.
"""

from collections.abc import Mapping

from rulebook.evidence.formats.otel_parts import content_of, messages_of, result_text
from rulebook.evidence.formats.otel_spans import Span
from rulebook.evidence.formats.span_steps import Kind, Ran, Told
from rulebook.evidence.session_files.values import count, mapping, sequence, word
from rulebook.evidence.transcript import Message, Usage

_CALLS = (".doGenerate", ".doStream")
_TEXTS = ("ai.response.text", "ai.result.text", "ai.response.object", "ai.result.object")
_AROUND = ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject", "ai.agent", "ai.toolLoopAgent")


def kind(span: Span) -> Kind | None:
    """What the span is, if it is one of theirs."""
    operation = word(span.attributes.get("ai.operationId"))
    if operation is None:
        return None
    if operation.endswith(_CALLS):
        return "model"
    if operation == "ai.toolCall":
        return "tool"
    return "agent" if operation in _AROUND else "other"


def told(span: Span) -> Told:
    """What a model call says, or the call around it: that one holds the prompt as the program gave it."""
    attributes, damaged = span.attributes, list[str]()
    asked = _read(attributes, "ai.prompt.messages", damaged)
    if asked is None:
        asked = _prompt(_read(attributes, "ai.prompt", damaged))
    return Told(
        asked=None if asked is None else messages_of(asked, span.src, damaged),
        replies=_replies(span, damaged),
        stop=word(attributes.get("ai.response.finishReason")) or word(attributes.get("ai.finishReason")),
        model=word(attributes.get("ai.response.model")) or word(attributes.get("ai.model.id")),
        reply_id=word(attributes.get("ai.response.id")),
        usage=_usage(attributes),
        tools=_tools(attributes.get("ai.prompt.tools")),
        damaged=damaged,
    )


def ran(span: Span) -> Ran:
    """What a tool's span says."""
    attributes = span.attributes
    result = attributes.get("ai.toolCall.result")
    try:
        answer = content_of(result)
    except ValueError:
        answer = result
    return Ran(
        word(attributes.get("ai.toolCall.name")) or "",
        word(attributes.get("ai.toolCall.id")),
        attributes.get("ai.toolCall.args"),
        None if result is None else result_text(answer),
        True if span.status == "error" else None,
    )


def _replies(span: Span, damaged: list[str]) -> list[Message] | None:
    attributes = span.attributes
    texts = (attributes.get(key) for key in _TEXTS)
    text = next((given for given in texts if isinstance(given, str)), None)
    key = "ai.response.toolCalls" if "ai.response.toolCalls" in attributes else "ai.result.toolCalls"
    calls = _read(attributes, key, damaged)
    if calls is not None and not isinstance(calls, list):
        damaged.append(f"`{key}`, which is no list")
    if text is None and calls is None:
        return None
    parts = [{**mapping(call), "type": "tool-call"} for call in sequence(calls)]
    thoughts = word(attributes.get("ai.response.reasoning"))
    given = {
        "role": "assistant",
        "content": [*([{"type": "text", "text": text}] if text else []), *parts],
        "reasoning": thoughts,
    }
    return messages_of(given, span.src, damaged, "assistant")


def _prompt(given: object) -> object:
    """The messages of a prompt as the program gave it: a text, or a system text with messages."""
    prompt = mapping(given)
    if not prompt:
        return given
    rules = [{"role": "system", "content": prompt["system"]}] if "system" in prompt else []
    inner = prompt.get("messages", prompt.get("prompt"))
    return [*rules, *(inner if isinstance(inner, list) else [{"role": "user", "content": inner}])]


def _read(attributes: Mapping[str, object], key: str, damaged: list[str]) -> object:
    try:
        return content_of(attributes.get(key))
    except ValueError:
        damaged.append(f"`{key}`, which is not valid JSON")
        return None


def _usage(attributes: Mapping[str, object]) -> Usage | None:
    names = ("ai.usage.inputTokens", "ai.usage.promptTokens", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    outs = ("ai.usage.outputTokens", "ai.usage.completionTokens", "gen_ai.usage.output_tokens")
    given, output = _counted(attributes, names), _counted(attributes, outs)
    if given is None and output is None:
        return None
    cached = count(attributes.get("ai.usage.cachedInputTokens"))
    return Usage(given, output, cache_read=cached, reasoning=count(attributes.get("ai.usage.reasoningTokens")))


def _counted(attributes: Mapping[str, object], names: tuple[str, ...]) -> int | None:
    return next((number for name in names if (number := count(attributes.get(name))) is not None), None)


def _tools(given: object) -> list[str]:
    """The names of the tools that were offered: a list of JSON texts."""
    names: list[str] = []
    for text in sequence(given):
        try:
            name = word(mapping(content_of(text)).get("name"))
        except ValueError:
            continue
        names += [name] if name else []
    return names

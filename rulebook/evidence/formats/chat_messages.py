"""Messages in the shape of OpenAI's Chat Completions, as several formats store them."""

from collections.abc import Iterator, Mapping

from rulebook.evidence.repeats import repeated_key
from rulebook.evidence.session_files.values import count, joined, mapping, parsed, sequence, word, written
from rulebook.evidence.transcript import Message, Role, ToolCall, ToolResult, Usage

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_PARTS = frozenset(
    (
        "text", "input_text", "output_text", "refusal", "reasoning", "thinking", "image", "image_url", "input_image",
        "audio", "input_audio", "output_audio", "audio_url", "video", "video_url", "document", "file", "input_file",
    )
)  # fmt: skip
"""The types of parts in which no call can stand."""

_NEVER: tuple[type, ...] = ()
_CALL_KEYS: dict[str, type | tuple[type, ...]] = {
    "tool_calls": list,
    "function_call": dict,
    "toolCalls": _NEVER,
    "functionCall": _NEVER,
    "function_calls": _NEVER,
    "toolInvocations": _NEVER,
}
"""The keys under which servers and programs put calls, and the shape in which they are read."""

_OTHER_PROVIDERS = frozenset(
    ("tool_use", "tool_result", "thinking", "redacted_thinking", "functionCall", "function_call")
)


def message_of(given: Mapping[str, object], src: int | None) -> Message | None:
    """One message; None when its role is none that is known."""
    role = _ROLES.get(str(given.get("role")))
    if role is None:
        return None
    text = text_of(given.get("content"))
    if role == "tool":
        result = ToolResult(word(given.get("tool_call_id")), text, word(given.get("name")))
        return Message(0, "tool", text, tool_result=result, src=src)
    refusal = refusal_of(given)
    return Message(
        0,
        role,
        text or refusal or "",
        id=word(given.get("id")),
        reasoning=reasoning_of(given) if role == "assistant" else None,
        tool_calls=tuple(calls_of(given)) if role == "assistant" else (),
        src=src,
    )


def text_of(content: object) -> str:
    """The text parts of a content, joined by a blank line; images and audio are left out."""
    if isinstance(content, str):
        return content
    parts = sequence(content) if isinstance(content, list) else [content]
    texts = [part if isinstance(part, str) else mapping(part).get("text") for part in parts]
    return joined([text for text in texts if isinstance(text, str)])


def reasoning_of(given: Mapping[str, object]) -> str | None:
    """The model's reasoning, under either of the names that servers give it."""
    return word(given.get("reasoning_content")) or word(given.get("reasoning"))


def refusal_of(given: Mapping[str, object]) -> str | None:
    """The words of a refusal."""
    parts = [mapping(part) for part in sequence(given.get("content"))]
    return word(given.get("refusal")) or next(
        (word(part.get("refusal")) for part in parts if part.get("type") == "refusal"), None
    )


def calls_of(given: Mapping[str, object]) -> list[ToolCall]:
    """The calls of an assistant message, the legacy single one too; an id that is missing is empty."""
    listed = [mapping(call) for call in sequence(given.get("tool_calls"))]
    calls = [
        call_of(word(call.get("id")) or "", mapping(call.get("function")) or mapping(call.get("custom")))
        for call in listed
    ]
    legacy = mapping(given.get("function_call"))
    single = call_of("", legacy) if legacy else None
    if single is None or (single.name, single.args_raw) in {(call.name, call.args_raw) for call in calls}:
        return calls
    return [*calls, single]


def unread_parts(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """What in a message may be calls or words that `message_of` does not tell: the code and the text of a warning."""
    speaks = given.get("role") == "assistant"
    for key, value in given.items():
        kind = _CALL_KEYS.get(key)
        if kind is not None and value and not (speaks and isinstance(value, kind)):
            yield "lost_call", f"a message of the role `{given.get('role')}` whose `{key}` cannot be read"
    if any({"function", "custom"} <= mapping(call).keys() for call in sequence(given.get("tool_calls"))):
        yield "lost_call", "a call that is of a function and of a custom tool at once"
    if given.get("parts"):
        yield "lost_record", "a message with `parts`, which Chat Completions do not have, may hold calls and text"
    content = given.get("content")
    for part in sequence(content) if isinstance(content, list) else [content]:
        sort = str(mapping(part).get("type", "text"))
        if sort not in _PARTS and (speaks or "tool" in sort or "call" in sort):
            yield "lost_call", f"a part of the unknown type `{sort[:40]}`"


def call_of(call_id: str, function: Mapping[str, object]) -> ToolCall:
    """One call. Arguments that are no JSON object keep their text."""
    name = word(function.get("name")) or ""
    given = function.get("arguments", function.get("input"))
    raw = given if isinstance(given, str) else "" if given is None else written(given)
    if not raw.strip():
        return ToolCall(call_id, name, None, raw, "the arguments are empty")
    try:
        args = parsed(raw)
    except ValueError as error:
        return ToolCall(call_id, name, None, raw, f"the arguments are not valid JSON ({error})")
    twice = repeated_key(raw, args)
    if twice is not None:
        return ToolCall(call_id, name, None, raw, f"the arguments have the key `{twice[:40]}` twice")
    if isinstance(args, dict):
        return ToolCall(call_id, name, args, raw)
    return ToolCall(call_id, name, None, raw, "the arguments are not a JSON object")


def usage_of(given: object) -> Usage | None:
    """The usage of one completion. `prompt_tokens` already includes what came from the cache."""
    usage = mapping(given)
    prompt, completion = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    if prompt is None and completion is None:
        return None
    return Usage(
        input=prompt,
        output=completion,
        cache_read=count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
        reasoning=count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )


def foreign_part(given: Mapping[str, object]) -> str | None:
    """The type of a content part that only another provider's messages have: its calls would be lost here."""
    kinds = [mapping(part).get("type") for part in sequence(given.get("content"))]
    return next((kind for kind in kinds if isinstance(kind, str) and kind in _OTHER_PROVIDERS), None)


def has_role(given: object) -> bool:
    """Whether it looks like a message at all."""
    return word(mapping(given).get("role")) in _ROLES

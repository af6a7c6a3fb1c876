"""Captured messages, in whatever shape a span holds them, as neutral ones.

Parts as the GenAI conventions name them, as the Vercel AI SDK does, and as providers do.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.chat_messages import call_of, calls_of, text_of
from rulebook.evidence.formats.otel_spans import attributes_of
from rulebook.evidence.session_files.values import joined, mapping, parsed, sequence, word, written
from rulebook.evidence.transcript import Message, Role, ToolCall, ToolResult

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_CALLS = frozenset(("tool_call", "tool-call", "tool_use", "server_tool_call", "server_tool_use", "function_call"))
_RESULTS = frozenset(
    ("tool_call_response", "tool-result", "tool_result", "server_tool_call_response", "function_call_output")
)
_THOUGHTS = frozenset(("reasoning", "thinking"))
_APPROVALS = frozenset(("tool-approval-request", "tool-approval-response", "tool_definition", "tool_reference"))
_MOST_INDEX = 10_000


class Sorted(Struct):
    """The parts of one message, by what they are; `strange` names those that may hide a call."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


def content_of(value: object) -> object:
    """A value that may be JSON text. Raises ValueError when it begins like JSON and is none."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        return parsed(value)
    return value


def messages_of(items: object, src: int | None, damaged: list[str], role: str = "user") -> list[Message]:
    """The messages in a list (or the one in a mapping or a text); what cannot be read is named in `damaged`."""
    found: list[Message] = []
    for item in items if isinstance(items, list) else [items]:
        given = item if isinstance(item, dict) else {"role": role, "content": item}
        found += message_of(given, src, damaged, role)
    return found


def message_of(given: Mapping[str, object], src: int | None, damaged: list[str], role: str) -> list[Message]:
    """One captured message: itself, and its tool results as messages of their own."""
    said = str(given.get("role") or role).lower()
    known = _ROLES.get(said)
    sorted_ = _sorted(given)
    damaged += sorted_.strange
    if known is None:
        damaged.append(f"a message of the role `{said[:40]}`")
        known = "assistant" if sorted_.calls else "user"
    results = sorted_.results
    if known == "tool" and not results:
        text = joined(sorted_.texts)
        named = word(given.get("name"))
        results = [ToolResult(word(given.get("tool_call_id")) or word(given.get("id")), text, named)]
    messages = [Message(0, "tool", result.text, tool_result=result, src=src) for result in results]
    if known == "tool":
        return messages
    spoken = Message(
        0,
        known,
        joined(sorted_.texts),
        id=word(given.get("id")),
        reasoning=joined(sorted_.thoughts) or None,
        tool_calls=tuple(sorted_.calls),
        src=src,
    )
    if known != "assistant" and sorted_.calls:
        damaged.append(f"a call in a message of the role `{said[:40]}`")
    return messages if messages and not (spoken.text or spoken.tool_calls) else [spoken, *messages]


def _sorted(given: Mapping[str, object]) -> Sorted:
    found = Sorted()
    content = given.get("parts", given.get("content"))
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            found.texts.append(part)
        elif isinstance(part, dict):
            _sort(part, found)
        elif part is not None:
            found.strange.append("a part that is neither text nor a mapping")
    thought = word(given.get("reasoning_content")) or word(given.get("reasoning"))
    found.thoughts += [thought] if thought else []
    called = given.get("tool_calls")
    if called is not None and not isinstance(called, list):
        found.strange.append("`tool_calls` that are no list")
    listed = [mapping(call) for call in sequence(called)]
    plain = [call for call in listed if "function" not in call and "custom" not in call]
    if plain:
        found.calls += [_call(call) for call in listed]
    else:
        found.calls += calls_of(given)
    return found


def _sort(part: Mapping[str, object], found: Sorted) -> None:
    kind = str(part.get("type", "text"))
    if kind in _CALLS:
        found.calls.append(_call(part))
    elif kind in _RESULTS:
        found.results.append(_result(part))
    elif kind in _THOUGHTS:
        found.thoughts.append(str(part.get("content") or part.get("text") or part.get("thinking") or ""))
    elif kind in ("text", "input_text", "output_text", "refusal"):
        text = part.get("content", part.get("text", part.get("refusal")))
        found.texts += [text] if isinstance(text, str) else []
    elif ("call" in kind or "tool" in kind) and kind not in _APPROVALS:
        found.strange.append(f"a part of the type `{kind[:40]}`")


def _call(part: Mapping[str, object]) -> ToolCall:
    """A call under any of the names that its fields have."""
    inner = mapping(part.get("function")) or mapping(part.get("server_tool_call")) or part
    call_id = word(part.get("id")) or word(part.get("toolCallId")) or word(part.get("call_id"))
    name = word(inner.get("name")) or word(part.get("name")) or word(part.get("toolName"))
    for key in ("arguments", "args", "input"):
        if key in inner:
            return call_of(call_id or "", {"name": name, "arguments": inner[key]})
    return call_of(call_id or "", {"name": name, "arguments": None if inner is part else dict(inner)})


def _result(part: Mapping[str, object]) -> ToolResult:
    ids = (part.get(key) for key in ("id", "toolCallId", "tool_use_id", "call_id"))
    call_id = next((given for given in ids if isinstance(given, str) and given), None)
    answer: object = None
    for key in ("response", "result", "output", "content", "server_tool_call_response"):
        if key in part:
            answer = part[key]
            break
    typed = mapping(answer)
    kind = str(typed.get("type", ""))
    failed: bool | None = True if part.get("is_error") is True or part.get("isError") is True else None
    ran = None
    if part.get("type") == "tool-result" and kind and "output" in part:
        failed = kind.startswith("error") or kind == "execution-denied"
        ran = False if kind == "execution-denied" else None
        answer = typed.get("value", typed.get("reason", ""))
    return ToolResult(call_id, result_text(answer), word(part.get("toolName")), is_error=failed, ran=ran)


def result_text(answer: object) -> str:
    """What a tool answered, as text: its text parts, or its value as JSON."""
    if isinstance(answer, str):
        return answer
    parts = sequence(answer)
    if parts and all(isinstance(mapping(part).get("text"), str) for part in parts):
        return text_of(parts)
    return "" if answer is None else written(answer)


def listed_under(attributes: Mapping[str, object], prefix: str) -> list[Mapping[str, object]] | None:
    """The mappings of a flattened list: `prefix.0.role`, `prefix.1.role`; a list as such is taken too.

    Their own nested lists stay flattened. None when there is none.
    """
    direct = attributes.get(prefix)
    if isinstance(direct, list):
        return [attributes_of(item) for item in direct]
    start = len(prefix) + 1
    found: dict[int, dict[str, object]] = {}
    for key, value in attributes.items():
        if key.startswith(f"{prefix}."):
            index, _, rest = key[start:].partition(".")
            if rest and index.isascii() and index.isdigit() and len(index) < 6 and int(index) < _MOST_INDEX:
                found.setdefault(int(index), {})[rest] = value
    return [found[index] for index in sorted(found)] or None

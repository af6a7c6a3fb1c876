"""One message of a pi session: text, thoughts and calls, or the result of a call."""

from collections.abc import Mapping

from rulebook.evidence.session_files.values import amount, count, joined, mapping, sequence, word, written
from rulebook.evidence.transcript import Message, ToolCall, ToolResult, Usage

_ADDED = frozenset(("custom", "hookMessage", "branchSummary", "compactionSummary"))
"""Roles of what the agent or an extension of it put into the conversation, told as the user's words."""


def message_of(given: Mapping[str, object], where: int | None) -> Message | None:
    """The message; None when its role is not known, or it is no part of the conversation with the model."""
    role, content = given.get("role"), given.get("content")
    text = text_of(content) if content is not None else word(given.get("summary")) or ""
    moment = count(given.get("timestamp"))
    match role:
        case "user" | "system":
            return Message(0, role, text, at_ms=moment, src=where)
        case "assistant":
            return _reply(given, text, moment, where)
        case "toolResult":
            failed = given.get("isError")
            is_error = failed if isinstance(failed, bool) else None
            result = ToolResult(word(given.get("toolCallId")), text, word(given.get("toolName")), is_error)
            return Message(0, "tool", text, tool_result=result, at_ms=moment, src=where)
        case str() if role in _ADDED:
            return Message(
                0, "user", text, at_ms=moment, injected=True, hidden=given.get("display") is False, src=where
            )
        case _:
            return None


def text_of(content: object) -> str:
    """The text parts of a content; thoughts, calls and images are none."""
    if isinstance(content, str):
        return content
    parts = [mapping(part) for part in sequence(content)]
    return joined([str(part["text"]) for part in parts if part.get("type") == "text" and word(part.get("text"))])


def usage_of(given: Mapping[str, object]) -> Usage | None:
    """A reply's tokens, with what was read from and written to the cache counted into the input.

    None where there are none, and where they are not the total that is stated beside them.
    """
    usage = mapping(given.get("usage"))
    fresh, output = count(usage.get("input")), count(usage.get("output"))
    if fresh is None and output is None:
        return None
    read, write = count(usage.get("cacheRead")), count(usage.get("cacheWrite"))
    taken, total = None if fresh is None else fresh + (read or 0) + (write or 0), count(usage.get("totalTokens"))
    told = Usage(input=taken, output=output, cache_read=read, cache_write=write)
    return told if total is None or total == told.total else None


def price_of(given: Mapping[str, object]) -> float | None:
    """What a reply cost, in US dollars."""
    return amount(mapping(mapping(given.get("usage")).get("cost")).get("total"))


def unread_parts(given: Mapping[str, object]) -> bool:
    """Whether a reply holds parts that are neither text, thoughts, images nor calls of a named tool."""
    parts = [mapping(part) for part in sequence(given.get("content"))]
    known = ("text", "thinking", "image", "toolCall")
    nameless = any(part.get("type") == "toolCall" and word(part.get("name")) is None for part in parts)
    return nameless or any(part.get("type") not in known for part in parts)


def _reply(given: Mapping[str, object], text: str, moment: int | None, where: int | None) -> Message:
    parts = [mapping(part) for part in sequence(given.get("content"))]
    thoughts = [thought for part in parts if part.get("type") == "thinking" and (thought := word(part.get("thinking")))]
    return Message(
        0,
        "assistant",
        text,
        id=word(given.get("responseId")),
        reasoning=joined(thoughts) or None,
        tool_calls=tuple(_call(part) for part in parts if part.get("type") == "toolCall"),
        at_ms=moment,
        model=word(given.get("model")),
        stop=word(given.get("stopReason")),
        usage=usage_of(given),
        src=where,
    )


def _call(part: Mapping[str, object]) -> ToolCall:
    given = part.get("arguments")
    args = {} if given is None else given if isinstance(given, dict) else None
    raw = given if isinstance(given, str) else written({} if given is None else given)
    error = None if args is not None else "the arguments are not a JSON object"
    return ToolCall(word(part.get("id")) or "", word(part.get("name")) or "", args, raw, error)

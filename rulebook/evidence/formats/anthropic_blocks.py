"""Messages in the shape of Anthropic's API, as several formats store them."""

from collections.abc import Mapping

from rulebook.evidence.formats.claude_blocks import SILENT, Parts, is_injected, parts_of, result_of
from rulebook.evidence.session_files.values import joined, mapping, sequence, word
from rulebook.evidence.transcript import Message

_ROLES = ("user", "assistant", "system")
_OWN = frozenset(("tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking"))


def messages_of(given: Mapping[str, object], src: int | None) -> tuple[list[Message], list[tuple[str, str]]]:
    """What one message holds: itself, and one message for every tool result in it. Beside it the warnings.

    A user's message begins with results, a reply ends with those of tools that the provider ran.
    """
    role = given.get("role")
    parts = parts_of(given.get("content"), by_harness=role == "user")
    results = [_result(block, src) for block in parts.results]
    faults = _faults(parts, given.get("content"))
    if role == "assistant":
        reply = Message(0, "assistant", joined(parts.texts), reasoning=joined(parts.reasoning) or None, src=src)
        reply.tool_calls = tuple(parts.calls)
        reply.id = word(given.get("id"))
        return [reply, *results], faults
    if parts.calls:
        faults.append(("lost_call", "a message that is no reply calls a tool"))
    told = [Message(0, "user", joined(parts.reminders), injected=True, src=src)] if parts.reminders else []
    if parts.texts or not (told or results):
        text = joined(parts.texts)
        spoken = Message(0, "system" if role == "system" else "user", text, src=src)
        spoken.injected = role == "user" and is_injected(text)
        told.append(spoken)
    return [*results, *told], faults


def system_message(given: object) -> list[Message]:
    """The system prompt, which stands beside the messages: text or blocks."""
    text = joined(parts_of(given, by_harness=False).texts) if given else ""
    return [Message(0, "system", text)] if text else []


def is_message(given: object) -> bool:
    """Whether it looks like a message at all."""
    message = mapping(given)
    return message.get("role") in _ROLES and "tool_calls" not in message and "tool_call_id" not in message


def is_own(given: object) -> bool:
    """Whether it has a content block that only this provider's messages have."""
    return any(word(mapping(block).get("type")) in _OWN for block in sequence(mapping(given).get("content")))


def _result(block: Mapping[str, object], src: int | None) -> Message:
    result = result_of(block, {})
    code = mapping(block.get("content")).get("return_code")
    if isinstance(code, int) and not isinstance(code, bool):
        result.exit_code, result.is_error = code, result.is_error or code != 0
    return Message(0, "tool", result.text, tool_result=result, src=src)


def _faults(parts: Parts, content: object) -> list[tuple[str, str]]:
    """What the content holds that is not known: something that might be a call is one that was lost."""
    faults = [
        ("lost_call", f"a content block of the unknown type `{kind}`") for kind in parts.others if kind not in SILENT
    ]
    if not parts.known:
        faults.append(("unknown_record", "a message without content"))
        if content is not None:
            faults.append(("lost_record", "content that cannot be read may hold a call or a reply"))
    return faults

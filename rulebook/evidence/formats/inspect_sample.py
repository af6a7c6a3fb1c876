"""The messages of an Inspect sample, with the texts that the log keeps apart from them put back."""

import re
from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.values import joined, mapping, sequence, word, written
from rulebook.evidence.transcript import Message, Role, ToolCall, ToolResult, Transcript

_REFERENCE = re.compile(r"(?:attachment|tc)://([0-9a-f]{32})")
_LIMIT_CHARACTERS = 256 * 1024 * 1024
_DEPTH = 200
_PARTS = frozenset(("text", "reasoning", "image", "audio", "video", "data", "document", "tool_use"))
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}


class Attachments:
    """The sample's texts by their digest.

    What is put back is limited, for one text may be referred to a million times.
    """

    def __init__(self, sample: Mapping[str, object], transcript: Transcript) -> None:
        self._texts = {
            **mapping(mapping(sample.get("transcript")).get("content")),
            **mapping(sample.get("attachments")),
        }
        self._transcript = transcript
        self._left = _LIMIT_CHARACTERS

    def text(self, given: str, where: int | None) -> str:
        """The text itself, or the one that it refers to. One that the log does not hold is warned of."""
        match = _REFERENCE.fullmatch(given)
        if match is None:
            return given
        found = self._texts.get(match[1])
        if not isinstance(found, str):
            warn(self._transcript, "lost_text", where, f"the log does not hold the text `{given}`")
            return given
        self._left -= len(found)
        if self._left < 0:
            path, most = self._transcript.source.path, _LIMIT_CHARACTERS // 1024 // 1024
            raise UnknownFormat(f"`{path}` cannot be read: its attachments come to more than {most} million characters")
        return found

    def value(self, given: object, where: int | None, depth: int = 0) -> object:
        """A JSON value with every reference in it resolved."""
        if isinstance(given, str):
            return self.text(given, where)
        if depth < _DEPTH and isinstance(given, dict):
            return {key: self.value(part, where, depth + 1) for key, part in given.items()}
        if depth < _DEPTH and isinstance(given, list):
            return [self.value(part, where, depth + 1) for part in given]
        return given


def take_messages(transcript: Transcript, items: list[object], attachments: Attachments) -> None:
    """Append the messages of the sample; one that cannot be read may have held calls."""
    for index, value in enumerate(items):
        messages = messages_of(mapping(value), index, attachments)
        if not messages:
            warn(transcript, "unknown_record", index, "a message without a known role")
            warn(transcript, "lost_call", index, "a message that cannot be read may hold calls")
        if not isinstance(mapping(value).get("tool_calls", []), list | None):
            warn(transcript, "lost_call", index, "tool calls that are no list")
        _note_strange_parts(transcript, mapping(value), index)
        transcript.messages.extend(messages)


def _note_strange_parts(transcript: Transcript, given: Mapping[str, object], where: int) -> None:
    kinds = {
        str(mapping(part).get("type"))[:40] for part in sequence(given.get("content")) if not isinstance(part, str)
    }
    for kind in sorted(kinds - _PARTS):
        warn(transcript, "lost_call", where, f"a content part of the unknown type `{kind}` may be a call")


def messages_of(given: Mapping[str, object], src: int | None, attachments: Attachments) -> list[Message]:
    """The message, and the results of what the provider's own tools did in it; nothing when its role is not known."""
    role = _ROLES.get(str(given.get("role")))
    if role is None:
        return []
    parts = [mapping(part) for part in sequence(given.get("content"))]
    content = given.get("content")
    texts = (
        [content] if isinstance(content, str) else [part.get("text") for part in parts if part.get("type") == "text"]
    )
    text = joined([attachments.text(text, src) for text in texts if isinstance(text, str)])
    message = Message(0, role, text, id=word(given.get("id")), src=src)
    if role == "tool":
        message.tool_result = _result(given, text)
        return [message]
    if role == "assistant":
        message.model = word(given.get("model"))
        message.reasoning = _reasoning(given, parts, attachments, src)
    own = [_call(mapping(call), nth, src, attachments) for nth, call in enumerate(sequence(given.get("tool_calls")))]
    served = [part for part in parts if part.get("type") == "tool_use"]
    message.tool_calls = (*own, *(_served_call(part, nth, src, attachments) for nth, part in enumerate(served)))
    results = [
        _served_result(part, call.id, src, attachments)
        for part, call in zip(served, message.tool_calls[len(own) :], strict=True)
    ]
    return [message, *results]


def _reasoning(
    given: Mapping[str, object], parts: list[Mapping[str, object]], attachments: Attachments, src: int | None
) -> str | None:
    """What the model thought; what a provider keeps to itself is only there as a summary."""
    thoughts = [given.get("reasoning")]
    for part in parts:
        if part.get("type") == "reasoning":
            thoughts.append(part.get("summary") if part.get("redacted") is True else part.get("reasoning"))
    return joined([attachments.text(thought, src) for thought in thoughts if isinstance(thought, str)]) or None


def _call(call: Mapping[str, object], nth: int, src: int | None, attachments: Attachments) -> ToolCall:
    args, error = attachments.value(call.get("arguments"), src), word(call.get("parse_error"))
    name = word(call.get("function")) or ""
    call_id = word(call.get("id")) or f"message{src}_{nth}"
    raw = args if isinstance(args, str) else "" if args is None else written(args)
    if error is None and isinstance(args, dict):
        return ToolCall(call_id, name, args, raw)
    return ToolCall(call_id, name, None, raw, error or "the arguments are not a JSON object")


def _served_call(part: Mapping[str, object], nth: int, src: int | None, attachments: Attachments) -> ToolCall:
    """A call that the provider itself served, such as a web search."""
    args = attachments.value(part.get("arguments"), src)
    name = word(part.get("name")) or word(part.get("tool_type")) or ""
    raw = args if isinstance(args, str) else "" if args is None else written(args)
    return ToolCall(
        word(part.get("id")) or f"served{src}_{nth}", name, args if isinstance(args, dict) else None, raw,
        None if isinstance(args, dict) else "the arguments are not a JSON object",
    )  # fmt: skip


def _served_result(part: Mapping[str, object], call_id: str, src: int | None, attachments: Attachments) -> Message:
    result, error = attachments.value(part.get("result"), src), word(part.get("error"))
    text = error or (result if isinstance(result, str) else "" if result is None else written(result))
    return Message(0, "tool", text, tool_result=ToolResult(call_id, text, is_error=error is not None), src=src)


def _result(given: Mapping[str, object], text: str) -> ToolResult:
    """A tool's answer: the log names an error where there was one. What an approver rejected never ran."""
    error = mapping(given.get("error"))
    kind, told = word(error.get("type")), word(error.get("message"))
    ran = False if kind == "approval" else None
    return ToolResult(
        word(given.get("tool_call_id")), text or told or "", word(given.get("function")), is_error=bool(error), ran=ran
    )

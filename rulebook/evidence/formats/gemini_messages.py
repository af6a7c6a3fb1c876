"""One message record of a Gemini CLI session: what was said, with the calls and their results in the same record."""

from collections.abc import Mapping

from rulebook.evidence.session_files.values import count, iso_ms, joined, mapping, sequence, word, written
from rulebook.evidence.transcript import Message, ToolCall, ToolResult, Usage

_CONTEXT = ("<session_context>", "<state_snapshot>", "This is the Gemini CLI. We are setting up the context")
_DENIED = ("User denied execution", "User did not allow tool call")
_ENDED = frozenset(("success", "error", "cancelled"))


def messages_of(record: Mapping[str, object], where: int | None) -> list[Message]:
    """A user's message, or a reply followed by the results of its calls."""
    text, at_ms = text_of(record.get("content")), iso_ms(record.get("timestamp"))
    if record.get("type") == "user":
        injected = text.lstrip().startswith(_CONTEXT)
        return [Message(0, "user", text, id=word(record.get("id")), at_ms=at_ms, injected=injected, src=where)]
    given = [mapping(call) for call in sequence(record.get("toolCalls"))]
    reply = Message(
        0,
        "assistant",
        text,
        id=word(record.get("id")),
        reasoning=_reasoning(record) or None,
        tool_calls=tuple(_call(call) for call in given),
        at_ms=at_ms,
        model=word(record.get("model")),
        usage=usage_of(mapping(record.get("tokens"))),
        src=where,
    )
    return [reply, *(message for call in given for message in _answers(call, at_ms, where))]


def text_of(content: object) -> str:
    """The text of a content: text, one part, or a list of parts; a thought, a call or data is none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [
        part if isinstance(part, str) else mapping(part).get("text")
        for part in parts
        if mapping(part).get("thought") is not True
    ]
    return joined([text for text in texts if isinstance(text, str)])


def usage_of(tokens: Mapping[str, object]) -> Usage | None:
    """A reply's tokens. The cache is a part of the input; thoughts and the prompts of tools are parts of nothing.

    None where there are none, and where they are not the total that is stated beside them.
    """
    prompt, output = count(tokens.get("input")), count(tokens.get("output"))
    if prompt is None and output is None:
        return None
    thoughts, total = count(tokens.get("thoughts")), count(tokens.get("total"))
    usage = Usage(
        input=None if prompt is None else prompt + (count(tokens.get("tool")) or 0),
        output=None if output is None else output + (thoughts or 0),
        cache_read=count(tokens.get("cached")),
        reasoning=thoughts,
    )
    return usage if total is None or total == usage.total else None


def call_key(call: object) -> str:
    """What tells one call of a session from another."""
    given = mapping(call)
    return word(given.get("id")) or written([given.get("name"), given.get("args")])


def _reasoning(record: Mapping[str, object]) -> str:
    thoughts = [mapping(thought) for thought in sequence(record.get("thoughts"))]
    texts = [text for thought in thoughts for key in ("subject", "description") if (text := word(thought.get(key)))]
    return joined(texts)


def _call(given: Mapping[str, object]) -> ToolCall:
    args = given.get("args")
    raw = args if isinstance(args, str) else written({} if args is None else args)
    known = {} if args is None else args if isinstance(args, dict) else None
    error = None if known is not None else "the arguments are not a JSON object"
    return ToolCall(word(given.get("id")) or "", word(given.get("name")) or "", known, raw, error)


def _answers(given: Mapping[str, object], at_ms: int | None, where: int | None) -> list[Message]:
    """The result of a call, if it has one: a call that waits for approval or still runs has none."""
    status, parts = word(given.get("status")), given.get("result")
    if status not in _ENDED and not parts:
        return []
    text = _result_text(parts) or (word(given.get("resultDisplay")) if not parts else None) or ""
    failed = None if status not in _ENDED else status != "success"
    # a tool can print these words too: only a call that was cancelled was denied
    denied = status == "cancelled" and any(reason in text for reason in _DENIED)
    result = ToolResult(word(given.get("id")), text, word(given.get("name")), failed, ran=False if denied else None)
    moment = iso_ms(given.get("timestamp"))
    return [
        Message(0, "tool", text, tool_result=result, at_ms=at_ms if moment is None else moment, src=where),
    ]


def _result_text(result: object) -> str:
    parts = result if isinstance(result, list) else [result]
    texts: list[str] = []
    for part in parts:
        answer = mapping(mapping(part).get("functionResponse")).get("response")
        told = mapping(answer)
        given = told.get("output", told.get("error", answer))
        if isinstance(given, str):
            texts.append(given)
        elif given is not None:
            texts.append(written(given))
        elif plain := text_of(part):
            texts.append(plain)
    return joined(texts)

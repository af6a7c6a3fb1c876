"""Hermes: the session log of an agent that keeps its chat messages in one JSON object.

Source: a session file of Hermes Agent; its messages are those of Chat Completions with a few fields more.
"""

from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.chat_messages import foreign_part, has_role, message_of, unread_parts
from rulebook.evidence.session_files.pairing import finish, warn, warn_of_lost_calls
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import brief, mapping, sequence, word
from rulebook.evidence.transcript import End, EndReason, Message, SideEvent, Transcript

_ENDS: dict[str, EndReason] = {
    "stop": "finished",
    "length": "truncated_output",
    "content_filter": "refused_by_model",
}


def _fits(sample: Sample) -> Fit:
    keys = set(sample.keys)
    return 2 if {"session_id", "session_start"} <= keys and bool({"platform", "last_updated"} & keys) else 0


def _read(file: SessionFile) -> Transcript:
    root = mapping(file.json(FORMAT.title))
    items = sequence(root.get("messages"))
    if not any(has_role(item) for item in items):
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no messages with a `role`")
    transcript = file.transcript("hermes")
    transcript.source.sha256, transcript.source.producer = file.sha256, "Hermes"
    transcript.session_id, model = word(root.get("session_id")), word(root.get("model"))
    _note_tools(transcript, root)
    prompt = word(root.get("system_prompt"))
    transcript.messages = [Message(0, "system", prompt)] if prompt else []
    for index, value in enumerate(items):
        _take(transcript, mapping(value), index, model)
    finish(transcript)
    warn_of_lost_calls(transcript, with_replies=True)
    transcript.end = _end(transcript)
    return transcript


def _take(transcript: Transcript, item: Mapping[str, object], index: int, model: str | None) -> None:
    message = message_of(item, index)
    if message is None and item.get("role") == "session_meta":
        transcript.events.append(SideEvent("session_meta", brief(item, frozenset(("role",))), src=index))
    elif message is None:
        warn(transcript, "lost_record", index, "an item without a known role may be a call or a reply")
    elif foreign_part(item) is not None:
        warn(transcript, "lost_record", index, f"a message with a part of the type `{foreign_part(item)}`")
    else:
        for code, text in unread_parts(item):
            warn(transcript, code, index, text)
        if any(not call.name for call in message.tool_calls):
            warn(transcript, "lost_call", index, "a call that does not name its tool")
        if message.tool_result is not None:
            message.tool_result.name = message.tool_result.name or word(item.get("tool_name"))
        if message.role == "assistant":
            message.model, message.stop = model, word(item.get("finish_reason"))
        transcript.messages.append(message)


def _note_tools(transcript: Transcript, root: Mapping[str, object]) -> None:
    tools = [mapping(tool) for tool in sequence(root.get("tools"))]
    names = [word(tool.get("name")) or word(mapping(tool.get("function")).get("name")) for tool in tools]
    known = [name for name in names if name is not None]
    if known:
        transcript.events.append(SideEvent("tools", {"names": known}))


def _end(transcript: Transcript) -> End:
    last = transcript.messages[-1]
    if last.role != "assistant":
        return End("unknown", f"the last message is from the {last.role}")
    if last.stop is None:
        return End("unknown", "the last message states no finish reason")
    return End(_ENDS.get(last.stop, "unknown"), "", last.stop)


FORMAT = Format(
    name="hermes",
    title="a Hermes session",
    expects="a JSON object with `session_id`, `session_start`, `platform` and `messages`",
    kinds=frozenset(("object",)),
    carries=frozenset(("messages", "tool_calls", "results", "end", "events")),
    fits=_fits,
    read=_read,
)

"""OpenAI chat messages: a list, `{messages: …}`, one a line, or recorded Chat Completions.

Source: OpenAI API reference, Chat Completions; what compatible servers leave out is allowed for.
"""

from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.anthropic_exchange import is_request
from rulebook.evidence.formats.chat_exchange import refused
from rulebook.evidence.formats.chat_messages import foreign_part, has_role, message_of, unread_parts, usage_of
from rulebook.evidence.formats.exchanges import offered
from rulebook.evidence.formats.message_lines import numbered_messages
from rulebook.evidence.formats.recording import is_recording, read_recording, recorded, root_of
from rulebook.evidence.session_files.pairing import finish, warn, warn_of_lost_calls
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import mapping, sequence, word
from rulebook.evidence.transcript import End, SideEvent, Transcript

_REPLY_KEYS = ("choices", "response", "output", "completion")


def _fits(sample: Sample) -> Fit:
    provider = recorded(sample)
    if provider is not None:
        return 1 if provider == "openai_chat" else 0
    if sample.kind == "lines" and sample.records and all("messages" in record for record in sample.records):
        return 1 if all(_are_messages(sequence(record["messages"])) for record in sample.records) else 0
    items = sequence(sample.keys.get("messages")) if sample.keys else list[object](sample.entries)
    return 1 if _are_messages(items) and "trajectory_format" not in sample.keys else 0


def _are_messages(items: list[object]) -> bool:
    messages = [mapping(item) for item in items]
    return bool(messages) and all(has_role(m) and "type" not in m and foreign_part(m) is None for m in messages)


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("openai_chat")
    if file.sample.kind == "lines":
        numbered, whole = numbered_messages(transcript, file)
        return _take(transcript, file, numbered, whole)
    root = root_of(file, FORMAT.title)
    if is_recording(root):
        return read_recording(transcript, file, root)
    items = sequence(mapping(root).get("messages")) if isinstance(root, dict) else sequence(root)
    return _take(transcript, file, list(enumerate(items)), mapping(root))


def _take(
    transcript: Transcript, file: SessionFile, numbered: list[tuple[int, object]], whole: Mapping[str, object]
) -> Transcript:
    """Fill the transcript from messages with their places; `whole` is the object around them."""
    if not any(has_role(item) for _, item in numbered):
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no messages with a `role`")
    for where, value in numbered:
        item = mapping(value)
        other = foreign_part(item)
        if other is not None:
            hint = ". Read it with `--session-format anthropic_messages`" if is_request({"messages": [item]}) else ""
            raise UnknownFormat(
                f"`{file.path}` cannot be read as {FORMAT.title}: message {where} has a part of type `{other}`{hint}"
            )
        message = message_of(item, where)
        if message is None:
            warn(transcript, "unknown_record", where, "an item without a known role")
            warn(transcript, "lost_record", where, "an item without a known role may be a call or a reply")
        else:
            for code, text in unread_parts(item):
                warn(transcript, code, where, text)
            transcript.messages.append(message)
    beside = next((key for key in _REPLY_KEYS if isinstance(whole.get(key), dict | list) and whole[key]), None)
    if beside is not None:
        warn(transcript, "lost_record", None, f"`{beside}` beside the messages may hold a reply and its calls")
    functions = [mapping(mapping(tool).get("function")) for tool in sequence(whole.get("tools"))]
    names = offered(function.get("name") for function in functions)
    if names:
        transcript.events.append(SideEvent("tools", {"names": names}))
    transcript.source.sha256 = file.sha256
    finish(transcript)
    warn_of_lost_calls(transcript)
    transcript.session_id = word(whole.get("id"))
    transcript.usage = usage_of(whole.get("usage"))
    model = word(whole.get("model"))
    transcript.models = [model] if model else []
    last = mapping(numbered[-1][1])
    spoken = last if last.get("role") == "assistant" else {}
    transcript.end = refused(spoken) or End("unknown", "a list of messages does not say how the session ended")
    return transcript


FORMAT = Format(
    name="openai_chat",
    title="a list of OpenAI chat messages",
    expects="messages with a `role`, `messages: […]`, or recorded Chat Completions (`interactions:`)",
    kinds=frozenset(("object", "list", "lines", "yaml")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "time", "events")),
    fits=_fits,
    read=_read,
)

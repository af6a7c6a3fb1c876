"""Anthropic messages: a request, a reply, a list of messages, one a line, or recorded requests and streams.

Source: Anthropic API reference, Messages.
"""

from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.anthropic_blocks import is_message, messages_of, system_message
from rulebook.evidence.formats.anthropic_exchange import is_reply, is_request
from rulebook.evidence.formats.exchanges import offered, pair
from rulebook.evidence.formats.message_lines import numbered_messages
from rulebook.evidence.formats.recording import is_recording, read_exchanges, read_recording, recorded, root_of
from rulebook.evidence.session_files.marks import shows_call
from rulebook.evidence.session_files.pairing import finish, warn, warn_of_lost_calls
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import mapping, sequence, word
from rulebook.evidence.transcript import End, SideEvent, Transcript

_REPLY_KEYS = ("content", "response", "output", "completion", "choices")


def _fits(sample: Sample) -> Fit:
    provider = recorded(sample)
    if provider is not None:
        return 1 if provider == "anthropic_messages" else 0
    keys = sample.keys
    if _is_pair(keys) or is_reply(keys) or (keys.get("type") == "message" and "stop_reason" in keys):
        return 2
    if sample.kind == "lines" and all("messages" in record for record in sample.records):
        return 2 if all(is_request(record) for record in sample.records) else 0
    if keys:
        return 2 if sequence(keys.get("messages")) and is_request(keys) else 0
    messages = sample.entries
    return 2 if messages and all("type" not in m for m in messages) and is_request({"messages": messages}) else 0


def _is_pair(root: Mapping[str, object]) -> bool:
    """Whether it is a request together with its reply."""
    return "messages" in mapping(root.get("request")) and is_reply(mapping(root.get("response")))


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("anthropic_messages")
    if file.sample.kind == "lines":
        numbered, whole = numbered_messages(transcript, file)
        return _take(transcript, file, numbered, whole)
    root = root_of(file, FORMAT.title)
    if is_recording(root):
        return read_recording(transcript, file, root)
    whole = mapping(root)
    if is_reply(whole):
        return read_exchanges(transcript, file, [pair({}, whole)], "anthropic_messages")
    if _is_pair(whole):
        return read_exchanges(
            transcript, file, [pair(mapping(whole["request"]), mapping(whole["response"]))], "anthropic_messages"
        )
    items = sequence(whole.get("messages")) if isinstance(root, dict) else sequence(root)
    return _take(transcript, file, list(enumerate(items)), whole)


def _take(
    transcript: Transcript, file: SessionFile, numbered: list[tuple[int, object]], whole: Mapping[str, object]
) -> Transcript:
    """Fill the transcript from messages with their places; `whole` is the object around them."""
    if not any(is_message(item) for _, item in numbered):
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no messages with a `role`")
    transcript.messages = system_message(whole.get("system"))
    for where, value in numbered:
        _take_message(transcript, file, where, mapping(value))
    if shows_call([whole.get(key) for key in _REPLY_KEYS]):
        warn(transcript, "lost_record", None, "a reply with calls stands beside the messages")
    names = offered(mapping(tool).get("name") for tool in sequence(whole.get("tools")))
    if names:
        transcript.events.append(SideEvent("tools", {"names": names}))
    transcript.source.sha256 = file.sha256
    finish(transcript)
    warn_of_lost_calls(transcript)
    model = word(whole.get("model"))
    transcript.models = transcript.models or ([model] if model else [])
    transcript.end = End("unknown", "a list of messages does not say how the session ended")
    return transcript


def _take_message(transcript: Transcript, file: SessionFile, where: int, given: Mapping[str, object]) -> None:
    if given.get("role") == "tool" or "tool_calls" in given or "function_call" in given:
        raise UnknownFormat(
            f"`{file.path}` cannot be read as {FORMAT.title}: message {where} has tool calls of Chat Completions. "
            "Read it with `--session-format openai_chat`"
        )
    if not is_message(given):
        warn(transcript, "unknown_record", where, "an item without a known role")
        warn(transcript, "lost_record", where, "an item without a known role may be a call or a reply")
        return
    messages, faults = messages_of(given, where)
    messages[0].model = word(given.get("model")) if given.get("role") == "assistant" else None
    transcript.messages += messages
    for code, text in faults:
        warn(transcript, code, where, text)


FORMAT = Format(
    name="anthropic_messages",
    title="a list of Anthropic messages",
    expects="messages with `tool_use` and `tool_result` blocks or a `system` beside them, a reply, or recorded ones",
    kinds=frozenset(("object", "list", "lines", "yaml")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "events")),
    fits=_fits,
    read=_read,
)

"""OpenAI chat messages: a list, `{messages: …}`, one a line, or recorded Chat Completions.

Source: OpenAI API reference, Chat Completions; what compatible servers leave out is allowed for.
"""

from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.cassette import Exchange, exchanges_of, stitch
from rulebook.evidence.formats.chat_messages import foreign_part, has_role, message_of, refusal_of, usage_of
from rulebook.evidence.session_files.pairing import all_messages, finish, summed, warn
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import decoded, mapping, sequence, word
from rulebook.evidence.transcript import End, EndReason, SideEvent, Transcript, Usage
from rulebook.source.plain_yaml import load_plain_yaml

_ENDS: dict[str, EndReason] = {
    "stop": "finished",
    "length": "truncated_output",
    "content_filter": "refused_by_model",
}


def _fits(sample: Sample) -> Fit:
    if sample.kind == "yaml" or "interactions" in sample.keys:
        return 1
    if sample.kind == "lines" and sample.records and all("messages" in record for record in sample.records):
        return 1 if all(_are_messages(sequence(record["messages"])) for record in sample.records) else 0
    items = sequence(sample.keys.get("messages")) if sample.keys else list[object](sample.entries)
    return 1 if _are_messages(items) and "trajectory_format" not in sample.keys else 0


def _are_messages(items: list[object]) -> bool:
    messages = [mapping(item) for item in items]
    return bool(messages) and all(has_role(m) and "type" not in m and foreign_part(m) is None for m in messages)


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("openai_chat")
    kind = file.sample.kind
    if kind == "yaml":
        return _read_cassette(transcript, file, _yaml(file))
    if kind == "lines":
        return _read_lines(transcript, file)
    root = file.json(FORMAT.title)
    if "interactions" in mapping(root):
        return _read_cassette(transcript, file, root)
    return _read_messages(transcript, file, root)


def _yaml(file: SessionFile) -> object:
    try:
        return load_plain_yaml(file.whole().decode("utf-8-sig"))
    except ValueError as error:
        raise UnknownFormat(f"`{file.path}` cannot be read as a recording: {error}") from error


def _read_lines(transcript: Transcript, file: SessionFile) -> Transcript:
    """A message on every line, or one row that holds a conversation."""
    transcript.source.places = "lines"
    rows: list[tuple[int, object]] = []
    with file.lines() as lines:
        for number, line in lines:
            if line.isspace():
                continue
            try:
                rows.append((number, decoded(line)))
            except ValueError as error:
                torn = not line.endswith(b"\n")
                warn(
                    transcript,
                    "truncated" if torn else "bad_line",
                    number,
                    f"a line is not valid JSON ({error})",
                )
    conversations = [row for _, row in rows if "messages" in mapping(row)]
    if len(conversations) > 1:
        raise UnknownFormat(
            f"`{file.path}` holds {len(conversations)} conversations, and a session is one: "
            "write each to a file of its own"
        )
    return (
        _take(transcript, file, rows, {}) if not conversations else _read_messages(transcript, file, conversations[0])
    )


def _read_messages(transcript: Transcript, file: SessionFile, root: object) -> Transcript:
    transcript.source.places = "items"
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
            raise UnknownFormat(
                f"`{file.path}` cannot be read as {FORMAT.title}: message {where} has a part of type `{other}`"
            )
        message = message_of(item, where)
        if message is None:
            warn(transcript, "unknown_record", where, "an item without a known role")
        else:
            transcript.messages.append(message)
    _note_tools(transcript, whole)
    transcript.source.sha256 = file.sha256
    finish(transcript)
    transcript.session_id = word(whole.get("id"))
    transcript.usage = usage_of(whole.get("usage"))
    model = word(whole.get("model"))
    transcript.models = [model] if model else []
    last = mapping(numbered[-1][1])
    spoken = last if last.get("role") == "assistant" else {}
    transcript.end = _refused(spoken) or End("unknown", "a list of messages does not say how the session ended")
    return transcript


def _note_tools(transcript: Transcript, whole: Mapping[str, object]) -> None:
    names = [mapping(mapping(tool).get("function")).get("name") for tool in sequence(whole.get("tools"))]
    known = [name for name in names if isinstance(name, str)]
    if known:
        transcript.events.append(SideEvent("tools", {"names": known}))


def _read_cassette(transcript: Transcript, file: SessionFile, root: object) -> Transcript:
    transcript.source.sha256 = file.sha256
    exchanges = exchanges_of(root)
    last = stitch(transcript, exchanges)
    if last is None:
        seen = exchanges[0].seen if exchanges else "no exchange at all"
        raise UnknownFormat(
            f"`{file.path}` is a recording without a Chat Completions request: it has {seen}. "
            "Only recordings of `/chat/completions` with `messages` and `choices` can be read"
        )
    finish(transcript)
    transcript.usage = _usage(transcript, exchanges)
    transcript.end = _end(last)
    return transcript


def _usage(transcript: Transcript, exchanges: list[Exchange]) -> Usage | None:
    """The sum over the recorded replies; a reply from elsewhere or an exchange not read leaves a gap."""
    told = [usage_of(exchange.body.get("usage")) for exchange in exchanges if exchange.reply]
    usage = summed(usage for usage in told if usage is not None)
    if usage is None:
        return None
    replies = [message for message in all_messages(transcript) if message.role == "assistant"]
    silent = [message for message in replies if message.usage is None]
    unread = [exchange for exchange in exchanges if exchange.messages is None]
    if silent or unread:
        silence = f"{len(silent)} of {len(replies)} replies state no usage"
        text = f"{silence}, and {len(unread)} exchanges were not read"
        warn(transcript, "usage_partial", None, text)
    return usage


def _end(last: Exchange) -> End:
    if not last.reply:
        error = mapping(last.body.get("error"))
        return End("errored", (word(error.get("message")) or "")[:500], word(error.get("code")))
    refused = _refused(mapping(last.reply.get("message")))
    raw = word(last.reply.get("finish_reason"))
    if refused is not None:
        return End(refused.reason, refused.detail, raw)
    return End(_ENDS.get(raw or "", "unknown"), "", raw)


def _refused(message: Mapping[str, object]) -> End | None:
    words = refusal_of(message)
    return None if words is None else End("refused_by_model", words[:500])


FORMAT = Format(
    name="openai_chat",
    title="a list of OpenAI chat messages",
    expects="messages with a `role`, `messages: […]`, or recorded Chat Completions (`interactions:`)",
    kinds=frozenset(("object", "list", "lines", "yaml")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "time", "events")),
    fits=_fits,
    read=_read,
)

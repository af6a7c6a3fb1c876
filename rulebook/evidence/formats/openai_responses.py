"""OpenAI Responses: a response, a list of items, `{input, output}`, or recorded requests.

Source: OpenAI API reference, Responses.
"""

from collections.abc import Mapping

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.exchanges import offered, pair
from rulebook.evidence.formats.recording import is_recording, read_exchanges, read_recording, recorded, root_of
from rulebook.evidence.formats.response_calls import is_call
from rulebook.evidence.formats.response_items import Items
from rulebook.evidence.formats.responses_exchange import instructions, is_response, items_of_input, tool_name
from rulebook.evidence.session_files.pairing import finish, warn, warn_of_lost_calls
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import mapping, sequence, word
from rulebook.evidence.transcript import End, SideEvent, Transcript

_OWN_PARTS = frozenset(("input_text", "output_text", "input_image", "input_file"))


def _fits(sample: Sample) -> Fit:
    provider = recorded(sample)
    if provider is not None:
        return 1 if provider == "openai_responses" else 0
    keys = sample.keys
    if keys.get("object") == "response" or _parts(keys) is not None:
        return 2
    if keys and "output" in keys and ("input" in keys or "model" in keys):
        return 2 if _are_items(sequence(keys["output"])) else 0
    if keys:
        return 1 if "messages" not in keys and _are_items(sequence(keys.get("input"))) else 0
    return 2 if sample.kind == "list" and _are_items(list[object](sample.entries)) else 0


def _are_items(given: list[object]) -> bool:
    """Whether all are items, and one at least is nothing else: a role and a text alone may be any provider's."""
    items = [mapping(item) for item in given]
    kinds = [word(item.get("type")) for item in items]
    known = all(kind is not None or "role" in item for kind, item in zip(kinds, items, strict=True))
    return known and any(_is_own(kind, item) for kind, item in zip(kinds, items, strict=True))


def _is_own(kind: str | None, item: Mapping[str, object]) -> bool:
    if kind is None or kind == "message":
        parts = {word(mapping(part).get("type")) for part in sequence(item.get("content"))}
        return (kind == "message" and "role" in item) or bool(_OWN_PARTS & parts)
    if kind == "reasoning":
        return "summary" in item or "encrypted_content" in item
    return (is_call(kind) or kind.endswith("_output")) and ("call_id" in item or "id" in item)


def _parts(root: Mapping[str, object]) -> tuple[Mapping[str, object], Mapping[str, object]] | None:
    """A request together with its response, as two objects."""
    asked, answered = mapping(root.get("request")), mapping(root.get("response"))
    return (asked, answered) if "input" in asked and is_response(answered) else None


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("openai_responses")
    root = root_of(file, FORMAT.title)
    if is_recording(root):
        return read_recording(transcript, file, root)
    whole = mapping(root)
    parts = _parts(whole)
    if parts is not None:
        return read_exchanges(transcript, file, [pair(*parts)], "openai_responses")
    if is_response(whole):
        asked = {key: value for key, value in whole.items() if key in ("input", "instructions", "tools")}
        return read_exchanges(transcript, file, [pair(asked if "input" in asked else {}, whole)], "openai_responses")
    given = items_of_input(whole.get("input")) if isinstance(root, dict) else sequence(root)
    return _take(transcript, file, given, whole)


def _take(transcript: Transcript, file: SessionFile, given: list[object], whole: Mapping[str, object]) -> Transcript:
    """Fill the transcript from a list of items; `whole` is the object around them."""
    items = Items()
    for where, value in enumerate(given):
        item = mapping(value)
        if "tool_calls" in item or item.get("role") == "tool":
            raise UnknownFormat(
                f"`{file.path}` cannot be read as {FORMAT.title}: item {where} has tool calls of Chat Completions. "
                "Read it with `--session-format openai_chat`"
            )
        items.take(item, where)
    transcript.messages = [*instructions(whole), *items.whole()]
    if not transcript.messages:
        raise UnknownFormat(
            f"`{file.path}` cannot be read as {FORMAT.title}: it has no items with a `type` or a `role`"
        )
    names = offered(map(tool_name, sequence(whole.get("tools"))))
    transcript.events = [SideEvent("tools", {"names": names})] if names else []
    transcript.events += items.events
    for code, place, text in items.faults:
        warn(transcript, code, place, text)
    if whole.get("previous_response_id") or whole.get("conversation"):
        warn(transcript, "unread_exchange", None, "it goes on with a conversation that is not in the file")
    transcript.source.sha256 = file.sha256
    finish(transcript)
    warn_of_lost_calls(transcript)
    model = word(whole.get("model"))
    transcript.models = [model] if model else []
    transcript.end = End("unknown", "a list of items does not say how the session ended")
    if items.refusal is not None:
        transcript.end = End("refused_by_model", items.refusal[:500])
    return transcript


FORMAT = Format(
    name="openai_responses",
    title="a session of OpenAI's Responses API",
    expects="a response with `output`, a list of its items, `input` and `output`, or recorded requests to `/responses`",
    kinds=frozenset(("object", "list", "yaml")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "time", "events")),
    fits=_fits,
    read=_read,
)

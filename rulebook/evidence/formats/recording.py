"""A recording of requests to models, read as one session: which provider it is of, and what its exchanges add up to."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.anthropic_exchange import told_by_anthropic
from rulebook.evidence.formats.chat_exchange import told_by_chat
from rulebook.evidence.formats.exchanges import Exchange, Told, bare_response, exchanges_of
from rulebook.evidence.formats.responses_exchange import told_by_responses
from rulebook.evidence.formats.stitching import stitch
from rulebook.evidence.session_files.pairing import all_messages, finish, summed, warn, warn_of_lost_calls
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import SessionFile
from rulebook.evidence.session_files.values import mapping, sequence, word
from rulebook.evidence.transcript import End, Message, Transcript, Usage
from rulebook.source.plain_yaml import load_plain_yaml
from rulebook.spelling import listed

_TITLES = {
    "openai_chat": "Chat Completions",
    "openai_responses": "the Responses API",
    "anthropic_messages": "Anthropic's Messages API",
}
_PATHS = (
    ("/chat/completions", "openai_chat"),
    ("/responses", "openai_responses"),
    ("/messages", "anthropic_messages"),
)
_ADDRESS = re.compile(
    r"""(?:^[ \t]*(?:-[ \t]*)?(?:uri|url):[ \t]*|"(?:uri|url)"[ \t]*:[ \t]*)["']?([^\s"']{1,2000})""", re.MULTILINE
)
_MARKS = (
    (re.compile(r"""\bobject\\?["']?:[ \t]*\\?["']?response\b|\\?["']response\.created\b"""), "openai_responses"),
    (re.compile(r"""\bstop_reason\b|\bmessage_start\b|\banthropic-version\b|\binput_schema\b"""), "anthropic_messages"),
    (re.compile(r"""\bfinish_reason\b|\bchoices\b|\bchat\.completion\b"""), "openai_chat"),
)


def recorded(sample: Sample) -> str | None:
    """The provider whose format reads a recording; None when the sample is no recording.

    Most of the addresses in its head decide, else what its bodies look like. Where neither tells, the recording is
    read as one of Chat Completions, which says what it saw instead.
    """
    if sample.kind == "yaml" or "interactions" in sample.keys:
        return _provider(sample.text)
    if is_bare(sample.keys):
        return _marked(sample.text)
    return None


def is_bare(root: Mapping[str, object]) -> bool:
    """Whether it is one recorded response without its request."""
    return {"status", "body"} <= root.keys() and "headers" in root


def root_of(file: SessionFile, title: str) -> object:
    """The value that the file holds, YAML or JSON. Raises OSError, and UnknownFormat when it is neither."""
    if file.sample.kind != "yaml":
        return file.json(title)
    try:
        return load_plain_yaml(file.whole().decode("utf-8-sig"))
    except ValueError as error:
        raise UnknownFormat(f"`{file.path}` cannot be read as a recording: {error}") from error


def is_recording(root: object) -> bool:
    """Whether the value of a file is a recording or a bare response."""
    return "interactions" in mapping(root) or is_bare(mapping(root))


def read_recording(transcript: Transcript, file: SessionFile, root: object) -> Transcript:
    """Fill the transcript from a recording. Raises UnknownFormat when no exchange is of the transcript's format."""
    exchanges = [bare_response(mapping(root))] if is_bare(mapping(root)) else exchanges_of(root)
    return read_exchanges(transcript, file, exchanges, transcript.source.format)


def read_exchanges(transcript: Transcript, file: SessionFile, exchanges: list[Exchange], own: str) -> Transcript:
    """Fill the transcript from exchanges. Raises UnknownFormat when none of them is of the format asked for."""
    transcript.source.sha256 = file.sha256
    told = _all_told(exchanges)
    _need_own(file, own, exchanges, told)
    read = {one.exchange.index for one in told}
    unread = [exchange for exchange in exchanges if exchange.index not in read]
    stitched = stitch(transcript, told)
    asked = sum(exchange.to_model for exchange in unread)
    code = "unknown_record" if asked <= stitched.elsewhere else "unread_exchange"
    for exchange in unread:
        warn(transcript, code, exchange.index, f"an exchange that cannot be read: {exchange.seen}")
    if told[0].exchange.alone:
        warn(transcript, "no_request", 0, "the file is a response without its request: what was asked is not known")
        transcript.session_id = told[0].reply[0].id
    finish(transcript)
    warn_of_lost_calls(transcript)
    transcript.usage = _usage(transcript, told, asked)
    transcript.end = _end(stitched.last)
    return transcript


def _all_told(exchanges: list[Exchange]) -> list[Told]:
    """What can be read of them. The items of every response are kept by their id: later requests may name them."""
    stored: dict[str, Mapping[str, object]] = {}
    told: list[Told] = []
    for exchange in exchanges:
        one = told_by_anthropic(exchange) or told_by_responses(exchange, stored) or told_by_chat(exchange)
        if one is not None:
            told.append(one)
        for item in map(mapping, sequence(exchange.answered.get("output"))):
            if (item_id := word(item.get("id"))) is not None:
                stored[item_id] = item
    return told


def _need_own(file: SessionFile, own: str, exchanges: list[Exchange], told: list[Told]) -> None:
    others = sorted({one.provider for one in told})
    if own in others:
        return
    title = _TITLES[own]
    if others:
        names = listed(others)
        raise UnknownFormat(
            f"`{file.path}` is a recording without a request to {title}. Read it with `--session-format`: {names}"
        )
    seen = exchanges[0].seen if exchanges else "no exchange at all"
    raise UnknownFormat(
        f"`{file.path}` is a recording without a request to {title}: it has {seen}. "
        "Only recordings of `/chat/completions`, `/responses` and `/messages`, request and response, can be read"
    )


def _usage(transcript: Transcript, told: list[Told], unread: int) -> Usage | None:
    """The sum over the recorded replies; a reply from elsewhere or an exchange not read leaves a gap."""
    stated = [one.reply[0].usage for one in told if one.reply]
    usage = summed(usage for usage in stated if usage is not None)
    if usage is None:
        return None
    replies = [message for message in all_messages(transcript) if message.role == "assistant"]
    silent = sum(message.usage is None for message in replies) + sum(usage is None for usage in stated)
    if silent or unread:
        silence = f"{silent} of {len(replies)} replies state no usage"
        warn(transcript, "usage_partial", None, f"{silence}, and {unread} exchanges were not read")
    return usage


def _end(last: Told) -> End:
    """The end that the last exchange of the main thread tells; calls that nothing answers are no end."""
    if last.end.reason == "finished" and _waits(last.reply):
        return End("unknown", "the last reply calls tools, and nothing answers them", last.end.raw)
    return last.end


def _waits(reply: list[Message]) -> bool:
    answers = [message.tool_result.call_id for message in reply if message.tool_result is not None]
    return any(call.id not in answers for message in reply for call in message.tool_calls)


@lru_cache(maxsize=1)
def _provider(text: str) -> str:
    """Of the head of a recording: the provider of most addresses, else of the first mark, else Chat Completions."""
    paths = [match[1].partition("?")[0].rstrip("/") for match in _ADDRESS.finditer(text)]
    votes = Counter(name for path in paths for ending, name in _PATHS if path.endswith(ending))
    return votes.most_common(1)[0][0] if votes else _marked(text) or "openai_chat"


def _marked(text: str) -> str | None:
    places = [(match.start(), name) for mark, name in _MARKS if (match := mark.search(text)) is not None]
    return min(places)[1] if places else None

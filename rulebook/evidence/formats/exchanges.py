"""Recorded requests and their responses (VCR cassettes, one bare response): bodies out of whatever stores them."""

import zlib
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.event_stream import Joined, is_stream, joined_stream
from rulebook.evidence.session_files.values import count, mapping, parsed, sequence, word
from rulebook.evidence.transcript import End, Message, SideEvent

_LIMIT_BYTES = 64 * 1024 * 1024
_COMPRESSED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_MODEL_WORDS = frozenset(
    (
        "completions", "responses", "messages", "chat", "generate", "invoke", "invoke-with-response-stream",
        "converse", "converse-stream", "completion", "complete",
    )
)  # fmt: skip
_MODEL_METHODS = ("generateContent", "streamGenerateContent", "rawPredict", "streamRawPredict", "predict")
_NO_MODEL = frozenset(("count_tokens", "countTokens", "input_items", "input_tokens", "embeddings", "batches"))


class Exchange(Struct):
    """One recorded request with its response. `asked` and `answered` are their bodies, empty when not readable.

    `torn` says in words what of the response is broken; `alone` that the file is nothing but this response.
    """

    index: int
    address: str = ""
    asked: Mapping[str, object] = field(default_factory=dict)
    answered: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, object] = field(default_factory=dict)
    status: int | None = None
    torn: list[str] = field(default_factory=list)
    alone: bool = False

    @property
    def path(self) -> str:
        """The address without its query; empty when it is not known."""
        return self.address.partition("?")[0].rstrip("/")

    @property
    def seen(self) -> str:
        """What it is, in words for people."""
        return f"a request to `{self.address or 'an unknown address'}`"

    @property
    def to_model(self) -> bool:
        """Whether a model may have been asked by it, as far as the address tells."""
        names = self.path.split("/")[3:] if "://" in self.path else self.path.split("/")
        if not self.path or not names:
            return True
        if _NO_MODEL.intersection(names):
            return False
        return bool(_MODEL_WORDS.intersection(names)) or names[-1].endswith(_MODEL_METHODS)

    @property
    def failure(self) -> Mapping[str, object] | None:
        """What went wrong where there is an error instead of a reply."""
        error = self.answered.get("error")
        if error:
            return mapping(error) or {"message": str(error)}
        if self.status is not None and self.status >= 400:
            return mapping(self.answered.get("detail")) or {"message": f"status {self.status}"}
        return None


class Told(Struct):
    """What one exchange says, whichever provider answered it.

    `asked` is the conversation as the request gives it, or only what is new where it goes on with the reply called
    `after`. `reply` is the model's message and then the results of tools that the provider ran itself; it is empty
    where there is `error` instead. `faults` holds warnings, each with its code; `events` what happened beside it.
    """

    exchange: Exchange
    provider: str
    asked: list[Message]
    reply: list[Message] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    end: End = field(default_factory=End)
    error: Mapping[str, object] | None = None
    after: str | None = None
    faults: list[tuple[str, str]] = field(default_factory=list)
    events: list[SideEvent] = field(default_factory=list)


def exchanges_of(root: object) -> list[Exchange]:
    """The recorded exchanges, in order."""
    return [_exchange(index, mapping(entry)) for index, entry in enumerate(sequence(mapping(root).get("interactions")))]


def bare_response(root: Mapping[str, object]) -> Exchange:
    """The one exchange of a file that is a response with its `status` and `body`, and not its request."""
    exchange = _exchange(0, {"response": root})
    exchange.alone = True
    return exchange


def pair(asked: Mapping[str, object], answered: Mapping[str, object]) -> Exchange:
    """The one exchange of a file that holds bodies as they are; no `asked` where it is the response alone."""
    return Exchange(0, asked=asked, answered=answered, alone=not asked)


def failed(exchange: Exchange, error: Mapping[str, object]) -> End:
    """The end of a session whose last request had this error for an answer."""
    code = word(error.get("code")) or word(error.get("type"))
    limited = exchange.status == 429 or code in ("rate_limit_exceeded", "rate_limit_error")
    return End("rate_limited" if limited else "errored", (word(error.get("message")) or "")[:500], code)


def offered(names: Iterable[object]) -> list[str]:
    """The names of the tools that a request offers, without what is no name."""
    return [name for name in names if isinstance(name, str) and name]


def _exchange(index: int, entry: Mapping[str, object]) -> Exchange:
    request, response = mapping(entry.get("request")), mapping(entry.get("response"))
    asked, answered = _body(request), _body(response)
    status = response.get("status")
    return Exchange(
        index,
        address=word(request.get("uri")) or word(request.get("url")) or "",
        asked=asked.body,
        answered=answered.body,
        headers=mapping(request.get("headers")),
        status=count(mapping(status).get("code")) or count(status) or count(response.get("status_code")),
        torn=answered.torn,
    )


def _body(side: Mapping[str, object]) -> Joined:
    """A body, which recorders store parsed, or as text, or as text below `string`, or compressed."""
    if "parsed_body" in side:
        return Joined(mapping(side["parsed_body"]))
    body = side.get("body")
    text = mapping(body).get("string", body)
    if isinstance(text, bytes):
        text = _unpacked(text).decode("utf-8", "replace")
    if not isinstance(text, str):
        return Joined(mapping(body))
    if is_stream(text):
        return joined_stream(text)
    try:
        return Joined(mapping(parsed(text)))
    except ValueError:
        return Joined({})


def _unpacked(data: bytes) -> bytes:
    """The bytes without gzip or deflate; nothing when they are broken or would grow too large."""
    if not data.startswith(_COMPRESSED):
        return data
    try:
        unpacking = zlib.decompressobj(wbits=47)
        plain = unpacking.decompress(data, _LIMIT_BYTES)
    except zlib.error:
        return b""
    return plain if unpacking.eof else b""

"""A streamed reply (server-sent events) put together to the body that it has when it is not streamed."""

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from rulebook.evidence.session_files.values import count, mapping, parsed, sequence, word

_FIELDS = ("data:", "event:", "id:", "retry:", ":")
_LAST_RESPONSES = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_DELTAS = {"text_delta": "text", "thinking_delta": "thinking"}
_SPOKEN = ("content", "refusal", "reasoning", "reasoning_content")


class Joined(Struct):
    """The body of a reply; `torn` says in words what of the stream is missing or broken."""

    body: Mapping[str, object]
    torn: list[str] = field(default_factory=list)


def is_stream(text: str) -> bool:
    """Whether a body is a stream of events."""
    return text.lstrip("\ufeff \r\n").startswith(_FIELDS)


def joined_stream(text: str) -> Joined:
    """Put a stream together, whichever of the three providers it is of; a body that is none of theirs is empty."""
    torn: list[str] = []
    events: list[Mapping[str, object]] = []
    for data in _data(text):
        if data.strip() == "[DONE]":
            continue
        try:
            events.append(mapping(parsed(data)))
        except ValueError as error:
            torn.append(f"an event of the stream is not valid JSON ({error})")
    kinds = [word(event.get("type")) or "" for event in events]
    if "message_start" in kinds:
        body = _anthropic(events, torn)
    elif any(kind.startswith("response.") for kind in kinds):
        body = _responses(events, torn)
    else:
        body = _chat(events, torn)
    failed = next((event["error"] for event in events if event.get("error")), None)
    if failed is None and "error" in kinds:
        failed = events[kinds.index("error")]
    return Joined(body if failed is None else {**body, "error": failed}, torn)


def _data(text: str) -> Iterator[str]:
    """The data of each event, its lines joined."""
    lines: list[str] = []
    for line in (*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""):
        if line.startswith("data:"):
            lines.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines)
            lines = []


class _Block(Struct):
    """One content block while it grows. `input_json` holds pieces of JSON that are not parsed before the end."""

    start: Mapping[str, object]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    input_json: list[str] = field(default_factory=list)

    def add(self, delta: Mapping[str, object]) -> None:
        """Take one delta; signatures and citations are no content."""
        name = _DELTAS.get(str(delta.get("type")))
        if name is not None:
            self.pieces.setdefault(name, [str(self.start.get(name) or "")]).append(str(delta.get(name) or ""))
        elif delta.get("type") == "input_json_delta":
            self.input_json.append(str(delta.get("partial_json") or ""))

    def whole(self) -> dict[str, object]:
        """The block; an input that is cut off keeps its text."""
        block = {**self.start, **{name: "".join(pieces) for name, pieces in self.pieces.items()}}
        raw = "".join(self.input_json)
        if raw.strip():
            try:
                block["input"] = parsed(raw)
            except ValueError:
                block["input"] = raw
        return block


def _anthropic(events: list[Mapping[str, object]], torn: list[str]) -> dict[str, object]:
    message: dict[str, object] = {}
    usage: dict[str, object] = {}
    blocks: dict[int, _Block] = {}
    for event in events:
        kind, index = event.get("type"), count(event.get("index"))
        if kind == "message_start":
            message.update(mapping(event.get("message")))
            usage.update(mapping(message.get("usage")))
        elif kind == "content_block_start" and index is not None:
            blocks[index] = _Block(mapping(event.get("content_block")))
        elif kind == "content_block_delta" and index in blocks:
            blocks[index].add(mapping(event.get("delta")))
        elif kind in ("content_block_start", "content_block_delta"):
            torn.append("the stream goes on with a content block that it never began")
        elif kind == "message_delta":
            message.update({name: value for name, value in mapping(event.get("delta")).items() if value is not None})
            usage.update({name: value for name, value in mapping(event.get("usage")).items() if value is not None})
    if not any(event.get("type") == "message_stop" for event in events):
        torn.append("the stream breaks off before its `message_stop`")
        message["stop_reason"] = None
    given = sequence(message.get("content"))
    message["content"] = [*given, *(blocks[index].whole() for index in sorted(blocks))]
    return {**message, "usage": usage} if usage else message


def _responses(events: list[Mapping[str, object]], torn: list[str]) -> dict[str, object]:
    response: dict[str, object] = {}
    begun: dict[int, Mapping[str, object]] = {}
    whole = False
    for event in events:
        kind, index = str(event.get("type")), count(event.get("output_index"))
        if "response" in event:
            response = dict(mapping(event["response"]))
            whole = whole or kind in _LAST_RESPONSES
        elif kind in ("response.output_item.added", "response.output_item.done"):
            begun[len(begun) if index is None else index] = mapping(event.get("item"))
    if not whole:
        torn.append("the stream breaks off before its response is complete")
        response["status"] = "in_progress"
    if len(begun) > len(sequence(response.get("output"))):
        response["output"] = [begun[index] for index in sorted(begun)]
    return {"object": "response", **response}


def _chat(events: list[Mapping[str, object]], torn: list[str]) -> dict[str, object]:
    chunks = [event for event in events if "choices" in event]
    if not chunks:
        return {}
    body = {name: chunks[0][name] for name in ("id", "model", "created") if name in chunks[0]}
    choices: dict[int, _Choice] = {}
    for given in (mapping(choice) for chunk in chunks for choice in sequence(chunk["choices"])):
        choices.setdefault(count(given.get("index")) or 0, _Choice()).add(given)
    usages = [mapping(chunk["usage"]) for chunk in chunks if chunk.get("usage")]
    if not choices or any(choice.finish is None for choice in choices.values()):
        torn.append("the stream breaks off before its `finish_reason`")
    listed = [choices[index].whole() for index in sorted(choices)]
    return {**body, "choices": listed or [{}], **({"usage": usages[-1]} if usages else {})}


class _Choice(Struct):
    """One choice of a completion while it grows."""

    finish: object = None
    spoken: dict[str, list[str]] = field(default_factory=dict)
    calls: dict[int, dict[str, list[str]]] = field(default_factory=dict)

    def add(self, choice: Mapping[str, object]) -> None:
        """Take the delta of one chunk."""
        delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
        self.finish = choice.get("finish_reason") or self.finish
        for name in _SPOKEN:
            if isinstance(delta.get(name), str):
                self.spoken.setdefault(name, []).append(str(delta[name]))
        for nth, call in enumerate(mapping(given) for given in sequence(delta.get("tool_calls"))):
            index = count(call.get("index"))
            self._call(nth if index is None else index, word(call.get("id")), mapping(call.get("function")))
        if "function_call" in delta:
            self._call(0, None, mapping(delta["function_call"]))

    def _call(self, index: int, call_id: str | None, function: Mapping[str, object]) -> None:
        """Go on with a call: some servers send its name and id once, others with every piece."""
        call = self.calls.setdefault(index, {"id": [], "name": [], "arguments": []})
        for name, value in (("id", call_id), ("name", word(function.get("name")))):
            if value is not None and value not in call[name][:1]:
                call[name].append(value)
        if isinstance(function.get("arguments"), str):
            call["arguments"].append(str(function["arguments"]))

    def whole(self) -> dict[str, object]:
        """The choice as it is when it is not streamed."""
        calls = [
            {
                "id": "".join(self.calls[index]["id"]),
                "function": {name: "".join(self.calls[index][name]) for name in ("name", "arguments")},
            }
            for index in sorted(self.calls)
        ]
        message: dict[str, object] = {name: "".join(pieces) for name, pieces in self.spoken.items()}
        return {"finish_reason": self.finish, "message": {**message, **({"tool_calls": calls} if calls else {})}}

"""Codex without its screen: the events that `codex exec --json` prints. The prompt is not among them.

Source: Codex, `exec/src/exec_events.rs`.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.errors import UnknownFormat
from rulebook.evidence.formats.codex_end import usage_of
from rulebook.evidence.formats.codex_exec_items import CALLS, NAMED, call_of_item, result_of_item
from rulebook.evidence.session_files.pairing import finish, warn
from rulebook.evidence.session_files.records import records_of
from rulebook.evidence.session_files.sample import Sample
from rulebook.evidence.session_files.shape import Fit, Format, SessionFile
from rulebook.evidence.session_files.values import brief, joined, mapping, word
from rulebook.evidence.transcript import End, Message, SideEvent, ToolCall, Transcript, Usage

_ITEM_EVENTS = frozenset(("item.started", "item.updated", "item.completed"))
_EVENTS = _ITEM_EVENTS | {"thread.started", "turn.started", "turn.completed", "turn.failed"}
_BESIDE = frozenset(("todo_list", "error", "plan"))


class Reading(Struct):
    """What has been read so far.

    `running` holds the calls that have begun, by item; `silent` the line of a turn that leaves the tokens open.
    """

    transcript: Transcript
    end: End = field(default_factory=lambda: End("unknown", "no event says how the last turn ended"))
    usage: Usage | None = None
    silent: int | None = None
    understood: bool = False
    thoughts: list[str] = field(default_factory=list)
    running: dict[str, ToolCall] = field(default_factory=dict)
    threads: list[str] = field(default_factory=list)

    def take(self, where: int, event: Mapping[str, object]) -> None:
        """Take the event that stands at line `where`."""
        kind = word(event.get("type"))
        self.understood = self.understood or kind in _EVENTS
        if kind in _ITEM_EVENTS:
            self._item(where, kind, mapping(event.get("item")))
            return
        match kind:
            case "thread.started":
                thread = word(event.get("thread_id"))
                self.threads += [thread] if thread and thread not in self.threads else []
            case "turn.started":
                self.end = End("unknown", "the last turn has no end")
            case "turn.completed":
                self._spend(where, mapping(event.get("usage")))
                self.end = End("finished", "", "turn.completed")
            case "turn.failed":
                self.silent = where
                error = mapping(event.get("error"))
                self.end = End("errored", (word(error.get("message")) or "")[:500], "turn.failed")
            case "error":
                self.end = End("errored", (word(event.get("message")) or "")[:500], "error")
        if kind is not None and "item" not in event:
            name = "api_error" if kind in ("error", "turn.failed") else kind
            self._note(name, where, brief({**mapping(event.get("error")), **event}, frozenset(("type",))))
        else:
            warn(self.transcript, "lost_record", where, "an event of no known type may hold a call or a reply")

    def _item(self, where: int, event: str, item: Mapping[str, object]) -> None:
        kind, done = word(item.get("type")), event == "item.completed"
        if kind in CALLS:
            self._call(where, event, item)
        elif kind == "agent_message" and done:
            self._reply(Message(0, "assistant", word(item.get("text")) or "", id=word(item.get("id")), src=where))
        elif kind == "reasoning" or kind == "agent_message" or kind in _BESIDE:
            thought = word(item.get("text")) if kind == "reasoning" and done else None
            self.thoughts += [thought] if thought else []
            name = "item_error" if kind == "error" else str(kind)
            self._note(name, where, brief(item, frozenset(("type", "text"))))
        else:
            warn(self.transcript, "lost_record", where, f"an item of the type `{kind}` may be a call or a reply")

    def _call(self, where: int, event: str, item: Mapping[str, object]) -> None:
        """A call stands where it began; one that never ended has no result."""
        item_id = word(item.get("id")) or ""
        call, begun = self.running.get(item_id), call_of_item(item)
        if any(word(item.get(key)) is None for key in NAMED.get(str(item.get("type")), ())):
            warn(self.transcript, "lost_call", where, "a call that does not name its tool")
        if call is None:
            call = self.running[item_id] = begun
            self._reply(Message(0, "assistant", tool_calls=(call,), src=where))
        else:
            call.args, call.args_raw = begun.args, begun.args_raw
            if event != "item.completed":
                self._note(event, where, {"id": item_id})
        if item.get("type") == "collab_tool_call" and call.name == "spawn_agent":
            text = "sub-agents were started, whose events are not in the stream"
            warn(self.transcript, "subagent_missing", where, text)
        if event == "item.completed":
            del self.running[item_id]
            result = result_of_item(item)
            self.transcript.messages.append(Message(0, "tool", result.text, tool_result=result, src=where))

    def _reply(self, message: Message) -> None:
        message.reasoning, self.thoughts = joined(self.thoughts) or None, []
        self.transcript.messages.append(message)

    def _spend(self, where: int, given: Mapping[str, object]) -> None:
        """One turn's tokens are the session's. Whether a later turn's include those before it is not told."""
        told, before = usage_of(given), self.usage
        if told is None or told.total is None or before is not None:
            self.silent = where
        if told is not None and (before is None or (told.total or 0) > (before.total or 0)):
            self.usage = told

    def _note(self, kind: str, where: int, data: Mapping[str, object]) -> None:
        self.transcript.events.append(SideEvent(kind, data, None, where))


def _fits(sample: Sample) -> Fit:
    records = [sample.keys] if sample.keys else sample.entries
    if sample.kind not in ("lines", "object") or not records:
        return 0
    first = records[0]
    if first.get("type") == "thread.started" and "thread_id" in first:
        return 2
    known = [record for record in records if word(record.get("type")) in _EVENTS]
    return 2 if any(word(record.get("type")) in _ITEM_EVENTS and "item" in record for record in known) else 0


def _read(file: SessionFile) -> Transcript:
    transcript = file.transcript("codex_exec", lines=True)
    reading = Reading(transcript)
    for number, event in records_of(file, transcript):
        reading.take(number, event)
    source = transcript.source
    source.sha256, source.producer = file.sha256, "Codex"
    if not reading.understood:
        raise UnknownFormat(f"`{file.path}` cannot be read as {FORMAT.title}: it has no event of a thread or turn")
    if len(reading.threads) > 1:
        raise UnknownFormat(
            f"`{file.path}` holds the events of {len(reading.threads)} threads, and a session is one: "
            "write each to a file of its own"
        )
    transcript.session_id = reading.threads[0] if reading.threads else None
    if reading.silent is not None:
        warn(transcript, "usage_partial", reading.silent, "a turn leaves open how many tokens the session took")
    finish(transcript)
    transcript.end, transcript.usage = reading.end, reading.usage
    return transcript


FORMAT = Format(
    name="codex_exec",
    title="the output of `codex exec --json`",
    expects="lines of JSON with a `type` such as `thread.started` or `item.completed`",
    kinds=frozenset(("lines", "object")),
    carries=frozenset(("messages", "tool_calls", "results", "end", "usage", "events")),
    fits=_fits,
    read=_read,
)

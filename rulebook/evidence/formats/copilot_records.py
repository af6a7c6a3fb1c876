"""The events of a Copilot CLI session, taken one by one in the order of the file."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.chat_messages import call_of
from rulebook.evidence.formats.copilot_end import Closing, usage_of
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.values import amount, brief, iso_ms, joined, mapping, sequence, word, written
from rulebook.evidence.transcript import (
    End,
    Message,
    Role,
    SideEvent,
    Thread,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)

_NAMES = {"session.error": "api_error", "session.compaction_complete": "compaction"}
_NO_CALLS = frozenset(("tool.user_requested",))
_MADE_BY_USER = (None, "", "user")


class Reading(Struct):
    """What has been read so far.

    `threads` holds the sub-agents by the call that started them, `called` the tool of each thread's calls, `claimed`
    the calls that events beside the conversation name, with their lines, `thoughts` what was thought since its last
    message, `denied` the calls that a person or a rule refused.
    """

    transcript: Transcript
    closing: Closing = field(default_factory=Closing)
    understood: bool = False
    model: str | None = None
    threads: dict[str, Thread] = field(default_factory=dict)
    called: dict[tuple[str | None, str], str] = field(default_factory=dict)
    claimed: dict[str, tuple[int, str]] = field(default_factory=dict)
    thoughts: dict[str | None, list[str]] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    usage: Usage | None = None
    spent_after: int | None = None

    def take(self, where: int, record: Mapping[str, object]) -> None:
        """Take the event that stands at line `where`."""
        kind, data, at_ms = record.get("type"), record.get("data"), iso_ms(record.get("timestamp"))
        if not isinstance(kind, str) or not isinstance(data, dict):
            warn(self.transcript, "lost_record", where, "an event without a type or data may be a call or a reply")
            return
        self.understood = self.understood or kind.startswith(("session.", "user.", "assistant."))
        thread = word(data.get("parentToolCallId"))
        match kind:
            case "user.message" | "system.message":
                self._told(where, kind, data, at_ms, thread)
            case "assistant.message":
                self._reply(where, data, at_ms, thread)
            case "tool.execution_start":
                self._started(where, data, at_ms, thread)
            case "tool.execution_complete":
                self._finished(where, data, at_ms, thread)
            case _ if "toolRequests" in data:
                warn(self.transcript, "lost_record", where, f"an event of the type `{kind}` with calls of tools")
            case _:
                call_id = word(data.get("toolCallId"))
                if call_id is not None and kind not in _NO_CALLS:
                    self.claimed.setdefault(call_id, (where, kind))
                self._aside(where, kind, data, thread)
                self._note(_NAMES.get(kind, kind), where, at_ms, brief(data, frozenset()))

    def tell_claims(self) -> None:
        """Tell of calls that other events name, and no message asked for."""
        called = {call_id for _, call_id in self.called}
        for call_id, (where, kind) in self.claimed.items():
            if call_id not in called:
                text = f"`{kind[:40]}` tells of the call `{call_id[:80]}`, and the session holds no such call"
                warn(self.transcript, "lost_call", where, text)

    def end(self) -> End:
        """How it ended: as its last closing event says, if nothing came after it."""
        unanswered = {call.id for message in self.transcript.messages for call in message.tool_calls} - {
            message.tool_result.call_id for message in self.transcript.messages if message.tool_result is not None
        }
        return self.closing.end(self.transcript.messages, bool(unanswered))

    def spent(self) -> Usage | None:
        """The tokens of the whole session, which only its shutdown tells."""
        if self.usage is not None and self.spent_after is not None:
            text = "the session went on after its tokens were counted"
            warn(self.transcript, "usage_partial", self.spent_after, text)
        return self.usage

    def _aside(self, where: int, kind: str, data: Mapping[str, object], thread: str | None) -> None:
        """What an event that is no message says of the session."""
        match kind:
            case "session.start" | "session.resume":
                self.transcript.session_id = self.transcript.session_id or word(data.get("sessionId"))
                source = self.transcript.source
                source.producer_version = source.producer_version or word(data.get("copilotVersion"))
                self.model = word(data.get("selectedModel")) or self.model
                self.closing.goes_on()
            case "session.model_change":
                self.model = word(data.get("newModel")) or self.model
            case "assistant.reasoning":
                self.thoughts.setdefault(thread, []).append(word(data.get("content")) or "")
            case "subagent.started":
                started_by = word(data.get("toolCallId")) or f"subagent-{where}"
                self._thread(started_by).name = word(data.get("agentName"))
            case "permission.requested":
                call_id = word(mapping(data.get("permissionRequest")).get("toolCallId"))
                self.asked[str(data.get("requestId"))] = call_id or ""
            case "permission.completed":
                decided = word(mapping(data.get("result")).get("kind")) or ""
                if decided.startswith("denied"):
                    self.denied.add(word(data.get("toolCallId")) or self.asked.get(str(data.get("requestId")), ""))
            case "session.shutdown":
                told = usage_of(data)
                if told is not None and (self.usage is None or (told.total or 0) >= (self.usage.total or 0)):
                    self.usage, self.spent_after = told, None
                self.closing.note(kind, data)
            case "session.error" | "abort":
                self.closing.note(kind, data)

    def _told(self, where: int, kind: str, data: Mapping[str, object], at_ms: int | None, thread: str | None) -> None:
        role: Role = "user" if kind == "user.message" else "system"
        text, by_user = data.get("content"), data.get("source") in _MADE_BY_USER
        if not isinstance(text, str):
            warn(self.transcript, "lost_message", where, f"a `{kind}` event without text")
            return
        message = Message(0, role, text, at_ms=at_ms, injected=role == "user" and not by_user, src=where)
        self._messages(thread).append(message)
        if role == "user" and thread is None:
            self.closing.goes_on()

    def _reply(self, where: int, data: Mapping[str, object], at_ms: int | None, thread: str | None) -> None:
        requests = [mapping(request) for request in sequence(data.get("toolRequests"))]
        thoughts = [word(data.get("reasoningText")) or "", *self.thoughts.pop(thread, [])]
        if not isinstance(data.get("content"), str) and not requests:
            warn(self.transcript, "lost_record", where, "a reply that holds neither text nor calls")
        unread = not isinstance(data.get("toolRequests", []), list)
        if unread or any(word(request.get("name")) is None for request in requests):
            warn(self.transcript, "lost_call", where, "a call that does not name its tool")
        message = Message(
            0,
            "assistant",
            word(data.get("content")) or "",
            id=word(data.get("messageId")),
            reasoning=joined([thought for thought in dict.fromkeys(thoughts) if thought]) or None,
            tool_calls=tuple(call_of(word(r.get("toolCallId")) or "", r) for r in requests),
            at_ms=at_ms,
            model=word(data.get("model")) or self.model,
            src=where,
        )
        self.called.update({(thread, call.id): call.name for call in message.tool_calls})
        self._said(message, thread)

    def _started(self, where: int, data: Mapping[str, object], at_ms: int | None, thread: str | None) -> None:
        """A tool began to run: a call of its own where no message asked for it."""
        call_id, name = word(data.get("toolCallId")) or "", word(data.get("toolName"))
        if self.called.get((thread, call_id), name) != name and name is not None:
            warn(self.transcript, "lost_call", where, f"`{name[:40]}` ran under the id of another tool's call")
        if (thread, call_id) in self.called:
            self._note("tool.execution_start", where, at_ms, {"toolCallId": call_id})
            return
        if name is None:
            warn(self.transcript, "lost_call", where, "a tool that ran without a name")
        given = data.get("arguments")
        args = given if isinstance(given, dict) else None
        raw = given if isinstance(given, str) else written({} if given is None else given)
        call = ToolCall(call_id, name or "", args, raw, None if args is not None else "the arguments are not an object")
        self.called[thread, call_id] = name or ""
        self._said(Message(0, "assistant", tool_calls=(call,), at_ms=at_ms, model=self.model, src=where), thread)

    def _finished(self, where: int, data: Mapping[str, object], at_ms: int | None, thread: str | None) -> None:
        call_id, success = word(data.get("toolCallId")), data.get("success")
        answer, error = mapping(data.get("result")), mapping(data.get("error"))
        millis = amount(mapping(mapping(data.get("toolTelemetry")).get("metrics")).get("durationMs"))
        result = ToolResult(
            call_id,
            word(answer.get("content")) or word(error.get("message")) or "",
            word(data.get("toolName")),
            is_error=not success if isinstance(success, bool) else None,
            seconds=None if millis is None else millis / 1000,
            ran=False if call_id in self.denied else None,
        )
        self._messages(thread).append(Message(0, "tool", result.text, tool_result=result, at_ms=at_ms, src=where))

    def _said(self, message: Message, thread: str | None) -> None:
        self._messages(thread).append(message)
        self.spent_after = self.spent_after or message.src
        if thread is None:
            self.closing.goes_on()

    def _messages(self, thread: str | None) -> list[Message]:
        return self.transcript.messages if thread is None else self._thread(thread).messages

    def _thread(self, call_id: str) -> Thread:
        return self.threads.setdefault(call_id, Thread(call_id, [], parent_call_id=call_id))

    def _note(self, kind: str, where: int, at_ms: int | None, data: Mapping[str, object]) -> None:
        self.transcript.events.append(SideEvent(kind, data, at_ms, where))

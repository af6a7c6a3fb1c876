"""The events of a karotte run, taken one by one into the neutral transcript."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field, to_builtins

from rulebook.evidence.formats.chat_messages import call_of
from rulebook.evidence.formats.karotte_events import (
    AnswersSubmitted,
    ByAssistant,
    ByFunction,
    BySystem,
    ByTool,
    ByUser,
    CallCompleted,
    Called,
    CallStarted,
    Chunk,
    ChunkReset,
    Event,
    Failed,
    MessageAdded,
    Part,
    PreHookCompleted,
    Said,
    Scored,
    StepCompleted,
    StepStarted,
    TaskCompleted,
    TaskStarted,
    TokensUsed,
)
from rulebook.evidence.record import Wants
from rulebook.evidence.session_files.pairing import finish, summed, warn
from rulebook.evidence.session_files.values import brief, iso_ms, joined, mapping, word
from rulebook.evidence.transcript import (
    End,
    EndReason,
    Message,
    Role,
    SideEvent,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)

ROLES: dict[type, Role] = {
    ByAssistant: "assistant",
    BySystem: "system",
    ByUser: "user",
    ByTool: "tool",
    ByFunction: "tool",
}
_BROKEN: dict[str, EndReason] = {
    "TurnLimitReachedError": "turn_limit",
    "StepTimeLimitReachedError": "time_limit",
    "StepContextWindowLimitReachedError": "context_limit",
    "EmptyTurnLimitReachedError": "empty_response",
    "KeyboardInterrupt": "canceled_by_user",
}
_STOPPED: dict[str | None, EndReason] = {"content_filter": "refused_by_model", "length": "truncated_output"}
_CALL_PARTS = frozenset(("tool_use", "server_tool_use", "tool_call", "function_call", "functionCall"))
_OF_CALLS = ("message", "tool_call", "tool_call_id", "tool_calls", "result")


class Reading(Struct):
    """A run while it is read: `take` its events, then `close` it.

    What is told twice is kept once: a call's start and its tokens belong to the reply that made it, a call's completion
    to the message that carries its result.
    """

    transcript: Transcript
    wants: Wants
    _texts: bool = True
    _calls: bool = True
    _reply: Message | None = None
    _answers: dict[str, tuple[int, CallCompleted | None]] = field(default_factory=dict)
    _called: set[tuple[str, str]] = field(default_factory=set)
    _started: dict[tuple[str, str], int] = field(default_factory=dict)
    _began: dict[str, str] = field(default_factory=dict)
    _used: list[Usage] = field(default_factory=list)
    _instructed: bool = False
    _status: str | None = None
    _trouble: Failed | None = None

    def __post_init__(self) -> None:
        self._texts, self._calls = self.wants.texts, self.wants.contents

    def take(self, events: Iterable[tuple[int, object]]) -> None:
        """Take the events in their order with their places: the typed ones, and plain values for those that are odd."""
        odd = Reading._odd
        for where, event in events:
            _TAKES.get(type(event), odd)(self, where, event)

    def close(self) -> None:
        """Say what only the whole run tells: calls that no message made, its tokens, and how it ended."""
        transcript = self.transcript
        self._unread_answers()
        finish(transcript)
        for (call_id, name), where in self._started.items():
            if (call_id, name) not in self._called:
                text = f"the call `{call_id}` of `{name}` was started, and no message makes it"
                warn(transcript, "lost_call", where, text)
        transcript.usage = usage = summed(self._used)
        if usage is not None and usage.total == 0:
            warn(transcript, "usage_zero", None, f"{len(self._used)} requests with a usage of 0")
            transcript.usage = Usage(requests=usage.requests)
        transcript.end = self._end()

    def _task(self, where: int, event: TaskStarted) -> None:
        transcript = self.transcript
        transcript.agent_name = transcript.agent_name or event.agent
        transcript.session_id = transcript.session_id or event.run_id or None
        if event.model and event.model not in transcript.models:
            transcript.models.append(event.model)
        self._event(where, event)

    def _step(self, where: int, event: StepStarted) -> None:
        self._instructed = False
        self._status = None
        self._event(where, event)

    def _message(self, where: int, event: MessageAdded) -> None:
        said = event.message
        role = ROLES[type(said)]
        self._status = None
        content = said.content
        if said.tool_calls is not None if role != "assistant" else holds_call(content):
            warn(self.transcript, "lost_call", where, f"a message of role `{role}` holds a call where none belongs")
        if role == "tool":
            self._answer(where, event, said)
            return
        text = text_of(content) if self._texts else ""
        message = Message(0, role, text, at_ms=iso_ms(event.timestamp), stop=event.finish_reason, src=where)
        if role == "assistant":
            self._reply = message
            if said.tool_calls:
                message.tool_calls = tuple([self._call(given) for given in said.tool_calls])
            if self._texts:
                message.reasoning = said.reasoning_content or thoughts_of(said)
        elif role == "user":
            message.injected, self._instructed = self._instructed, True
        self.transcript.messages.append(message)

    def _call(self, given: Called) -> ToolCall:
        call_id, function = given.id or "", given.function
        self._called.add((call_id, function.name))
        if self._calls:
            return call_of(call_id, {"name": function.name, "arguments": function.arguments})
        return ToolCall(call_id, function.name, None, "")

    def _answer(self, where: int, event: MessageAdded, said: Said) -> None:
        """What the model read of a result; that the call failed stands in its completion alone."""
        text = text_of(said.content) if self._calls or self._texts else ""
        _, done = self._answers.pop(said.tool_call_id or "", _NOT_DONE)
        self._result(where, said.tool_call_id, text, event, done)

    def _result(
        self, where: int, call_id: str | None, text: str, told: Event, done: CallCompleted | None = None
    ) -> None:
        result = ToolResult(call_id, text)
        if done is not None:
            result.is_error = done.result.isError is True
            began = self._began.get(done.tool_call_id)
            if (
                began is not None
                and (first := iso_ms(began)) is not None
                and (last := iso_ms(done.timestamp)) is not None
            ):
                result.seconds = max(0, last - first) / 1000
        message = Message(0, "tool", text, tool_result=result, at_ms=iso_ms(told.timestamp), src=where)
        self.transcript.messages.append(message)

    def _unread_answers(self) -> None:
        """Results that no message brought to the model, at the place where they came."""
        for call_id, (where, done) in self._answers.items():
            if done is not None:
                self._result(where, call_id, text_of(done.result.content), done, done)
        if self._answers:
            self.transcript.messages.sort(key=lambda message: message.src or 0)

    def _call_started(self, where: int, event: CallStarted) -> None:
        self._status = None
        given = event.tool_call
        self._started[given.id or "", given.function.name] = where
        if self._calls and event.timestamp is not None:
            self._began[given.id or ""] = event.timestamp

    def _completed(self, where: int, event: CallCompleted) -> None:
        self._status = None
        if event.tool_call_id in self._answers:
            warn(self.transcript, "orphan_result", where, f"the call `{event.tool_call_id}` is completed again")
        self._answers[event.tool_call_id] = where, event

    def _tokens(self, where: int, event: TokensUsed) -> None:
        usage = Usage(event.input_tokens, event.output_tokens, event.cache_read_tokens, event.cache_write_tokens)
        self._used.append(usage)
        if self._reply is not None and self._reply.usage is None:
            self._reply.usage = usage
        if event.estimated:
            warn(self.transcript, "usage_partial", where, "the tokens are estimated, and not those that were used")

    def _scored(self, where: int, event: Scored) -> None:
        self.transcript.outcome = {"score": event.scoring.score}
        self._event(where, event)

    def _failed(self, where: int, event: Failed) -> None:
        self._trouble = event
        self._event(where, event)

    def _task_completed(self, where: int, event: TaskCompleted) -> None:
        self._status = event.status
        self._event(where, event)

    def _event(self, where: int, event: Event) -> None:
        told: dict[str, Any] = to_builtins(event)
        data = {name: value for name, value in told.items() if name not in ("type", "timestamp") and value is not None}
        self._note(where, told["type"], data, event.timestamp)

    def _note(self, where: int, kind: str, data: Mapping[str, object], timestamp: object) -> None:
        self.transcript.events.append(SideEvent(kind, data, iso_ms(timestamp), where))

    def _odd(self, where: int, value: object) -> None:
        """An event that is not as karotte writes it: whatever a call or a reply may hide in leaves both open."""
        record = mapping(value)
        kind = word(record.get("type"))
        known, hides = kind in EVENT_TYPES, any(key in record for key in _OF_CALLS)
        if kind == "token_usage":
            warn(self.transcript, "usage_partial", where, "a `token_usage` event that cannot be read")
        elif record and record.keys() <= {"timestamp", "metadata"}:  # what karotte's own loader makes of some events
            self._note(where, "metadata", {"metadata": record.get("metadata")}, record.get("timestamp"))
        elif not isinstance(kind, str) or kind in _TELLING or (hides and not known):
            self._status = None
            what = f"a `{kind[:80]}` event" if isinstance(kind, str) else "an event without a type"
            warn(self.transcript, "unread_exchange", where, f"{what} that cannot be read may hold a message or a call")
        else:
            if kind == "task_completed":
                self._status = None
            if known:
                warn(self.transcript, "unknown_record", where, f"a `{kind}` event that is not as karotte writes it")
            self._note(where, kind, brief(record, frozenset(("type", "timestamp"))), record.get("timestamp"))

    def _end(self) -> End:
        if self._status == "error":
            trouble = self._trouble or Failed()
            said = f"{trouble.exception_type}: {trouble.message}" if trouble.exception_type else ""
            return End(_BROKEN.get(trouble.exception_type, "errored"), said[:500], self._status)
        return end_of(self._status, None if self._reply is None else self._reply.stop)


def end_of(status: str | None, stop: str | None) -> End:
    """How a run ended that did not break; `stop` is the last reply's finish reason."""
    if status in ("passed", "failed"):
        return End(_STOPPED.get(stop, "finished"), stop or "", status)
    return End("unknown", "the transcript does not reach the run's end", status)


def text_of(content: str | list[Part] | None) -> str:
    """The text parts, joined by a blank line."""
    if isinstance(content, str):
        return content
    if content and len(content) == 1:  # as most results are
        return content[0].text or ""
    return joined([part.text for part in content if part.text is not None]) if content else ""


def holds_call(content: str | list[Part] | None) -> bool:
    """Whether a part of a content may be a call."""
    return isinstance(content, list) and any(part.type in _CALL_PARTS for part in content)


def thoughts_of(said: Said) -> str | None:
    """The blocks of reasoning that are not withheld."""
    if not said.thinking_blocks:
        return None
    return joined([block.thinking for block in said.thinking_blocks or () if block.thinking]) or None


_TAKES: dict[type, Callable[[Reading, int, Any], None]] = {
    TaskStarted: Reading._task,
    StepStarted: Reading._step,
    MessageAdded: Reading._message,
    CallStarted: Reading._call_started,
    CallCompleted: Reading._completed,
    TokensUsed: Reading._tokens,
    Scored: Reading._scored,
    Failed: Reading._failed,
    TaskCompleted: Reading._task_completed,
    **dict.fromkeys((PreHookCompleted, StepCompleted, AnswersSubmitted, Chunk, ChunkReset), Reading._event),
}

_NOT_DONE: tuple[int, CallCompleted | None] = (0, None)

EVENT_TYPES = frozenset(str(event.__struct_config__.tag) for event in _TAKES if issubclass(event, Event))
"""The names of the events that karotte writes."""

_TELLING = frozenset(("message_added", "tool_call_started", "tool_call_completed"))

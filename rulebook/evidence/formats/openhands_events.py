"""OpenHands events taken one by one: actions become messages and calls, observations their results."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.chat_messages import call_of, usage_of
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.values import brief, count, iso_ms, mapping, sequence, word, written
from rulebook.evidence.transcript import (
    End,
    EndReason,
    Message,
    SideEvent,
    Thread,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)

_NO_CALLS = frozenset(
    (
        "system", "recall", "change_agent_state", "null", "start", "stop", "pause", "resume", "summarize",
        "condensation", "condensation_request", "add_task", "modify_task", "save_chat", "initialize",
    )
)  # fmt: skip
_NO_RESULTS = frozenset(("agent_state_changed", "null", "recall", "agent_condensation", "condense", "status"))
_COMPACTIONS = frozenset(("condensation", "agent_condensation", "condense"))
_ENVELOPE = frozenset(
    (
        "id", "timestamp", "source", "message", "action", "cause", "timeout", "tool_call_metadata", "llm_metrics",
        "thought", "keep_prompt", "is_confirmed", "confirmation_state", "action_risk", "security_risk",
        "kernel_init_code", "translated_ipython_code",
    )
)  # fmt: skip
_STATES: dict[str, EndReason] = {
    "finished": "finished",
    "error": "errored",
    "stopped": "canceled_by_user",
    "rejected": "forfeit",
    "rate_limited": "rate_limited",
}
_FINISHING: dict[str, EndReason] = {"finish": "finished", "reject": "forfeit"}


class Events(Struct):
    """What has been read so far. `end` is the last that was stated, `metrics` the last running totals."""

    transcript: Transcript
    delegates: list[Thread] = field(default_factory=list)
    end: End = field(default_factory=lambda: End("unknown", "the events do not say how the session ended"))
    metrics: Mapping[str, object] = field(default_factory=dict)
    _calls: dict[int, str] = field(default_factory=dict)
    _not_calls: set[int] = field(default_factory=set)
    _open: list[Thread] = field(default_factory=list)
    _counted: set[str] = field(default_factory=set)

    def take(self, index: int, event: Mapping[str, object]) -> None:
        """Take the event that stands at `index`."""
        action, observation = word(event.get("action")), word(event.get("observation"))
        self.metrics = mapping(event.get("llm_metrics")) or self.metrics
        if observation is not None:
            self._observed(index, event, observation)
        elif action is not None:
            self._done(index, event, action)
        else:
            warn(self.transcript, "unknown_record", index, "an event that is no action and no observation")
            warn(self.transcript, "lost_call", index, "an event that cannot be read may be a call")

    def _done(self, index: int, event: Mapping[str, object], action: str) -> None:
        args = mapping(event.get("args")) or event
        ours, theirs = event.get("source") == "agent", event.get("source") in ("user", "environment")
        named = word(mapping(event.get("tool_call_metadata")).get("function_name"))
        if ours and named is not None and (action in _NO_CALLS or action == "message"):
            warn(self.transcript, "lost_call", index, f"an action `{action}` that a call of `{named[:40]}` made")
        if action in _NO_CALLS or (theirs and action != "message"):
            self._note(index, event, action, args)
        elif action == "message":
            spoken = ours or (not theirs and args.get("wait_for_response") is True)
            self._say(index, event, args, spoken=spoken)
        else:
            self._call(index, event, action, args)

    def _note(self, index: int, event: Mapping[str, object], action: str, args: Mapping[str, object]) -> None:
        kind = "compaction" if action in _COMPACTIONS else action
        if (number := count(event.get("id"))) is not None:
            self._not_calls.add(number)
        self._happened(index, event, kind, brief(args, _ENVELOPE))
        names = [mapping(mapping(tool).get("function")).get("name") for tool in sequence(args.get("tools"))]
        known = [name for name in names if isinstance(name, str)]
        if action == "system" and known:
            self._happened(index, event, "tools", {"names": known})

    def _happened(self, index: int, event: Mapping[str, object], kind: str, data: Mapping[str, object]) -> None:
        self.transcript.events.append(SideEvent(kind, data, iso_ms(event.get("timestamp")), index))

    def _say(self, index: int, event: Mapping[str, object], args: Mapping[str, object], *, spoken: bool) -> None:
        text = word(args.get("content")) or word(event.get("message")) or ""
        at_ms = iso_ms(event.get("timestamp"))
        message = Message(0, "assistant" if spoken else "user", text, at_ms=at_ms, src=index)
        if spoken:
            self._take_reply(message, event)
        self._messages().append(message)
        if not self._open:
            self.end = End("unknown", f"the last event is a message of the {message.role}")

    def _call(self, index: int, event: Mapping[str, object], action: str, args: Mapping[str, object]) -> None:
        call = _call_of(index, event, action, args)
        if (number := count(event.get("id"))) is not None:
            self._calls[number] = call.id
        text = next((t for t in (word(args.get(key)) for key in ("thought", "final_thought")) if t), "")
        self._reply(index, event, text).tool_calls += (call,)
        if action == "delegate":
            name = word(args.get("agent"))
            self._open.append(Thread(f"delegate-{index}", [], parent_call_id=call.id, name=name))
            self.delegates.append(self._open[-1])
        elif not self._open:
            raw = action if action in _FINISHING else None
            self.end = End(_FINISHING.get(action, "unknown"), text[:500] if raw else "", raw)

    def _reply(self, index: int, event: Mapping[str, object], text: str) -> Message:
        """The assistant message of an action: one model reply with several calls is one message."""
        messages = self._messages()
        reply_id = word(_response(event).get("id"))
        previous = next((m for m in reversed(messages) if m.role == "assistant"), None)
        if reply_id is not None and previous is not None and previous.id == reply_id:
            previous.text = previous.text or text
            return previous
        message = Message(0, "assistant", text, at_ms=iso_ms(event.get("timestamp")), src=index)
        self._take_reply(message, event)
        messages.append(message)
        return message

    def _take_reply(self, message: Message, event: Mapping[str, object]) -> None:
        response = _response(event)
        message.id, message.model = word(response.get("id")), word(response.get("model"))
        if message.id is not None and message.id in self._counted:
            message.usage = Usage(0, 0, requests=0)
            return
        message.usage = usage_of(response.get("usage"))
        if message.usage is not None:
            message.usage.cache_write = count(mapping(response.get("usage")).get("cache_creation_input_tokens"))
        if message.id is not None:
            self._counted.add(message.id)

    def _observed(self, index: int, event: Mapping[str, object], kind: str) -> None:
        cause = count(event.get("cause"))
        stray = cause is not None and cause in self._not_calls
        if kind in _NO_RESULTS or stray:
            self._state(index, event, kind)
            return
        if kind == "delegate" and self._open:
            self._open.pop()
        result = _result(event, kind)
        metadata = mapping(event.get("tool_call_metadata"))
        if cause is not None:
            result.call_id = self._calls.get(cause, word(metadata.get("tool_call_id")) or f"event {cause}")
        else:
            result.call_id = word(metadata.get("tool_call_id"))
        at_ms = iso_ms(event.get("timestamp"))
        self._messages().append(Message(0, "tool", result.text, tool_result=result, at_ms=at_ms, src=index))

    def _state(self, index: int, event: Mapping[str, object], kind: str) -> None:
        extras = mapping(event.get("extras"))
        self._happened(index, event, "compaction" if kind in _COMPACTIONS else kind, brief(extras, frozenset()))
        state = word(extras.get("agent_state"))
        if kind != "agent_state_changed" or state is None or self._open:
            return
        if state in _STATES:
            same = _STATES[state] == self.end.reason
            raw = self.end.raw if same and self.end.raw else state
            detail = self.end.detail if same else (word(extras.get("reason")) or "")[:500]
            self.end = End(_STATES[state], detail, raw)
        elif state == "running":
            self.end = End("unknown", "the last state is that the agent is running")

    def _messages(self) -> list[Message]:
        return self._open[-1].messages if self._open else self.transcript.messages


def _response(event: Mapping[str, object]) -> Mapping[str, object]:
    return mapping(mapping(event.get("tool_call_metadata")).get("model_response"))


def _call_of(index: int, event: Mapping[str, object], action: str, args: Mapping[str, object]) -> ToolCall:
    """The call as the model made it, where its reply is kept; else as the action tells it."""
    metadata = mapping(event.get("tool_call_metadata"))
    call_id = word(metadata.get("tool_call_id"))
    name = word(metadata.get("function_name")) or action
    choices = [mapping(mapping(choice).get("message")) for choice in sequence(_response(event).get("choices"))]
    for given in (mapping(call) for choice in choices for call in sequence(choice.get("tool_calls"))):
        if call_id is not None and given.get("id") == call_id:
            call = call_of(call_id, mapping(given.get("function")))
            call.name = call.name or name
            return call
    number = count(event.get("id"))
    plain = {key: value for key, value in args.items() if key not in _ENVELOPE}
    return ToolCall(call_id or f"action {index if number is None else number}", name, plain, written(plain))


def _result(event: Mapping[str, object], kind: str) -> ToolResult:
    """What was observed. An exit code of -1 is a command that still runs, or of which nothing is known."""
    extras = mapping(event.get("extras"))
    codes = (extras.get("exit_code"), mapping(extras.get("metadata")).get("exit_code"), event.get("exit_code"))
    code = next((c for c in codes if isinstance(c, int) and not isinstance(c, bool)), None)
    exit_code = None if code is None or code < 0 else code
    text = event.get("content")
    result = ToolResult(None, text if isinstance(text, str) else "", exit_code=exit_code)
    if exit_code is not None:
        result.is_error = exit_code != 0
    if kind == "error" or kind == "user_rejected":
        result.is_error = True
    if kind == "user_rejected":
        result.ran = False
    return result

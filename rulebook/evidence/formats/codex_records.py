"""The records of a Codex session, taken one by one in the order of the file."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.codex_end import Closing, Tokens
from rulebook.evidence.formats.codex_items import (
    ASIDE,
    CALLS,
    MESSAGES,
    NAMED,
    OUTPUTS,
    call_in,
    images_in,
    spoken,
    thoughts_of,
)
from rulebook.evidence.formats.codex_output import Outcome, outcome_of, result_of
from rulebook.evidence.session_files.marks import shows_call
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.values import brief, iso_ms, joined, mapping, sequence, word
from rulebook.evidence.transcript import Message, SideEvent, Transcript

RECORDS = frozenset(("session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"))
ITEMS = MESSAGES | CALLS | OUTPUTS
_COUNTED = frozenset(("token_count", "task_complete", "turn_complete", "turn_aborted", "error"))
"""Events that say something of the end or of the tokens."""
_TOLD_TWICE = frozenset(("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"))
"""Events that say again what the conversation says."""
_CALL_ENDS = frozenset(("exec_command_end", "mcp_tool_call_end", "patch_apply_end", "dynamic_tool_call_response"))
_CALL_BEGINS = frozenset(
    ("exec_command_begin", "mcp_tool_call_begin", "patch_apply_begin", "dynamic_tool_call_request")
)
_ITEM_CALLS = frozenset(("CommandExecution", "McpToolCall", "FileChange", "DynamicToolCall"))
_BY_A_PERSON = frozenset(("user_shell", "userShell"))
_ELSEWHERE = frozenset(("collab_agent_spawn_end", "sub_agent_activity", "entered_review_mode"))
"""Events of sub-agents, whose sessions are files of their own."""


class Reading(Struct):
    """What has been read so far.

    `open` names the tool of each call without a result, `outcomes` holds what events said of those; `claimed` the
    calls that events tell of, with their lines, and `called` every call of the conversation.
    """

    transcript: Transcript
    closing: Closing = field(default_factory=Closing)
    tokens: Tokens = field(default_factory=Tokens)
    understood: bool = False
    thoughts: list[str] = field(default_factory=list)
    model: str | None = None
    open: dict[str, str] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    claimed: dict[str, tuple[int, str]] = field(default_factory=dict)

    def take(self, where: int, record: Mapping[str, object]) -> None:
        """Take the record that stands at line `where`, in either layout."""
        kind, at_ms = word(record.get("type")), iso_ms(record.get("timestamp"))
        if "payload" not in record:
            self._bare(where, record, at_ms)
            return
        payload = mapping(record.get("payload"))
        if not payload:
            warn(self.transcript, "lost_record", where, "a record without a payload may be a call or a reply")
            return
        self.understood = self.understood or kind in RECORDS
        if kind == "session_meta" and not _holds_an_item(payload):
            self._session(where, payload, at_ms)
        elif kind == "response_item":
            self._item(where, payload, at_ms)
        elif kind == "event_msg":
            self._event(where, payload, at_ms)
        elif kind == "compacted":
            for item in sequence(payload.get("replacement_history")):
                if word(mapping(item).get("type")) in CALLS:
                    self._claim(where, kind, word(mapping(item).get("call_id")), mapping(item))
            self._note("compaction", where, at_ms, brief(payload, frozenset()))
        elif kind is not None and not _holds_an_item(payload):
            self.model = (word(payload.get("model")) or self.model) if kind == "turn_context" else self.model
            self._note(kind, where, at_ms, brief(payload, frozenset()))
        else:
            text = f"a record of the type `{kind}` that may hold a call or a reply"
            warn(self.transcript, "lost_record", where, text)

    def finish(self) -> None:
        """Tell of the calls that events mention and the conversation does not hold."""
        for call_id, (where, event) in self.claimed.items():
            if call_id not in self.called:
                text = f"`{event}` tells of the call `{call_id}`, and the conversation holds no such call"
                warn(self.transcript, "lost_call", where, text)
        if self.tokens.fell is not None:
            text = "the running count of tokens fell or cannot be read, so that more were spent than it says"
            warn(self.transcript, "usage_partial", self.tokens.fell, text)

    def _bare(self, where: int, record: Mapping[str, object], at_ms: int | None) -> None:
        """A record of the oldest layout: an item without its envelope, or the session's first line."""
        if word(record.get("type")) in ITEMS:
            self.understood = True
            self._item(where, record, at_ms)
        elif "record_type" in record:
            self._note(str(record["record_type"])[:40], where, at_ms, {})
        elif "type" not in record and word(record.get("id")) is not None and "timestamp" in record:
            self._session(where, record, at_ms)
        else:
            self._unknown(where, record)

    def _session(self, where: int, payload: Mapping[str, object], at_ms: int | None) -> None:
        """The first one names the session; a fork and a resumed session repeat those of others."""
        transcript, source = self.transcript, self.transcript.source
        if transcript.session_id is None:
            transcript.session_id = word(payload.get("id"))
            parent = word(payload.get("forked_from_id")) or word(payload.get("parent_thread_id"))
            transcript.parent_session = parent
        source.producer = "Codex"
        source.producer_version = source.producer_version or word(payload.get("cli_version"))
        self._note("session_meta", where, at_ms, brief(payload, frozenset(("instructions",))))

    def _item(self, where: int, payload: Mapping[str, object], at_ms: int | None) -> None:
        kind = word(payload.get("type"))
        if kind == "message":
            self._message(where, payload, at_ms)
        elif kind == "reasoning":
            self.thoughts += thoughts_of(payload)
            self._note("reasoning", where, at_ms, {})
        elif kind is not None and kind in ASIDE:
            self._note(kind, where, at_ms, brief(payload, frozenset()))
        elif kind in CALLS or (kind is not None and kind.endswith("_call") and "call_id" in payload):
            self._call(where, payload, at_ms)
        elif kind in OUTPUTS or (kind is not None and kind.endswith("_output") and "call_id" in payload):
            self._result(where, payload, at_ms)
        else:
            self._unknown(where, payload)

    def _message(self, where: int, payload: Mapping[str, object], at_ms: int | None) -> None:
        found = spoken(payload, where)
        if found is None:
            warn(self.transcript, "lost_message", where, f"a message of the role `{payload.get('role')}`")
            return
        for message in found:
            if message.role == "assistant":
                self._add_reply(message, at_ms)
            else:
                message.at_ms = at_ms
                self.transcript.messages.append(message)
        if found[-1].role == "user":
            self.closing.goes_on()
        if shows_call([payload.get("content"), payload.get("tool_calls")]) or payload.get("tool_calls"):
            warn(self.transcript, "lost_call", where, "a message that holds a call")
        if images := images_in(payload.get("content")):
            self._note("images", where, at_ms, {"count": images})

    def _call(self, where: int, payload: Mapping[str, object], at_ms: int | None) -> None:
        call = call_in(payload)
        if word(payload.get("type")) in NAMED and word(payload.get("name")) is None:
            warn(self.transcript, "lost_call", where, "a call that does not name its tool")
        self.open[call.id] = call.name
        self.called.add(call.id)
        if call.name == "spawn_agent":
            self._missing(where)
        self._add_reply(Message(0, "assistant", tool_calls=(call,), src=where), at_ms)

    def _add_reply(self, message: Message, at_ms: int | None) -> None:
        message.at_ms, message.model = at_ms, self.model
        message.reasoning, self.thoughts = joined(self.thoughts) or None, []
        self.transcript.messages.append(message)
        self.closing.goes_on()

    def _result(self, where: int, payload: Mapping[str, object], at_ms: int | None) -> None:
        call_id = word(payload.get("call_id")) or ""
        result = result_of(self.open.pop(call_id, None), payload, self.outcomes.pop(call_id, None))
        self.transcript.messages.append(Message(0, "tool", result.text, tool_result=result, at_ms=at_ms, src=where))

    def _unknown(self, where: int, payload: Mapping[str, object]) -> None:
        """An item that is neither message, call nor result: told as what it may have been."""
        kind = word(payload.get("type"))
        if "role" in payload and not {"call_id", "arguments"} & set(payload):
            warn(self.transcript, "lost_message", where, "an item that looks like a message, of no known type")
        else:
            warn(self.transcript, "lost_record", where, f"an item of the type `{kind}` may be a call or a reply")

    def _event(self, where: int, payload: Mapping[str, object], at_ms: int | None) -> None:
        kind = word(payload.get("type"))
        if kind is None:
            warn(self.transcript, "lost_record", where, "an event without a type may be the end of a turn")
            return
        match kind:
            case "token_count":
                self.tokens.take(where, payload)
            case "task_started" | "turn_started":
                self.closing.goes_on()
            case "task_complete" | "turn_complete":
                self.closing.completed(payload)
            case "turn_aborted":
                self.closing.aborted(payload)
            case "error":
                self.closing.failed(payload)
            case "item_completed":
                item = mapping(payload.get("item"))
                if word(item.get("type")) in _ITEM_CALLS:
                    self._claim(where, kind, word(item.get("id")), item)
            case _ if kind in _CALL_BEGINS:
                self._claim(where, kind, word(payload.get("call_id")), {"source": payload.get("source")}, done=False)
            case _ if kind in ITEMS:
                warn(self.transcript, "lost_record", where, f"an event of the type `{kind}` may be a call or a reply")
            case _ if kind in _CALL_ENDS:
                self._claim(where, kind, word(payload.get("call_id")), payload)
            case _ if kind in _ELSEWHERE:
                self._missing(where)
        said = {} if kind in _TOLD_TWICE else brief(payload, frozenset(("type",)))
        self._note("api_error" if kind == "error" else kind, where, at_ms, said)

    def _claim(
        self, where: int, event: str, call_id: str | None, payload: Mapping[str, object], *, done: bool = True
    ) -> None:
        """An event tells of a call, and, where it is `done`, how it went; a command that a person typed is no call."""
        if word(payload.get("source")) in _BY_A_PERSON:
            return
        if call_id is None:
            warn(self.transcript, "lost_call", where, f"`{event}` tells of a call, and not of which")
            return
        self.claimed.setdefault(call_id, (where, event))
        if done and call_id in self.open:
            self.outcomes[call_id] = outcome_of(payload)

    def _missing(self, where: int) -> None:
        if not any(warning.code == "subagent_missing" for warning in self.transcript.warnings):
            text = "sub-agents were started, whose sessions are files of their own"
            warn(self.transcript, "subagent_missing", where, text)

    def _note(self, kind: str, where: int, at_ms: int | None, data: Mapping[str, object]) -> None:
        self.transcript.events.append(SideEvent(kind, data, at_ms, where))


def _holds_an_item(payload: Mapping[str, object]) -> bool:
    """Whether a record of another type holds what only the conversation holds."""
    return word(payload.get("type")) in ITEMS | _COUNTED or bool({"call_id", "role"} & set(payload))

"""The records of a Claude Code session, taken one by one in the order of the file."""

from collections.abc import Mapping

from msgspec import Struct, field

from rulebook.evidence.formats.claude_blocks import (
    INTERRUPTED,
    SILENT,
    Parts,
    ids_within,
    is_clear,
    is_injected,
    larger,
    parts_of,
    result_of,
    usage_of,
)
from rulebook.evidence.formats.claude_end import Closing
from rulebook.evidence.formats.claude_threads import Conversation, Threads
from rulebook.evidence.session_files.keeping import Keeping
from rulebook.evidence.session_files.pairing import warn
from rulebook.evidence.session_files.values import brief, iso_ms, joined, mapping, sequence, word
from rulebook.evidence.transcript import Message, SideEvent, ToolCall, Transcript, Usage

_ENVELOPE = frozenset(
    (
        "type", "uuid", "parentUuid", "sessionId", "session_id", "timestamp", "cwd", "version", "gitBranch",
        "userType", "slug", "entrypoint", "isSidechain", "requestId",
    )
)  # fmt: skip
_SYSTEM_EVENTS = {"compact_boundary": "compaction", "api_error": "api_error", "api_refusal": "refusal"}


class Reading(Struct):
    """What has been read so far.

    `spent` holds one usage for each API reply, `agents` the sub-agents that results name, `claimed` the calls that
    records beside the conversation show.
    """

    transcript: Transcript
    keeping: Keeping = field(default_factory=Keeping)
    threads: Threads = field(default_factory=Threads)
    closing: Closing = field(default_factory=Closing)
    spent: dict[str, Usage] = field(default_factory=dict)
    agents: list[tuple[str, Message]] = field(default_factory=list)
    results: list[Mapping[str, object]] = field(default_factory=list)
    claimed: dict[str, tuple[int | None, str]] = field(default_factory=dict)
    understood: bool = False
    _taken: set[int] = field(default_factory=set)
    _called: set[int] = field(default_factory=set)

    def take(self, where: int | None, value: object, agent: str | None = None) -> None:
        """Take one record that stands at `where`.

        `agent` names the sub-agent whose own file it comes from.
        """
        if not isinstance(value, dict):
            warn(self.transcript, "unknown_record", where, "a record that is no JSON object")
            warn(self.transcript, "lost_record", where, "a record that is no JSON object may hold a call or a reply")
            return
        kind, message = value.get("type"), value.get("message")
        thread = self.threads.place(value, where, agent)
        if kind in ("user", "assistant") and isinstance(message, dict):
            self._note_session(value, agent)
            self._message(where, value, message, thread)
        elif kind in ("user", "assistant") or not isinstance(kind, str):
            what = f"a `{kind}` record without a message" if isinstance(kind, str) else "a record without a type"
            warn(self.transcript, "unknown_record", where, what)
            if {"message", "content"} & value.keys():
                warn(self.transcript, "lost_record", where, f"{what} that can be read may hold a call or a reply")
        else:
            if isinstance(message, dict) and "content" in message:
                warn(self.transcript, "lost_call", where, f"a message in a record of the unknown type `{kind[:40]}`")
            for call_id in ids_within(value):
                self.claimed.setdefault(call_id, (where, kind[:40]))
            self._note_session(value, agent)
            self._event(where, kind, value, thread)

    def finish(self) -> None:
        """Tell of calls that records beside the conversation show, and the conversation does not hold."""
        talks = (self.threads.main, *self.threads.others.values())
        called = {call.id for talk in talks for message in talk.messages for call in message.tool_calls}
        for call_id, (where, kind) in self.claimed.items():
            if call_id not in called:
                text = f"a `{kind}` record shows the call `{call_id[:80]}`, and the conversation holds no such call"
                warn(self.transcript, "lost_call", where, text)

    def _note_session(self, record: Mapping[str, object], agent: str | None) -> None:
        transcript, source = self.transcript, self.transcript.source
        session = word(record.get("sessionId")) or word(record.get("session_id"))
        self.understood = self.understood or record.get("type") in ("user", "assistant", "system")
        if agent is None:
            transcript.session_id = transcript.session_id or session
        source.producer = "Claude Code"
        version = word(record.get("version")) or word(record.get("claude_code_version"))
        source.producer_version = source.producer_version or version

    def _message(
        self,
        where: int | None,
        record: Mapping[str, object],
        message: Mapping[str, object],
        thread: str | None,
    ) -> None:
        if self._is_copy(record, message):
            warn(
                self.transcript,
                "repeated_record",
                where,
                f"the record `{record.get('uuid')}` stands in the file twice",
            )
            return
        parts = parts_of(message.get("content"))
        for kind in parts.others:
            if kind not in SILENT:
                warn(self.transcript, "lost_call", where, f"a content block of the unknown type `{kind[:40]}`")
        if not parts.known:
            what = f"a `{record.get('type')}` message without content"
            warn(self.transcript, "unknown_record", where, what)
            if message.get("content") is not None:
                warn(self.transcript, "lost_record", where, f"{what} that can be read may hold a call or a reply")
        elif record.get("type") == "assistant":
            self._assistant(where, record, message, parts, thread)
        else:
            self._user(where, record, parts, thread)

    def _is_copy(self, record: Mapping[str, object], message: Mapping[str, object]) -> bool:
        """A resumed session may hold a record again: the same `uuid`, moment and message."""
        uuid, moment = word(record.get("uuid")), iso_ms(record.get("timestamp"))
        if uuid is None or moment is None:
            return False
        key = hash((uuid, moment, repr(message)))
        if key in self._taken:
            return True
        self._taken.add(key)
        return False

    def _assistant(
        self,
        where: int | None,
        record: Mapping[str, object],
        given: Mapping[str, object],
        parts: Parts,
        thread: str | None,
    ) -> None:
        talk = self.threads.conversation(thread)
        reply_id, failed = word(given.get("id")), record.get("isApiErrorMessage") is True
        message = talk.replies.get(reply_id) if reply_id else None
        if message is None:
            message = Message(
                0, "assistant", id=reply_id, at_ms=iso_ms(record.get("timestamp")), src=where, injected=failed
            )
            talk.add(message, word(record.get("uuid")))
            if reply_id:
                talk.replies[reply_id] = message
        _extend(message, parts, self.keeping, self._called)
        model, stop = word(given.get("model")), word(given.get("stop_reason"))
        synthetic = failed or model == "<synthetic>"
        message.model = message.model or (None if synthetic else model)
        message.stop = stop or message.stop
        if not failed:
            self._spend(reply_id or f"{thread}:{where}:{record.get('uuid')}", message, given)
        self._results(where, record, parts, talk)
        if thread is None:
            self.closing.stop = stop or self.closing.stop
            self.closing.trouble = "errored" if failed else None
            self.closing.trouble_text = joined(parts.texts)[:500] if failed else ""
        if failed:
            self._note("api_error", where, record, {"text": joined(parts.texts)[:500]})

    def _spend(self, key: str, message: Message, given: Mapping[str, object]) -> None:
        """Keep one usage for each reply, the largest of each number: earlier lines may hold a placeholder."""
        usage = usage_of(given)
        if usage is None:
            return
        known = self.spent.get(key)
        self.spent[key] = message.usage = usage if known is None else larger(known, usage)

    def _user(self, where: int | None, record: Mapping[str, object], parts: Parts, thread: str | None) -> None:
        talk = self.threads.conversation(thread)
        if parts.calls:
            warn(self.transcript, "lost_call", where, "a call in a message that is not the assistant's")
        self._results(where, record, parts, talk)
        for reminder in parts.reminders:
            self._note("context_injection", where, record, {"text": reminder[:500]})
        if parts.results and not parts.texts:
            return
        text, meta = joined(parts.texts), record.get("isMeta") is True
        summary = record.get("isCompactSummary") is True
        needed = text.startswith(INTERRUPTED) or (thread is not None and not talk.messages)
        message = Message(
            0,
            "user",
            self.keeping.anyway(text) if needed else self.keeping.said(text),
            at_ms=iso_ms(record.get("timestamp")),
            injected=meta or summary or is_injected(text),
            hidden=meta or record.get("isVisibleInTranscriptOnly") is True,
            src=where,
        )
        talk.add(message, word(record.get("uuid")))
        if is_clear(text):
            self._note("clear", where, record, {})
        if summary:
            self._note("compaction_summary", where, record, {"text": text[:500]})
        if thread is None and not message.injected:
            self.closing.trouble = None

    def _results(self, where: int | None, record: Mapping[str, object], parts: Parts, talk: Conversation) -> None:
        for block in parts.results:
            result = result_of(block, record)
            result.text = self.keeping.answered(result.text)
            message = Message(
                0, "tool", result.text, tool_result=result, at_ms=iso_ms(record.get("timestamp")), src=where
            )
            talk.add(message, word(record.get("uuid")))
            agent = word(mapping(record.get("toolUseResult")).get("agentId"))
            if agent is not None:
                self.agents.append((agent, message))

    def _event(self, where: int | None, kind: str, record: Mapping[str, object], thread: str | None) -> None:
        subtype = word(record.get("subtype")) or ""
        data = brief(record, _ENVELOPE)
        if kind == "system" and subtype == "init":
            data["names"] = [name for name in sequence(record.get("tools")) if isinstance(name, str)]
            kind = "tools"
        elif kind == "system":
            kind = _SYSTEM_EVENTS.get(subtype, "system")
            data.update(brief(mapping(record.get("compactMetadata")), frozenset()))
        elif kind == "attachment":
            data.update(brief(mapping(record.get("attachment")), frozenset()))
            kind = "hook" if str(data.get("type", "")).startswith("hook") else "attachment"
        elif kind == "result" and ("total_cost_usd" in record or subtype or "num_turns" in record):
            self.results.append(record)
            self.closing.result = record
        if thread is None and kind in ("api_error", "refusal"):
            self.closing.trouble = "errored" if kind == "api_error" else "refused_by_model"
            self.closing.trouble_text = (word(record.get("content")) or subtype)[:500]
        self._note(kind, where, record, data)

    def _note(self, kind: str, where: int | None, record: Mapping[str, object], data: Mapping[str, object]) -> None:
        event = SideEvent(kind, data, iso_ms(record.get("timestamp")), where)
        self.transcript.events.append(self.keeping.event(event))


def _extend(message: Message, parts: Parts, keeping: Keeping, known: set[int]) -> None:
    """Add the blocks of one more line to a reply; a call that it already has, the same in all, is a copy."""
    kept = [text for text in map(keeping.said, parts.texts) if text or not message.text]
    message.text = joined([message.text, *kept] if message.text else kept)
    thoughts = [text for text in map(keeping.said, parts.reasoning) if text]
    message.reasoning = joined([message.reasoning, *thoughts] if message.reasoning else thoughts) or None
    fresh: list[ToolCall] = []
    for call in parts.calls:
        key = hash((id(message), call.id, call.name, call.args_raw))
        if not call.id or key not in known:
            fresh.append(keeping.called(call))
            known.add(key)
    message.tool_calls = (*message.tool_calls, *fresh)

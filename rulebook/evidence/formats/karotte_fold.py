"""An ordinary karotte run folded straight into the facts that are asked for: four times as fast as by its transcript.

Whatever is not as karotte writes it, and whatever asks for more than names, counts and texts, is left to the reader.
"""

from collections.abc import Sequence

from msgspec import Struct, field

from rulebook.evidence.formats.karotte_events import (
    ByAssistant,
    ByFunction,
    ByTool,
    ByUser,
    CallCompleted,
    CallStarted,
    MessageAdded,
    Scored,
    StepCompleted,
    StepStarted,
    TaskCompleted,
    TaskStarted,
    TokensUsed,
)
from rulebook.evidence.formats.karotte_run import ROLES, end_of, holds_call, text_of, thoughts_of
from rulebook.evidence.record import Call, EndRecord, Record, Wants
from rulebook.evidence.session_files.values import iso_ms
from rulebook.evidence.transcript import Message, Transcript, Usage
from rulebook.evidence.transcript_record import headed
from rulebook.outcome import Seen

_STAMPED = frozenset((TaskStarted, StepStarted, StepCompleted, Scored, TaskCompleted))


class _Odd(Exception):  # noqa: N818
    """Something that the reader must look at."""


class Folding(Struct):
    """The facts of one run while its events are gone through."""

    transcript: Transcript
    wants: Wants
    messages: list[Message] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    tools: dict[str, int] = field(default_factory=dict)
    first: dict[str, Seen] = field(default_factory=dict)
    turns: int = 0
    _messages: int = 0
    _names: dict[str, str] = field(default_factory=dict)
    _waiting: dict[str, Call] = field(default_factory=dict)
    _done: dict[str, bool] = field(default_factory=dict)
    _stamps: list[str | None] = field(default_factory=list)
    _used: list[TokensUsed] = field(default_factory=list)
    _open: bool = False
    _replies: int = 0
    _instructed: bool = False
    _status: str | None = None
    _stop: str | None = None

    def take(self, events: Sequence[object]) -> None:
        """Go through the events. Raises _Odd."""
        stamps, used = self._stamps, self._used
        for where, event in enumerate(events):
            kind = type(event)
            if kind is MessageAdded:
                stamps.append(event.timestamp)  # type: ignore[attr-defined]
                self._message(where, event)  # type: ignore[arg-type]
            elif kind is TokensUsed:
                used.append(event)  # type: ignore[arg-type]
                self._replies += self._open
                self._open = False
            elif kind is CallStarted:
                self._status = None
                given = event.tool_call  # type: ignore[attr-defined]
                if self._names.get(given.id or "") != given.function.name:
                    raise _Odd
            elif kind is CallCompleted:
                self._status = None
                if event.tool_call_id in self._done:  # type: ignore[attr-defined]
                    raise _Odd
                self._done[event.tool_call_id] = event.result.isError is True  # type: ignore[attr-defined]
            elif kind in _STAMPED:
                stamps.append(event.timestamp)  # type: ignore[attr-defined]
                self._happened(event)
            else:
                raise _Odd

    def _message(self, where: int, event: MessageAdded) -> None:
        said = event.message
        kind = type(said)
        self._status = None
        content = said.content
        if kind is ByTool or kind is ByFunction:
            call = self._waiting.pop(said.tool_call_id or "", None)
            if call is None or said.tool_calls is not None:
                raise _Odd
            failed = self._done.pop(call.id, None)
            call.status = None if failed is None else "error" if failed else "ok"
        elif kind is ByAssistant:
            if type(content) is not str and holds_call(content):
                raise _Odd
            self._open, self._stop = True, event.finish_reason
            self.turns += 1
            for given in said.tool_calls or ():
                self._call(given.id or "", given.function.name)
        elif said.tool_calls is not None:
            raise _Odd
        place = self._messages
        self._messages += 1
        if kind is ByAssistant:
            text = content if type(content) is str else text_of(content)
            reasoning = said.reasoning_content or thoughts_of(said)
            self.messages.append(Message(place, "assistant", text, reasoning=reasoning, src=where))
        elif self.wants.messages:
            text = content if type(content) is str else text_of(content)
            message = Message(place, ROLES[kind], text, src=where)
            if kind is ByUser:
                message.injected, self._instructed = self._instructed, True
            self.messages.append(message)

    def _call(self, call_id: str, name: str) -> None:
        names = self._names
        if not call_id or not name or call_id in names:
            raise _Odd
        names[call_id] = name
        call = Call(len(names) - 1, call_id, name, None, "", turn=self.turns, message=self._messages)
        self._waiting[call_id] = call
        if self.wants.calls:
            self.calls.append(call)
        if name not in self.tools:
            self.tools[name] = 0
            self.first[name] = call.seen
        self.tools[name] += 1

    def _happened(self, event: object) -> None:
        transcript = self.transcript
        match event:
            case TaskStarted():
                transcript.agent_name = transcript.agent_name or event.agent
                transcript.session_id = transcript.session_id or event.run_id or None
                if event.model and event.model not in transcript.models:
                    transcript.models.append(event.model)
            case StepStarted():
                self._instructed, self._status = False, None
            case Scored():
                transcript.outcome = {"score": event.scoring.score}
            case TaskCompleted():
                self._status = event.status

    def record(self, sha256: str) -> Record:
        """The facts. Raises _Odd for a run that does not add up."""
        if self._waiting or self._done or self._status == "error":
            raise _Odd
        transcript, stamps = self.transcript, self._stamps
        transcript.source.sha256 = sha256
        transcript.messages = self.messages
        transcript.usage = self._usage()
        transcript.end = end_of(self._status, self._stop)
        record = headed(transcript, self.wants, _first_and_last(stamps))
        record.messages = self.messages if self.wants.said else []
        last = self._messages - 1 if self._messages else None
        record.ends = [EndRecord(end.end, Seen(message=last)) for end in record.ends]
        record.calls, record.call_count, record.tool_counts = self.calls, len(self._names), self.tools
        record.turns, record.first_call = self.turns, self.first
        record.event_counts = self._counts(record)
        record.total_events = sum(record.event_counts.values())
        return record

    def _usage(self) -> Usage | None:
        used = self._used
        if not used:
            return None
        if True in {event.estimated for event in used}:
            raise _Odd
        read = [event.cache_read_tokens for event in used if event.cache_read_tokens is not None]
        written = [event.cache_write_tokens for event in used if event.cache_write_tokens is not None]
        into, out = sum([event.input_tokens for event in used]), sum([event.output_tokens for event in used])
        if into + out == 0:
            raise _Odd
        return Usage(into, out, sum(read) if read else None, sum(written) if written else None, requests=len(used))

    def _counts(self, record: Record) -> dict[str, int]:
        usages = 0 if self.transcript.usage is None else self._replies or 1
        counts = {
            "session.start": 1,
            "session.imported": 1,
            "tool.result": len(self._names),
            "message": self._messages,
            "tool.call": len(self._names),
            "usage": usages,
            "session.end": len(record.ends),
        }
        return {name: count for name, count in counts.items() if count}


def fold(transcript: Transcript, wants: Wants, events: Sequence[object], sha256: str) -> Record | None:
    """The facts of a well-formed run; None when it is for the reader."""
    folding = Folding(transcript, wants)
    try:
        folding.take(events)
        return folding.record(sha256)
    except _Odd:
        return None


def _first_and_last(stamps: Sequence[str | None]) -> tuple[int, int]:
    """The first and the last moment: times of one length, all in UTC, are in the order of their letters."""
    given = [stamp for stamp in stamps if stamp is not None]
    if not given or len(given) < len(stamps) or len(set(map(len, given))) > 1:
        raise _Odd
    if {stamp[-1:] for stamp in given} != {"Z"}:
        raise _Odd
    first, last = iso_ms(min(given)), iso_ms(max(given))
    if first is None or last is None:
        raise _Odd
    return first, last

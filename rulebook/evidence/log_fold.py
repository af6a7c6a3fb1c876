"""One pass over the events of an audit log, folded into the session's facts in bounded memory."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from rulebook.evidence.log_calls import CallFold
from rulebook.evidence.log_events import Payload, Undecodable, fits, is_known, results_in
from rulebook.evidence.log_messages import messages_of
from rulebook.evidence.log_network import NetworkFold
from rulebook.evidence.log_spend import SpendFold
from rulebook.evidence.log_transcript import TranscriptBuilder
from rulebook.evidence.record import (
    Child,
    Configured,
    EndRecord,
    EventRecord,
    Fact,
    Record,
    Wants,
    WorkspaceOpened,
)
from rulebook.evidence.transcript import End, Transcript
from rulebook.outcome import Seen

_Handler = Callable[[Payload, int, int], None]
"""What one kind of event does: its payload, its byte offset, its time in milliseconds."""


class Tally(Struct):
    """What is done with one kind of event, and how many there were."""

    first: int
    take: _Handler
    count: int = 0


class LogFold:
    """Takes the events of one log in order and ends as a `Record`.

    Counts and totals are always kept; messages, calls, approvals and payloads only as far as `wants` asks. An
    imported session is rebuilt as its transcript instead, so that its facts are those of the file it came from.
    `session_id` is whose log it should be; None: whoever the first event names.
    """

    def __init__(self, wants: Wants, session_id: str | None = None) -> None:
        self._record = record = Record(wants=wants)
        self._wants = wants
        self.owner = session_id
        self._main = 0
        self._network = NetworkFold(record.network)
        self._calls = CallFold(record, wants, self._network)
        self._spend = SpendFold(record)
        self.tallies: dict[str, Tally] = {}
        self._aliases: list[str] = []
        self._imported_from: str | None = None
        self._builder: TranscriptBuilder | None = None
        self._last_ms: int | None = None
        self._ended_ms: int | None = None
        self._counts_at_end: list[int] | None = None
        self._checking: dict[str, _Handler] = {
            "message": self._message,
            "usage": self._spend.usage,
            "tool.call": self._calls.call,
            "tool.result": self._calls.result,
            "approval.response": self._calls.response,
        }
        self._handlers: dict[str, _Handler] = {
            "approval.request": self._calls.request,
            "network.summary": self._network.summary,
            "session.start": self._start,
            "session.config": self._config,
            "session.end": self._end,
            "session.spawn": self._spawn,
            "agent.complete": self._complete,
            "workspace.open": self._workspace,
            "session.imported": self._imported,
        }

    def tally(self, kind: str, at: int, session: str, time_ms: int) -> Tally:
        """What to do with the first event of `kind` and all that follow it; kept in `tallies`."""
        if type(kind) is not str:
            raise TypeError
        if not self.tallies:
            self._record.session_id, self._record.first_ms = session, time_ms
        take = self._checking.get(kind) or self._checked(kind)
        if self._wants.all_events or kind in self._wants.events:
            take = self._keeping(kind, take)
        tally = self.tallies[kind] = Tally(at, take)
        return tally

    def other_session(self, session: str, at: int) -> str:
        """A line names another session than `owner`, which the first line does when none was asked for.

        Gives the owner.
        """
        if type(session) is not str:
            raise TypeError
        if self.owner is None:
            self.owner = session
        elif self._record.stranger is None:
            self._record.stranger = (session, at)
        return self.owner

    def until(self, time_ms: int) -> None:
        """Note the time of the last event so far."""
        self._last_ms = time_ms

    @property
    def is_import(self) -> bool:
        """Whether the log holds a session that was read from another program's file."""
        return self._imported_from is not None

    def transcript(self) -> Transcript | None:
        """The imported session's transcript; None for a session of our own, or one that another program imported."""
        return None if self._builder is None else self._builder.transcript()

    def finish(self) -> Record:
        """The facts, once the last event was taken."""
        transcript = self.transcript()
        if transcript is not None:
            from rulebook.evidence.transcript_record import record_of  # loads every format: for imports alone

            imported = record_of(transcript, self._wants)
            imported.session_id = transcript.session_id or self._record.session_id
            imported.stranger = self._record.stranger
            return imported
        record = self._record
        self._calls.finish()
        self._spend.finish()
        record.went_on = self._counts_at_end is not None and self._counts_at_end != self._running()
        seen = {kind: tally for kind, tally in self.tallies.items() if tally.count}
        record.event_counts = {kind: tally.count for kind, tally in seen.items()}
        record.first_event = {kind: tally.first for kind, tally in seen.items()}
        record.total_events = sum(record.event_counts.values())
        record.models = record.models or self._aliases
        record.last_ms = self._last_ms if self._ended_ms is None else self._ended_ms
        if self._imported_from is not None:
            record.format = self._imported_from
            record.title = f"this session, imported from `{self._imported_from}`,"
            told = (facts for kind, facts in _TOLD_BY.items() if kind in seen)
            record.carries = frozenset[Fact]().union(*told)
        return record

    def _running(self) -> list[int]:
        """How many events there were of the kinds that only a run writes: none of them follows a run's own end."""
        return [self.tallies[kind].count if kind in self.tallies else 0 for kind in _OF_A_RUN]

    def _checked(self, kind: str) -> _Handler:
        """What to do with an event of `kind`, behind the check of its fields."""
        if not is_known(kind):
            return _nothing
        handler = self._handlers.get(kind, _nothing)

        def check(payload: Payload, at: int, time_ms: int) -> None:
            if not fits(kind, payload):
                raise TypeError
            handler(payload, at, time_ms)

        return check

    def _keeping(self, kind: str, handler: _Handler) -> _Handler:
        """The same, and the event is kept."""

        def keep(payload: Any, at: int, time_ms: int) -> None:
            handler(payload, at, time_ms)
            seq = sum(tally.count for tally in self.tallies.values())
            data = payload if type(payload) is dict else {"value": payload}
            self._record.events.append(EventRecord(seq, kind, data, time_ms, at))

        return keep

    def _message(self, payload: Payload, _: int, time_ms: int) -> None:
        role, content = payload["role"], payload["content"]
        if type(role) is not str or type(content) is not list:
            raise TypeError
        results = results_in(content)
        if self._builder is not None:
            self._build(self._builder.message, payload)
            return
        count = results
        if role == "assistant":
            count += 1
            self._record.turns += 1
            self._calls.caller = self._main + results
            if (alias := payload.get("model_alias")) not in self._aliases:
                _once(self._aliases, alias)
        elif not results or (results < len(content) and any("text" in part for part in content)):
            count += 1
        if self._wants.said:
            self._record.messages += messages_of(payload, time_ms, self._main)
        self._main += count

    def _start(self, payload: Payload, _: int, __: int) -> None:
        self._record.started = True
        _once(self._aliases, payload["model_alias"])

    def _config(self, payload: Payload, at: int, _: int) -> None:
        record = self._record
        self._network.config()
        record.configs.append(
            Configured(
                _hex(payload, "config_hash", "config_sha256"),
                _hex(payload, "sandbox_hash", "sandbox_sha256"),
                _hex(payload, "sandbox_driver", "driver"),
                offset=at,
            )
        )
        _once(record.models, payload.get("model"))
        if isinstance(payload.get("provider"), str):
            record.provider = payload["provider"]
        if type(payload.get("seed")) is int:
            record.seed = payload["seed"]
        if isinstance(payload.get("tools"), list):
            tools = frozenset(tool for tool in payload["tools"] if isinstance(tool, str))
            record.known_tools = tools | (record.known_tools or frozenset())

    def _end(self, payload: Payload, at: int, time_ms: int) -> None:
        end = End(payload["reason"], payload["detail"], payload.get("raw"))
        self._record.ends.append(EndRecord(end, Seen(offset=at)))
        self._ended_ms = time_ms
        self._counts_at_end = self._running()

    def _spawn(self, payload: Payload, at: int, _: int) -> None:
        name = payload["child_session"]
        self._record.children[name] = Child(name, payload["reason"], seen=Seen(offset=at))

    def _complete(self, payload: Payload, at: int, _: int) -> None:
        child = self._record.children.get(payload["child_session"])
        if child is not None:
            child.outcome, child.seen = payload["outcome"], Seen(offset=at)

    def _workspace(self, payload: Payload, at: int, _: int) -> None:
        opened = WorkspaceOpened(payload["path"], payload["base_commit"], payload["attempt"], at)
        self._record.workspaces.append(opened)

    def _imported(self, payload: Payload, _: int, __: int) -> None:
        self._imported_from = payload["from"]
        if "transcript" in payload:
            self._build(self._begin, payload)

    def _begin(self, payload: Payload) -> None:
        self._builder = TranscriptBuilder(payload)

    def _build(self, step: Callable[[Payload], None], payload: Payload) -> None:
        try:
            step(payload)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise Undecodable("what it says of the imported session is damaged") from problem


_OF_A_RUN = ("session.start", "session.config", "usage", "tool.call")


def _nothing(_: Payload, __: int, ___: int) -> None:
    """A kind of which nothing is asked."""


def _once(names: list[str], name: Any) -> None:
    if isinstance(name, str) and name and name not in names:
        names.append(name)


def _hex(payload: Payload, *keys: str) -> str | None:
    return next((payload[key] for key in keys if isinstance(payload.get(key), str)), None)


_TOLD_BY: dict[str, frozenset[Fact]] = {
    "message": frozenset(("messages",)),
    "tool.call": frozenset(("tool_calls",)),
    "tool.result": frozenset(("results",)),
    "session.end": frozenset(("end",)),
    "usage": frozenset(("usage", "cost")),
}
"""What a session that another program imported into its log tells, by the events that it shows."""

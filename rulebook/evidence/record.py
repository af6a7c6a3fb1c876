"""The facts of one session, folded once from a log or a transcript and asked by every rule.

What costs memory (messages, calls with arguments, events with payloads) is kept only as far as `Wants` names it.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.transcript import End, Message, Usage
from rulebook.outcome import Seen

Fact = Literal[
    "messages",
    "tool_calls",
    "results",
    "end",
    "usage",
    "cost",
    "time",
    "events",
    "config",
    "sandbox",
    "workspace",
    "approvals",
    "network",
    "subagents",
]
"""The kinds of thing a format can carry. A rule that asks for another is unmeasured, in `harness`."""

ALL_FACTS: frozenset[Fact] = frozenset(
    (
        "messages", "tool_calls", "results", "end", "usage", "cost", "time", "events", "config", "sandbox",
        "workspace", "approvals", "network", "subagents",
    )
)  # fmt: skip


class Wants(Struct, frozen=True):
    """What the rules will ask of a session beyond counts: nothing else is kept in memory.

    `replies` keeps what the assistant said, `messages` what others said too. `calls` keeps the calls in their
    order, their names and how they ended; `tool_calls` their arguments and results too. `events` names the kinds
    whose payloads are kept, `all_events` keeps every one.
    """

    messages: bool = False
    replies: bool = False
    calls: bool = False
    tool_calls: bool = False
    approvals: bool = False
    events: frozenset[str] = frozenset()
    all_events: bool = False

    @property
    def payloads(self) -> bool:
        """Whether what events hold is asked for, which is all that was said and done."""
        return self.all_events or bool(self.events)

    @property
    def order(self) -> bool:
        """Whether the calls themselves are asked for, and not only how many there are."""
        return self.calls or self.tool_calls

    @property
    def texts(self) -> bool:
        """Whether the text of messages is asked for."""
        return self.said or self.payloads

    @property
    def said(self) -> bool:
        """Whether messages are kept: those of the assistant at least."""
        return self.messages or self.replies

    @property
    def contents(self) -> bool:
        """Whether the arguments and the results of calls are asked for."""
        return self.tool_calls or self.payloads

    def __or__(self, other: "Wants") -> "Wants":
        return Wants(
            self.messages or other.messages,
            self.replies or other.replies,
            self.calls or other.calls,
            self.tool_calls or other.tool_calls,
            self.approvals or other.approvals,
            self.events | other.events,
            self.all_events or other.all_events,
        )


EVERYTHING = Wants(messages=True, tool_calls=True, approvals=True, all_events=True)


class Call(Struct):
    """A tool call with its result. `index` counts the session's calls from 0; `turn` counts assistant messages from 1.

    `status`: ok, error, refused (the tool did not run), unfinished (no result), or None where the format does not say.
    `arguments` is None when they are not a JSON object; `arguments_raw` always has the text. `thread` names the
    sub-agent that made the call, whose own count `index` and `message` then are; None: the session itself.
    """

    index: int
    id: str
    name: str
    arguments: Mapping[str, object] | None
    arguments_raw: str
    result: str | None = None
    status: Literal["ok", "error", "refused", "unfinished"] | None = None
    turn: int = 0
    duration_s: float | None = None
    offset: int | None = None
    message: int | None = None
    thread: str | None = None

    @property
    def seen(self) -> Seen:
        """Where it stands."""
        if self.thread is not None:
            return Seen(call_id=self.id, note=f"in the thread of the sub-agent `{self.thread}`")
        return Seen(self.offset, self.message, self.index, self.id)


class Delegated(Struct):
    """The calls of one sub-agent in their order; `parent` is the id of the call that started it, where it is known."""

    thread: str
    parent: str | None
    calls: list[Call]


class EventRecord(Struct):
    """One event of the log. `seq` counts from 0, `offset` is its line's byte offset, `data` its payload as decoded."""

    seq: int
    name: str
    data: Mapping[str, object]
    time_ms: int | None
    offset: int | None


class EndRecord(Struct):
    """One end of the session; a resumed one has several, of which the last counts."""

    end: End
    seen: Seen = field(default_factory=Seen)


class Spend(Struct):
    """Money, folded. Unknown is never 0, and two currencies are never added."""

    amount: float = 0.0
    currency: str | None = None
    priced: int = 0
    unpriced: int = 0
    free: int = 0
    mixed: bool = False

    @property
    def known(self) -> bool:
        """Whether the whole cost is known, in one currency."""
        return self.unpriced == 0 and not self.mixed and (self.priced + self.free) > 0


class Configured(Struct, frozen=True):
    """One `session.config`: digests in hex; None where it says none (an absent pin differs from every pin)."""

    config_sha256: str | None
    sandbox_sha256: str | None
    sandbox_driver: str | None
    offset: int | None = None


class WorkspaceOpened(Struct, frozen=True):
    """One `workspace.open`."""

    path: str
    base_commit: str
    attempt: str = ""
    offset: int | None = None


class Child(Struct):
    """A sub-agent as its parent's log tells it; `outcome` is None until an `agent.complete`."""

    id: str
    task: str = ""
    outcome: str | None = None
    turns: int | None = None
    seen: Seen = field(default_factory=Seen)


class Approval(Struct, frozen=True):
    """One decision; `permitting` is false for every decision that is not known to permit."""

    action: str
    tool: str
    decision: str
    reason: str
    permitting: bool
    seen: Seen


class Network(Struct):
    """What the log says of the network.

    `hosts` maps a host name (lower case, no port) to where it was first seen and whether a connection was granted;
    `hosts_complete` is true only when the log lists every host.
    """

    summaries: int = 0
    granted: int = 0
    refused: int = 0
    hosts: dict[str, tuple[Seen, bool]] = field(default_factory=dict)
    hosts_complete: bool = False
    permitted: list[Approval] = field(default_factory=list)


class Spoken(Struct, frozen=True):
    """What the assistant said: its messages, where each starts in them all joined, and the last one with a text."""

    messages: list[Message]
    starts: list[int]
    joined: str
    last: Message | None


class Record(Struct):
    """The facts of one session.

    `format` is `chock_log` or the name of a foreign format, `title` what messages call the session; `carries` what
    that format can tell. `spoken` is worked out once it is asked for. `event_counts` and `first_event` (byte
    offset) are by the names on the wire, unknown ones too. `known_tools` holds the tools that the session is known
    to have had; None when the format does not say. `went_on`: a further run began after the last end. `delegated`
    counts the calls that sub-agents made, by tool, where the file shows them, and `threads` holds those calls.
    `sha256` is that of the bytes it was read from, in hex; None when it was not read from a file. `possible_events`
    holds the names that a foreign session can show, so that the absence of another tells nothing; None: any.
    `answers` are what was handed in by name; None where the format has no such thing, or it cannot be read.
    `excess` says why some texts, arguments or results that rules ask for are not here: there were too many.

    `gaps` says of what the format can carry and this session does not show in full, why; `unseen_calls` why a
    sub-agent may have made calls that it does not show: what stands in `tool_counts`, `delegated`, `calls` and
    `threads` was called all the same.
    """

    format: str = "chock_log"
    title: str = "this audit log"
    session_id: str | None = None
    carries: frozenset[Fact] = ALL_FACTS
    total_events: int = 0
    event_counts: dict[str, int] = field(default_factory=dict)
    first_event: dict[str, int] = field(default_factory=dict)
    started: bool = False
    ends: list[EndRecord] = field(default_factory=list)
    went_on: bool = False
    turns: int = 0
    call_count: int = 0
    tool_counts: dict[str, int] = field(default_factory=dict)
    first_call: dict[str, Seen] = field(default_factory=dict)
    delegated: dict[str, int] = field(default_factory=dict)
    threads: list[Delegated] = field(default_factory=list)
    known_tools: frozenset[str] | None = None
    calls: list[Call] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)
    usage: Usage | None = None
    spend: Spend = field(default_factory=Spend)
    configs: list[Configured] = field(default_factory=list)
    workspaces: list[WorkspaceOpened] = field(default_factory=list)
    children: dict[str, Child] = field(default_factory=dict)
    refusals: list[Approval] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)
    network: Network = field(default_factory=Network)
    models: list[str] = field(default_factory=list)
    provider: str | None = None
    seed: int | None = None
    first_ms: int | None = None
    last_ms: int | None = None
    stranger: tuple[str, int] | None = None
    outcome: Mapping[str, object] = field(default_factory=dict)
    answers: Mapping[str, str] | None = None
    warnings: list[str] = field(default_factory=list)
    wants: Wants = EVERYTHING
    sha256: str | None = None
    possible_events: frozenset[str] | None = None
    excess: str = ""
    gaps: Mapping[Fact, str] = field(default_factory=dict)
    unseen_calls: str = ""
    spoken: Spoken | None = None
    _by_name: dict[str, list[EventRecord]] | None = None

    @property
    def end(self) -> EndRecord | None:
        """The end that counts: the last one; None when the session has none, or went on after it without another."""
        return self.ends[-1] if self.ends and not self.went_on else None

    @property
    def did_nothing(self) -> bool:
        """No turn, or no tool call: what is negative by nature then passes without meaning anything."""
        return self.turns == 0 or self.call_count == 0

    def need_texts(self) -> None:
        """Raise NotHandedIn when the session holds more text than is kept: what cannot be looked at clears nobody."""
        if self.excess:
            raise NotHandedIn(f"the session is too large to be looked at: {self.excess}", cause="excess")

    def events_named(self, name: str) -> list[EventRecord]:
        """The kept events called `name`, in the log's order; asked once everything is folded."""
        self.need_texts()
        if self._by_name is None:
            self._by_name = {}
            for event in self.events:
                self._by_name.setdefault(event.name, []).append(event)
        return self._by_name.get(name, [])

    def need(self, fact: Fact, what: str) -> None:
        """Raise Missing in `harness` when this session does not tell `fact`; `what` says what was asked for."""
        lacking = self.lack(fact, what)
        if lacking:
            raise Missing("harness", lacking)

    def lack(self, fact: Fact, what: str) -> str:
        """Why nothing can be said about `what`: its format never tells that, or a part was lost; empty: it can."""
        if fact in self.carries:
            return ""
        if fact in self.gaps:
            return f"{self.title} is not whole, so nothing is concluded about {what}: {self.gaps[fact]}"
        return f"{self.title} does not record {what}"

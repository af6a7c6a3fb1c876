"""The evidence document: one typed view of all evidence, for expressions, paths and templates alike.

Its types stand in `scope`; here are its values, as plain data. A field that nothing supplied is left out.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Literal

from rulebook.errors import EvidenceError, Missing, NotHandedIn
from rulebook.evidence.escapes import unescaped
from rulebook.evidence.record import Call, EventRecord, Record, Wants
from rulebook.evidence.repository import Repository
from rulebook.evidence.scope import ROOTS, RUN, USAGE
from rulebook.evidence.submission import Submission, SubmissionFields, not_there
from rulebook.evidence.transcript import Message
from rulebook.languages.types import MissingValue
from rulebook.outcome import Category
from rulebook.ports import Completed

Ground = Literal["session", "repository", "tests", "submissions"]
"""A part of the evidence on which an outcome can rest."""

_GROUNDS: dict[str, Ground] = {"repository": "repository", "tests": "tests", "submissions": "submissions"}


class Document:
    """The roots of the evidence document by name, each worked out when first asked for.

    What it is asked for is noted in `read`.
    """

    def __init__(
        self,
        record: Record | None,
        tree: Repository | None,
        tests: Mapping[str, Callable[[], Completed]],
        params: Mapping[str, object],
        steps: Mapping[str, Mapping[str, object]],
        submissions: Mapping[str, Submission],
        read: set[Ground] | None = None,
    ) -> None:
        self._read: set[Ground] = set() if read is None else read
        self._record, self._tree, self._tests, self._submissions = record, tree, tests, submissions
        self._given: dict[str, object] = {"params": params, "steps": steps}
        self._roots: dict[str, object] = {}
        self._reasons: dict[str, Missing] = {}

    def lookup(self, name: str) -> object:
        """The value of a root or of a bare name (`turns`, `cost`); a MissingValue where nothing supplied it."""
        for root, fields in (("run", RUN), ("usage", USAGE)):
            if name in fields:
                values = self.lookup(root)
                return values.get(name, MissingValue(name)) if isinstance(values, Mapping) else MissingValue(name)
        if name not in self._given:
            self._read.add(_GROUNDS.get(name, "session"))
        if name not in self._roots:
            try:
                self._roots[name] = self._root(name)
            except Missing as missing:
                self._reasons[name] = missing
                self._roots[name] = MissingValue(name)
        return self._roots[name]

    def absent(self, what: str, beside: Container[str] = ()) -> EvidenceError:
        """Why the path `what` has no value, and whose failure that is: Missing, or NotHandedIn for a submission's.

        `beside` has the names that the expression reads: a division by zero is the student's, where what it handed in
        was worked with.
        """
        root = what.split(".", 1)[0].split("[", 1)[0]
        root = "run" if root in RUN else "usage" if root in USAGE else root
        worked_with = root not in _KNOWN_ROOTS and ("submissions." in what or "submissions" in beside)
        if root == "submissions" or worked_with:
            return not_there(what)
        if root in self._reasons:
            return self._reasons[root]
        return Missing(_OWNERS.get(root, "harness"), f"`{what}` has no value here")

    def _root(self, name: str) -> object:
        if name in self._given:
            return self._given[name]
        if name == "tests":
            return LazyRuns(self._tests)
        if name == "submissions":
            return {each: SubmissionFields(submission) for each, submission in self._submissions.items()}
        if name == "repository":
            return _repository(self._tree)
        if self._record is None:
            raise Missing("harness", "no session was given")
        return _SESSION_ROOTS[name](self._record) if name in _SESSION_ROOTS else MissingValue(name)


def wants_of_names(names: Iterable[str]) -> Wants:
    """What must be kept of a session so that these roots can be read."""
    asked = set(names)
    return Wants(
        messages="messages" in asked,
        tool_calls=not asked.isdisjoint(("tool_calls", "messages")),
        approvals="approvals" in asked,
        all_events="events" in asked,
    )


class LazyRuns(Mapping[str, object]):
    """Declared tests by name; one is run when it is first looked at."""

    def __init__(self, runs: Mapping[str, Callable[[], Completed]]) -> None:
        self._runs = runs

    def __getitem__(self, name: str) -> object:
        try:
            done = self._runs[name]()
        except Missing as missing:
            return MissingValue(f"tests.{name}: {missing.reason}")
        if done.timed_out:
            raise NotHandedIn(f"the test `{name}` ran out of its time")
        known = {"stdout": done.stdout, "stderr": done.stderr, "duration_s": done.duration_s, "passed": done.exit == 0}
        return known if done.exit is None else {**known, "exit": done.exit}

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)


_KNOWN_ROOTS = frozenset((*ROOTS, "tests", "steps", "params"))

_OWNERS: dict[str, Category] = {"repository": "fixture", "tests": "test", "network": "network"}


def _run(record: Record) -> Mapping[str, object]:
    spend, end = record.spend, record.end
    duration = (
        (record.last_ms - record.first_ms) / 1000
        if record.first_ms is not None and record.last_ms is not None
        else None
    )
    return _known(
        id=record.session_id,
        end_reason=end.end.reason if end and "end" in record.carries else None,
        turns=record.turns,
        duration_s=duration if "time" in record.carries else None,
        cost=spend.amount if spend.known else None,
        currency=spend.currency if spend.known else None,
        model=record.models[-1] if record.models else None,
        provider=record.provider,
        seed=record.seed,
    )


def _usage(record: Record) -> Mapping[str, object]:
    record.need("usage", "how many tokens were used")
    usage = record.usage
    if usage is None:
        raise Missing("harness", "the session does not say how many tokens were used")
    return _known(
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )


def _messages(record: Record) -> list[object]:
    record.need("messages", "messages")
    record.need_texts()
    by_id = {call.id: _call(call) for call in record.calls}
    return [_message(message, by_id) for message in record.messages]


def _message(message: Message, calls: Mapping[str, Mapping[str, object]]) -> Mapping[str, object]:
    return _known(
        index=message.index,
        role=message.role,
        text=message.text,
        reasoning=message.reasoning,
        tool_calls=[calls[call.id] for call in message.tool_calls if call.id in calls],
        injected=message.injected,
    )


def _tool_calls(record: Record) -> list[object]:
    record.need("tool_calls", "tool calls")
    record.need_texts()
    return [_call(call) for call in record.calls]


def _call(call: Call) -> Mapping[str, object]:
    return _known(
        index=call.index,
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        result=call.result,
        status=call.status,
        turn=call.turn,
        duration_s=call.duration_s,
    )


def _events(record: Record) -> list[object]:
    record.need("events", "events")
    record.need_texts()
    return [event_data(event) for event in record.events]


def event_data(event: EventRecord) -> Mapping[str, object]:
    """One event as expressions see it: a cost is a number with its currency beside it, or missing."""
    data = dict(event.data)
    cost = data.pop("cost", None)
    match cost:
        case {"known": {"value": int() | float() as value, **rest}}:
            data["cost"] = float(value)
            data["currency"] = rest.get("currency", "USD")
        case {"free": True}:
            data["cost"] = 0.0
        case _:
            pass
    arguments = data.get("arguments")
    if event.name == "tool.call" and isinstance(arguments, str):
        data["arguments"] = unescaped(arguments)
    present = {key: value for key, value in data.items() if value is not None}
    return _known(seq=event.seq, time=event.time_ms, name=event.name, data=present)


def _network(record: Record) -> Mapping[str, object]:
    record.need("network", "network connections")
    network = record.network
    if not network.summaries:
        raise Missing("network", "the log has no `network.summary`")
    known = _known(requests=network.granted + network.refused, refused=network.refused)
    return {**known, "hosts": sorted(network.hosts)} if network.hosts_complete or not network.granted else known


def _approvals(record: Record) -> list[object]:
    record.need("approvals", "approvals")
    return [_known(tool=a.tool, decision=a.decision, reason=a.reason, action=a.action) for a in record.approvals]


def _subagents(record: Record) -> list[object]:
    record.need("subagents", "subagents")
    return [
        _known(id=child.id, status=child.outcome or "lost", task=child.task, turns=child.turns)
        for child in record.children.values()
    ]


def _repository(tree: Repository | None) -> Mapping[str, object]:
    if tree is None:
        raise Missing("fixture", "there is no repository to look at")
    changed = tree.changes()
    files = [_known(path=c.path, status=c.status, added=c.added, removed=c.removed) for c in changed]
    return _known(
        base_commit=tree.base,
        head=tree.head(),
        tree=tree.tree(),
        changed=files,
        dirty=bool(changed),
    )


def _known(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


_SESSION_ROOTS: dict[str, Callable[[Record], object]] = {
    "run": _run,
    "usage": _usage,
    "messages": _messages,
    "tool_calls": _tool_calls,
    "events": _events,
    "network": _network,
    "approvals": _approvals,
    "subagents": _subagents,
}

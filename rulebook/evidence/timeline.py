"""Tool calls and events of one session in one order, as far as that order is known."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from rulebook.evidence.record import Call, Delegated, EventRecord, Record

_IN_ORDER = frozenset(("session.start", "session.imported", "message", "tool.call", "tool.result", "session.end"))
"""The events that a foreign session tells where they happened; others are only known to have happened."""


class Moment(Struct, frozen=True, eq=False):
    """One thing that happened: a call or an event."""

    call: Call | None = None
    event: EventRecord | None = None


Rank = Mapping[Moment, int]
"""The place of each moment in one order."""


class Timeline:
    """What happened: `placed` in its order, and in `loose` rows whose place among the others is not known.

    A sub-agent's calls stand behind the call that started it, before the next one; a row of which that call is not
    known is loose. `ranks` are the orders in which it may have happened that differ most: any two loose rows both ways
    round.
    """

    def __init__(self, placed: list[Moment], loose: list[list[Moment]]) -> None:
        self.loose = loose
        self.moments = [*placed, *(moment for row in loose for moment in row)]
        self.ranks: list[Rank] = [_rank(self.moments)]
        if loose:
            self.ranks.append(_rank([*(moment for row in reversed(loose) for moment in row), *placed]))
        self._events = [moment for moment in self.moments if moment.call is None]
        self._by_tool: dict[str, list[Moment]] = {}
        for moment in self.moments:
            if moment.call is not None:
                self._by_tool.setdefault(moment.call.name, []).append(moment)

    def events(self) -> Sequence[Moment]:
        """The events."""
        return self._events

    def calls(self, names: Iterable[str] | None) -> Sequence[Moment]:
        """The calls of these tools, in their order; None: all that happened."""
        if names is None:
            return self.moments
        found = [self._by_tool[name] for name in set(names) if name in self._by_tool]
        if len(found) < 2:
            return found[0] if found else ()
        return sorted((moment for row in found for moment in row), key=self.ranks[0].__getitem__)


def timeline_of(record: Record, events: frozenset[str]) -> Timeline:
    """The session's calls and its events of these names, both of which must have been kept.

    A log says by their place in it in which order they were; a foreign session by the order of its calls, each of
    which is an event `tool.call` too, to be kept beside `events`.
    """
    wanted = [event for event in record.events if event.name in events]
    if all(call.offset is not None for call in record.calls) and all(event.offset is not None for event in wanted):
        return Timeline(_by_offset(record.calls, wanted), [])
    placed, loose = _by_calls(record, events)
    threads = _Threads(record.threads)
    rows = [moment for one in placed for moment in threads.behind(one)]
    return Timeline(rows, loose + threads.rest())


def _rank(order: Iterable[Moment]) -> Rank:
    return {moment: place for place, moment in enumerate(order)}


def _by_offset(calls: list[Call], events: list[EventRecord]) -> list[Moment]:
    found = [(call.offset or 0, Moment(call=call)) for call in calls]
    found += [(event.offset or 0, Moment(event=event)) for event in events]
    return [moment for _, moment in sorted(found, key=lambda pair: pair[0])]


def _by_calls(record: Record, events: frozenset[str]) -> tuple[list[Moment], list[list[Moment]]]:
    """Calls in their order, with the events between them that are told in order."""
    if not events:
        return [Moment(call=call) for call in record.calls], []
    placed: list[Moment] = []
    loose: list[list[Moment]] = []
    calls = iter(record.calls)
    for event in sorted(record.events, key=lambda event: event.seq):
        if event.name == "tool.call":
            placed += [Moment(call=call) for call in [next(calls, None)] if call is not None]
        if event.name not in events:
            continue
        if event.name in _IN_ORDER and "thread" not in event.data:
            placed.append(Moment(event=event))
        else:
            loose.append([Moment(event=event)])
    return [*placed, *(Moment(call=call) for call in calls)], loose


class _Threads:
    """The calls of sub-agents, each thread given out once, behind the call that started it."""

    def __init__(self, threads: list[Delegated]) -> None:
        self._waiting: dict[str | None, list[Delegated]] = {}
        for thread in threads:
            self._waiting.setdefault(thread.parent, []).append(thread)

    def behind(self, moment: Moment) -> Iterator[Moment]:
        """The moment itself, and what the sub-agents did that it started, and theirs."""
        stack = [iter([moment])]
        while stack:
            one = next(stack[-1], None)
            if one is None:
                stack.pop()
                continue
            yield one
            started = self._waiting.pop(one.call.id, []) if one.call is not None and one.call.id else []
            for thread in reversed(started):
                stack.append(iter([Moment(call=call) for call in thread.calls]))

    def rest(self) -> list[list[Moment]]:
        """The threads that no call is known to have started."""
        rows: list[list[Moment]] = []
        for parent in list(self._waiting):
            for thread in self._waiting.pop(parent, []):
                rows.append([m for call in thread.calls for m in self.behind(Moment(call=call))])
        return rows

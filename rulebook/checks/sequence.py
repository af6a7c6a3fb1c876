"""`sequence`: which of two things happened before the other."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Self

from pydantic import Field, model_validator

from rulebook.checks import Check, Checked
from rulebook.errors import Missing, OutOfTime
from rulebook.evidence.absence import need_whole, unknown_tools, unseen_agents
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.call_verdicts import Doubt, shown_call, undecided
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.precedence import Broken, Pairs
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Record, Wants
from rulebook.evidence.relations import Before, Follows, NeverAfter, Relation
from rulebook.evidence.timeline import Moment, Timeline
from rulebook.languages.comparison import Compared
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.formula import search_with
from rulebook.languages.types import Scope
from rulebook.outcome import Outcome, Seen, binary
from rulebook.place import Path
from rulebook.ports import Ports
from rulebook.spelling import listed

_SEEN_AT_MOST = 20
_NAMED_AT_MOST = 3


class Sequence(Check, kind="sequence"):
    """Calls and events stand in the right order: one before, after or never after the other."""

    before: Before | None = Field(None, description="`first` and `then`: no `then` without a `first` before it.")
    follows: Follows | None = Field(
        None, description="`each` and `by`: each is followed by one; `within` so many steps."
    )
    never_after: NeverAfter | None = Field(None, description="`once` and `then`: after a `once`, no `then`.")

    @model_validator(mode="after")
    def _one_relation(self) -> Self:
        written = [key for key in type(self).model_fields if getattr(self, key) is not None]
        if len(written) == 1:
            return self
        found = " and ".join(f"`{key}`" for key in written) + " at once" if written else "none of them"
        words = {"key": "sequence", "wanted": "one of `before`, `follows` and `never_after`", "found": found}
        raise refused(LanguageError(Fault("RB203", words)))

    def forbids(self) -> bool:
        """A session in which nothing happened breaks no order."""
        return True

    def wants(self) -> Wants:
        """The calls, the events that it names, and what its templates need."""
        steps = (*self._relation.earlier, *self._relation.later)
        events = frozenset(step.event for step in steps if step.event is not None)
        names = frozenset[str]().union(*(step.names() for step in steps))
        return Wants(tool_calls=True, events=events | {"tool.call"} if events else events) | wants_of_names(names)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The patterns, templates, names of events and what the later step takes from the earlier one."""
        relation = self._relation
        bound = frozenset.intersection(*(frozenset([step.as_ or ""]) for step in relation.earlier)) - {""}
        for key, steps, known in (
            (relation.keys[0], relation.earlier, None),
            (relation.keys[1], relation.later, bound),
        ):
            for index, step in enumerate(steps):
                place = (index,) if len(steps) > 1 else ()
                for path, text in step.steps_texts(None if known is None else tuple(known)):
                    yield (self._key, key, *place, *path), text, scope

    def sentence(self) -> str:
        """What it asks for."""
        said = self._relation.sentence()
        return f"{said[0].upper()}{said[1:]}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Find both steps, and compare their order; where the order is not known, it counts if it could decide."""
        record, relation = evidence.session, self._relation
        events = frozenset(step.event for step in (*relation.earlier, *relation.later) if step.event is not None)
        timeline = evidence.timeline(events)
        fill = partial(filled, evidence=evidence)
        pairs = Pairs(
            [step.step(fill) for step in relation.earlier],
            [step.step(fill) for step in relation.later],
            Compared(search_with(ports)),
            "results" in record.carries,
            _deadline(ports),
        )
        pairs.look(timeline)
        return self._judged(record, pairs, timeline)

    @property
    def _key(self) -> str:
        return next(key for key in ("before", "follows", "never_after") if getattr(self, key) is not None)

    @property
    def _relation(self) -> Relation:
        relation: Relation = getattr(self, self._key)
        return relation

    def _judged(self, record: Record, pairs: Pairs, timeline: Timeline) -> Outcome:
        relation, expected, ranks = self._relation, self._relation.sentence(), timeline.ranks
        sure = [relation.broken(pairs, rank, surely=True) for rank in ranks]
        blind = [step.blind(record) for step in (*relation.clears, *relation.asked, *relation.earlier, *relation.later)]
        cleared = [step.blind(record) for step in relation.clears]
        if all(sure) and not any(cleared):
            if not all(relation.settled(broken, rank) for broken, rank in zip(sure, ranks, strict=True)):
                need_whole(record, self.owner())
            return _breach(sure[0], expected, relation)
        if any(blind):
            raise Missing("harness", next(filter(None, blind)))
        if any(relation.broken(pairs, rank, surely=False) for rank in ranks):
            return self._unclear(record, pairs, any(sure), timeline, expected)
        need_whole(record, self.owner())
        unknown = self._unknown(record)
        note = f"no tool is known to be called {listed(unknown)}" if unknown else unseen_agents(record)
        idle = record.did_nothing or bool(unknown)
        return binary(True, note, expected=expected, actual="in order", vacuous=idle)

    def _unclear(self, record: Record, pairs: Pairs, sometimes: bool, timeline: Timeline, expected: str) -> Outcome:
        doubtful = [
            Doubt(one.moment.call, one.verdict)
            for one in (*pairs.earlier, *pairs.later)
            if one.verdict in ("spoiled", "unknown") and one.moment.call is not None
        ]
        if sometimes or not doubtful:
            first = timeline.loose[0][0]
            what = f"a `{first.event.name}` event happened" if first.event else "a sub-agent made its calls"
            raise Missing("harness", f"{record.title} does not say when {what}")
        return undecided(doubtful, record, expected)

    def _unknown(self, record: Record) -> list[str]:
        """The names that no tool bears, when nothing else can be the one step or the other."""
        sides = (self._relation.asked,) if self._relation.clears else (self._relation.earlier, self._relation.later)
        for side in sides:
            names = [step.known() for step in side]
            known = [name for given in names if given for name in given]
            unknown = unknown_tools(record, known)
            if None not in names and len(unknown) == len(known):
                return unknown
        return []


def _breach(broken: list[Broken], expected: str, relation: Relation) -> Outcome:
    shown = "; ".join(_told(one, relation) for one in broken[:_NAMED_AT_MOST])
    more = len(broken) - _NAMED_AT_MOST
    times = "once" if len(broken) == 1 else f"{len(broken)} times"
    seen: dict[Seen, None] = {}
    for one in broken[:_SEEN_AT_MOST]:
        seen |= dict.fromkeys(_seen(moment) for moment in (one.other, one.moment) if moment is not None)
    reason = f"{shown}; and {more} more" if more > 0 else shown
    return binary(False, reason, expected=expected, actual=f"broken {times}", seen=tuple(seen))


def _told(broken: Broken, relation: Relation) -> str:
    what = _shown(broken.moment)
    if broken.other is not None:
        return f"{what} comes after {_shown(broken.other)}"
    if isinstance(relation, NeverAfter):
        return f"{what} is both at once"
    return f"nothing of the kind comes {'after' if isinstance(relation, Follows) else 'before'} {what}"


def _shown(moment: Moment) -> str:
    if moment.call is not None:
        return shown_call(moment.call)
    return f"the event `{moment.event.name}`" if moment.event is not None else "something"


def _seen(moment: Moment) -> Seen:
    if moment.call is not None:
        return moment.call.seen
    if moment.event is None or moment.event.offset is None:
        return Seen(note=f"event {moment.event.seq}" if moment.event is not None else None)
    return Seen(offset=moment.event.offset)


def _deadline(ports: Ports) -> Callable[[], None]:
    def alive() -> None:
        if ports.time_left(1.0) <= 0:
            raise OutOfTime(1.0, material=True)

    return alive

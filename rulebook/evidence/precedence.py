"""Which of two steps comes before the other, over everything that happened in a session.

Earlier moments are grouped by the values that the later step takes from them, so that the work is in proportion to what
happened where those values are compared for equality.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from rulebook.errors import NotHandedIn
from rulebook.evidence.call_shape import Verdict, arguments_of, names_in, unread
from rulebook.evidence.call_verdicts import best
from rulebook.evidence.step_shape import StepShape, bound_fields
from rulebook.evidence.timeline import Moment, Rank, Timeline
from rulebook.languages.comparator import Equals, Reference
from rulebook.languages.comparison import Bound, Compared, bound_value
from rulebook.languages.types import MISSING, MissingValue

MOST_PAIRS = 500_000
"""So many pairs of moments are compared, where a value that is taken is not just compared for equality."""


class Judged(NamedTuple):
    """A moment and whether it is the step."""

    moment: Moment
    verdict: Verdict


class Group(Struct):
    """Earlier moments from which the later step takes the same values. `later` are those that go with them.

    `unread`: the values stand in arguments that could not be read, so that any later moment may go with them.
    """

    bound: Bound
    unread: bool = False
    moments: list[Judged] = field(default_factory=list)
    later: list[Judged] = field(default_factory=list)


class Broken(NamedTuple):
    """Where a rule does not hold: the moment at fault, and the one that it stands in the wrong order to."""

    moment: Moment
    other: Moment | None = None


class Corner(Struct, frozen=True):
    """Which verdicts count as "it is that step", on the earlier and on the later side."""

    earlier: frozenset[Verdict]
    later: frozenset[Verdict]


SURE: frozenset[Verdict] = frozenset(("yes",))
PERHAPS: frozenset[Verdict] = frozenset(("yes", "spoiled", "unknown"))


class Pairs:
    """The earlier and the later moments of one rule, and which go together.

    Raises NotHandedIn when a session has too many of them to be compared.
    """

    def __init__(
        self,
        earlier: Sequence[StepShape],
        later: Sequence[StepShape],
        how: Compared,
        answers: bool,
        alive: Callable[[], None],
    ) -> None:
        self._earlier, self._later, self._how, self._answers, self._alive = earlier, later, how, answers, alive
        self._references = _references_of(later)
        self._keys = _keys_of(later, self._references)
        self._groups: dict[object, Group] = {}
        self.later: list[Judged] = []

    @property
    def groups(self) -> list[Group]:
        """The groups, by the values that are taken."""
        return list(self._groups.values())

    @property
    def earlier(self) -> list[Judged]:
        """Every earlier moment."""
        return [judged for group in self._groups.values() for judged in group.moments]

    def look(self, timeline: Timeline) -> None:
        """Find both sides among what happened, and join them."""
        for moment in _candidates(self._earlier, timeline):
            self._sort_in(moment)
        for moment in _candidates(self._later, timeline):
            verdict = self._verdict(self._later, moment, self._how)
            if verdict != "no":
                self.later.append(Judged(moment, verdict))
        if self._keys is None and len(self._groups) * len(self.later) > MOST_PAIRS:
            raise NotHandedIn("the session has too many calls to compare each with each", cause="excess")
        for judged in self.later:
            self._alive()
            self._join(judged)

    def _verdict(self, steps: Sequence[StepShape], moment: Moment, how: Compared) -> Verdict:
        return best(step.verdict(moment, how, answers=self._answers) for step in steps)

    def _sort_in(self, moment: Moment) -> None:
        for step in self._earlier:
            verdict = step.verdict(moment, self._how, answers=self._answers)
            if verdict == "no":
                continue
            bound = {step.bears: bound_fields(moment)} if step.bears else {}
            values = [bound_value(reference, bound) for reference in self._references]
            key: object = tuple(map(_frozen, values))
            hidden = _hidden(moment, values)
            if hidden is not None:
                key, verdict = "unread", hidden
            group = self._groups.setdefault(key, Group(bound, unread=hidden is not None))
            group.moments.append(Judged(moment, verdict))
            if verdict == "yes":
                return

    def _join(self, judged: Judged) -> None:
        if self._keys is not None:
            key = self._key_of(judged.moment)
            mine = (
                self._groups.values()
                if key is None
                else [self._groups[k] for k in {key, "unread"} & self._groups.keys()]
            )
            for group in mine:
                group.later.append(judged)
            return
        for group in self._groups.values():
            if group.unread:
                group.later.append(judged)
                continue
            how = Compared(self._how.search, self._how.exact, group.bound)
            verdict = self._verdict(self._later, judged.moment, how)
            if verdict != "no":
                group.later.append(Judged(judged.moment, verdict))

    def _key_of(self, moment: Moment) -> object:
        """The values that a later moment compares with those it takes; None where they cannot be told."""
        if not self._keys or moment.call is None:
            return ()
        given = arguments_of(moment.call)
        return None if given is None else tuple(_frozen(given.get(name, MISSING)) for name in self._keys)


def never_after(pairs: Pairs, rank: Rank, corner: Corner, *, together: bool) -> list[Broken]:
    """The later moments that come after an earlier one, or, `together`, are both."""
    found: dict[Moment, Broken] = {}
    for group in pairs.groups:
        members = {one.moment for one in group.moments if one.verdict in corner.earlier}
        first = min(members, key=rank.__getitem__, default=None)
        for late in group.later if first is not None else ():
            if late.verdict not in corner.later or first is None:
                continue
            if rank[first] < rank[late.moment]:
                found.setdefault(late.moment, Broken(late.moment, first))
            elif together and late.moment in members:
                found.setdefault(late.moment, Broken(late.moment))
    return sorted(found.values(), key=lambda broken: rank[broken.moment])


def not_before(pairs: Pairs, rank: Rank, corner: Corner) -> list[Broken]:
    """The later moments that no earlier one precedes."""
    preceded: set[Moment] = set()
    for group in pairs.groups:
        first = min((rank[one.moment] for one in group.moments if one.verdict in corner.earlier), default=None)
        for late in group.later:
            if first is not None and first < rank[late.moment]:
                preceded.add(late.moment)
    alone = (one.moment for one in pairs.later if one.verdict in corner.later and one.moment not in preceded)
    return [Broken(moment) for moment in sorted(alone, key=rank.__getitem__)]


def not_followed(pairs: Pairs, rank: Rank, corner: Corner, within: int | None) -> list[Broken]:
    """The earlier moments that no later one follows, `within` so many steps where that is given."""
    found: list[Broken] = []
    for group in pairs.groups:
        places = sorted(rank[late.moment] for late in group.later if late.verdict in corner.later)
        for one in group.moments:
            place = rank[one.moment]
            after = bisect_right(places, place)
            follows = after < len(places) and (within is None or places[after] - place <= within)
            if one.verdict in corner.earlier and not follows:
                found.append(Broken(one.moment))
    return sorted(found, key=lambda broken: rank[broken.moment])


def _candidates(steps: Sequence[StepShape], timeline: Timeline) -> Sequence[Moment]:
    """What can be one of these steps, by the names that they ask for."""
    if all(step.call is None for step in steps):
        return timeline.events()
    names = [None if step.call is None else names_in(step.call.name) for step in steps]
    return timeline.calls(None if None in names else [name for given in names for name in given or ()])


def _references_of(steps: Sequence[StepShape]) -> tuple[Reference, ...]:
    found: dict[Reference, None] = {}
    for step in steps:
        found |= dict.fromkeys(step.references)
    return tuple(found)


def _keys_of(later: Sequence[StepShape], references: tuple[Reference, ...]) -> tuple[str, ...] | None:
    """The arguments whose values are those that are taken, one for each reference; None where it is not so simple."""
    if not references:
        return ()
    call = later[0].call
    if len(later) > 1 or call is None or call.arguments is None or len(later[0].references) != len(references):
        return None
    names = {
        argument.value: name
        for name, argument in call.arguments.items()
        if isinstance(argument, Equals) and isinstance(argument.value, Reference)
    }
    return tuple(names[one] for one in references) if names.keys() == set(references) else None


def _hidden(moment: Moment, values: Sequence[object]) -> Verdict | None:
    """The verdict where a value that is taken may stand in arguments that could not be read; else None."""
    lacking = any(isinstance(value, MissingValue) for value in values)
    hidden = lacking and moment.call is not None and arguments_of(moment.call) is None
    return unread(moment.call) if hidden and moment.call is not None else None


def _frozen(value: object) -> object:
    """A value by which to look others up: numbers by their worth, `true` no number, a nested one equal to nothing."""
    if isinstance(value, list):
        return ("list", tuple(map(_frozen_item, value)))
    return _frozen_item(value)


def _frozen_item(value: object) -> object:
    if isinstance(value, MissingValue | list | Mapping):
        return object()
    return ("yes or no", value) if isinstance(value, bool) else value

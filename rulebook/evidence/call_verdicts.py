"""Verdicts on the calls of one session, and what comes of it where nobody can tell."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rulebook.errors import Missing
from rulebook.evidence.call_shape import CallShape, Verdict, names_in
from rulebook.evidence.record import Call, Record
from rulebook.evidence.repeats import repeated_key
from rulebook.languages.comparison import Compared
from rulebook.outcome import Outcome, student_fault

_SEEN_AT_MOST = 20
_NAMED_AT_MOST = 5


class Doubt(NamedTuple):
    """A call of which it cannot be told whether it fits."""

    call: Call
    verdict: Verdict


class CallVerdicts:
    """Looks at the calls of one session, each with each wanted shape at most once."""

    def __init__(self, record: Record, shapes: Sequence[CallShape], how: Compared) -> None:
        self._record, self._shapes, self._how = record, shapes, how
        self._answers = "results" in record.carries
        self._known: dict[tuple[int, int], Verdict] = {}
        self._by_name: dict[str, list[int]] | None = None
        self.doubts: list[Doubt] = []

    def verdict(self, want: int, call: int) -> Verdict:
        """Whether the main thread's call of that number fits the wanted shape of that number."""
        key = want, call
        if key not in self._known:
            made = self._record.calls[call]
            self._known[key] = found = self._shapes[want].verdict(made, self._how, answers=self._answers)
            if found in ("spoiled", "unknown"):
                self.doubts.append(Doubt(made, found))
        return self._known[key]

    @property
    def names(self) -> tuple[str, ...] | None:
        """The only names that a call which fits one of the shapes can bear; None where it can bear others."""
        names = [names_in(shape.name) for shape in self._shapes]
        return None if None in names else tuple(name for given in names for name in given or ())

    def candidates(self, want: int) -> Sequence[int]:
        """The main thread's calls that bear a name which the wanted shape can have; only they can fit."""
        names = names_in(self._shapes[want].name)
        if names is None:
            return range(len(self._record.calls))
        if self._by_name is None:
            self._by_name = {}
            for call in self._record.calls:
                self._by_name.setdefault(call.name, []).append(call.index)
        return sorted(index for name in set(names) for index in self._by_name.get(name, []))

    def any_of(self, call: Call) -> Verdict:
        """Whether the call fits one of the shapes."""
        return best(self._each(call))

    def _each(self, call: Call) -> Iterator[Verdict]:
        for shape in self._shapes:
            yield shape.verdict(call, self._how, answers=self._answers)


def best(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on alternatives: one that fits is enough."""
    found: Verdict = "no"
    for verdict in verdicts:
        if verdict == "yes":
            return verdict
        if found == "no" or verdict == "unknown":
            found = verdict
    return found


def undecided(doubtful: Sequence[Doubt], record: Record, expected: str) -> Outcome:
    """What comes of it where calls that cannot be judged decide: the student's fault if it is all the student's.

    Raises Missing in `harness` when the format does not say enough of one of them.
    """
    ours = [doubt.call for doubt in doubtful if doubt.verdict == "unknown"]
    if ours:
        hidden = any(call.arguments is None for call in ours)
        why = "the arguments are plain text" if hidden else "how it ended, or what the answer was, is not known"
        raise Missing("harness", f"{record.title} does not say enough of {listed_calls(ours)}: {why}")
    calls = [doubt.call for doubt in doubtful]
    twice = all(repeated_key(call.arguments_raw, None) is not None for call in calls)
    reason = f"the arguments {'have a key twice' if twice else 'are not valid JSON'} in {listed_calls(calls)}"
    seen = tuple(doubt.call.seen for doubt in doubtful[:_SEEN_AT_MOST])
    return student_fault(reason, expected=expected, seen=seen)


def listed_calls(calls: Sequence[Call]) -> str:
    """Calls as a person finds them again: tool, place and id."""
    shown = ", ".join(shown_call(call) for call in calls[:_NAMED_AT_MOST])
    more = len(calls) - _NAMED_AT_MOST
    return f"{shown} and {more} more" if more > 0 else shown


def shown_call(call: Call) -> str:
    """One call: its tool, its place and its id."""
    place = f"call {call.index}" if call.thread is None else f"in the sub-agent `{call.thread}`"
    return f"`{call.name}` ({place}, id `{call.id}`)" if call.id else f"`{call.name}` ({place})"

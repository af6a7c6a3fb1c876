"""`event`: how many events of one kind the log holds."""

from collections.abc import Iterable
from typing import Self

from pydantic import Field, model_validator

from rulebook.checks import Check, Checked
from rulebook.evidence.absence import need_possible, need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.document import event_data
from rulebook.evidence.event_names import EventName, owner_of_event
from rulebook.evidence.record import EventRecord, Record, Wants
from rulebook.evidence.scope import event_scope
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.formula import Formula, Search, YesNoFormula, search_with
from rulebook.languages.types import MissingValue, Scope
from rulebook.languages.values import Named
from rulebook.outcome import Category, Outcome, Seen, binary
from rulebook.place import Path
from rulebook.ports import Ports

_SEEN_AT_MOST = 20


class Event(Check, kind="event"):
    """So many events of one kind, or so many of those that meet a condition, are in the log."""

    short = "name"
    category = "harness"

    name: Named = Field(description="The event's name as the log stores it, such as `usage`.")
    where: YesNoFormula | None = Field(
        None, description="An expression over one event's `data`, `time` and `seq`; others do not count."
    )
    min: int | None = Field(None, ge=0, description="The fewest. 1 when neither bound is written, 0 beside `max`.")
    max: int | None = Field(None, ge=0, description="The most; no limit when it is not written.")

    @model_validator(mode="after")
    def _bounds_fit(self) -> Self:
        if self.max is not None and self.least > self.max:
            words = {
                "key": "max",
                "wanted": f"{self.least} or more, since `min` is {self.least}",
                "value": self.max,
            }
            raise refused(LanguageError(Fault("RB205", words, path=("max",))))
        return self

    @property
    def least(self) -> int:
        """The fewest that are asked for."""
        if self.min is not None:
            return self.min
        return 1 if self.max is None else 0

    def forbids(self) -> bool:
        """A bound from above and none from below."""
        return self.max is not None and self.least == 0

    def owner(self) -> Category:
        """By the event's name."""
        return owner_of_event(self.name)

    def wants(self) -> Wants:
        """The payloads of this kind of event, when a condition looks at them."""
        return Wants() if self.where is None else Wants(events=frozenset((self.name,)))

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The name, and the condition over one event."""
        yield ("name",), EventName(self.name), scope
        if self.where is not None:
            yield ("where",), self.where, event_scope(self.name, scope)

    def sentence(self) -> str:
        """What it asks for."""
        condition = f" with `{self.where.text}`" if self.where else ""
        return f"The log holds {self._bounds()} `{self.name}` events{condition}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Count; a log without its end can only show that there were enough, or too many."""
        record = evidence.session
        record.need("events", "events")
        need_possible(record, [self.name])
        count, seen, lacking = self._matching(record, evidence, search_with(ports))
        enough, fits = count >= self.least, self.max is None or count <= self.max
        if fits and not (enough and self.max is None):
            need_whole(record, self.owner())
        vacuous = enough and fits and self.least == 0 and record.did_nothing
        reason = _could_not_tell(lacking)
        return binary(enough and fits, reason, expected=self._bounds(), actual=count, seen=seen, vacuous=vacuous)

    def _matching(self, record: Record, evidence: Evidence, search: Search) -> tuple[int, tuple[Seen, ...], list[str]]:
        """How many match, where the first of them stand, and what the condition found missing in others."""
        if self.where is None:
            first = record.first_event.get(self.name)
            return record.event_counts.get(self.name, 0), () if first is None else (Seen(offset=first),), []
        matching: list[Seen] = []
        lacking: list[str] = []
        for event in record.events_named(self.name):
            value = self._holds(self.where, event, evidence, search)
            if isinstance(value, MissingValue):
                lacking.append(value.what)
            elif value is True:
                matching.append(Seen(offset=event.offset))
        return len(matching), tuple(matching[:_SEEN_AT_MOST]), lacking

    def _holds(self, where: Formula, event: EventRecord, evidence: Evidence, search: Search) -> object:
        fields = event_data(event)

        def lookup(name: str) -> object:
            return evidence.document.lookup("params") if name == "params" else fields.get(name, MissingValue(name))

        return where.quick_value(lookup, search)

    def _bounds(self) -> str:
        if self.max is None:
            return f"at least {self.least}"
        if self.max == self.least:
            return f"exactly {self.max}" if self.max else "none"
        return f"{self.least} to {self.max}" if self.least else f"at most {self.max}"


def _could_not_tell(lacking: list[str]) -> str:
    if not lacking:
        return ""
    events = "1 event has" if len(lacking) == 1 else f"{len(lacking)} events have"
    return (
        f"{events} no `{lacking[0]}`, so they do not count"
        if len(lacking) > 1
        else f"{events} no `{lacking[0]}` and does not count"
    )

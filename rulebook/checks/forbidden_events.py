"""`forbidden_events`: kinds of event that the log must not hold."""

from collections.abc import Iterable

from pydantic import Field

from rulebook.checks import Check, Checked
from rulebook.evidence.absence import need_possible, need_whole, times
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.event_names import EventName, owner_of_events
from rulebook.languages.types import Scope
from rulebook.languages.values import Named, Several
from rulebook.outcome import Category, Outcome, Seen, binary
from rulebook.place import Path
from rulebook.ports import Ports
from rulebook.spelling import listed


class ForbiddenEvents(Check, kind="forbidden_events"):
    """The log holds no event of these kinds.

    Source: session-evals, `required_events` and its opposite.
    """

    short = "names"
    category = "harness"
    negative = True
    in_expect = True
    each = "names"

    names: Several[Named] = Field(
        description="The names of the events as the log stores them, such as `prompt.password`."
    )

    def owner(self) -> Category:
        """By the events' names."""
        return owner_of_events(self.names)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """Every name, for names that no log is known to use."""
        return [(("names", position), EventName(name), scope) for position, name in enumerate(self.names)]

    def sentence(self) -> str:
        """What it asks for."""
        return f"The log holds none of these events: {listed(self.names)}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Look every name up among the counts; only a whole log can show that there was none."""
        record = evidence.session
        record.need("events", "events")
        need_possible(record, self.names)
        present = [name for name in self.names if record.event_counts.get(name)]
        if not present:
            need_whole(record, self.owner())
            return binary(True, expected="absent", actual="absent", vacuous=record.did_nothing)
        seen = tuple(Seen(offset=record.first_event[name]) for name in present)
        count = sum(record.event_counts[name] for name in present)
        reason = f"in the log: {listed(present)}" if len(self.names) > 1 else ""
        return binary(False, reason, expected="absent", actual=f"seen {times(count)}", seen=seen)

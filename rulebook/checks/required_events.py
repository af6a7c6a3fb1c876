"""`required_events`: kinds of event that the log must hold."""

from collections.abc import Iterable

from pydantic import Field

from rulebook.checks import Check, Checked
from rulebook.evidence.absence import need_possible, need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.event_names import EventName, owner_of_events
from rulebook.languages.types import Scope
from rulebook.languages.values import Named, Several
from rulebook.outcome import Category, Outcome, Seen, binary
from rulebook.place import Path
from rulebook.ports import Ports
from rulebook.spelling import listed


class RequiredEvents(Check, kind="required_events"):
    """The log holds at least one event of every kind.

    Source: session-evals, `required_events`.
    """

    short = "names"
    category = "harness"
    in_expect = True
    each = "names"

    names: Several[Named] = Field(description="The names of the events as the log stores them, such as `tool.call`.")

    def owner(self) -> Category:
        """By the events' names."""
        return owner_of_events(self.names)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """Every name, for names that no log is known to use."""
        return [(("names", position), EventName(name), scope) for position, name in enumerate(self.names)]

    def sentence(self) -> str:
        """What it asks for."""
        return f"The log holds these events: {listed(self.names)}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Look every name up among the counts; only a whole log can show that one never came."""
        record = evidence.session
        record.need("events", "events")
        need_possible(record, self.names)
        absent = [name for name in self.names if not record.event_counts.get(name)]
        if absent:
            need_whole(record, self.owner())
        seen = tuple(Seen(offset=record.first_event[name]) for name in self.names if name in record.first_event)
        reason = f"not in the log: {listed(absent)}" if len(self.names) > 1 and absent else ""
        return binary(not absent, reason, expected="present", actual="absent" if absent else "present", seen=seen)

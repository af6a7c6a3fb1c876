"""The names of the log's events: which are known, and whose an event is."""

from collections.abc import Iterable

from msgspec import Struct

from rulebook.evidence.event_types import EVENT_NAMES
from rulebook.languages.faults import Fault
from rulebook.languages.types import Scope
from rulebook.outcome import Category
from rulebook.spelling import guess

_OWNERS: dict[str, Category] = {
    "tool": "model",
    "message": "model",
    "plan": "model",
    "approval": "policy",
    "policy": "policy",
    "secret": "policy",
    "network": "network",
    "sandbox": "sandbox",
    "device": "sandbox",
}


def owner_of_event(name: str) -> Category:
    """Whose an event is, by the first part of its name."""
    return _OWNERS.get(name.split(".", 1)[0], "harness")


def owner_of_events(names: Iterable[str]) -> Category:
    """The owner that all these events share, else `model`, as for a group of rules."""
    owners = {owner_of_event(name) for name in names}
    return owners.pop() if len(owners) == 1 else "model"


class EventName(Struct, frozen=True):
    """The name of an event as an author wrote it."""

    text: str

    def faults(self, scope: Scope) -> tuple[Fault, ...]:  # noqa: ARG002 — the names of events are the same everywhere
        """RB309 for a name that no version of the log is known to use."""
        if self.text in EVENT_NAMES:
            return ()
        return (Fault("RB309", {"name": self.text, "guess": guess(self.text, EVENT_NAMES)}),)

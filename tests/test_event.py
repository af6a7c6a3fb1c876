"""What `event` costs: it counts what was folded once, and looks at its own kind of event alone."""

from rulebook.checks.event import Event
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import EventRecord, Record, Wants
from rulebook.languages.formula import read_formula
from rulebook.outcome import Measurement
from rulebook.services.ports import machine_ports


class Untouchable(list[EventRecord]):
    """Events that may be gone through once, for all rules together."""

    def __init__(self, events: list[EventRecord]) -> None:
        super().__init__(events)
        self.passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()


def test_a_thousand_rules_go_through_the_events_once() -> None:
    events = Untouchable([EventRecord(n, "usage", {"input_tokens": n}, None, 16 + n) for n in range(50)])
    record = Record(events=events, event_counts={"usage": 50}, first_event={"usage": 16})
    evidence, ports = Evidence(record=record), machine_ports()
    where = read_formula("data.input_tokens >= 40")
    for least in range(500):
        counted = Event(name="usage", min=least).measure(evidence, ports) if least <= 50 else None
        matching = Event(name="usage", where=where, max=least).measure(evidence, ports) if least < 10 else None
        for outcome, count in ((counted, 50), (matching, 10)):
            assert outcome is None or (isinstance(outcome, Measurement) and outcome.actual == count)
    assert events.passes == 1


def test_without_a_condition_no_payload_is_kept() -> None:
    assert Event(name="usage").wants() == Wants()
    assert Event(name="usage", where=read_formula("seq > 1")).wants() == Wants(events=frozenset(("usage",)))

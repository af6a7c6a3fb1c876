"""What `regex` makes of texts that are slow or too large to search."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from rulebook.checks.regex import Regex
from rulebook.errors import OutOfTime
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Record
from rulebook.evidence.transcript import Message
from rulebook.languages.pattern import MAX_TEXT_CHARACTERS, SEARCH_LIMIT_S
from rulebook.outcome import Measurement
from rulebook.ports import Ports, SearchPattern
from rulebook.services.ports import machine_ports


@dataclass
class SlowPatterns:
    """Never comes to an end, and says how long it was given."""

    limits: list[float] = field(default_factory=list)

    def search(self, pattern: SearchPattern, text: str, limit_s: float) -> tuple[int, int] | None:
        self.limits.append(limit_s)
        raise TimeoutError(f"{pattern.text} on {len(text)} characters")


class StoppedClock:
    def monotonic_s(self) -> float:
        return 100.0


@pytest.fixture
def slow() -> SlowPatterns:
    return SlowPatterns()


@pytest.fixture
def ports(slow: SlowPatterns) -> Ports:
    machine = machine_ports()
    return Ports(machine.files, machine.processes, machine.git, slow, StoppedClock(), machine.workspaces, machine.models, machine.chance)


def saying(text: str) -> Evidence:
    return Evidence(record=Record(messages=[Message(0, "assistant", text)], turns=1))


def rule(**options: object) -> Regex:
    return Regex.model_validate(options)


def test_a_search_that_does_not_end_is_the_students_doing(ports: Ports, slow: SlowPatterns) -> None:
    outcome = rule(patterns=["a", "b"]).measure(saying("x"), ports)
    assert isinstance(outcome, Measurement)
    assert (outcome.score, outcome.passed, outcome.student_fault) == (0.0, False, True)
    assert "did not end within 2 s" in outcome.reason
    assert slow.limits == [SEARCH_LIMIT_S]


def test_a_rule_that_runs_out_of_its_own_time_leaves_the_decision_to_the_rule(ports: Ports) -> None:
    with pytest.raises(OutOfTime) as caught:
        rule(patterns=["a"]).measure(saying("x"), ports.until(100.5))
    assert (caught.value.limit_s, caught.value.material) == (0.5, True)


@pytest.mark.parametrize(
    ("text", "pattern", "passed", "fault"),
    [
        (lambda: "a" * MAX_TEXT_CHARACTERS, r"a\Z", True, False),
        (lambda: "TODO" + "a" * MAX_TEXT_CHARACTERS, "TODO", True, False),
        (lambda: "a" * MAX_TEXT_CHARACTERS + "TODO", "TODO", False, True),
        (lambda: "a" * MAX_TEXT_CHARACTERS + "b", r"a\Z", False, True),
    ],
    ids=["as large as it may be", "found before the cut", "hidden behind the cut", "an end made by the cut"],
)
def test_a_text_beyond_the_limit(text: Callable[[], str], pattern: str, passed: bool, fault: bool) -> None:
    outcome = rule(patterns=[pattern]).measure(saying(text()), machine_ports())
    assert isinstance(outcome, Measurement)
    assert (outcome.passed, outcome.student_fault) == (passed, fault)
    cut = len(text()) > MAX_TEXT_CHARACTERS
    assert (f"only the first {MAX_TEXT_CHARACTERS} characters were searched" in outcome.reason) == cut

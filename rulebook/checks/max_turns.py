"""`max_turns`: how many turns the session may take."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.evidence.absence import need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports


class MaxTurns(Check, kind="max_turns"):
    """The session took at most this many turns: messages of the assistant, not requests to a model.

    Source: session-evals, `max_turns`.
    """

    short = "turns"
    category = "budget"
    in_expect = True

    turns: int = Field(ge=0, description="The most turns (messages of the assistant) that the session may take.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"The session takes at most {self.turns} turns."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the number of turns; a log without its end can only show that there were too many."""
        record = evidence.session
        record.need("messages", "turns")
        passed = record.turns <= self.turns
        if passed:
            need_whole(record, self.owner())
        return binary(passed, expected=f"at most {self.turns}", actual=record.turns)

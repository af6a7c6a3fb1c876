"""`min_subagents`: how many sub-agents the session must start."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.evidence.absence import need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports


class MinSubagents(Check, kind="min_subagents"):
    """The session started at least this many sub-agents.

    Source: session-evals, `min_subagents`.
    """

    short = "count"
    in_expect = True

    count: int = Field(ge=0, description="The fewest sub-agents that the session must start.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"The session starts at least {self.count} sub-agents."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Count the sub-agents; a log without its end can only show that there were enough."""
        record = evidence.session
        record.need("subagents", "sub-agents")
        children = record.children.values()
        passed = len(children) >= self.count
        if not passed:
            need_whole(record, self.owner())
        seen = tuple(child.seen for child in children)
        return binary(passed, expected=f"at least {self.count}", actual=len(children), seen=seen)

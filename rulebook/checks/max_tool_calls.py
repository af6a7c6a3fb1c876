"""`max_tool_calls`: how many tool calls the session may make."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.evidence.absence import need_every_call, unseen_agents
from rulebook.evidence.bundle import Evidence
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports


class MaxToolCalls(Check, kind="max_tool_calls"):
    """The session made at most this many tool calls, those of its sub-agents and refused attempts among them."""

    short = "calls"
    category = "budget"

    calls: int = Field(ge=0, description="The most tool calls that the session may make.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"The session makes at most {self.calls} tool calls."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the number of calls; a log without its end can only show that there were too many."""
        record = evidence.session
        if record.call_count <= self.calls:
            record.need("tool_calls", "tool calls")
        count = record.call_count + sum(record.delegated.values())
        passed = count <= self.calls
        if passed:
            need_every_call(record, self.owner())
        note = unseen_agents(record) if passed else ""
        return binary(passed, note, expected=f"at most {self.calls}", actual=count)

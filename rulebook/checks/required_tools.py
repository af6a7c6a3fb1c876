"""`required_tools`: tools that must be called."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.evidence.absence import called_instead, need_every_call, unseen_agents
from rulebook.evidence.bundle import Evidence
from rulebook.languages.values import Named, Several
from rulebook.outcome import Outcome, Seen, binary
from rulebook.ports import Ports
from rulebook.spelling import listed


class RequiredTools(Check, kind="required_tools"):
    """Each of these tools was called, by the session or by a sub-agent of it. An attempt counts, also a refused one."""

    short = "names"
    category = "policy"
    each = "names"

    names: Several[Named] = Field(description="The names of the tools, such as `run_command`.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"Each of these tools is called: {listed(self.names)}."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Look every name up among the calls; only a whole log can show that one was never called."""
        record = evidence.session
        if any(not record.tool_counts.get(name) for name in self.names):
            record.need("tool_calls", "tool calls")
        absent = [name for name in self.names if not record.tool_counts.get(name) and not record.delegated.get(name)]
        if absent:
            need_every_call(record, self.owner())
        seen = [record.first_call[name] for name in self.names if name in record.first_call]
        if any(name not in record.first_call and name not in absent for name in self.names):
            seen.append(Seen(note="in a sub-agent's thread"))
        note = f"not called: {listed(absent)}" if absent and len(self.names) > 1 else ""
        more = (called_instead(record, absent), unseen_agents(record)) if absent else ()
        reason = "; ".join(part for part in (note, *more) if part)
        actual = "not called" if absent else "called"
        return binary(not absent, reason, expected="called", actual=actual, seen=tuple(seen))

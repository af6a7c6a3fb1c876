"""`require_subagents_complete`: every sub-agent came to its end."""

from typing import Annotated

from pydantic import AfterValidator, Field

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.absence import need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.languages.values import said
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports

_ITS_OWN_DOING = ("no_progress", "budget", "refused")


class RequireSubagentsComplete(Check, kind="require_subagents_complete"):
    """Every sub-agent that was started has finished; one that was lost or died is nobody's failure.

    Source: session-evals, `require_subagents_complete`.
    """

    short = "wanted"
    in_expect = True

    wanted: Annotated[bool, AfterValidator(said("require_subagents_complete"))] = Field(description="Write `true`.")

    def sentence(self) -> str:
        """What it asks for."""
        return "Every sub-agent that the session starts finishes."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Look at every sub-agent's last word; a failure of its own decides before one that is not."""
        record = evidence.session
        record.need("subagents", "sub-agents")
        children = list(record.children.values())
        failed = [child for child in children if child.outcome in _ITS_OWN_DOING]
        if failed:
            actual = f"{len(children) - len(failed)} of {len(children)} finished"
            reason = f"`{failed[0].id}` ended with `{failed[0].outcome}`"
            return binary(False, reason, expected="all finished", actual=actual, seen=tuple(c.seen for c in failed))
        lost = [child for child in children if child.outcome != "finished"]
        if lost:
            outcome = f"ended with `{lost[0].outcome}`" if lost[0].outcome else "never reported back"
            raise Missing("harness", f"`{lost[0].id}` {outcome}")
        need_whole(record, self.owner())
        actual = "all finished" if children else "none started"
        return binary(True, expected="all finished", actual=actual, seen=tuple(c.seen for c in children))

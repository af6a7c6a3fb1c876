"""`end_reason`: how the session ended."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.ends import OTHER_ENDS, OWN_ENDS, EndWord
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports


class EndReason(Check, kind="end_reason"):
    """The session ended for this reason; of several ends the last counts.

    Source: session-evals, `end_reason`.
    """

    short = "reason"
    in_expect = True

    reason: EndWord = Field(description="How the session must have ended, such as `finished`.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"The session ends with `{self.reason}`."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the last end; one that was not the student's doing fails nobody."""
        record = evidence.session
        record.need("end", "how the session ended")
        if record.end is None:
            raise Missing("harness", "the session has no end")
        actual, detail = record.end.end.reason, record.end.end.detail
        if actual == self.reason:
            return binary(True, expected=self.reason, actual=actual, seen=(record.end.seen,))
        if actual in OTHER_ENDS:
            raise Missing("harness", f"the session ended with `{actual}`" + (f": {detail}" if detail else ""))
        if actual not in OWN_ENDS:
            raise Missing(self.owner(), "it is not known how the session ended" + (f": {detail}" if detail else ""))
        return binary(False, detail, expected=self.reason, actual=actual, seen=(record.end.seen,))

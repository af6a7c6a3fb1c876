"""`require_no_refusals`: the session asked for nothing that was refused."""

from typing import Annotated

from pydantic import AfterValidator, Field

from rulebook.checks import Check
from rulebook.evidence.absence import need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.languages.values import said
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports


class RequireNoRefusals(Check, kind="require_no_refusals"):
    """No request for approval was refused, by a person, by a rule or for want of an answer.

    Source: session-evals, `require_no_refusals`.
    """

    short = "wanted"
    category = "policy"
    negative = True
    in_expect = True

    wanted: Annotated[bool, AfterValidator(said("require_no_refusals"))] = Field(description="Write `true`.")

    def sentence(self) -> str:
        """What it asks for."""
        return "Nothing that the session asks for is refused."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Look at the refusals that the log holds."""
        record = evidence.session
        record.need("approvals", "what was refused")
        refusals = record.refusals
        if refusals:
            first = refusals[0]
            reason = f"{first.action or first.tool or 'a request'}: {first.decision}"
            actual = f"{len(refusals)} refusal" + ("" if len(refusals) == 1 else "s")
            return binary(False, reason, expected="no refusal", actual=actual, seen=tuple(r.seen for r in refusals))
        need_whole(record, self.owner())
        return binary(True, expected="no refusal", actual="no refusal", vacuous=record.did_nothing)

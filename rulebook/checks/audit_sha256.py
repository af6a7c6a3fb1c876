"""`audit_sha256`: which very log is judged."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.bundle import Evidence
from rulebook.languages.values import Sha256
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports


class AuditSha256(Check, kind="audit_sha256"):
    """The session's log has exactly these bytes, its last line included, which the chain does not cover.

    Source: session-evals, `audit_sha256`.
    """

    short = "sha256"
    category = "harness"
    in_expect = True

    sha256: Sha256 = Field(description="The SHA-256 of the log's bytes.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"The session's log has the digest `{self.sha256}`."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare with the digest that was taken while the log was read."""
        actual = evidence.session.sha256
        if actual is None:
            raise Missing(self.owner(), "the session was not read from a file, so it has no digest")
        return binary(actual == self.sha256, expected=self.sha256, actual=actual)

"""`sandbox_sha256`: which effective sandbox the session ran in."""

from pydantic import Field

from rulebook.checks.config_sha256 import Pinned
from rulebook.evidence.record import Configured
from rulebook.languages.values import Sha256


class SandboxSha256(Pinned, kind="sandbox_sha256"):
    """The session ran in the effective sandbox with this digest.

    Source: session-evals, `sandbox_sha256`.
    """

    short = "sha256"
    category = "sandbox"
    fact = "sandbox"
    what = "the sandbox"

    sha256: Sha256 = Field(description="The SHA-256 of the effective sandbox.")

    def pin(self) -> str:
        """The digest asked for."""
        return self.sha256

    def recorded(self, configured: Configured) -> str | None:
        """The digest that one start recorded."""
        return configured.sandbox_sha256

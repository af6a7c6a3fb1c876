"""`sandbox_driver`: what isolated the session."""

from pydantic import Field

from rulebook.checks.config_sha256 import Pinned
from rulebook.evidence.record import Configured
from rulebook.languages.values import Named


class SandboxDriver(Pinned, kind="sandbox_driver"):
    """The session was isolated by this driver.

    Source: session-evals, `sandbox_driver`.
    """

    short = "driver"
    category = "sandbox"
    fact = "sandbox"
    what = "the sandbox driver"

    driver: Named = Field(description="The driver, such as `native` or `microvm`.")

    def pin(self) -> str:
        """The driver asked for."""
        return self.driver

    def recorded(self, configured: Configured) -> str | None:
        """The driver that one start recorded."""
        return configured.sandbox_driver

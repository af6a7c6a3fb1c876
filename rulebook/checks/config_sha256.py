"""`config_sha256`: which configuration the session ran under."""

from typing import ClassVar

from pydantic import Field

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.record import Configured, Fact
from rulebook.languages.values import Sha256
from rulebook.outcome import Outcome, Seen, binary
from rulebook.ports import Ports


class Pinned(Check):
    """What the pins have in common: every start of the session recorded this very value."""

    in_expect = True
    fact: ClassVar[Fact]
    what: ClassVar[str]

    def pin(self) -> str:
        """The value that must have been recorded."""
        raise NotImplementedError

    def recorded(self, configured: Configured) -> str | None:
        """The value that one start of the session recorded; None when it recorded none."""
        raise NotImplementedError

    def sentence(self) -> str:
        """What it asks for."""
        return f"The session runs under {self.what} `{self.pin()}`, every time it is started."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare every `session.config`; a whole log without one lacks the pin, another may have lost it."""
        record = evidence.session
        record.need(self.fact, self.what)
        if not record.configs:
            if not record.ends:
                raise Missing(self.owner(), f"the log has no `session.config` and no end, so {self.what} is not known")
            return binary(False, "the log has no `session.config`", expected=self.pin(), actual="none recorded")
        others = [c for c in record.configs if self.recorded(c) != self.pin()]
        seen = tuple(Seen(offset=c.offset) for c in others or record.configs)
        if not others:
            return binary(True, expected=self.pin(), actual=self.pin(), seen=seen)
        reason = (
            f"{len(others)} of {len(record.configs)} starts of the session differ" if len(record.configs) > 1 else ""
        )
        actual = self.recorded(others[0]) or "none recorded"
        return binary(False, reason, expected=self.pin(), actual=actual, seen=seen)


class ConfigSha256(Pinned, kind="config_sha256"):
    """The session ran under the project configuration with this digest.

    Source: session-evals, `config_sha256`.
    """

    short = "sha256"
    category = "harness"
    fact = "config"
    what = "the configuration"

    sha256: Sha256 = Field(description="The SHA-256 of the project's configuration.")

    def pin(self) -> str:
        """The digest asked for."""
        return self.sha256

    def recorded(self, configured: Configured) -> str | None:
        """The digest that one start recorded."""
        return configured.config_sha256

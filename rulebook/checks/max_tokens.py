"""`max_tokens`: how many tokens the session may use."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.absence import need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports


class MaxTokens(Check, kind="max_tokens"):
    """The session used at most this many tokens: input, what a cache held included, and output. Unknown is never 0."""

    short = "tokens"
    category = "budget"

    tokens: int = Field(ge=0, description="The most tokens, of input and output together, that the session may use.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"The session uses at most {self.tokens} tokens."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the total, when it is known; a half that is too much alone is enough to fail."""
        record = evidence.session
        record.need("usage", "how many tokens it used")
        usage = record.usage
        halves = () if usage is None else (usage.input, usage.output)
        known = [half for half in halves if half is not None]
        over = sum(known) > self.tokens
        if not over and len(known) < 2:
            raise Missing(self.owner(), f"{record.title} does not say how many tokens it used")
        if not over:
            need_whole(record, self.owner())
        actual = sum(known) if len(known) == 2 else f"at least {sum(known)}"
        return binary(not over, expected=f"at most {self.tokens}", actual=actual)

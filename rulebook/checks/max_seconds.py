"""`max_seconds`: how long the session may take."""

from pydantic import Field

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.absence import need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.outcome import Outcome, binary, reaches
from rulebook.ports import Ports


class MaxSeconds(Check, kind="max_seconds"):
    """From the first to the last thing that it recorded, the session took at most this many seconds."""

    short = "seconds"
    category = "budget"

    seconds: float = Field(ge=0, description="The most seconds, by the session's own clock, that it may take.")

    def sentence(self) -> str:
        """What it asks for."""
        return f"The session takes at most {self.seconds:g} seconds."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Compare the times that the session states; a clock that went back tells nothing."""
        record = evidence.session
        record.need("time", "when things happened")
        first, last = record.first_ms, record.last_ms
        if first is None or last is None:
            raise Missing(self.owner(), f"{record.title} does not say when things happened")
        if last < first:
            raise Missing(self.owner(), f"by its own clock {record.title} ended before it began")
        if last == first and record.turns and record.format != "chock_log":
            raise Missing(self.owner(), f"{record.title} tells of one moment alone, and not how long it took")
        took = (last - first) / 1000
        passed = reaches(self.seconds, took)
        if passed:
            need_whole(record, self.owner())
        return binary(passed, expected=f"at most {self.seconds:g} s", actual=f"{took:g} s")

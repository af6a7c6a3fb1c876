"""`require_no_network`: the session reached nothing outside."""

from typing import Annotated

from pydantic import AfterValidator, Field

from rulebook.checks import Check
from rulebook.errors import Missing
from rulebook.evidence.absence import need_whole
from rulebook.evidence.bundle import Evidence
from rulebook.languages.values import said
from rulebook.outcome import Outcome, binary
from rulebook.ports import Ports


class RequireNoNetwork(Check, kind="require_no_network"):
    """No connection was granted. One that was refused reached nothing and does not count.

    Source: session-evals, `require_no_network`.
    """

    short = "wanted"
    category = "network"
    negative = True
    in_expect = True

    wanted: Annotated[bool, AfterValidator(said("require_no_network"))] = Field(description="Write `true`.")

    def sentence(self) -> str:
        """What it asks for."""
        return "The session makes no network connection."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Look at what was granted and permitted; without a summary nothing shows that there was none."""
        record = evidence.session
        record.need("network", "network connections")
        network = record.network
        granted = tuple(seen for seen, was_granted in network.hosts.values() if was_granted)
        permitted = tuple(approval.seen for approval in network.permitted)
        if network.granted or granted or permitted:
            count = network.granted or len(granted) or len(permitted)
            actual = f"{count} connection" + ("" if count == 1 else "s")
            return binary(False, expected="no connection", actual=actual, seen=granted + permitted)
        if not network.summaries:
            raise Missing(self.owner(), "the log has no `network.summary`")
        need_whole(record, self.owner())
        return binary(True, expected="no connection", actual="no connection", vacuous=record.did_nothing)

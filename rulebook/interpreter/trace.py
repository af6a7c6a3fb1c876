"""What evaluating a tree left behind: the outcome of every node, those not reached too. Data all the way."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from rulebook.expression.nodes import Node
from rulebook.outcome import Measurement, Outcome, Spent, Unmeasured, spent_in_all


class Trace(Struct, frozen=True):
    """One node and what came of it. `outcome` None: it was not reached; `parts` are in the node's order."""

    node: Node
    outcome: Outcome | None
    parts: tuple["Trace", ...] = ()

    def walk(self) -> Iterator["Trace"]:
        """This trace and all below it, depth first."""
        yield self
        for part in self.parts:
            yield from part.walk()


def spent_of(traces: Iterable[Trace]) -> Spent | None:
    """What the checks of all these trees spent on models; None where none asked one.

    A named rule that several trees hold was evaluated once in each, unless they share its outcome.
    """
    found = [
        part.outcome.spent
        for trace in traces
        for part in trace.walk()
        if not part.parts and isinstance(part.outcome, Measurement | Unmeasured) and part.outcome.spent is not None
    ]
    return spent_in_all({id(spent): spent for spent in found}.values()) if found else None

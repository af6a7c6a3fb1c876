"""What evaluating a tree left behind: the outcome of every node, those not reached too. Data all the way."""

from collections.abc import Iterator

from msgspec import Struct

from rulebook.expression.nodes import Node
from rulebook.outcome import Outcome


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

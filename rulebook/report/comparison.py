"""Two runs of an evaluation over the same rows, held against each other: A is the baseline, B the candidate."""

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType

from rulebook.report.compared import Compared
from rulebook.report.comparison_gates import GateVerdict

MOST_OUTPUTS = 1_000
"""Of how many changed rows the outputs are kept; of the others the number and the scores are."""


class Side(Struct, frozen=True):
    """One of the two runs. `rows` counts all of its rows."""

    run: str
    name: str
    rows: int


class Outputs(Struct, frozen=True):
    """What the two tasks gave for a changed row; unset where there is none, as where rows bring their own."""

    row: int
    a: object | UnsetType = UNSET
    b: object | UnsetType = UNSET


class Comparison(Struct, frozen=True):
    """What two runs come to. `only_a` and `only_b` name scorers of one of them; `rows` counts rows that both have.

    `outputs` are of the first `MOST_OUTPUTS` rows that were fixed or broken for any scorer; `verdicts` are of the gates
    that were asked for.
    """

    a: Side
    b: Side
    rows: int
    confidence: float
    scorers: Sequence[Compared]
    only_a: Sequence[str]
    only_b: Sequence[str]
    outputs: Sequence[Outputs]
    notes: Sequence[str]
    verdicts: Sequence[GateVerdict] = ()

    @property
    def gates_are_met(self) -> bool:
        """Whether every gate is met; so it is where none was asked for."""
        return all(each.is_met for each in self.verdicts)

    @property
    def is_measured(self) -> bool:
        """Whether every scorer has a row that both runs measured: of another nothing at all is known."""
        return all(each.figures is not None for each in self.scorers)

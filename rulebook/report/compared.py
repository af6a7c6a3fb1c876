"""What became of one scorer from one run to another: plain data, without what works it out."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from rulebook.report.evaluation_interval import Interval
from rulebook.report.evaluation_outcome import Told

Verdict = Literal["better", "worse", "inconclusive", "not measured"]


class Paired(Struct, frozen=True):
    """At least one pair. `difference` is B's mean less A's; `rose` and `fell` count the rows whose score is another.

    `chance` is that of `test`; `sign_chance` that of the sign test, which looks at nothing but `rose` and `fell`. An
    `interval` of which 0 is no part always goes with a chance below 1 - confidence; None: the rows tell of none.
    """

    mean_a: float
    mean_b: float
    difference: float
    rose: int
    fell: int
    interval: Interval | None
    test: str
    chance: float
    sign_chance: float


class Change(Struct, frozen=True):
    """A row that passes in one run alone, and its scores; that of several results is their mean."""

    row: int
    a: float
    b: float


class IfLost(Struct, frozen=True):
    """What it would come to if B had `score`, the worst there is, in every row that it lost."""

    score: float
    difference: float
    chance: float


class Compared(Struct, frozen=True):
    """What became of one scorer. `figures` are over the `rows` that both runs measured; None where there are none.

    `chance` is theirs where all scorers of the comparison, and the rows that B lost, are reckoned with: it decides the
    verdict. A row is fixed when it passes in B and not in A, and broken the other way round; it passes when it reaches
    the threshold, or is not above it where `lower_is_better`. `lost` are the rows that A measured and B did not,
    because it failed or gave no score, `gained` the reverse; `neither` counts those without a score in both. `told`
    says of the first that B lost why.
    """

    name: str
    verdict: Verdict
    threshold: float
    lower_is_better: bool
    rows: int
    fixed: Sequence[Change]
    broken: Sequence[Change]
    lost: Sequence[int]
    gained: Sequence[int]
    neither: int
    told: Sequence[Told]
    figures: Paired | None = None
    chance: float | None = None
    if_lost: IfLost | None = None

    @property
    def gain(self) -> float:
        """By how much B is better: the difference, turned where lower is better; 0 where there is none."""
        if self.figures is None:
            return 0.0
        return 0.0 - self.figures.difference if self.lower_is_better else self.figures.difference

    @property
    def interval(self) -> Interval | None:
        """The interval of the difference; None where the rows tell of none."""
        return None if self.figures is None else self.figures.interval

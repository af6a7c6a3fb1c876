"""One scorer in two runs of the same rows: what each said of each row is paired, and a verdict found.

A row that B could not measure never speaks for B. It is lost, which is said, and B is called better only where it would
be with the worst score in every row that it lost.
"""

import math
from array import array
from collections.abc import Sequence

from msgspec.structs import replace

from rulebook.measures.row_scores import RowFailure, RowScores
from rulebook.outcome import reaches
from rulebook.report.compared import Change, Compared, IfLost
from rulebook.report.evaluation_outcome import MOST_TOLD, Told
from rulebook.report.paired_estimate import level, paired
from rulebook.report.paired_tests import holm


class Pairing:
    """Takes in what two runs said of each row for one scorer. Of a row scores are kept, and numbers."""

    def __init__(self, name: str, threshold: float, *, lower_is_better: bool) -> None:
        self.name = name
        self._threshold = threshold
        self._lower_is_better = lower_is_better
        self._a, self._b, self._lost_a = array("d"), array("d"), array("d")
        self._fixed: list[Change] = []
        self._broken: list[Change] = []
        self._lost, self._gained = array("q"), array("q")
        self._neither = 0
        self._told: list[Told] = []

    def add(self, row: int, a: RowScores, b: RowScores) -> bool:
        """One more row; whether it was fixed or broken. Raises ValueError for a score that is not finite."""
        before, after = _score(a), _score(b)
        if before is None or after is None:
            self._unpaired(row, before, after, b)
            return False
        self._a.append(before)
        self._b.append(after)
        passed, passes = self._passes(before), self._passes(after)
        if passed != passes:
            (self._fixed if passes else self._broken).append(Change(row, before, after))
        return passed != passes

    def compared(self, confidence: float) -> Compared:
        """What it comes to; `chance` does not reckon with other scorers yet, and there is no verdict."""
        found = Compared(
            self.name,
            "not measured",
            self._threshold,
            self._lower_is_better,
            len(self._a),
            self._fixed,
            self._broken,
            tuple(self._lost),
            tuple(self._gained),
            self._neither,
            self._told,
        )
        if not self._a:
            return found
        figures = paired(self._a, self._b, confidence)
        found = replace(found, figures=figures, chance=figures.chance)
        if not self._lost or found.gain <= 0:
            return found
        if_lost = self._if_lost(confidence)
        still = -if_lost.difference if self._lower_is_better else if_lost.difference
        chance = max(figures.chance, if_lost.chance) if still > 0 else 1.0
        return replace(found, chance=chance, if_lost=if_lost)

    def _passes(self, score: float) -> bool:
        return reaches(self._threshold, score) if self._lower_is_better else reaches(score, self._threshold)

    def _unpaired(self, row: int, before: float | None, after: float | None, b: RowScores) -> None:
        if before is None:
            if after is None:
                self._neither += 1
            else:
                self._gained.append(row)
            return
        self._lost.append(row)
        self._lost_a.append(before)
        if len(self._told) < MOST_TOLD:
            kind, message = (b.type, b.message) if isinstance(b, RowFailure) else ("no score", "it gave none")
            self._told.append(Told(row, self.name, "scorer", kind, message))

    def _if_lost(self, confidence: float) -> IfLost:
        seen = (*self._a, *self._b, *self._lost_a)
        is_share = min(seen) >= 0 and max(seen) <= 1
        least, most = (0.0, 1.0) if is_share else (min(seen), max(seen))
        worst = most if self._lower_is_better else least
        found = paired(self._a + self._lost_a, self._b + array("d", [worst]) * len(self._lost), confidence)
        return IfLost(worst, found.difference, found.chance)


def settled(pairings: Sequence[Pairing], confidence: float) -> tuple[Compared, ...]:
    """What all scorers of a comparison come to, in their order, their chances corrected for there being several."""
    found = [each.compared(confidence) for each in pairings]
    chances = iter(holm([each.chance for each in found if each.chance is not None]))
    return tuple(each if each.chance is None else _with_verdict(each, next(chances), confidence) for each in found)


def _with_verdict(found: Compared, chance: float, confidence: float) -> Compared:
    if chance >= level(confidence) or found.gain == 0:
        return replace(found, chance=chance, verdict="inconclusive")
    return replace(found, chance=chance, verdict="better" if found.gain > 0 else "worse")


def _score(scores: RowScores) -> float | None:
    """The score of a row; None where it has none. Several results of a row are one draw: their mean."""
    if isinstance(scores, RowFailure) or not scores:
        return None
    count = len(scores)
    score = scores[0][0] if count == 1 else math.fsum(each[0] / count for each in scores)
    if not math.isfinite(score):
        raise ValueError(f"{score} is no score")
    return score

"""From which score a judge's pass agrees best with labels: the threshold that serves best, and how far to trust it."""

from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby

from msgspec import Struct

from rulebook.outcome import reaches
from rulebook.report.agreement import Kappa, Share, Table, agreement_of, kappa_of, share_of

MOST_FOLDS = 10

Pair = tuple[float, bool]
"""A row's score by the judge, and whether its label is a pass."""


class Verdicts(Struct, frozen=True):
    """How many rows pass by their label and by the judge (`both`), by one of them alone, and by neither."""

    both: int
    label_alone: int
    judge_alone: int
    neither: int

    @property
    def table(self) -> Table:
        """The labels' rows and the judge's columns, pass first."""
        return ((self.both, self.label_alone), (self.judge_alone, self.neither))

    @property
    def agreement(self) -> Share:
        """How many rows both judge alike."""
        return agreement_of(self.table)

    @property
    def kappa(self) -> Kappa:
        """Cohen's κ."""
        return kappa_of(self.table)

    @property
    def precision(self) -> Share:
        """How many of the judge's passes are passes by their label."""
        return share_of(self.both, self.both + self.judge_alone)

    @property
    def recall(self) -> Share:
        """How many of the labels' passes pass by the judge too."""
        return share_of(self.both, self.both + self.label_alone)


class HeldOut(Struct, frozen=True):
    """What the search gives for rows that it did not see: each fold's verdicts by the threshold found in the others.

    `unsure` rows belong to folds without which the others gave no threshold; they are left out.
    """

    folds: int
    verdicts: Verdicts
    least: float
    most: float
    unsure: int = 0


def verdicts_at(pairs: Sequence[Pair], threshold: float) -> Verdicts:
    """The verdicts where a score passes when it reaches `threshold`."""
    both = sum(1 for score, passes in pairs if passes and reaches(score, threshold))
    passes_in_all = sum(1 for _, passes in pairs if passes)
    judge_in_all = sum(1 for score, _ in pairs if reaches(score, threshold))
    rest = len(pairs) - passes_in_all - (judge_in_all - both)
    return Verdicts(both, passes_in_all - both, judge_in_all - both, rest)


def best_threshold(pairs: Sequence[Pair]) -> float | None:
    """The score from which the judge's pass has the highest κ with the labels; of several the highest score.

    None where no score has a κ above 0, as where all scores or all labels are the same. κ is compared as a fraction of
    whole numbers, so that equal is equal.
    """
    passing = sum(1 for _, passes in pairs if passes)
    count = len(pairs)
    best, best_top, best_bottom = None, 0, 1
    both = judged = 0
    for score, group in groupby(sorted(pairs, reverse=True), key=lambda pair: pair[0]):
        for _, passes in group:
            both += passes
            judged += 1
        label_alone, judge_alone = passing - both, judged - both
        neither = count - both - label_alone - judge_alone
        top = 2 * (both * neither - label_alone * judge_alone)
        bottom = passing * (label_alone + neither) + judged * (judge_alone + neither)
        if top * best_bottom > best_top * bottom:  # where all pass, or all are alike, κ has no top
            best, best_top, best_bottom = score, top, bottom
    return best


def held_out(pairs: Sequence[Pair]) -> HeldOut | None:
    """The verdicts of rows by a threshold that was found without them, in up to `MOST_FOLDS` folds.

    Each class of labels is dealt out evenly, in an order that hangs on a row's place alone, so that equal rows give
    equal figures. None where a class has fewer than two rows, or no part gives a threshold.
    """
    smaller = min(sum(1 for _, passes in pairs if passes is wanted) for wanted in (True, False))
    folds = min(MOST_FOLDS, smaller)
    if folds < 2:
        return None
    fold_of = [0] * len(pairs)
    for wanted in (True, False):
        own = [place for place, (_, passes) in enumerate(pairs) if passes is wanted]
        for turn, place in enumerate(sorted(own, key=lambda place: sha256(str(place).encode()).digest())):
            fold_of[place] = turn % folds
    found: list[Verdicts] = []
    thresholds: list[float] = []
    unsure = 0
    for fold in range(folds):
        left_out = [pair for pair, own in zip(pairs, fold_of, strict=True) if own == fold]
        threshold = best_threshold([pair for pair, own in zip(pairs, fold_of, strict=True) if own != fold])
        if threshold is None:
            unsure += len(left_out)
            continue
        found.append(verdicts_at(left_out, threshold))
        thresholds.append(threshold)
    if not found:
        return None
    return HeldOut(folds, _summed(found), min(thresholds), max(thresholds), unsure)


def _summed(found: Sequence[Verdicts]) -> Verdicts:
    return Verdicts(
        sum(each.both for each in found),
        sum(each.label_alone for each in found),
        sum(each.judge_alone for each in found),
        sum(each.neither for each in found),
    )

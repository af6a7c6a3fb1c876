"""What the paired scores of one scorer come to: how far their means differ, and whether chance could do that."""

import math
from collections.abc import Sequence
from contextlib import suppress

from rulebook.report.compared import Paired
from rulebook.report.evaluation_interval import Interval
from rulebook.report.paired_interval import LARGEST, bootstrap, tango
from rulebook.report.paired_tests import MOST_FLIPPED, flip_test, sign_test


def paired(a: Sequence[float], b: Sequence[float], confidence: float) -> Paired:
    """What the scores `a` and `b` of the same rows come to. There is at least one row, and each score is finite."""
    differences = [max(-LARGEST, min(LARGEST, after - before)) for before, after in zip(a, b, strict=True)]
    rose = sum(each > 0 for each in differences)
    fell = sum(each < 0 for each in differences)
    sign_chance = sign_test(rose, fell)
    interval: Interval | None
    if {*a, *b} <= {0.0, 1.0}:
        interval, test, chance = tango(rose, fell, len(a), confidence), "mcnemar-exact", sign_chance
    else:
        found = bootstrap(differences, confidence)
        interval = found.interval
        if rose + fell <= MOST_FLIPPED:
            # a bootstrap of so few is sure too soon
            test, chance = "sign-flip-exact", flip_test([each for each in differences if each])
        elif found.chance is None or interval is None:
            test, chance = "sign-exact", sign_chance
        else:
            test, chance = interval.method, found.chance
    if interval is not None and chance >= level(confidence):
        interval = Interval(min(interval.low, 0.0), max(interval.high, 0.0), interval.method)
    return Paired(_mean(a), _mean(b), _mean(differences), rose, fell, interval, test, chance, sign_chance)


def level(confidence: float) -> float:
    """The chance below which a difference counts, such as 0.05 for 0.95."""
    return round(1 - confidence, 12)


def _mean(values: Sequence[float]) -> float:
    with suppress(OverflowError):
        return math.fsum(values) / len(values)
    return math.fsum(value / len(values) for value in values)

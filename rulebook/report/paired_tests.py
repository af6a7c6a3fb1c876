"""Exact tests for paired scores, and the correction where several are made at once.

No test here asks of what shape the differences are: each says how likely it is that chance alone, which turns every
changed row either way, makes at least so much of them.
"""

import math
from collections.abc import Sequence
from itertools import product


def sign_test(up: int, down: int) -> float:
    """The two-sided exact test of `up` rows that rose against `down` that fell, 0 to 1; those that stayed say nothing.

    For scores of 0 and 1 it is McNemar's exact test. Source: McNemar 1947; Agresti, Categorical Data Analysis, 10.1.
    """
    changed, fewer = up + down, min(up, down)
    if 2 * fewer == changed:
        return 1.0
    # how often each number of rises comes by, as a multiple of the one in the middle: no factorial overflows
    weight = 1.0
    weights = []
    for rises in range(changed // 2, -1, -1):
        weights.append(weight)
        weight *= rises / (changed - rises + 1)
        if weight == 0.0:
            break
    middle = weights[0] if changed % 2 == 0 else 0.0
    total = 2 * math.fsum(weights) - middle
    return min(1.0, 2 * math.fsum(weights[changed // 2 - fewer :]) / total)


MOST_FLIPPED = 12
"""Up to so many changed rows every way to turn them is tried: 4,096."""


def flip_test(changes: Sequence[float]) -> float:
    """The two-sided exact test of a mean difference: the share of all ways to turn the signs that move it as far.

    `changes` are the differences that are not 0, at most `MOST_FLIPPED`; none of them: 1. Source: Fisher 1935, §21.
    """
    largest = max(map(abs, changes), default=1.0)
    parts = [change / largest for change in changes]
    # sums of the same numbers with other signs may differ by what rounding makes of them
    reach = abs(math.fsum(parts)) - 1e-12 * len(parts)
    far = sum(abs(math.fsum(turned)) >= reach for turned in product(*((part, -part) for part in parts)))
    return math.ldexp(far, -len(parts))


def holm(chances: Sequence[float]) -> list[float]:
    """The chances of several tests as they count when all are made at once, in the same order. Source: Holm 1979."""
    adjusted = [0.0] * len(chances)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=lambda each: chances[each])):
        least = max(least, min(1.0, (len(chances) - rank) * chances[place]))
        adjusted[place] = least
    return adjusted

"""A 95 % interval of a mean score: how far chance alone could have moved it.

For scores that are all 0 or 1 it is Wilson's, which keeps its width where every score is the same. For others it is
Student's t over the rows, each row one draw however many scores it gave.
"""

import math

from msgspec import Struct

from rulebook.report.evaluation_scores import Sorted

Z_95 = 1.959963984540054


class Interval(Struct, frozen=True):
    """The ends of an interval, and the method that gave it."""

    low: float
    high: float
    method: str


class Draws:
    """Sums over rows that gave scores, from which a row's share in the spread of the mean follows."""

    def __init__(self) -> None:
        self.rows = 0
        self.is_single = True
        self._count = self._count_2 = 0
        self._shift: float | None = None
        self._sum_2 = self._cross = 0.0

    @classmethod
    def of(cls, values: Sorted) -> "Draws":
        """Rows that gave these scores, each row one of them."""
        draws = cls()
        if values.count:
            shift = draws._shift = values.least()
            draws.rows = draws._count = draws._count_2 = values.count
            draws._cross = sum((value - shift) * count for value, count in values)
            draws._sum_2 = sum((value - shift) * (value - shift) * count for value, count in values)
        return draws

    def add(self, scores: int, total: float) -> None:
        """One more row, which gave that many scores with that sum."""
        if self._shift is None:
            self._shift = total / scores  # squares of what is left over the first row's mean lose few digits
        over = total - self._shift * scores
        self.rows += 1
        self.is_single = self.is_single and scores == 1
        self._count += scores
        self._count_2 += scores * scores
        self._sum_2 += over * over
        self._cross += scores * over

    def deviation(self, mean: float) -> float | None:
        """The standard deviation of the mean; None for fewer than two rows."""
        if self.rows < 2 or self._shift is None:
            return None
        mean -= self._shift
        spread = self._sum_2 - 2 * mean * self._cross + mean * mean * self._count_2
        return math.sqrt(max(spread, 0.0) * self.rows / (self.rows - 1)) / self._count


def interval_of(mean: float, draws: Draws, *, is_binary: bool, is_share: bool) -> Interval | None:
    """The interval of a mean, within 0..1 where every score `is_share`; None where the rows do not tell."""
    if is_binary and draws.is_single:
        return wilson(mean, draws.rows)
    deviation = draws.deviation(mean)
    # rows that all say the same leave a rounding error at most, and nothing to estimate from
    if deviation is None or not 1e-12 * max(1.0, abs(mean)) < deviation < math.inf:
        return None
    half = student_t(draws.rows - 1) * deviation
    low, high = mean - half, mean + half
    return Interval(max(low, 0.0), min(high, 1.0), "student-t") if is_share else Interval(low, high, "student-t")


def wilson(mean: float, rows: int) -> Interval:
    """The interval of a share of that many rows, at least one, each of which counts as 0 or as 1."""
    square = Z_95 * Z_95
    middle = (mean + square / (2 * rows)) / (1 + square / rows)
    half = Z_95 / (1 + square / rows) * math.sqrt(mean * (1 - mean) / rows + square / (4 * rows * rows))
    # at a mean of 0 and of 1 the end is the mean itself, but for a rounding error
    low = 0.0 if mean == 0 else max(middle - half, 0.0)
    high = 1.0 if mean == 1 else min(middle + half, 1.0)
    return Interval(low, high, "wilson")


def student_t(degrees: int) -> float:
    """The factor for 95 %: how many deviations lie between the mean and an end, for these degrees of freedom."""
    low, high = 1.0, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        if student_share(middle, degrees) < 0.95:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def student_share(t: float, degrees: int) -> float:
    """How much of Student's distribution lies within -t..t. Source: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    if degrees > 1_000:
        # the difference from the normal one is below a hundredth of a per cent there
        return math.erf(t * (1 - 1 / (4 * degrees)) / math.sqrt(1 + t * t / (2 * degrees)) / math.sqrt(2))
    angle = math.atan(t / math.sqrt(degrees))
    cosine = math.cos(angle)
    term, total = (cosine, cosine) if degrees % 2 else (1.0, 1.0)
    first = 3 if degrees % 2 else 2
    for step in range(first, degrees, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    if degrees % 2 == 0:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + (math.sin(angle) * total if degrees > 1 else 0.0))

"""How far two raters of the same rows agree, beyond what chance alone would give them.

A table has one row for each class of the first rater (the labels), one column for each of the second (the judge), in
the same order; its cells count. Classes that neither of them used change nothing.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from rulebook.report.evaluation_interval import Z_95, Interval, wilson

Table = Sequence[Sequence[int]]


class Share(Struct, frozen=True):
    """A share with how many rows it is of. `value` and `interval` (Wilson's) are None where there are no rows."""

    count: int
    of: int
    value: float | None = None
    interval: Interval | None = None


class Kappa(Struct, frozen=True):
    """Cohen's κ, -1..1, with a 95 % interval. `value` None: it is not defined, and `reason` says why.

    The interval's method is `asymptotic`, or `wilson` where the rows leave no spread to estimate from.
    """

    value: float | None
    interval: Interval | None = None
    reason: str = ""


def share_of(count: int, of: int) -> Share:
    """The share of `count` in `of`, with Wilson's interval."""
    return Share(count, of, count / of, wilson(count / of, of)) if of else Share(count, of)


def agreement_of(table: Table) -> Share:
    """How many rows both put into the same class."""
    return share_of(sum(row[place] for place, row in enumerate(table)), sum(map(sum, table)))


def kappa_of(table: Table, weights: Sequence[Sequence[float]] | None = None) -> Kappa:
    """Cohen's κ; with `weights`, 0..1 and 1 for the same class, the weighted one.

    It is not defined without rows, nor where a rater put all rows into one class: whatever the other said then, κ
    would be 0, or 0 / 0. The variance is the asymptotic one of Fleiss, Cohen and Everitt, "Large sample standard errors
    of kappa and weighted kappa", 1969, eq. 8 and 13. Where it is 0, as when all rows agree, the ends are those of
    Wilson's interval of the agreement, with the agreement by chance taken as it is.
    """
    count = sum(map(sum, table))
    if count == 0:
        return Kappa(None, None, "there are no rows")
    size = range(len(table))
    first = [sum(row) / count for row in table]
    second = [sum(row[place] for row in table) / count for place in size]
    for rater, shares in (("labels", first), ("judge", second)):
        if sum(map(bool, shares)) == 1:
            said = "the labels are" if rater == "labels" else "the judge is"
            return Kappa(None, None, f"{said} the same in every row")
    weigh = weights or [[float(row == column) for column in size] for row in size]
    observed = math.fsum(table[i][j] * weigh[i][j] for i in size for j in size) / count
    by_chance = math.fsum(first[i] * second[j] * weigh[i][j] for i in size for j in size)
    value = (observed - by_chance) / (1 - by_chance)
    deviation = _deviation(table, weigh, first, second, (observed, by_chance))
    if deviation > 1e-9:
        half = Z_95 * deviation
        return Kappa(value, Interval(max(value - half, -1.0), min(value + half, 1.0), "asymptotic"))
    ends = wilson(min(max(observed, 0.0), 1.0), count)
    low, high = ((end - by_chance) / (1 - by_chance) for end in (ends.low, ends.high))
    return Kappa(value, Interval(max(min(low, value), -1.0), min(max(high, value), 1.0), "wilson"))


def quadratic_weights(grades: Sequence[float]) -> list[list[float]]:
    """The weights of ordered classes with these grades: 1 less the square of their distance, of all the range 1."""
    largest = max(map(abs, grades))
    scaled = [grade / largest for grade in grades]  # or the range of two huge ones would be infinite
    most = max(scaled) - min(scaled)
    return [[1 - ((one - other) / most) ** 2 for other in scaled] for one in scaled]


def _deviation(
    table: Table,
    weights: Sequence[Sequence[float]],
    first: Sequence[float],
    second: Sequence[float],
    shares: tuple[float, float],
) -> float:
    """The standard error of κ. `shares` are the agreement that was observed, and that by chance."""
    observed, by_chance = shares
    count = sum(map(sum, table))
    size = range(len(table))
    of_rows = [math.fsum(second[j] * weights[i][j] for j in size) for i in size]
    of_columns = [math.fsum(first[i] * weights[i][j] for i in size) for j in size]
    spread = math.fsum(
        table[i][j] / count * (weights[i][j] * (1 - by_chance) - (of_rows[i] + of_columns[j]) * (1 - observed)) ** 2
        for i in size
        for j in size
    )
    middle = observed * by_chance - 2 * by_chance + observed
    return math.sqrt(max(spread - middle * middle, 0.0) / count) / (1 - by_chance) ** 2

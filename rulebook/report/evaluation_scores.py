"""The scores of one scorer as a multitude: each counted, exactly, and the same in whatever order they came."""

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import accumulate

from rulebook.outcome import reaches

MOST_VALUES = 20_000
"""How many different scores are counted apart; beyond that each score is kept, in 8 bytes."""


class Scores:
    """Adds up scores in bounded memory."""

    def __init__(self) -> None:
        self._counts: dict[float, int] = {}
        self._kept: array[float] | None = None

    def add(self, score: float) -> None:
        """One more score, a finite number."""
        if self._kept is not None:
            self._kept.append(score)
            return
        self._counts[score] = self._counts.get(score, 0) + 1
        self._bound()

    def add_all(self, scores: Sequence[float]) -> None:
        """As many more, all finite numbers."""
        if self._kept is not None:
            self._kept.extend(scores)
            return
        counts = self._counts
        for score, count in Counter(scores).items():
            counts[score] = counts.get(score, 0) + count
        self._bound()

    def _bound(self) -> None:
        if len(self._counts) > MOST_VALUES:
            self._kept = array("d")
            for value, count in self._counts.items():
                self._kept.extend(array("d", [value]) * count)
            self._counts = {}

    def sorted(self) -> "Sorted":
        """All of them from the least to the most. Takes 32 bytes a score for a moment where they are kept."""
        if self._kept is not None:
            values = sorted(self._kept)
            return Sorted(values, range(1, len(values) + 1))
        values = sorted(self._counts)
        return Sorted(values, list(accumulate(self._counts[value] for value in values)))


class Sorted:
    """Scores from the least to the most. `values` are in order, `up_to` says how many there are up to each of them."""

    def __init__(self, values: Sequence[float], up_to: Sequence[int]) -> None:
        self._values, self._up_to = values, up_to
        self.count = up_to[-1] if values else 0

    def __iter__(self) -> Iterator[tuple[float, int]]:
        """Each of the values, and how often it is there."""
        before = 0
        for value, up_to in zip(self._values, self._up_to, strict=True):
            yield value, up_to - before
            before = up_to

    def mean(self) -> float:
        """The mean, rounded once: every float is a whole number of 2**-1074, and so is their sum."""
        if len(self._values) == self.count:
            with suppress(OverflowError):
                return math.fsum(self._values) / self.count
        whole = 0
        for value, count in self:
            top, bottom = value.as_integer_ratio()
            whole += (top << (1_075 - bottom.bit_length())) * count
        return whole / (self.count << 1_074)

    def least(self) -> float:
        """The least of them."""
        return self._values[0]

    def most(self) -> float:
        """The most of them."""
        return self._values[-1]

    def reaching(self, threshold: float) -> int:
        """How many reach `threshold`, as `outcome.reaches` has it."""
        place = bisect_left(self._values, True, key=lambda value: reaches(value, threshold))
        return self.count - (self._up_to[place - 1] if place else 0)

    def is_binary(self) -> bool:
        """Whether every one is 0 or 1."""
        return all(value in (0.0, 1.0) for value in self._values)

    def percentile(self, percent: int) -> float:
        """The percentile, between the two scores that are nearest to it in rank in proportion to the distance."""
        rank, rest = divmod(percent * (self.count - 1), 100)
        low = self._at(rank)
        high = self._at(rank + 1) if rest else low
        return low if low == high else low * (1 - rest / 100) + high * (rest / 100)

    def _at(self, rank: int) -> float:
        return self._values[bisect_right(self._up_to, rank)]

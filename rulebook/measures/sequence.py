"""Ratcliff and Obershelp's similarity: twice the characters in matching blocks, as a share of both texts' lengths."""

from collections import Counter
from itertools import accumulate

MOST_STEPS = 5_000_000
"""So many pairs of equal characters are looked at, at most: about a second. Two texts of 3,000 characters fit."""


def sequence_ratio(ours: str, theirs: str) -> float | None:
    """The ratio, 0..1, the same in either order; None where it would take more than `MOST_STEPS`.

    The longest block that both hold is taken, then the longest to its left and right. Which of several longest ones is
    taken depends on the order of the texts, so both orders are tried and the better one counts. No character is left
    out for being frequent.
    """
    if ours == theirs:
        return 1.0
    budget = [MOST_STEPS]
    found = _matched(ours, theirs, budget), _matched(theirs, ours, budget)
    if found[0] is None or found[1] is None:
        return None
    return 2.0 * max(found[0], found[1]) / (len(ours) + len(theirs))


def _matched(ours: str, theirs: str, budget: list[int]) -> int | None:
    """How many characters lie in matching blocks; None when the budget of steps is spent."""
    from difflib import SequenceMatcher  # other methods do without

    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    often = Counter(theirs)
    cost = list(accumulate((often[character] + 1 for character in ours), initial=0))
    total, ranges = 0, [(0, len(ours), 0, len(theirs))]
    while ranges:
        start, end, low, high = ranges.pop()
        budget[0] -= cost[end] - cost[start]
        if budget[0] < 0:
            return None
        at, there, size = matcher.find_longest_match(start, end, low, high)
        if not size:
            continue
        total += size
        if start < at and low < there:
            ranges.append((start, at, low, there))
        if at + size < end and there + size < high:
            ranges.append((at + size, end, there + size, high))
    return total

"""The edit distance of two texts as a share of the longer one."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from rulebook.measures.texts import trimmed

MOST_PAIRS = 10_000_000_000
"""So many pairs of characters are compared at most: 0.4 s for two texts of 100,000 characters."""


class DistanceOptions(NamedTuple):
    """Whether case matters."""

    case_insensitive: bool = False


def levenshtein_score(candidate: str, reference: str, options: DistanceOptions) -> tuple[float, Mapping[str, object]]:
    """The score, 0..1, and the `distance` in characters; two empty texts are alike.

    Texts that are too long for `MOST_PAIRS` score 0 with an `error`. Source: scorers, levenshtein.
    """
    folded = options.case_insensitive
    return distance_score(trimmed(candidate, folded), trimmed(reference, folded))


def distance_score(ours: str, theirs: str) -> tuple[float, Mapping[str, object]]:
    """The same for two texts that are trimmed."""
    if len(ours) * len(theirs) > MOST_PAIRS:
        return 0.0, {"error": too_long(ours, theirs)}
    distance, longer = Levenshtein.distance(ours, theirs), max(len(ours), len(theirs))
    return (1.0 - distance / longer if longer else 1.0), {"distance": distance}


def distance_scores(ours: Sequence[str], theirs: Sequence[str]) -> Sequence[tuple[float, Mapping[str, object]]]:
    """The same for each pair of two columns."""
    longest = max(map(len, ours), default=0), max(map(len, theirs), default=0)
    if longest[0] * longest[1] > MOST_PAIRS:
        return list(map(distance_score, ours, theirs))
    return [
        (1.0 - distance / longer if longer else 1.0, {"distance": distance})
        for distance, longer in zip(
            map(Levenshtein.distance, ours, theirs), map(max, map(len, ours), map(len, theirs)), strict=True
        )
    ]


def too_long(ours: str, theirs: str) -> str:
    """What is said of two texts that are too long to be compared."""
    return f"texts of {len(ours)} and {len(theirs)} characters are too long to be compared"

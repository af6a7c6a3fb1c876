"""The edit distance of two texts as a share of the longer one."""

from collections.abc import Mapping
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
    ours, theirs = trimmed(candidate, folded), trimmed(reference, folded)
    if len(ours) * len(theirs) > MOST_PAIRS:
        return 0.0, {"error": too_long(ours, theirs)}
    distance, longer = Levenshtein.distance(ours, theirs), max(len(ours), len(theirs))
    return (1.0 - distance / longer if longer else 1.0), {"distance": distance}


def too_long(ours: str, theirs: str) -> str:
    """What is said of two texts that are too long to be compared."""
    return f"texts of {len(ours)} and {len(theirs)} characters are too long to be compared"

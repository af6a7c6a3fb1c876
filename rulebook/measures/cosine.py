"""How alike the directions of two vectors are."""

import math
from collections.abc import Sequence
from operator import mul


def cosine_score(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, dict[str, float]]:
    """The cosine of two vectors of one length, cut to 0..1, and the `cosine` itself, -1..1; 0 for a zero vector.

    Source: scorers, embedding_similarity.
    """
    one, other = _unit(ours), _unit(theirs)
    cosine = max(-1.0, min(1.0, math.fsum(map(mul, one, other))))
    return max(0.0, cosine), {"cosine": cosine}


def _unit(vector: Sequence[float]) -> list[float]:
    largest = max(map(abs, vector), default=0.0)
    if largest == 0:
        return [0.0] * len(vector)
    # numbers near the largest ones there are would have an infinite length
    scaled = [number / largest for number in vector]
    length = math.sqrt(math.fsum(number * number for number in scaled))
    return [number / length for number in scaled]

"""Whether two texts are the same."""

from collections.abc import Mapping

from rulebook.measures.texts import MatchOptions, alike


def exact_match_score(candidate: str, reference: str, options: MatchOptions) -> tuple[float, Mapping[str, object]]:
    """The score, 1 or 0, and its metadata. Two empty texts match.

    Source: scorers, exact_match.
    """
    matched = alike(candidate, options) == alike(reference, options)
    return (1.0 if matched else 0.0), {"matched": matched}

"""Whether two texts are the same."""

from collections.abc import Mapping, Sequence

from rulebook.measures.texts import MatchOptions, alike


def exact_match_score(candidate: str, reference: str, options: MatchOptions) -> tuple[float, Mapping[str, object]]:
    """The score, 1 or 0, and its metadata. Two empty texts match.

    Source: scorers, exact_match.
    """
    return same_text_score(alike(candidate, options), alike(reference, options))


def same_text_score(candidate: str, reference: str) -> tuple[float, Mapping[str, object]]:
    """The same for two texts of which nothing is left out any more."""
    matched = candidate == reference
    return (1.0 if matched else 0.0), {"matched": matched}


def same_text_scores(
    candidates: Sequence[str], references: Sequence[str]
) -> Sequence[tuple[float, Mapping[str, object]]]:
    """The same for each pair of two columns."""
    return [
        (1.0, {"matched": True}) if candidate == reference else (0.0, {"matched": False})
        for candidate, reference in zip(candidates, references, strict=True)
    ]

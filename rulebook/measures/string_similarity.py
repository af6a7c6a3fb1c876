"""Named measures of how alike two texts are."""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, get_args

from rapidfuzz import fuzz
from rapidfuzz.distance import JaroWinkler

from rulebook.measures.levenshtein import MOST_PAIRS, too_long
from rulebook.measures.sequence import sequence_ratio
from rulebook.measures.texts import trimmed

Method = Literal["jaro_winkler", "jaccard", "token_set", "token_sort", "partial", "sequence"]
METHODS: tuple[Method, ...] = get_args(Method)

MOST_WINDOW_STEPS = 1_000_000_000
"""`partial` tries every window of the longer text: 3 s for two texts of 3,000 characters, and 90 s for 10,000."""


class SimilarityOptions(NamedTuple):
    """The measure, and whether case matters."""

    method: Method
    case_insensitive: bool = False


def string_similarity_score(
    candidate: str, reference: str, options: SimilarityOptions
) -> tuple[float, Mapping[str, object]]:
    """The score, 0..1, and the `ratio`; two empty texts are alike.

    Texts that are too long for the method score 0 with an `error`. Source: scorers, string_similarity.
    """
    ours, theirs = trimmed(candidate, options.case_insensitive), trimmed(reference, options.case_insensitive)
    return similarity_score(ours, theirs, options.method)


def similarity_score(ours: str, theirs: str, method: Method) -> tuple[float, Mapping[str, object]]:
    """The same for two texts that are trimmed."""
    ratio = (1.0 if ours == theirs else 0.0) if not ours or not theirs else _RATIOS[method](ours, theirs)
    if ratio is None:
        return 0.0, {"method": method, "error": too_long(ours, theirs)}
    return ratio, {"method": method, "ratio": ratio}


def _jaccard(ours: str, theirs: str) -> float | None:
    one, other = set(ours), set(theirs)
    return len(one & other) / len(one | other)


def _jaro_winkler(ours: str, theirs: str) -> float | None:
    return JaroWinkler.similarity(ours, theirs) if _fits(ours, theirs) else None


def _token_set(ours: str, theirs: str) -> float | None:
    return fuzz.token_set_ratio(_spaced(ours), _spaced(theirs)) / 100 if _fits(ours, theirs) else None


def _token_sort(ours: str, theirs: str) -> float | None:
    return fuzz.token_sort_ratio(_spaced(ours), _spaced(theirs)) / 100 if _fits(ours, theirs) else None


def _partial(ours: str, theirs: str) -> float | None:
    shorter, longer = sorted((len(ours), len(theirs)))
    if (shorter + longer) * shorter * shorter // 64 > MOST_WINDOW_STEPS:
        return None
    return fuzz.partial_ratio(ours, theirs) / 100


def _fits(ours: str, theirs: str) -> bool:
    return len(ours) * len(theirs) <= MOST_PAIRS


def _spaced(text: str) -> str:
    """The words between single blanks: RapidFuzz splits at fewer kinds of white space where a text fits in Latin-1."""
    return " ".join(text.split())


_RATIOS: Mapping[Method, Callable[[str, str], float | None]] = {
    "jaro_winkler": _jaro_winkler,
    "jaccard": _jaccard,
    "token_set": _token_set,
    "token_sort": _token_sort,
    "partial": _partial,
    "sequence": sequence_ratio,
}

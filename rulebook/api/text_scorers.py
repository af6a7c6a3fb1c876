"""The built-in scorers that compare texts. Source: scorers, "Built-in scorers"."""

from collections.abc import Iterable
from functools import partial

from rulebook.api.scorer_handle import Scorer, declared
from rulebook.api.scorer_options import choice, flag
from rulebook.measures.contains import MODES, ContainsOptions, needles_in, needles_score
from rulebook.measures.exact_match import same_text_score, same_text_scores
from rulebook.measures.texts import MatchOptions, as_text, text_reading

PAIR = ("output", "expected")
"""What a scorer of two columns reads where nothing else is said: the candidate, then the reference."""


def exact_match(
    *,
    inputs: Iterable[str] = PAIR,
    name: str = "exact-match",
    strip: bool = True,
    normalize_whitespace: bool = False,
    case_insensitive: bool = False,
    **keywords: object,
) -> Scorer:
    """Two columns hold the same text: 1, else 0. Metadata: `matched`.

    `normalize_whitespace` takes every stretch of white space as one blank, and trims the ends whatever `strip` says.
    """
    given = {"strip": strip, "normalize_whitespace": normalize_whitespace, "case_insensitive": case_insensitive}
    options = MatchOptions(**{key: flag(key, value) for key, value in given.items()})
    reading = text_reading(options)
    measures = same_text_score, same_text_scores
    return declared("exact_match", (reading, reading), lambda _: measures, inputs, name, given, keywords)


def contains(
    *,
    inputs: Iterable[str] = PAIR,
    name: str = "contains",
    mode: str = "all",
    case_insensitive: bool = False,
    **keywords: object,
) -> Scorer:
    """The first column holds what the second asks for, a text or a JSON list of them. Metadata: `matched`, `missing`.

    `mode`: `all` of a list must be there, `any` one of it, or the score is the `fraction` that is.
    """
    options = ContainsOptions(choice("mode", mode, MODES), flag("case_insensitive", case_insensitive))
    measures = partial(needles_score, options=options), None
    readings = as_text, needles_in
    return declared("contains", readings, lambda _: measures, inputs, name, options._asdict(), keywords)


def levenshtein(
    *,
    inputs: Iterable[str] = PAIR,
    name: str = "levenshtein",
    case_insensitive: bool = False,
    **keywords: object,
) -> Scorer:
    """1 minus the edit distance of two columns as a share of the longer one. Metadata: `distance`, in characters."""
    from rulebook.measures.levenshtein import distance_score, distance_scores  # RapidFuzz is for who asks for it

    folded = flag("case_insensitive", case_insensitive)
    reading = text_reading(MatchOptions(case_insensitive=folded))
    measures = distance_score, distance_scores
    given = {"case_insensitive": folded}
    return declared("levenshtein", (reading, reading), lambda _: measures, inputs, name, given, keywords)


def string_similarity(
    method: str,
    *,
    inputs: Iterable[str] = PAIR,
    name: str | None = None,
    case_insensitive: bool = False,
    **keywords: object,
) -> Scorer:
    """How alike two columns are by one of the named measures. Metadata: `method`, `ratio`.

    `method`: jaro_winkler, jaccard (of characters), token_set, token_sort, partial or sequence; without a `name` the
    scorer bears the method's.
    """
    from rulebook.measures.string_similarity import METHODS, SimilarityOptions, similarity_score  # as above

    options = SimilarityOptions(choice("method", method, METHODS), flag("case_insensitive", case_insensitive))
    reading = text_reading(MatchOptions(case_insensitive=options.case_insensitive))
    measures = partial(similarity_score, method=options.method), None
    named = options.method.replace("_", "-") if name in (None, "") else name
    given = options._asdict()
    return declared("string_similarity", (reading, reading), lambda _: measures, inputs, named, given, keywords)

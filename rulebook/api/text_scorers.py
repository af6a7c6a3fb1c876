"""The built-in scorers that compare texts. Source: scorers, "Built-in scorers"."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from rulebook.api.scorer_handle import Scorer, declared
from rulebook.api.scorer_options import choice, flag
from rulebook.measures.contains import MODES, ContainsOptions, contains_score
from rulebook.measures.exact_match import exact_match_score
from rulebook.measures.table import Scored
from rulebook.measures.texts import MatchOptions, as_text

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
    return _pair("exact_match", partial(exact_match_score, options=options), inputs, name, given, keywords)


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
    return _pair(
        "contains", partial(contains_score, options=options), inputs, name, options._asdict(), keywords
    )  # fmt: skip


def levenshtein(
    *,
    inputs: Iterable[str] = PAIR,
    name: str = "levenshtein",
    case_insensitive: bool = False,
    **keywords: object,
) -> Scorer:
    """1 minus the edit distance of two columns as a share of the longer one. Metadata: `distance`, in characters."""
    from rulebook.measures.levenshtein import DistanceOptions, levenshtein_score  # RapidFuzz is for who asks for it

    options = DistanceOptions(flag("case_insensitive", case_insensitive))
    measure = partial(levenshtein_score, options=options)
    return _pair("levenshtein", measure, inputs, name, options._asdict(), keywords)


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
    from rulebook.measures.string_similarity import METHODS, SimilarityOptions, string_similarity_score  # as above

    options = SimilarityOptions(choice("method", method, METHODS), flag("case_insensitive", case_insensitive))
    measure = partial(string_similarity_score, options=options)
    named = options.method.replace("_", "-") if name in (None, "") else name
    return _pair("string_similarity", measure, inputs, named, options._asdict(), keywords)


def _pair(
    kind: str,
    measure: Callable[..., Scored],
    inputs: object,
    name: object,
    options: Mapping[str, object],
    keywords: Mapping[str, object],
) -> Scorer:
    return declared(kind, as_text, lambda _: measure, 2, inputs, name, options, keywords)

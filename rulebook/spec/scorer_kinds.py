"""Every kind of scorer that an evaluation may name, with what it takes."""

from rulebook.spec.judged_scorers import EmbeddingScorer, JevScorer, LlmJudgeScorer
from rulebook.spec.scorer_options import (
    ContainsScorer,
    ExactMatchScorer,
    JsonMatchScorer,
    JsonValidScorer,
    LevenshteinScorer,
    NumericCloseScorer,
    PythonScorer,
    RegexMatchScorer,
    ScorerKeys,
    SqlScorerKeys,
    StringSimilarityScorer,
)

SCORERS: dict[str, type[ScorerKeys]] = {
    "exact_match": ExactMatchScorer,
    "contains": ContainsScorer,
    "regex_match": RegexMatchScorer,
    "levenshtein": LevenshteinScorer,
    "string_similarity": StringSimilarityScorer,
    "json_valid": JsonValidScorer,
    "json_match": JsonMatchScorer,
    "numeric_close": NumericCloseScorer,
    "embedding_similarity": EmbeddingScorer,
    "llm_judge": LlmJudgeScorer,
    "jev": JevScorer,
    "sql": SqlScorerKeys,
    "python": PythonScorer,
}
"""Every kind of scorer that a rule file may name."""

GRADED = ("levenshtein", "string_similarity", "embedding_similarity", "llm_judge", "jev")
"""Kinds without a pass mark of their own: what is between 0 and 1 is neither a pass nor a failure."""

UNBOUNDED = ("sql", "python")
"""Kinds whose scores may be any number; all others lie in 0..1."""

SHORT = {"regex_match": "pattern", "string_similarity": "method", "python": "function"}
"""The option that stands alone after the kind: `regex_match: 'a+'`."""

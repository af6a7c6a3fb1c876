"""The scorers that Rulebook ships: a call declares one, for an evaluation to take or to be called in place."""

from rulebook.api.column_scores import score_columns
from rulebook.api.data_scorers import json_match, json_valid, numeric_close, regex_match
from rulebook.api.embedding_scorer import embedding_similarity
from rulebook.api.judge_scorer import llm_judge
from rulebook.api.label_scorer import jev
from rulebook.api.model_scorer import ModelScorer
from rulebook.api.scorer_handle import Scorer
from rulebook.api.sql_scorer import SqlScorer, sql
from rulebook.api.text_scorers import contains, exact_match, levenshtein, string_similarity
from rulebook.measures.row_scores import RowFailure

__all__ = [
    "ModelScorer",
    "RowFailure",
    "Scorer",
    "SqlScorer",
    "contains",
    "embedding_similarity",
    "exact_match",
    "jev",
    "json_match",
    "json_valid",
    "levenshtein",
    "llm_judge",
    "numeric_close",
    "regex_match",
    "score_columns",
    "sql",
    "string_similarity",
]

"""The scorers that Rulebook ships: a call declares one, for an evaluation to take or to be called in place."""

from importlib import import_module
from typing import Any

from rulebook.api.column_scores import score_columns
from rulebook.api.data_scorers import json_match, json_valid, numeric_close, regex_match
from rulebook.api.scorer_handle import Scorer
from rulebook.api.sql_scorer import SqlScorer, sql
from rulebook.api.text_scorers import contains, exact_match, levenshtein, string_similarity
from rulebook.measures.row_scores import RowFailure

_ASKING = {
    "ModelScorer": "rulebook.api.model_scorer",
    "embedding_similarity": "rulebook.api.embedding_scorer",
    "jev": "rulebook.api.label_scorer",
    "llm_judge": "rulebook.api.judge_scorer",
}
"""What asks models, and the module that has it: loading all of these takes longer than scoring ten thousand rows."""

__all__ = [
    "RowFailure",
    "Scorer",
    "SqlScorer",
    "contains",
    "exact_match",
    "json_match",
    "json_valid",
    "levenshtein",
    "numeric_close",
    "regex_match",
    "score_columns",
    "sql",
    "string_similarity",
    *_ASKING,
]


def __getattr__(name: str) -> Any:
    if name in _ASKING:
        return getattr(import_module(_ASKING[name]), name)
    raise AttributeError(f"module `rulebook.scorers` has no `{name}`")


def __dir__() -> list[str]:
    return sorted(__all__)

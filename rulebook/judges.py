"""Judges: what Rulebook ships, and what to subclass for one of your own."""

from rulebook.api.executable_judge import ExecutableJudge
from rulebook.api.judge_text import judge_text
from rulebook.api.judges import AlwaysPassJudge, AndJudge, Judge, OrJudge
from rulebook.api.regex_judge import RegexJudge
from rulebook.api.rubric_context import AnswersContext, FileContext, RubricContext, TranscriptContext
from rulebook.api.rubric_judge import RubricCriterion, RubricJudge

__all__ = [
    "AlwaysPassJudge",
    "AndJudge",
    "AnswersContext",
    "ExecutableJudge",
    "FileContext",
    "Judge",
    "OrJudge",
    "RegexJudge",
    "RubricContext",
    "RubricCriterion",
    "RubricJudge",
    "TranscriptContext",
    "judge_text",
]

"""What an author says of an answer in declared fields and of the score that it comes to."""

import re
from collections.abc import Mapping
from typing import Annotated, Self

from msgspec import Struct
from pydantic import AfterValidator, Field, model_validator

from rulebook.evidence.answer_fields import AnswerField
from rulebook.evidence.panel_options import PanelOptions
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.formula import Formula, NumberFormula
from rulebook.languages.types import Scope


def _fields(fields: Mapping[str, AnswerField]) -> Mapping[str, AnswerField]:
    if not fields:
        raise refused(LanguageError(Fault("RB207", {"key": "answer"})))
    for name in fields:
        if not re.fullmatch("[a-z][a-z0-9_]*", name):
            raise refused(LanguageError(Fault("RB213", {"value": name}, path=(name,))))
    return fields


class ScoreOfAnswer(Struct, frozen=True):
    """The expression of a score over the fields of an answer: a number, or yes for 1 and no for 0."""

    formula: Formula

    def faults(self, scope: Scope) -> tuple[Fault, ...]:
        """What is wrong with it; nothing where it gives yes or no."""
        found = self.formula.faults(scope)
        return found if found and Formula(self.formula.text, "yes or no").faults(scope) else ()


class FieldOptions(PanelOptions):
    """Models that grade by filling in fields. Source: scorers, "LLM judges"."""

    answer: Annotated[dict[str, AnswerField], AfterValidator(_fields)] = Field(
        description="The fields that the model fills in: each has a `type`, and may have bounds and a `description`."
    )
    score: NumberFormula | None = Field(
        None, description="A field, or an expression over the fields, in 0..1; the field `score` by default."
    )

    @model_validator(mode="after")
    def _has_a_score(self) -> Self:
        if self.score is None and "score" not in self.answer:
            words = {"thing": "`llm_judge`", "key": "score", "purpose": "which field, or what of the fields, is it?"}
            raise refused(LanguageError(Fault("RB202", words)))
        return self

    def names_of_answer(self) -> Scope:
        """The names that the expression of the score may use."""
        return Scope("the answer", {name: each.kind() for name, each in self.answer.items()})

    def score_formula(self) -> Formula:
        """What makes the score of the fields, whatever kind of value it gives."""
        return Formula("score" if self.score is None else self.score.text, "anything")

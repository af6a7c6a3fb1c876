"""What the scorers of an evaluation that ask a model take in a rule file: what the checks of their names take."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from rulebook.evidence.embedding_options import EmbeddingOptions
from rulebook.evidence.field_options import FieldOptions, ScoreOfAnswer
from rulebook.evidence.label_options import LabelOptions, LabelsNamed, refuse_blank
from rulebook.languages.faults import Fault
from rulebook.languages.template import looks_like_template
from rulebook.languages.types import Scope
from rulebook.place import Path
from rulebook.spec.head import Text
from rulebook.spec.scorer_options import AnyColumns, MarkedKeys, ScorerKeys, TwoColumns

_NO_SCOPE = Scope("a scorer", {})


def _says(rubric: str) -> str:
    refuse_blank(rubric)
    return rubric


class LlmJudgeScorer(FieldOptions, AnyColumns, MarkedKeys):
    """A model answers in declared fields, and the score is one of them or what an expression makes of them."""

    instructions: Text | None = Field(None, description="What the model is told; the same for every row.")


class JevScorer(LabelOptions, AnyColumns):
    """A model picks a label and says how sure it is; where it is unsure, a second model grades again."""

    rubric: Annotated[str, AfterValidator(_says)] = Field(description="What the labels mean.")
    instructions: Text | None = Field(None, description="What both models are told first; the same for every row.")


class EmbeddingScorer(EmbeddingOptions, TwoColumns):
    """Two columns mean the same, by the vectors of an embedding model."""


def faults_in(keys: ScorerKeys) -> Iterator[tuple[Path, Fault]]:
    """What is wrong with the texts of such a scorer, each with its path from the scorer's options."""
    for key in ("instructions", "rubric"):
        text = getattr(keys, key, None)
        found = looks_like_template(text) if isinstance(text, str) else None
        if isinstance(text, str) and found is not None:
            where = "the rules of tasks and evals. What the model is shown of a row stands in `inputs`"
            yield (key,), Fault("RB425", {"key": key, "part": text[slice(*found)], "where": where}, *found)
    if isinstance(keys, LlmJudgeScorer) and keys.score is not None:
        for fault in ScoreOfAnswer(keys.score).faults(keys.names_of_answer()):
            yield ("score",), fault
    if isinstance(keys, JevScorer):
        for fault in LabelsNamed(keys.rubric, keys.labels).faults(_NO_SCOPE):
            yield ("rubric",), fault

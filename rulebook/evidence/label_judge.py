"""A judge model that grades with one of a fixed set of labels, and a second one for what the first is unsure of.

Source: scorers, "Escalating judges".
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from rulebook.errors import Missing
from rulebook.evidence.ballots import Ask
from rulebook.evidence.fencing import fence_for
from rulebook.evidence.judge_answers import (
    REQUEST_LIMIT_S,
    Answered,
    JudgeModel,
    NoAnswer,
    Question,
    Unreadable,
    answers_to,
    object_in,
    shortened,
)
from rulebook.evidence.judge_question import Pieces, answer_in_json, fenced
from rulebook.evidence.label_texts import normal_label
from rulebook.model_port import ModelReply, Models
from rulebook.outcome import Spent, spent_in_all

INSTRUCTIONS = "You grade work with exactly one label out of a fixed set, and say how sure you are of every label."


class LabelJudge(Struct, frozen=True):
    """The labels with their scores, what each means, and who is asked.

    One of `models` grades first. `escalate_below` is the confidence, 0..1, below which `fallback` grades again; its
    grade stands.
    """

    labels: Mapping[str, float]
    rubric: str
    models: tuple[JudgeModel, ...]
    fallback: JudgeModel
    escalate_below: float = 0.9
    instructions: str = INSTRUCTIONS


class LabelGrade(Struct, frozen=True):
    """One model's grade. `choice` is as the model wrote it; `score` is None for a choice that is no label.

    `probabilities` are by the normal form of the labels and add up to 1, or are none at all; `confidence` is that of
    the choice.
    """

    choice: str
    rationale: str
    probabilities: Mapping[str, float]
    confidence: float
    score: float | None
    model: str


class Escalated(Struct, frozen=True):
    """The grade that stands, and the first model's, which is the same one where it was sure. `spent`: both calls."""

    stands: LabelGrade
    first: LabelGrade
    escalated: bool
    spent: Spent

    def metadata(self) -> dict[str, object]:
        """What the reference's metadata holds."""
        grade = self.stands
        return {
            "choice": grade.choice,
            "rationale": grade.rationale,
            "confidence": grade.confidence,
            "probabilities": dict(grade.probabilities),
            "escalated": self.escalated,
            "judge_model": grade.model,
            "primary_confidence": self.first.confidence,
        }

    def first_told(self) -> dict[str, object]:
        """The first model's grade, which the reference drops; nothing where it stands."""
        return first_told(self.first) if self.escalated else {}


class Undecided(Struct, frozen=True):
    """Why there is no grade, what the first model said where it said something, and what that cost."""

    error: Exception
    first: LabelGrade | None
    spent: Spent
    too_long: bool = False


def graded_by_labels(
    rows: Sequence[tuple[Pieces, Ask]],
    judge: LabelJudge,
    models: Models,
    draw: Callable[[], str],
    *,
    limit_s: Callable[[], float] = lambda: REQUEST_LIMIT_S,
    again: bool = False,
    queued: bool = False,
) -> list[Escalated | Undecided]:
    """A grade for each row and asking, in their order: all together, then all that go on to the second model.

    `limit_s` says how long the questions that come next may take, `again` and `queued` are as in `answers_to`. A choice
    of the first model's that is no label goes on to the second; one of the second's is no grade.
    """
    questions = [_question(pieces, ask, judge, draw) for pieces, ask in rows]
    firsts = answers_to(
        questions, models, lambda reply: _grade(reply, judge), limit_s=limit_s(), again=again, queued=queued
    )
    unsure = [index for index, first in enumerate(firsts) if _is_unsure(first, judge.escalate_below)]
    further = [replace(questions[index], judge=judge.fallback) for index in unsure]
    answers = answers_to(
        further, models, lambda reply: _grade(reply, judge), limit_s=limit_s(), again=again, queued=queued
    )
    seconds = dict(zip(unsure, answers, strict=True))
    return [
        _settled(_named(first, questions[index].judge), _named(seconds.get(index), judge.fallback), judge)
        for index, first in enumerate(firsts)
    ]


def first_told(grade: LabelGrade) -> dict[str, object]:
    """A first model's grade, as metadata beside that which stands."""
    return {
        "primary_choice": grade.choice,
        "primary_rationale": grade.rationale,
        "primary_probabilities": dict(grade.probabilities),
        "primary_score": grade.score,
        "primary_model": grade.model,
    }


class _Weight(BaseModel):
    label: str
    probability: float


class _Reply(BaseModel):
    choice: str
    rationale: str
    probabilities: list[_Weight]


def question_of_labels(rubric: str, labels: Sequence[str]) -> str:
    """What is asked below the fenced work."""
    listed = "\n".join(f"- {label}" for label in labels)
    return (
        f"What the labels mean, from the one who asks you:\n\n{rubric}\n\n"
        f"Choose exactly one of these labels:\n\n{listed}\n\n"
        "Give a rationale of one sentence, and for every label the probability that it is the right one.\n\n"
        f"{answer_in_json(_schema(list(labels)))}"
    )


def _question(pieces: Pieces, ask: Ask, judge: LabelJudge, draw: Callable[[], str]) -> Question:
    schema = _schema(list(judge.labels))
    asked = question_of_labels(judge.rubric, list(judge.labels))
    fence = fence_for(draw, asked + judge.instructions + "".join(text or "" for _, text in pieces))
    user = f"{fenced(pieces, fence)}\n\n{asked}"
    return Question(judge.models[ask.judge], judge.instructions, user, fence, schema, ask.sample)


def _schema(labels: list[str]) -> dict[str, object]:
    label: dict[str, object] = {"type": "string", "enum": labels}
    return {
        "type": "object",
        "properties": {
            "choice": label,
            "rationale": {"type": "string"},
            "probabilities": {"type": "array", "items": _closed({"label": label, "probability": {"type": "number"}})},
        },
        "required": ["choice", "rationale", "probabilities"],
        "additionalProperties": False,
    }


def _closed(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _grade(reply: ModelReply, judge: LabelJudge) -> LabelGrade:
    try:
        said = _Reply.model_validate(object_in(reply))
    except ValidationError as error:
        places = ", ".join(f"`{'.'.join(map(str, fault['loc']))}`" for fault in error.errors()[:3])
        raise Unreadable(f"does not fit: {places} is not what was asked for") from error
    scores = {normal_label(label): score for label, score in judge.labels.items()}
    chosen = normal_label(said.choice)
    shares = _shares([(normal_label(each.label), each.probability) for each in said.probabilities], scores)
    return LabelGrade(said.choice, said.rationale, shares, shares.get(chosen, 0.0), scores.get(chosen), reply.model)


_Answer = TypeVar("_Answer", Answered[LabelGrade] | NoAnswer, Answered[LabelGrade] | NoAnswer | None)


def _named(answer: _Answer, judge: JudgeModel) -> _Answer:
    """The answer with the model as the author named it."""
    if not isinstance(answer, Answered) or not judge.model:
        return answer
    return replace(answer, value=replace(answer.value, model=judge.model))


def _shares(weights: Sequence[tuple[str, float]], labels: Mapping[str, float]) -> dict[str, float]:
    """The probabilities as shares of their sum; none where a label lacks one, has two, or one is no probability."""
    found = dict(weights)
    if len(found) < len(weights) or found.keys() != labels.keys():
        return {}
    if not all(math.isfinite(weight) and weight >= 0 for weight in found.values()):
        return {}
    largest = max(found.values())
    if largest == 0:
        return {}
    if largest > 1e300:  # a sum of such numbers would be infinite
        found = {label: weight / largest for label, weight in found.items()}
    whole = math.fsum(found.values())
    return {label: found[label] / whole for label in labels}


def _is_unsure(first: Answered[LabelGrade] | NoAnswer, escalate_below: float) -> bool:
    return isinstance(first, Answered) and (first.value.score is None or first.value.confidence < escalate_below)


def _settled(
    first: Answered[LabelGrade] | NoAnswer, second: Answered[LabelGrade] | NoAnswer | None, judge: LabelJudge
) -> Escalated | Undecided:
    if isinstance(first, NoAnswer):
        return Undecided(first.error, None, first.spent, first.too_long)
    if second is None:
        return Escalated(first.value, first.value, False, first.spent)
    spent = spent_in_all([first.spent, second.spent])
    if isinstance(second, NoAnswer):
        return Undecided(second.error, first.value, spent, second.too_long)
    if second.value.score is None:
        labels = ", ".join(f"`{label}`" for label in judge.labels)
        why = f"the second model chose {shortened(second.value.choice)}, which is none of the labels {labels}"
        return Undecided(Missing("harness", why), first.value, spent)
    return Escalated(second.value, first.value, True, spent)

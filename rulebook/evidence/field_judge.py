"""A judge model that grades by filling in declared fields, and the score that an expression makes of them."""

from collections.abc import Collection, Mapping
from typing import Literal

from msgspec import Struct

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.answer_fields import AnswerField, Value, answer_schema, read_answer
from rulebook.evidence.fencing import SMALLEST_WINDOW, WINDOW_CHARACTERS, about_material, fence_for, window_of
from rulebook.evidence.judge_answers import (
    REQUEST_LIMIT_S,
    Answered,
    JudgeModel,
    NoAnswer,
    Question,
    answers_to,
    object_in,
)
from rulebook.evidence.judge_question import answer_in_json, fenced
from rulebook.evidence.model_names import same_model
from rulebook.languages.formula import Formula, search_with
from rulebook.languages.types import MissingValue
from rulebook.outcome import Measurement, Outcome, Spent, Unmeasured, reaches, spent_in_all
from rulebook.ports import Ports

MODEL, OWN_MODEL, CONTEXT = "judge-model", "judge-own-model", "judge-context"
"""Keys of the metadata that no field can be: a name has no hyphen."""

_Answer = Answered[dict[str, Value]] | NoAnswer


class FieldJudge(Struct, frozen=True):
    """What the model is told, which fields it fills in, and what they come to.

    `score` is an expression over the fields that gives a number or yes and no. Of more than `window` characters of
    material, or more than the model takes, the beginning and the end are shown; `overflow` `unmeasured`: it is not
    judged at all.
    """

    instructions: str
    fields: Mapping[str, AnswerField]
    score: Formula
    judge: JudgeModel
    window: int = WINDOW_CHARACTERS
    overflow: Literal["cut", "unmeasured"] = "cut"


def graded_by_fields(material: str, asked: FieldJudge, ports: Ports, students: Collection[str] = ()) -> Outcome:
    """The score of the model's answer: one call, and one more for a reply that cannot be read.

    The metadata holds the answer. A reply that does not fit twice, and a score outside 0..1, are unmeasured. `students`
    are the models whose work it is. Raises NotHandedIn when there is nothing to judge.
    """
    if not material.strip():
        raise NotHandedIn("there is nothing to judge", cause="absent")
    if asked.overflow == "unmeasured" and len(material) > asked.window:
        reason = f"the material has {len(material)} characters; at most {asked.window} are shown to the model"
        return Unmeasured("harness", reason, metadata={CONTEXT: about_material(material, len(material))})
    window = min(asked.window, len(material))
    spent: list[Spent] = []
    while True:
        answer = _answer(window_of(material, window), asked, ports)
        spent.append(answer.spent)
        narrower = isinstance(answer, NoAnswer) and answer.too_long and asked.overflow == "cut"
        if not narrower or window // 2 < SMALLEST_WINDOW:
            break
        window //= 2
    about = {CONTEXT: about_material(material, window)}
    if isinstance(answer, NoAnswer):
        return unanswered(answer, about, spent_in_all(spent))
    own = {OWN_MODEL: answer.model} if any(same_model(answer.model, student) for student in students) else {}
    metadata = {**answer.value, MODEL: answer.model, **own, **about}
    return _outcome(answer.value, metadata, asked, ports, spent_in_all(spent))


def unanswered(answer: NoAnswer, metadata: Mapping[str, object], spent: Spent) -> Unmeasured:
    """What a question without an answer comes to."""
    category = answer.error.category if isinstance(answer.error, Missing) else "harness"
    return Unmeasured(category, str(answer.error), metadata=metadata, spent=spent)


def _answer(shown: str, asked: FieldJudge, ports: Ports) -> _Answer:
    schema = answer_schema(asked.fields)
    shape = answer_in_json(schema)
    fence = fence_for(ports.chance.token, shown + shape + asked.instructions)
    question = Question(asked.instructions, f"{fenced([('', shown)], fence)}\n\n{shape}", fence, schema)
    limit_s = ports.time_left(REQUEST_LIMIT_S)
    (answer,) = answers_to(
        [question],
        asked.judge,
        ports.models,
        lambda reply: read_answer(asked.fields, object_in(reply)),
        limit_s=limit_s,
        again=True,
    )
    return answer


def _outcome(
    answer: Mapping[str, Value], metadata: Mapping[str, object], asked: FieldJudge, ports: Ports, spent: Spent
) -> Outcome:
    value = asked.score.value(lambda name: answer.get(name, MissingValue(name)), search_with(ports))
    if isinstance(value, MissingValue) or not isinstance(value, bool | int | float):
        return Unmeasured(
            "harness", f"`{asked.score.text}` has no value for this answer", metadata=metadata, spent=spent
        )
    score = float(value)
    if not 0 <= score <= 1:
        reason = f"the answer comes to the score {score:g}, which does not lie between 0 and 1"
        return Unmeasured("harness", reason, metadata=metadata, spent=spent)
    why = answer.get("reason", "")
    told = ", ".join(f"{name} {_shown(each)}" for name, each in answer.items() if not isinstance(each, str))
    own = f", judged by the student's own model `{metadata[OWN_MODEL]}`" if OWN_MODEL in metadata else ""
    return Measurement(
        score,
        reaches(score, 1.0),
        why if isinstance(why, str) else "",
        asked.score.text,
        (told or f"score {score:g}") + own,
        metadata,
        spent=spent,
    )


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)

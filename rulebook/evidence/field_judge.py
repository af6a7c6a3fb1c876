"""A judge model that grades by filling in declared fields, and the score that an expression makes of them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from rulebook.errors import Missing
from rulebook.evidence.answer_fields import AnswerField, Value, answer_schema, read_answer
from rulebook.evidence.ballots import Ask, Ballot, Voting
from rulebook.evidence.fencing import WINDOW_CHARACTERS, fence_for
from rulebook.evidence.judge_answers import (
    REQUEST_LIMIT_S,
    Answered,
    JudgeModel,
    NoAnswer,
    Question,
    answers_to,
    object_in,
)
from rulebook.evidence.judge_question import Pieces, answer_in_json, fenced
from rulebook.evidence.judged_work import OWN_MODEL, Cast, judged_work, voted_in_words
from rulebook.evidence.model_names import same_model
from rulebook.languages.formula import Formula, search_with
from rulebook.languages.types import MissingValue
from rulebook.outcome import Measurement, Outcome, Unmeasured, reaches
from rulebook.ports import Ports

MODEL = "judge-model"


class FieldJudge(Struct, frozen=True):
    """What the models are told, which fields they fill in, and what those come to.

    `score` is an expression over the fields that gives a number or yes and no. `judges` are the models, `voting` how
    often each is asked. Of more than `window` characters of material the beginning and the end are shown; `overflow`
    `unmeasured`: it is not judged at all.
    """

    instructions: str
    fields: Mapping[str, AnswerField]
    score: Formula
    judges: tuple[JudgeModel, ...]
    voting: Voting = Voting()
    window: int = WINDOW_CHARACTERS
    overflow: Literal["cut", "unmeasured"] = "cut"


def graded_by_fields(material: str, asked: FieldJudge, ports: Ports, students: Collection[str] = ()) -> Outcome:
    """The score of the answer: one call a vote, and one more for a reply that cannot be read.

    The metadata holds the answer. A reply that does not fit twice, and a score outside 0..1, are unmeasured. `students`
    are the models whose work it is. Raises NotHandedIn when there is nothing to judge.
    """

    def cast(shown: str, asks: Sequence[Ask]) -> list[Cast]:
        return casts_by_fields([([("", shown)], ask) for ask in asks], asked, ports, students)

    found = judged_work(material, asked.voting, cast, asked.window, asked.overflow)
    if isinstance(found, Unmeasured):
        return found
    score, metadata = found.ballot.score, found.ballot.metadata or {}
    why = metadata.get("reason")
    own = f", judged by the student's own model `{metadata[OWN_MODEL]}`" if OWN_MODEL in metadata else ""
    return Measurement(
        score,
        reaches(score, 1.0),
        why if isinstance(why, str) else "",
        asked.score.text,
        (voted_in_words(metadata) or _told(metadata, asked.fields) or f"score {score:g}") + own,
        metadata,
        spent=found.spent,
    )


def casts_by_fields(
    rows: Sequence[tuple[Pieces, Ask]],
    asked: FieldJudge,
    ports: Ports,
    students: Collection[str] = (),
    *,
    queued: bool = False,
) -> list[Cast]:
    """A grade for each row and asking, in their order: all are under way together.

    A reply that cannot be read is asked for once more. `asked.window` is not looked at; `queued` is as in `answers_to`.
    """
    answers = answers_to(
        [_question(pieces, ask, asked, ports) for pieces, ask in rows],
        ports.models,
        lambda reply: read_answer(asked.fields, object_in(reply)),
        limit_s=ports.time_left(REQUEST_LIMIT_S),
        again=True,
        queued=queued,
    )
    return [_cast(answer, asked, ports, students) for answer in answers]


def _question(pieces: Pieces, ask: Ask, asked: FieldJudge, ports: Ports) -> Question:
    schema = answer_schema(asked.fields)
    shape = answer_in_json(schema)
    fence = fence_for(ports.chance.token, "".join(text or "" for _, text in pieces) + shape + asked.instructions)
    user = f"{fenced(pieces, fence)}\n\n{shape}"
    return Question(asked.judges[ask.judge], asked.instructions, user, fence, schema, ask.sample)


def _cast(
    answer: Answered[dict[str, Value]] | NoAnswer, asked: FieldJudge, ports: Ports, students: Collection[str]
) -> Cast:
    if isinstance(answer, NoAnswer):
        return Cast(answer.error, answer.spent, answer.too_long)
    fields = answer.value
    own = {OWN_MODEL: answer.model} if any(same_model(answer.model, student) for student in students) else {}
    metadata = {**fields, MODEL: answer.model, **own}
    value = asked.score.value(lambda name: fields.get(name, MissingValue(name)), search_with(ports))
    if not isinstance(value, bool | int | float):
        return Cast(
            Missing("harness", f"`{asked.score.text}` has no value for this answer", metadata=metadata), answer.spent
        )
    if not 0 <= value <= 1:
        reason = f"the answer comes to the score {value!r:.40}, which does not lie between 0 and 1"
        return Cast(Missing("harness", reason, metadata=metadata), answer.spent)
    return Cast(Ballot(float(value), metadata), answer.spent)


def _told(metadata: Mapping[str, object], fields: Mapping[str, AnswerField]) -> str:
    return ", ".join(f"{name} {_shown(metadata[name])}" for name in fields if not isinstance(metadata[name], str))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)

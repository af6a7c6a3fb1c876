"""What a judge that grades with labels finds of one piece of work."""

from collections.abc import Collection

from rulebook.errors import Missing, NotHandedIn
from rulebook.evidence.fencing import SMALLEST_WINDOW, about_material, window_of
from rulebook.evidence.field_judge import CONTEXT, OWN_MODEL
from rulebook.evidence.judge_answers import REQUEST_LIMIT_S
from rulebook.evidence.label_judge import Escalated, LabelJudge, Undecided, first_told, graded_by_labels
from rulebook.evidence.model_names import same_model
from rulebook.outcome import Measurement, Outcome, Spent, Unmeasured, reaches, spent_in_all
from rulebook.ports import Ports


def labelled(
    material: str, judge: LabelJudge, ports: Ports, most_characters: int, students: Collection[str] = ()
) -> Outcome:
    """The score of the label that stands; the metadata holds both grades where there are two.

    Of more than `most_characters` of material, or more than a model takes, the beginning and the end are shown.
    `students` are the models whose work it is. Raises NotHandedIn when there is nothing to judge.
    """
    if not material.strip():
        raise NotHandedIn("there is nothing to judge", cause="absent")
    window = min(most_characters, len(material))
    spent: list[Spent] = []
    while True:
        (found,) = graded_by_labels(
            [[("", window_of(material, window))]],
            judge,
            ports.models,
            ports.chance.token,
            limit_s=lambda: ports.time_left(REQUEST_LIMIT_S),
            again=True,
        )
        spent.append(found.spent)
        if not (isinstance(found, Undecided) and found.too_long) or window // 2 < SMALLEST_WINDOW:
            break
        window //= 2
    about = {CONTEXT: about_material(material, window)}
    if isinstance(found, Undecided):
        category = found.error.category if isinstance(found.error, Missing) else "harness"
        first = {} if found.first is None else first_told(found.first)
        return Unmeasured(category, str(found.error), metadata={**first, **about}, spent=spent_in_all(spent))
    return _measured(found, {**found.metadata(), **found.first_told(), **about}, students, spent_in_all(spent))


def _measured(found: Escalated, metadata: dict[str, object], students: Collection[str], spent: Spent) -> Measurement:
    grade = found.stands
    score = grade.score or 0.0
    own = any(same_model(grade.model, student) for student in students)
    judged = f", judged by the student's own model `{grade.model}`" if own else ""
    sure = f"`{grade.choice}`, {grade.confidence:.0%} sure" + (", by the second model" if found.escalated else "")
    more = {OWN_MODEL: grade.model} if own else {}
    return Measurement(
        score,
        reaches(score, 1.0),
        grade.rationale,
        None,
        sure + judged,
        {**metadata, **more},
        spent=spent,
    )

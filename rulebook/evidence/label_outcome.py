"""What judges that grade with labels find of one piece of work."""

from collections.abc import Collection, Sequence

from rulebook.errors import Missing
from rulebook.evidence.ballots import Ask, Ballot, Voting
from rulebook.evidence.judge_answers import REQUEST_LIMIT_S
from rulebook.evidence.judged_work import OWN_MODEL, Cast, judged_work, voted_in_words
from rulebook.evidence.label_judge import Escalated, LabelJudge, Undecided, first_told, graded_by_labels
from rulebook.evidence.model_names import same_model
from rulebook.outcome import Measurement, Outcome, Unmeasured, reaches
from rulebook.ports import Ports


def labelled(
    material: str,
    judge: LabelJudge,
    ports: Ports,
    most_characters: int,
    voting: Voting,
    students: Collection[str] = (),
) -> Outcome:
    """The score of the label that stands; the metadata holds both grades where there are two.

    Of more than `most_characters` of material, or more than a model takes, the beginning and the end are shown.
    `students` are the models whose work it is. Raises NotHandedIn when there is nothing to judge.
    """

    def cast(shown: str, asks: Sequence[Ask]) -> list[Cast]:
        found = graded_by_labels(
            [([("", shown)], ask) for ask in asks],
            judge,
            ports.models,
            ports.chance.token,
            limit_s=lambda: ports.time_left(REQUEST_LIMIT_S),
            again=True,
        )
        return [_cast(each, students) for each in found]

    found = judged_work(material, voting, cast, most_characters)
    if isinstance(found, Unmeasured):
        return found
    score, metadata = found.ballot.score, found.ballot.metadata or {}
    sure = f"`{metadata['choice']}`, {metadata['confidence']:.0%} sure"
    sure += ", by the second model" if metadata["escalated"] else ""
    own = f", judged by the student's own model `{metadata[OWN_MODEL]}`" if OWN_MODEL in metadata else ""
    told = (voted_in_words(metadata) or sure) + own
    return Measurement(
        score, reaches(score, 1.0), str(metadata["rationale"]), None, told, metadata, spent=found.spent
    )  # fmt: skip


def _cast(found: Escalated | Undecided, students: Collection[str]) -> Cast:
    if isinstance(found, Undecided):
        error = found.error
        if isinstance(error, Missing) and found.first is not None:
            error = Missing(error.category, error.reason, metadata=first_told(found.first))
        return Cast(error, found.spent, found.too_long)
    grade = found.stands
    own = {OWN_MODEL: grade.model} if any(same_model(grade.model, student) for student in students) else {}
    return Cast(Ballot(grade.score or 0.0, {**found.metadata(), **found.first_told(), **own}), found.spent)

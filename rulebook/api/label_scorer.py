"""The built-in scorer that grades with labels, and asks a second model where the first is unsure.

Source: scorers, "Escalating judges".
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from rulebook.api.column_pieces import pieces_of
from rulebook.api.model_options import judge_model, text_given
from rulebook.api.model_panel import panel_given
from rulebook.api.model_scorer import Grade, Graded, ModelScorer, Values, model_scorer
from rulebook.api.own_machine import own_ports
from rulebook.api.scorer_options import flag
from rulebook.api.secrets import Secret, endpoint_given, model_given
from rulebook.errors import Missing, UnfitKind, UnfitOption
from rulebook.evidence.ballots import Ask
from rulebook.evidence.label_judge import (
    INSTRUCTIONS,
    Escalated,
    LabelJudge,
    Undecided,
    first_told,
    graded_by_labels,
)
from rulebook.evidence.label_texts import normal_label
from rulebook.ports import Ports


def jev(
    *,
    labels: Mapping[str, float],
    rubric: str,
    fallback_model: str,
    model: str | None = None,
    threshold: float = 0.9,
    name: str = "jev",
    instructions: str = INSTRUCTIONS,
    inputs: Iterable[str] = ("output",),
    base_url: str | None = None,
    api_key: Secret | None = None,
    completion_kwargs: Mapping[str, object] | None = None,
    both_grades: bool = False,
    judges: Sequence[str] | None = None,
    votes: int = 1,
    vote: str = "majority",
    borderline: tuple[float, float] | None = None,
    max_votes: int | None = None,
    **keywords: object,
) -> ModelScorer:
    """`model` grades each row with one of `labels`, whose scores are 0..1, and gives a probability for each of them.

    Where its probability of the label that it chose is below `threshold`, or it chose none of them, `fallback_model`
    grades the row again and its grade stands; a choice of its own that is no label fails the row. `rubric` says what
    the labels mean. Metadata: `choice`, `rationale`, `confidence`, `probabilities`, `escalated`, `judge_model` and
    `primary_confidence`; with `both_grades` also what the first model said where it was not sure (`primary_choice` and
    so on). `instructions`, `base_url`, `api_key` and `completion_kwargs` are as for `llm_judge`, and so
    are `judges`, `votes`, `vote`, `borderline` and `max_votes`: each vote goes on to the second model by itself.
    """
    endpoint = endpoint_given(base_url, api_key)
    names, voting = panel_given(model, judges, votes, vote, borderline, max_votes)
    judge = LabelJudge(
        _labels(labels),
        _rubric(rubric),
        tuple(judge_model(each, endpoint, completion_kwargs) for each in names),
        judge_model(model_given("fallback_model", fallback_model), endpoint, completion_kwargs),
        _threshold(threshold),
        text_given("instructions", instructions),
    )
    keep_both = flag("both_grades", both_grades)
    given = {
        "labels": labels, "rubric": rubric, "model": model, "fallback_model": fallback_model, "threshold": threshold,
        "instructions": instructions, "base_url": base_url, "api_key": api_key, "completion_kwargs": completion_kwargs,
        "both_grades": both_grades, "judges": judges, "votes": votes, "vote": vote, "borderline": borderline,
        "max_votes": max_votes,
    }  # fmt: skip

    over = labels_over(judge, own_ports, keep_both=keep_both)
    return model_scorer("jev", over, None, inputs, name, given, keywords, voting, reads_session=True)


def labels_over(
    judge: LabelJudge, at_hand: Callable[[], Ports], *, keep_both: bool, again: bool = False
) -> Callable[[tuple[str, ...]], Grade]:
    """What gives rows of some columns their labels; `again` is as in `graded_by_labels`."""

    def over(columns: tuple[str, ...]) -> Grade:
        def graded(rows: Sequence[tuple[Values, Ask]]) -> list[Graded | Exception]:
            ports = at_hand()
            asked = [(pieces_of(columns, row), ask) for row, ask in rows]
            found = graded_by_labels(asked, judge, ports.models, ports.chance.token, again=again, queued=True)
            return [_told(each, keep_both) for each in found]

        return graded

    return over


def _told(found: Escalated | Undecided, keep_both: bool) -> Graded | Exception:
    if isinstance(found, Escalated):
        return found.stands.score or 0.0, {**found.metadata(), **(found.first_told() if keep_both else {})}
    if isinstance(found.error, Missing) and found.first is not None:
        return Missing(found.error.category, found.error.reason, metadata=first_told(found.first))
    return found.error


def _labels(labels: object) -> Mapping[str, float]:
    if not isinstance(labels, Mapping) or len(labels) < 2:
        raise UnfitOption("`labels` gives two labels or more their scores, such as {'right': 1.0, 'wrong': 0.0}.")
    seen: dict[str, str] = {}
    for label, score in labels.items():
        normal = normal_label(label) if isinstance(label, str) else ""
        if not normal:
            raise UnfitOption(f"A label is text with more than blanks and full stops; {label!r:.80} is none.")
        if normal in seen:
            raise UnfitOption(
                f"The labels `{seen[normal]}` and `{label}` are the same: case, blanks and full stops do not count."
            )
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise UnfitOption(f"The score of a label lies between 0 and 1; that of `{label}` is {score!r:.80}.")
        seen[normal] = label
    return {label: float(score) for label, score in labels.items()}


def _rubric(rubric: object) -> str:
    if not isinstance(rubric, str):
        raise UnfitKind(f"`rubric` is text that says what each label means; this is {rubric!r:.80}.")
    if not rubric.strip():
        raise UnfitOption("`rubric` is empty. Write what each label means.")
    return rubric


def _threshold(threshold: object) -> float:
    if threshold is None or isinstance(threshold, str) or not isinstance(threshold, int | float):
        raise UnfitKind(f"`threshold` must be a number; this is {threshold!r:.80}.")
    if isinstance(threshold, bool) or not math.isfinite(threshold) or not 0 < threshold <= 1:
        raise UnfitOption(f"`threshold` must be more than 0 and at most 1; this is {threshold}.")
    return float(threshold)

"""What can be told when a scorer that asks models is declared. Source: scorers, "LLM judges", "Escalating judges"."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rulebook.api.scorer_options import columns_read, label
from rulebook.errors import UnfitKind, UnfitOption

_OURS = ("model", "messages", "response_format")


class JudgeOptions(NamedTuple):
    """What a judge of any kind is declared with: its name, the columns it reads, and what goes along with a request."""

    name: str
    inputs: tuple[str, ...]
    completion_kwargs: Mapping[str, object]


class JevOptions(NamedTuple):
    """What `jev` is declared with. `scores` are the labels' scores in 0..1, by `label_key` of each label."""

    judge: JudgeOptions
    scores: Mapping[str, float]
    rubric: str
    threshold: float


def judge_options(
    response_model: object, *, inputs: object, name: object, completion_kwargs: object = None
) -> JudgeOptions:
    """The options of `llm_judge`; without a name it bears the model's class name in kebab case.

    Raises UnfitKind for what is no pydantic model, UnfitOption for one without a field `score`; both for the others.
    """
    fields = _fields(response_model)
    if "score" not in fields:
        raise UnfitOption("The model needs a field named `score`, which becomes the score.")
    own = str(getattr(response_model, "__name__", ""))
    return _asking(inputs, kebab(own) if name in (None, "") else name, completion_kwargs)


def jev_options(
    labels: object, rubric: object, *, threshold: object, inputs: object, name: object, completion_kwargs: object = None
) -> JevOptions:
    """The options of `jev`. Raises UnfitKind or UnfitOption."""
    scores = _scores(labels)
    if threshold is None or isinstance(threshold, str):
        raise UnfitKind(f"`threshold` must be a number; this is {threshold!r:.80}.")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise UnfitOption(f"`threshold` must be above 0 and at most 1; this is {threshold!r:.80}.")
    if not isinstance(rubric, str):
        raise UnfitKind(f"`rubric` must be text; this is {rubric!r:.80}.")
    if not rubric.strip():
        raise UnfitOption("`rubric` is empty. Write what each label means.")
    return JevOptions(_asking(inputs, name, completion_kwargs), scores, rubric, float(threshold))


def label_key(label: str) -> str:
    """What makes two labels the same: without blanks and full stops at the ends, and whatever the case."""
    return label.strip().strip(".").strip().upper()


def kebab(name: str) -> str:
    """A class's name in kebab case: `TraceQuality` is `trace-quality`. What is neither letter nor digit is dropped."""
    plain = re.sub(r"[^A-Za-z0-9]", "", name)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", plain).lower()


def _asking(inputs: object, name: object, completion_kwargs: object) -> JudgeOptions:
    columns = columns_read(inputs, None, "a judge")
    if completion_kwargs is not None and not isinstance(completion_kwargs, Mapping):
        raise UnfitKind(f"`completion_kwargs` must be a mapping; this is {completion_kwargs!r:.80}.")
    along = dict(completion_kwargs or {})
    for key in _OURS:
        if key in along:
            raise UnfitOption(f"`completion_kwargs` cannot set `{key}`: the judge does.")
    return JudgeOptions(label(name), columns, along)


def _fields(model: object) -> Iterable[str]:
    """The names of a model's fields, of either version of pydantic."""
    for words in ("model_fields", "__fields__"):
        fields = getattr(model, words, None) if isinstance(model, type) else None
        if isinstance(fields, Mapping):
            return tuple(fields)
    raise UnfitKind(f"What the judge answers is described by a pydantic model; this is {model!r:.80}.")


def _scores(labels: object) -> Mapping[str, float]:
    if not isinstance(labels, Mapping) or len(labels) < 2:
        raise UnfitOption(f"`labels` gives each of two or more labels its score; this is {labels!r:.80}.")
    found: dict[str, float] = {}
    for each, score in labels.items():
        key = label_key(each) if isinstance(each, str) else ""
        if not key:
            raise UnfitOption(f"A label is a text with more in it than blanks and full stops; this is {each!r:.80}.")
        if key in found:
            raise UnfitOption(f"Two labels are the same but for case, blanks and full stops at their ends: `{each}`.")
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise UnfitOption(f"The score of the label `{each}` must lie between 0 and 1; this is {score!r:.80}.")
        found[key] = float(score)
    return found

"""What a judge is: digests of its model, of its prompt, and of the answer that it gives, so that a change is seen.

They are of what the rule file says, as it says it, and of the real names of models; nothing is asked or run.
"""

import json
from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct
from pydantic import BaseModel

from rulebook.checks import MODEL_KINDS
from rulebook.errors import UsageError
from rulebook.evidence.judge_question import answer_in_json, fenced
from rulebook.evidence.label_judge import INSTRUCTIONS, question_of_labels
from rulebook.evidence.panel_options import PanelOptions
from rulebook.ports import Files
from rulebook.spec.evaluation_parts import ScorerSpec
from rulebook.spec.judged_scorers import EmbeddingScorer, JevScorer
from rulebook.spec.provider_files import config_files, read_providers
from rulebook.spec.providers import Providers

_ANSWER = ("answer", "score", "labels", "expression")


class Identity(Struct, frozen=True):
    """`models` are the real names of the models that it asks, in the order in which the file names them.

    `model` is a digest of them and of how they are asked, `prompt` of what they are told and shown, `answer` of the
    fields or labels that they answer with and how a score comes of it. `model` is empty where nobody knows the names.
    """

    models: tuple[str, ...]
    model: str
    prompt: str
    answer: str


def identity_at(scorer: ScorerSpec, folder: str, files: Files) -> Identity:
    """The identity of a scorer of a rule file in `folder`, its models named as the configuration there has them.

    Raises UsageError where that names no such model, or is not valid.
    """
    if scorer.kind not in MODEL_KINDS:
        return identity_of(scorer, None)
    return identity_of(scorer, read_providers(config_files(folder, files), files))


def identity_as_known(scorer: ScorerSpec, folder: str, files: Files) -> Identity:
    """Like `identity_at`, and without a digest of its model where nobody can tell here which it is."""
    try:
        return identity_at(scorer, folder, files)
    except UsageError:
        return identity_of(scorer, None)


def identity_of(scorer: ScorerSpec, providers: Providers | None) -> Identity:
    """The identity of a scorer, its models named as `providers` know them; None: nobody knows.

    Raises UsageError for a model that they do not know.
    """
    is_model, base_url = scorer.kind in MODEL_KINDS, getattr(scorer.keys, "base_url", None)
    models = [providers.chosen(name, base_url, None).model for name in models_named(scorer.keys)] if providers else []
    known = {*PanelOptions.model_fields, "fallback_model", "escalate_below", "api", *_ANSWER}
    told = [(key, value) for key, value in sorted(scorer.options.items()) if key not in known]
    return Identity(
        tuple(models),
        "" if is_model and providers is None else _digest([models, _asking(scorer.keys)]),
        _digest([scorer.kind, scorer.inputs, told, _our_words(scorer.keys)]),
        _digest([(key, scorer.options[key]) for key in _ANSWER if key in scorer.options]),
    )


def changed(before: Identity, now: Identity, kind: str) -> list[str]:
    """What of a judge is not what it was, in words; nothing where it is the same, or nobody can tell."""
    is_model = kind in MODEL_KINDS
    parts = (
        ("model", before.model, now.model),
        ("prompt" if is_model else "options", before.prompt, now.prompt),
        ("schema" if is_model else "expression", before.answer, now.answer),
    )
    return [word for word, one, other in parts if one and other and one != other]


def models_named(keys: BaseModel | None) -> Sequence[str | None]:
    """The models that a scorer asks, as the file names them; None is the default one."""
    match keys:
        case JevScorer():
            return (*keys.asked_models(), keys.fallback_model)
        case PanelOptions():
            return keys.asked_models()
        case EmbeddingScorer():
            return (keys.model,)
    return ()


def _our_words(keys: BaseModel | None) -> Sequence[str]:
    """What Rulebook itself tells a model, in this version of it, around what the author says."""
    if not isinstance(keys, PanelOptions):
        return ()
    around = fenced([("", "")], "")
    return (
        (around, INSTRUCTIONS, question_of_labels("", ()))
        if isinstance(keys, JevScorer)
        else (around, answer_in_json({}))
    )


def _asking(keys: BaseModel | None) -> Sequence[object]:
    """How models are asked and their grades joined; where they are asked is no part of what a judge is."""
    if not isinstance(keys, PanelOptions):
        return ()
    sure = keys.bound() if isinstance(keys, JevScorer) else None
    return (keys.temperature, keys.votes, keys.vote, keys.borderline, keys.max_votes, sure)


def _digest(parts: object) -> str:
    return sha256(json.dumps(parts, default=str).encode("ascii")).hexdigest()

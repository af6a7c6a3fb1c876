"""What an author says of a grade that is one of a fixed set of labels. Source: scorers, "Escalating judges"."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self

from msgspec import Struct
from pydantic import AfterValidator, Field, model_validator

from rulebook.evidence.ballots import Vote
from rulebook.evidence.label_texts import normal_label
from rulebook.evidence.panel_options import PanelOptions
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.types import Scope


def _labels(labels: Mapping[str, float]) -> Mapping[str, float]:
    if len(labels) < 2:
        words = {"key": "labels", "wanted": "two labels or more", "value": f"{len(labels)}"}
        raise refused(LanguageError(Fault("RB205", words)))
    seen: set[str] = set()
    for label, score in labels.items():
        normal = normal_label(label)
        if not normal:
            raise refused(LanguageError(Fault("RB216", {"key": "labels", "why": "a label is text."}, path=(label,))))
        if normal in seen:
            wanted = "labels that differ in more than case, blanks and full stops"
            words = {"key": "labels", "wanted": wanted, "value": f"`{label}` again"}
            raise refused(LanguageError(Fault("RB205", words, path=(label,))))
        if not 0 <= score <= 1:
            words = {"key": label, "wanted": "a score from 0 to 1", "value": f"{score:g}"}
            raise refused(LanguageError(Fault("RB205", words, path=(label,))))
        seen.add(normal)
    return labels


def refuse_blank(rubric: str) -> None:
    """Raise RB216 for a rubric that says nothing."""
    if not rubric.strip():
        raise refused(LanguageError(Fault("RB216", {"key": "rubric", "why": "it says what each label means."})))


_Share = Annotated[float, Field(gt=0, le=1)]


class LabelOptions(PanelOptions):
    """Models that grade with a label, and one that grades again where the first is unsure."""

    labels: Annotated[dict[str, float], AfterValidator(_labels)] = Field(
        description="The labels, two or more, each with its score in 0..1."
    )
    fallback_model: Annotated[str, Field(min_length=1)] = Field(
        description="Which model grades what the first one is unsure of; its grade stands."
    )
    escalate_below: _Share | None = Field(
        None, description="The confidence below which the second model is asked, more than 0 and at most 1; 0.9."
    )
    threshold: _Share | None = Field(None, description="Another name for `escalate_below`, which is the reference's.")
    vote: Vote = Field("majority", description="How several scores become one: `majority`, `mean` or `median`.")
    api: Literal["chat"] = Field("chat", description="Which interface of the endpoint is asked: chat completions.")

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if self.model is None and self.judges is None:
            words = {"thing": "`jev`", "key": "model", "purpose": "which model grades first?"}
            raise refused(LanguageError(Fault("RB202", words)))
        if self.escalate_below is not None and self.threshold is not None:
            words = {"key": "threshold", "why": "`escalate_below` also stands here. Keep one."}
            raise refused(LanguageError(Fault("RB215", words, path=("threshold",))))
        return self

    def bound(self) -> float:
        """The confidence below which the second model is asked."""
        return self.escalate_below or self.threshold or 0.9


class LabelsNamed(Struct, frozen=True):
    """A rubric that should say what each label means; one with something to fill in may say it then."""

    rubric: str
    labels: Iterable[str]

    def faults(self, scope: Scope) -> tuple[Fault, ...]:  # noqa: ARG002
        """RB812 for each label that it never names."""
        if "{{" in self.rubric or "{%" in self.rubric:
            return ()
        return tuple(
            Fault("RB812", {"label": label})
            for label in self.labels
            if not re.search(rf"(?<!\w){re.escape(normal_label(label))}(?!\w)", self.rubric.upper())
        )

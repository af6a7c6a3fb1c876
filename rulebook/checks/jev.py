"""`jev`: a model grades with a label, and a second model where the first is unsure."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from rulebook.checks import Check, Checked
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.context_sources import (
    ContextField,
    OwnContext,
    context_in_words,
    context_texts,
    context_wants,
)
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.label_texts import normal_label
from rulebook.evidence.prompt import Prompt
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Wants
from rulebook.evidence.sources import Messages
from rulebook.languages.endpoint_fields import AddressField, VariableField
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.template import Template, TemplateField
from rulebook.languages.types import Scope
from rulebook.languages.values import Several
from rulebook.outcome import Outcome
from rulebook.place import Path
from rulebook.ports import Ports


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


def _says(text: Template) -> Template:
    if not text.text.strip():
        raise refused(LanguageError(Fault("RB216", {"key": "rubric", "why": "it says what each label means."})))
    return text


_Model = Annotated[str, Field(min_length=1)]
_Share = Annotated[float, Field(gt=0, le=1)]


class Jev(Check, kind="jev"):
    """A model picks a label and says how sure it is; where it is unsure, a second model grades again.

    Source: scorers, jev.
    """

    needs_threshold = True

    labels: Annotated[dict[str, float], AfterValidator(_labels)] = Field(
        description="The labels, two or more, each with its score in 0..1."
    )
    rubric: Annotated[TemplateField, AfterValidator(_says)] = Field(description="What the labels mean; a template.")
    model: _Model = Field(description="Which model grades first: an alias or `provider/model`.")
    fallback_model: _Model = Field(description="Which model grades what the first one is unsure of; its grade stands.")
    escalate_below: _Share | None = Field(
        None, description="The confidence below which the second model is asked, more than 0 and at most 1; 0.9."
    )
    threshold: _Share | None = Field(None, description="Another name for `escalate_below`, which is the reference's.")
    instructions: TemplateField | None = Field(None, description="What both models are told first; a template.")
    from_: Several[ContextField] = Field(
        default_factory=lambda: (Messages(),),
        alias="from",
        description="What the models are shown: sources of text; the whole transcript by default.",
    )
    api: Literal["chat"] = Field("chat", description="Which interface of the endpoint is asked: chat completions.")
    base_url: AddressField | None = Field(
        None, description="An OpenAI-compatible endpoint, in place of a provider of `rulebook.toml`."
    )
    api_key_env: VariableField | None = Field(None, description="The name of the variable that holds its key.")
    temperature: float | None = Field(0.0, ge=0, le=2, description="How far the models' answers may vary.")
    max_characters: int = Field(262_144, ge=1024, description="How many characters of the sources they are shown.")

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if self.escalate_below is not None and self.threshold is not None:
            words = {"key": "threshold", "why": "`escalate_below` also stands here. Keep one."}
            raise refused(LanguageError(Fault("RB215", words, path=("threshold",))))
        return self

    def runs_code(self) -> bool:
        """Whether what it shows is made by a provider of the harness's own."""
        return any(isinstance(source, OwnContext) for source in self.from_)

    def wants(self) -> Wants:
        """What its sources, and its templates, need."""
        found = wants_of_names(frozenset().union(*(text.names() for _, text in self._templates())))
        for source in self.from_:
            found |= context_wants(source)
        return found

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The rubric, the instructions, and what its sources hold."""
        for key, template in self._templates():
            yield (key,), Prompt(template, "from"), scope
        for position, source in enumerate(self.from_):
            for path, text in context_texts(source):
                yield ("from", position, *path), text, scope

    def sentence(self) -> str:
        """What it asks for."""
        sources = ", ".join(map(context_in_words, self.from_))
        labels = ", ".join(f"`{label}` ({score:g})" for label, score in self.labels.items())
        return f"A judge model looks at {sources} and picks one of {labels}; a second one where the first is unsure."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Show the models its sources: one call, and one more where the first model is unsure.

        Raises NotHandedIn where the student left nothing to judge, Missing where our side cannot tell.
        """
        from rulebook.evidence.judge_answers import JudgeModel  # lint asks no model
        from rulebook.evidence.label_judge import INSTRUCTIONS, LabelJudge
        from rulebook.evidence.label_outcome import labelled
        from rulebook.evidence.rubric_context import context_of

        first, second = (
            JudgeModel(model, self.base_url, self.api_key_env, self.temperature)
            for model in (self.model, self.fallback_model)
        )
        told = INSTRUCTIONS if self.instructions is None else filled(self.instructions, evidence)
        bound = self.escalate_below or self.threshold or 0.9
        judge = LabelJudge(self.labels, filled(self.rubric, evidence), first, second, bound, told)
        students = evidence.record.models if evidence.record is not None else ()
        return labelled(context_of(self.from_, evidence, ports), judge, ports, self.max_characters, students)

    def _templates(self) -> list[tuple[str, Template]]:
        own = [("rubric", self.rubric)]
        return own if self.instructions is None else [*own, ("instructions", self.instructions)]

"""`jev`: a model grades with a label, and a second model where the first is unsure."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from rulebook.checks import Checked
from rulebook.checks.llm_judge import JudgingCheck
from rulebook.evidence.ballots import Vote
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.label_texts import normal_label
from rulebook.evidence.prompt import Prompt
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Wants
from rulebook.languages.faults import Fault, LanguageError, refused
from rulebook.languages.template import Template, TemplateField
from rulebook.languages.types import Scope
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


_Share = Annotated[float, Field(gt=0, le=1)]


class Jev(JudgingCheck, kind="jev"):
    """A model picks a label and says how sure it is; where it is unsure, a second model grades again.

    Source: scorers, jev.
    """

    needs_threshold = True

    labels: Annotated[dict[str, float], AfterValidator(_labels)] = Field(
        description="The labels, two or more, each with its score in 0..1."
    )
    rubric: Annotated[TemplateField, AfterValidator(_says)] = Field(description="What the labels mean; a template.")
    fallback_model: Annotated[str, Field(min_length=1)] = Field(
        description="Which model grades what the first one is unsure of; its grade stands."
    )
    escalate_below: _Share | None = Field(
        None, description="The confidence below which the second model is asked, more than 0 and at most 1; 0.9."
    )
    threshold: _Share | None = Field(None, description="Another name for `escalate_below`, which is the reference's.")
    instructions: TemplateField | None = Field(None, description="What both models are told first; a template.")
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

    def wants(self) -> Wants:
        """What its sources, and its templates, need."""
        names = frozenset().union(*(text.names() for _, text in self._templates()))
        return self.wants_of_sources() | wants_of_names(names)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The rubric, the instructions, and what its sources hold."""
        for key, template in self._templates():
            yield (key,), Prompt(template, "from"), scope
        yield from self.texts_of_sources(scope)

    def sentence(self) -> str:
        """What it asks for."""
        labels = ", ".join(f"`{label}` ({score:g})" for label, score in self.labels.items())
        sources = self.sources_in_words()
        return f"A judge model looks at {sources} and picks one of {labels}; a second one where the first is unsure."

    def measure(self, evidence: Evidence, ports: Ports) -> Outcome:
        """Show the models its sources: one call, and one more where the first model is unsure.

        Raises NotHandedIn where the student left nothing to judge, Missing where our side cannot tell.
        """
        from rulebook.evidence.judge_answers import JudgeModel  # lint asks no model
        from rulebook.evidence.label_judge import INSTRUCTIONS, LabelJudge
        from rulebook.evidence.label_outcome import labelled
        from rulebook.evidence.rubric_context import context_of

        *firsts, second = (
            JudgeModel(name, *self.asked_how()) for name in (*(self.judges or (self.model,)), self.fallback_model)
        )
        told = INSTRUCTIONS if self.instructions is None else filled(self.instructions, evidence)
        bound = self.escalate_below or self.threshold or 0.9
        judge = LabelJudge(self.labels, filled(self.rubric, evidence), tuple(firsts), second, bound, told)
        students = evidence.record.models if evidence.record is not None else ()
        return labelled(
            context_of(self.from_, evidence, ports), judge, ports, self.max_characters, self.voting(), students
        )

    def _templates(self) -> list[tuple[str, Template]]:
        own = [("rubric", self.rubric)]
        return own if self.instructions is None else [*own, ("instructions", self.instructions)]

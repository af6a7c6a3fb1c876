"""`jev`: a model grades with a label, and a second model where the first is unsure."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field

from rulebook.checks import Checked
from rulebook.checks.llm_judge import JudgingCheck
from rulebook.evidence.bundle import Evidence
from rulebook.evidence.document import wants_of_names
from rulebook.evidence.label_options import LabelOptions, LabelsNamed, refuse_blank
from rulebook.evidence.prompt import Prompt
from rulebook.evidence.reading_text import filled
from rulebook.evidence.record import Wants
from rulebook.languages.template import Template, TemplateField
from rulebook.languages.types import Scope
from rulebook.outcome import Outcome
from rulebook.place import Path
from rulebook.ports import Ports


def _says(text: Template) -> Template:
    refuse_blank(text.text)
    return text


class Jev(JudgingCheck, LabelOptions, kind="jev"):
    """A model picks a label and says how sure it is; where it is unsure, a second model grades again.

    Source: scorers, jev.
    """

    needs_threshold = True

    rubric: Annotated[TemplateField, AfterValidator(_says)] = Field(description="What the labels mean; a template.")
    instructions: TemplateField | None = Field(None, description="What both models are told first; a template.")

    def wants(self) -> Wants:
        """What its sources, and its templates, need."""
        names = frozenset().union(*(text.names() for _, text in self._templates()))
        return self.wants_of_sources() | wants_of_names(names)

    def texts(self, scope: Scope) -> Iterable[tuple[Path, Checked, Scope]]:
        """The rubric, the instructions, and what its sources hold."""
        for key, template in self._templates():
            yield (key,), Prompt(template, "from"), scope
        yield ("rubric",), LabelsNamed(self.rubric.text, self.labels), scope
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

        *firsts, second = (JudgeModel(name, *self.asked_how()) for name in (*self.asked_models(), self.fallback_model))
        told = INSTRUCTIONS if self.instructions is None else filled(self.instructions, evidence)
        judge = LabelJudge(self.labels, filled(self.rubric, evidence), tuple(firsts), second, self.bound(), told)
        students = evidence.record.models if evidence.record is not None else ()
        return labelled(
            context_of(self.from_, evidence, ports), judge, ports, self.max_characters, self.voting(), students
        )

    def _templates(self) -> list[tuple[str, Template]]:
        own = [("rubric", self.rubric)]
        return own if self.instructions is None else [*own, ("instructions", self.instructions)]
